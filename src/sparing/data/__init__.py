"""The only code that knows how data is stored."""

from sparing.data.adjusted import Adjusted
from sparing.data.affine import Affine
from sparing.data.base import GRAM_LIMIT, DataMatrix
from sparing.data.blocks import ArrayRows, Rows, SparseRows
from sparing.data.covariance import Covariance
from sparing.data.door import Preparation, as_matrix, as_rows, as_view, is_symmetric
from sparing.data.imputed import Imputed
from sparing.data.masked import Masked
from sparing.data.projected import Projected
from sparing.data.remembered import Remembered
from sparing.data.transposed import Transposed

__all__ = [
    "GRAM_LIMIT",
    "Adjusted",
    "Affine",
    "ArrayRows",
    "Covariance",
    "DataMatrix",
    "Imputed",
    "Masked",
    "Preparation",
    "Projected",
    "Remembered",
    "Rows",
    "SparseRows",
    "Transposed",
    "as_matrix",
    "as_rows",
    "as_view",
    "is_symmetric",
]
