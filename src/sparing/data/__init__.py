"""The only code that knows how data are stored: any table becomes rows, and rows a view of :mod:`sparing.gram`."""

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
