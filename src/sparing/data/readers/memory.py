"""Tables of formats that can only be read as a whole; they stay in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.csc import CscBlock
from sparing.data.dense import DenseBlock
from sparing.data.readers.base import FileRows, Options, check_extent
from sparing.data.rows import RawBlock


class LoadedRows(FileRows):
    """A table in memory: slices of a dense one, the whole of a sparse one."""

    def __init__(self, path: Path, table: Any, options: Options, feature_names: list[str] | None = None) -> None:
        super().__init__(path, table.shape, table.dtype, options.block_bytes, feature_names=feature_names)
        self.is_dense = not sparse.issparse(table)
        self._table: Any = np.asarray(table, dtype=self.dtype) if self.is_dense else CscBlock(_checked(path, table))

    def read(self) -> Iterator[RawBlock]:
        """Slices of ``block_rows`` rows, or the one block."""
        if not self.is_dense:
            yield self._table
            return
        for start, stop in self.runs():
            yield DenseBlock(self._table[start:stop], start)


def _checked(path: Path, table: Any) -> Any:
    """The matrix, if its indices are inside: compiled code would not notice."""
    check_extent(path, "a sparse matrix", table.shape, table.nnz)
    try:
        if table.format in {"csr", "csc", "bsr"}:
            table.check_format(full_check=True)
    except ValueError as broken:
        raise errors.broken_file(path, "a sparse matrix", str(broken)) from broken
    return table
