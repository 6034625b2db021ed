"""Few features that keep what PCA keeps, with a certificate of how good they are.

Names are imported when they are first used, so that ``import sparing`` and ``sparing --version`` take no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparing.data.readers import open_data
    from sparing.estimators.column_selector import ColumnSelector
    from sparing.estimators.doubly_sparse_encoder import DoublySparseEncoder
    from sparing.estimators.external_loadings import certify, polish
    from sparing.estimators.metrics import explained_variance, information_loss
    from sparing.estimators.nonnegative_sparse_pca import NonnegativeSparsePCA
    from sparing.estimators.saving import load_model, save_model
    from sparing.estimators.sparse_encoder import SparseEncoder
    from sparing.estimators.sparse_encoder_cv import SparseEncoderCV
    from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering
    from sparing.estimators.sparse_kmeans import SparseKMeans
    from sparing.estimators.sparse_pca import SparsePCA
    from sparing.estimators.sparse_pca_regressor import SparsePCARegressor
    from sparing.estimators.sparsity_path import SparsityPath, sparsity_path
    from sparing.estimators.validation.alternatives import Alternatives, alternatives
    from sparing.estimators.validation.component_count import ComponentCount, component_count
    from sparing.estimators.validation.cross_validated import HeldOut, cross_validated
    from sparing.estimators.validation.stability import Stability, stability
    from sparing.show.tables import equations, loadings_table

__version__ = "0.2.0"

_MODULES = {
    "stability": "estimators.validation.stability",
    "Stability": "estimators.validation.stability",
    "component_count": "estimators.validation.component_count",
    "ComponentCount": "estimators.validation.component_count",
    "alternatives": "estimators.validation.alternatives",
    "Alternatives": "estimators.validation.alternatives",
    "ColumnSelector": "estimators.column_selector",
    "DoublySparseEncoder": "estimators.doubly_sparse_encoder",
    "HeldOut": "estimators.validation.cross_validated",
    "NonnegativeSparsePCA": "estimators.nonnegative_sparse_pca",
    "SparseEncoder": "estimators.sparse_encoder",
    "SparseEncoderCV": "estimators.sparse_encoder_cv",
    "SparseHierarchicalClustering": "estimators.sparse_hierarchical_clustering",
    "SparseKMeans": "estimators.sparse_kmeans",
    "SparsePCA": "estimators.sparse_pca",
    "SparsePCARegressor": "estimators.sparse_pca_regressor",
    "SparsityPath": "estimators.sparsity_path",
    "certify": "estimators.external_loadings",
    "equations": "show.tables",
    "cross_validated": "estimators.validation.cross_validated",
    "explained_variance": "estimators.metrics",
    "information_loss": "estimators.metrics",
    "load_model": "estimators.saving",
    "loadings_table": "show.tables",
    "open_data": "data.readers",
    "polish": "estimators.external_loadings",
    "save_model": "estimators.saving",
    "sparsity_path": "estimators.sparsity_path",
}

__all__ = [
    "Alternatives",
    "ColumnSelector",
    "ComponentCount",
    "DoublySparseEncoder",
    "HeldOut",
    "NonnegativeSparsePCA",
    "SparseEncoder",
    "SparseEncoderCV",
    "SparseHierarchicalClustering",
    "SparseKMeans",
    "SparsePCA",
    "SparsePCARegressor",
    "SparsityPath",
    "Stability",
    "__version__",
    "alternatives",
    "certify",
    "component_count",
    "cross_validated",
    "equations",
    "explained_variance",
    "information_loss",
    "load_model",
    "loadings_table",
    "open_data",
    "polish",
    "save_model",
    "sparsity_path",
    "stability",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module, or a public module."""
    if name in ("datasets", "errors", "plots", "report", "scoring", "scverse"):
        return import_module(f"sparing.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'sparing' has no attribute {name!r}")
    value = getattr(import_module(f"sparing.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
