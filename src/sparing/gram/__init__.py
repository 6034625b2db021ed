"""Views of X through its Gram matrix A = X'X: the contract of every view, and the views that need no rows."""

from sparing.gram.base import GRAM_LIMIT, DataMatrix, RowSketch
from sparing.gram.cached import CachedGram
from sparing.gram.dense import ColumnBlock, DenseGram, view_of_columns, view_of_gram
from sparing.gram.derived import Derived, LowRankUpdate, Masked, Projected, SelectedFeatures
from sparing.gram.noisy import Noisy
from sparing.gram.transposed import Transposed

__all__ = [
    "GRAM_LIMIT",
    "CachedGram",
    "ColumnBlock",
    "DataMatrix",
    "DenseGram",
    "Derived",
    "LowRankUpdate",
    "Masked",
    "Noisy",
    "Projected",
    "RowSketch",
    "SelectedFeatures",
    "Transposed",
    "view_of_columns",
    "view_of_gram",
]
