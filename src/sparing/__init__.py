"""The fewest features that say what PCA says, with proof."""

from sparing.data.readers import open_data
from sparing.estimators.column_selector import ColumnSelector
from sparing.estimators.doubly_sparse_encoder import DoublySparseEncoder
from sparing.estimators.external_loadings import certify, polish
from sparing.estimators.metrics import explained_variance, information_loss
from sparing.estimators.nonnegative_sparse_pca import NonnegativeSparsePCA
from sparing.estimators.saving import load_model, save_model
from sparing.estimators.sparse_encoder import SparseEncoder
from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering
from sparing.estimators.sparse_kmeans import SparseKMeans
from sparing.estimators.sparse_pca import SparsePCA
from sparing.estimators.sparse_pca_regressor import SparsePCARegressor
from sparing.estimators.sparsity_path import SparsityPath, sparsity_path

__version__ = "0.1.0"

__all__ = [
    "ColumnSelector",
    "DoublySparseEncoder",
    "NonnegativeSparsePCA",
    "SparseEncoder",
    "SparseHierarchicalClustering",
    "SparseKMeans",
    "SparsePCA",
    "SparsePCARegressor",
    "SparsityPath",
    "__version__",
    "certify",
    "explained_variance",
    "information_loss",
    "load_model",
    "open_data",
    "polish",
    "save_model",
    "sparsity_path",
]
