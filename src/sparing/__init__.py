"""The fewest features that say what PCA says, with proof."""

from sparing.estimators.metrics import explained_variance, information_loss
from sparing.estimators.sparse_encoder import SparseEncoder
from sparing.estimators.sparsity_path import SparsityPath, sparsity_path

__version__ = "0.1.0"

__all__ = [
    "SparseEncoder",
    "SparsityPath",
    "__version__",
    "explained_variance",
    "information_loss",
    "sparsity_path",
]
