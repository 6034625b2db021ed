"""The fewest features that say what PCA says, with proof."""

from sparing.estimators.metrics import explained_variance, information_loss
from sparing.estimators.sparse_encoder import SparseEncoder

__version__ = "0.1.0"

__all__ = ["SparseEncoder", "__version__", "explained_variance", "information_loss"]
