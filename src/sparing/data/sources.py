"""Array-like sources of rows (HDF5, Zarr, user classes), read slice by slice."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sparing.data.containers import is_frame
from sparing.data.readers.base import BLOCK_BYTES, plain, rows_within
from sparing.data.rows import ArrayRows
from sparing.results import Array


def is_lazy(X: Any) -> bool:
    """Is it polars' plan for a table? Asked without its columns, for which polars would work out the plan."""
    return type(X).__name__ == "LazyFrame"


def is_source(X: Any) -> bool:
    """Does X look like a table on which rows can be sliced: an HDF5 data set, a Zarr array, somebody's generator?"""
    if isinstance(X, np.ndarray) or sparse.issparse(X) or is_frame(X):
        return False
    shape, dtype = getattr(X, "shape", None), getattr(X, "dtype", None)
    if not isinstance(shape, tuple) or len(shape) < 2 or dtype is None or not hasattr(type(X), "__getitem__"):
        return False
    try:
        np.dtype(dtype)
    except TypeError:  # of another array library
        return False
    return True


class Slices:
    """A user's own source; every slice is checked, since nobody has seen the whole."""

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
        """All of it, for the few methods that need that."""
        return np.asarray(self[:], dtype=dtype)


def _slice_error(kind: str, start: int, stop: int, said: str) -> ValueError:
    """A source of rows that does not keep what its shape and type promise."""
    return ValueError(
        f"X is a {kind}, which is read by slices of rows, and X[{start}:{stop}] failed: {said}. Such a slice must be "
        "an array of real numbers, with the requested rows and all features. Correct the source, or pass a "
        "NumPy array."
    )


def source_rows(slices: Slices, block_bytes: int = BLOCK_BYTES) -> ArrayRows:
    """Rows in blocks of at most so many bytes; they end where chunks of the storage do, if it says so."""
    n_rows = rows_within(block_bytes, slices.shape[1], slices.dtype)
    for name in ("shards", "chunks"):
        chunks = getattr(slices._source, name, None)
        if isinstance(chunks, tuple) and chunks and isinstance(chunks[0], int) and 0 < chunks[0] <= n_rows:
            n_rows -= n_rows % chunks[0]
            break
    return ArrayRows(slices, n_rows)
