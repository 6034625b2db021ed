"""Sparse matrices stored as groups of three arrays (AnnData's CSR and CSC), read in blocks of rows."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.blocks import CscBlock
from sparing.data.readers.base import NONZERO_BYTES, FileRows, Options, check_extent, check_room, check_stored
from sparing.data.readers.temporary_files import Scratch
from sparing.data.rows import RawBlock
from sparing.results import Array

SPILLING = threading.Lock()


def layout_of(group: Any) -> str | None:
    """ "csr" or "csc", as this or an older AnnData writes it; None for any other group."""
    mark = group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", b""))
    text = mark.decode() if isinstance(mark, bytes) else str(mark)
    parts = {"data", "indices", "indptr"} <= set(group.keys())
    return text[:3] if parts and text[:3] in {"csr", "csc"} else None


TENX = {"barcodes", "data", "indices", "indptr", "shape"}
"""The members of a Cell Ranger matrix: genes by cells in CSC, which is cells by genes in CSR."""


def is_tenx(group: Any) -> bool:
    """Whether it is a Cell Ranger matrix."""
    return set(group.keys()) >= TENX and layout_of(group) is None


class GroupRows(FileRows):
    """A sparse matrix in a file.

    CSR is read in blocks of rows. CSC is converted once, with bounded memory: blocks of columns are split by rows into
    a temporary file (12 bytes per float32 nonzero), in which each block of rows is contiguous. Later passes use that
    file.
    """

    is_dense = False
    what = "a sparse matrix by rows or columns"

    def __init__(
        self,
        path: Path,
        key: str,
        group: Any,
        options: Options,
        opener: Callable[[Path], Any],
        names: list[str] | None,
        stored: Callable[[Any], int],
    ) -> None:
        layout, shape = layout_of(group), group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        if layout is None and is_tenx(group):  # whose columns are cells
            layout, shape = "csr", whole(path, group["shape"])[::-1]
        if layout is None:
            raise errors.no_part(path, key, [f"{key}/{name}" for name in group])
        if shape is None:
            raise errors.broken_file(path, self.what, "its shape is missing")
        super().__init__(path, shape, group["data"].dtype, options.block_bytes)
        self.feature_names = self.named(names) if names is not None and len(names) == self.shape[1] else None
        self.key, self.layout, self._opener = key, layout, opener
        n, d = self.shape
        check_extent(path, self.what, (n, d), group["data"].shape[0])
        for part in (group["data"], group["indices"]):
            check_stored(path, self.what, part, partial(stored, part))
            check_room(path, math.prod(part.chunks or ()) * part.dtype.itemsize)
        self._indptr = _checked_pointers(path, group, n if layout == "csr" else d)
        self._limit = max(1, options.block_bytes // NONZERO_BYTES)
        self._spill: _Spill | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spill": None}

    def close(self) -> None:
        """Delete the temporary file."""
        self._spill = None

    def read(self) -> Iterator[RawBlock]:
        """Blocks of rows."""
        if self.layout == "csc":
            with SPILLING:
                if self._spill is None:
                    self._spill = self._turned()
                spill = self._spill
            yield from spill.blocks()
            return
        d = self.shape[1]
        with self._group() as group:
            for start, stop in cut(self._indptr, self._limit):
                first, last = int(self._indptr[start]), int(self._indptr[stop])
                indices = self._inside(group["indices"][first:last], d)
                data = np.asarray(group["data"][first:last], dtype=self.dtype)
                pointers = (self._indptr[start : stop + 1] - first).astype(indices.dtype)
                yield CscBlock(sparse.csr_array((data, indices, pointers), shape=(stop - start, d)), start)

    @contextmanager
    def _group(self) -> Iterator[Any]:
        """The arrays, for one pass."""
        with self._opener(self.path) as file:
            yield file[self.key]

    def _inside(self, indices: Any, size: int) -> Any:
        """Indices as int32 if they fit; an error if one is out of range, which compiled code would not notice."""
        values = np.asarray(indices)
        if values.dtype.kind not in "iu" or (len(values) and (values.min() < 0 or values.max() >= size)):
            raise errors.broken_file(self.path, self.what, f"an index is outside of {size}")
        return values.astype(np.int32 if size < 2**31 else np.int64)

    def _turned(self) -> _Spill:
        """Columns split by rows."""
        n, d = self.shape
        with self._group() as group:
            counts = np.zeros(n, dtype=np.int64)
            for first in range(0, int(self._indptr[-1]), self._limit):
                counts += np.bincount(self._inside(group["indices"][first : first + self._limit], n), minlength=n)
            spill = _Spill(np.concatenate([[0], np.cumsum(counts)]), self._limit, d, self.dtype)
            total = int(self._indptr[-1])
            for first in range(0, total, self._limit):
                last = min(first + self._limit, total)
                columns = np.searchsorted(self._indptr, np.arange(first, last), side="right") - 1
                rows = self._inside(group["indices"][first:last], n)
                spill.add(rows, columns, np.asarray(group["data"][first:last], dtype=self.dtype))
        return spill


class _Spill:
    """A temporary file of nonzeros, in blocks of rows, sorted by columns within each."""

    def __init__(self, indptr: Array, limit: int, d: int, dtype: np.dtype[Any]) -> None:
        self._file = Scratch()
        self._record = np.dtype([("row", np.int64 if len(indptr) > 2**31 else np.int32), ("column", np.int32),
                                 ("value", dtype)])  # fmt: skip
        self._runs, self._width = list(cut(indptr, limit)), d
        self._begin = np.array([int(indptr[start]) for start, _ in self._runs] + [int(indptr[-1])])
        self._filled = self._begin[:-1].copy()
        self._starts = np.array([start for start, _ in self._runs])

    def add(self, rows: Any, columns: Any, values: Any) -> None:
        """Append nonzeros, in order of columns, to the blocks of their rows."""
        block = np.searchsorted(self._starts, rows, side="right") - 1
        order = np.argsort(block, kind="stable")
        records = np.empty(len(rows), dtype=self._record)
        records["row"], records["column"], records["value"] = rows[order], columns[order], values[order]
        ends = np.cumsum(np.bincount(block, minlength=len(self._starts)))
        for b in np.unique(block):
            part = records[ends[b - 1] if b else 0 : ends[b]]
            self._file.write(part, int(self._filled[b]) * self._record.itemsize)
            self._filled[b] += len(part)

    def blocks(self) -> Iterator[RawBlock]:
        """The blocks of rows; each is stored as CSC."""
        for (start, stop), first, last in zip(self._runs, self._begin[:-1], self._begin[1:], strict=True):
            records = self._file.read(self._record, int(last - first), int(first) * self._record.itemsize)
            pointers = np.concatenate([[0], np.cumsum(np.bincount(records["column"], minlength=self._width))])
            indices = records["row"] - np.array(start, dtype=self._record["row"])
            parts = (np.ascontiguousarray(records["value"]), indices, pointers.astype(indices.dtype))
            yield CscBlock(sparse.csc_array(parts, shape=(stop - start, self._width)), start)


def cut(indptr: Array, limit: int) -> Iterator[tuple[int, int]]:
    """Blocks of rows with at most ``limit`` nonzeros and rows each, but at least one row."""
    n, start = len(indptr) - 1, 0
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + limit, side="right")) - 1
        stop = min(max(stop, start + 1), start + limit, n)
        yield start, stop
        start = stop


def _checked_pointers(path: Path, group: Any, size: int) -> Any:
    """The row or column pointers; an error if they are invalid."""
    stored, fits = min(group["data"].shape[0], group["indices"].shape[0]), group["indptr"].shape == (size + 1,)
    indptr = whole(path, group["indptr"]).astype(np.int64) if fits else np.zeros(0, np.int64)
    if not fits or indptr[0] != 0 or (np.diff(indptr) < 0).any() or indptr[-1] > stored:
        raise errors.broken_file(path, GroupRows.what, "its pointers do not fit its shape")
    return indptr


def whole(path: Path, part: Any) -> Any:
    """Load an array of a file if its claimed size fits into memory."""
    check_codecs(path, part)
    check_room(path, 2 * part.size * part.dtype.itemsize)
    return np.asarray(part[:])


def check_codecs(path: Path, array: Any) -> None:
    """Reject arrays that run code when they are read: Zarr's second format has such a codec, and some versions use
    it."""
    metadata = getattr(array, "metadata", None)  # HDF5 has none
    codecs = (*(getattr(metadata, "filters", None) or ()), getattr(metadata, "compressor", None))
    if any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs):
        raise errors.not_real(path, "object")
