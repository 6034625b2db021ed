"""The only code that depends on the storage of data: it converts any table to rows, and rows to a view of
:mod:`sparing.gram`."""

from sparing.data.imputed import Imputed
from sparing.data.ingest import Preprocessing, as_matrix, as_rows, as_view, is_symmetric
from sparing.data.rows import ArrayRows, InMemoryRows, Rows, SparseRows
from sparing.data.standardized import StandardizedRows, standardized

__all__ = [
    "ArrayRows",
    "Imputed",
    "InMemoryRows",
    "Preprocessing",
    "Rows",
    "SparseRows",
    "StandardizedRows",
    "as_matrix",
    "as_rows",
    "as_view",
    "is_symmetric",
    "standardized",
]
