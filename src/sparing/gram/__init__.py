"""X through its Gram matrix A = X'X: the contract of every view, and the views that need no rows."""

from sparing.gram.base import GRAM_LIMIT, DataMatrix
from sparing.gram.cached import CachedGram
from sparing.gram.columns import ColumnBlock
from sparing.gram.dense import DenseGram
from sparing.gram.low_rank import LowRankUpdate
from sparing.gram.masked import Masked
from sparing.gram.projected import Projected

__all__ = [
    "GRAM_LIMIT",
    "CachedGram",
    "ColumnBlock",
    "DataMatrix",
    "DenseGram",
    "LowRankUpdate",
    "Masked",
    "Projected",
]
