"""Array-like sources of rows (HDF5, Zarr, user classes), read slice by slice."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparing.data.readers.base import BLOCK_BYTES, plain, rows_within
from sparing.data.rows import ArrayRows
from sparing.results import Array


class Slices:
    """A user's source of rows; every slice is checked, because the whole is never read at once."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.shape = tuple(int(size) for size in source.shape)
        self.ndim, self.dtype = len(self.shape), plain(np.dtype(source.dtype))

    def __getitem__(self, run: slice) -> Any:
        start, stop, _ = run.indices(self.shape[0])
        kind = type(self._source).__name__
        try:
            rows = np.asarray(self._source[start:stop])
        except MemoryError:
            raise
        except Exception as broken:
            raise _slice_error(kind, start, stop, f"{type(broken).__name__}: {broken}") from broken
        if rows.shape != (stop - start, self.shape[1]):
            raise _slice_error(kind, start, stop, f"shape {rows.shape} came, not {(stop - start, self.shape[1])}")
        if not np.can_cast(rows.dtype, self.dtype, "same_kind"):
            raise _slice_error(kind, start, stop, f"type {rows.dtype} came, not {self.dtype}")
        with np.errstate(over="ignore"):
            return rows.astype(self.dtype, copy=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """All rows, for methods that need them at once."""
        return np.asarray(self[:], dtype=dtype)


def _slice_error(kind: str, start: int, stop: int, said: str) -> ValueError:
    """The error for a source of rows whose slices do not match its shape or type."""
    return ValueError(
        f"X is a {kind}, which is read in row slices, but X[{start}:{stop}] failed: {said}. The slice must be an array "
        "of real numbers, with the requested rows and all features. Correct the source, or pass a NumPy array."
    )


def source_rows(slices: Slices, block_bytes: int = BLOCK_BYTES) -> ArrayRows:
    """Rows in blocks of at most this many bytes, aligned with the chunks of the storage if known."""
    n_rows = rows_within(block_bytes, slices.shape[1], slices.dtype)
    for name in ("shards", "chunks"):
        chunks = getattr(slices._source, name, None)
        if isinstance(chunks, tuple) and chunks and isinstance(chunks[0], int) and 0 < chunks[0] <= n_rows:
            n_rows -= n_rows % chunks[0]
            break
    return ArrayRows(slices, n_rows)
