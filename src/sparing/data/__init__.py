"""The only code that knows how data is stored."""

from sparing.data.affine import Affine
from sparing.data.base import GRAM_LIMIT, DataMatrix
from sparing.data.blocks import ArrayRows, Rows, SparseRows
from sparing.data.covariance import Covariance
from sparing.data.door import Preparation, as_matrix, as_rows, as_view
from sparing.data.projected import Projected
from sparing.data.transposed import Transposed

__all__ = [
    "GRAM_LIMIT",
    "Affine",
    "ArrayRows",
    "Covariance",
    "DataMatrix",
    "Preparation",
    "Projected",
    "Rows",
    "SparseRows",
    "Transposed",
    "as_matrix",
    "as_rows",
    "as_view",
]
