"""HDF5, and AnnData's ``.h5ad`` which is HDF5 with fixed names: dense data sets, and sparse ones as groups."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, check_stored, readable
from sparing.data.readers.compressed import GroupRows, layout_of, whole
from sparing.data.rows import RawBlock

WHAT = "an HDF5 file (.h5, .hdf5, .h5ad)"


def opened(path: Path) -> Any:
    """The file, for reading."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise errors.needs_package("Reading HDF5 and .h5ad files", "h5py", "io") from None
    return h5py.File(path, "r")


def _sound(path: Path) -> Any:
    """The file, for reading, if its texts can be read at all."""
    if not heaps_end(path):
        raise errors.broken_file(path, WHAT, "a heap of its texts leads back to where it began")
    return opened(path)


class Hdf5Rows(FileRows):
    """A data set of two dimensions."""

    what = WHAT
    reads_ahead = True

    def __init__(self, path: Path, key: str, data: Any, options: Options, names: list[str] | None) -> None:
        super().__init__(path, data.shape, data.dtype, options.block_bytes, feature_names=names)
        check_stored(path, WHAT, data, data.id.get_storage_size)
        self.key = key
        if data.chunks:
            self.align(data.chunks)

    def read(self) -> Iterator[RawBlock]:
        """Slices of the data set."""
        with opened(self.path) as file:
            data = file[self.key]
            for start, stop in self.runs():
                yield DenseBlock(np.asarray(data[start:stop], dtype=self.dtype), start)


def open_rows(path: Path, options: Options) -> FileRows:
    """The table ``key``; without it the only one, or X."""
    with readable(path, WHAT), _sound(path) as file:
        key = _key(path, file, options.key)
        part, names = file[key], _names(path, file, key)
        if hasattr(part, "dtype"):
            if names is not None and (part.ndim != 2 or len(names) != part.shape[1]):
                names = None
            return Hdf5Rows(path, key, part, options, names)
        rows = GroupRows(path, key, part, options, opened)
        rows.feature_names = names if names is not None and len(names) == rows.shape[1] else None
        return rows


def _key(path: Path, file: Any, key: str | None) -> str:
    """Where the table is."""
    if key is not None and key in file and (hasattr(file[key], "dtype") or layout_of(file[key])):
        return key
    if key is None and "X" in file:
        return "X"
    found: list[str] = []

    def visit(name: str, part: Any) -> None:
        inside = any(name.startswith(f"{group}/") for group in found)
        if not inside and (getattr(part, "ndim", 0) == 2 or (not hasattr(part, "dtype") and layout_of(part))):
            found.append(name)

    file.visititems(visit)
    if key is not None:
        raise errors.no_part(path, key, found)
    if len(found) != 1:
        raise errors.which_part(path, found)
    return found[0]


def _names(path: Path, file: Any, key: str) -> list[str] | None:
    """AnnData's names of variables, for X, its layers and the raw counts."""
    where = "raw/var" if key.startswith("raw/") else "var"
    if where not in file or not (key in {"X", "raw/X"} or key.startswith("layers/")):
        return None
    return _index(path, file[where])


def sample_names(path: Path) -> list[str] | None:
    """AnnData's names of observations."""
    with readable(path, WHAT), _sound(path) as file:
        return _index(path, file["obs"]) if "obs" in file else None


def _index(path: Path, table: Any) -> list[str] | None:
    """The names of the rows of a table of AnnData."""
    if hasattr(table, "dtype"):  # files of AnnData before 0.7: one array of records
        fields = table.dtype.names or ()
        field = next((f for f in ("index", "_index") if f in fields), fields[0]) if fields else None
        values = None if field is None else whole(path, table)[field]
    else:
        values = _column(path, table, str(_text(table.attrs.get("_index", "_index"))))
    return None if values is None else [_text(value) for value in values]


def _column(path: Path, table: Any, name: str) -> Any:
    """A column of names: plain, categorical or with a mask."""
    if name not in table:
        return None
    column = table[name]
    if hasattr(column, "dtype"):
        return whole(path, column)
    if "categories" in column and "codes" in column:
        return whole(path, column["categories"])[whole(path, column["codes"])]
    return whole(path, column["values"]) if "values" in column else None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


SIGNATURE = b"GCOL\x01\x00\x00\x00"
SHORTEST, LOOKED_AT = 64, 2**25
"""Bytes that a file has at least, and up to which its heaps are looked at."""

HEADER = 16
"""Bytes of the header of a heap, and of that of each of its objects, where lengths have eight bytes as is usual."""

PLACES_OF_LENGTHS = {0: 14, 1: 14, 2: 10, 3: 10}
"""Where the file says how long lengths are, by the version of its first block."""


def heaps_end(path: Path) -> bool:
    """Does the walk through every heap come to its end? Without a look, true for large files and rare formats."""
    if not SHORTEST <= path.stat().st_size <= LOOKED_AT:
        return True
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as raw:
        if raw[PLACES_OF_LENGTHS.get(raw[8], 14)] != 8:
            return True
        at = raw.find(SIGNATURE)
        while at >= 0 and _ends(raw, at):
            at = raw.find(SIGNATURE, at + 1)
        return at < 0


def _ends(raw: mmap, at: int) -> bool:
    """Does each step from object to object, as the library takes them, lead on?"""
    end = len(raw)
    if at + HEADER <= end:
        end = min(at + struct.unpack_from("<Q", raw, at + 8)[0], end)
    at += HEADER
    while at + HEADER <= end:
        index, length = struct.unpack_from("<H6xQ", raw, at)
        step = (length if index == 0 else HEADER + (length + 7) // 8 * 8) % 2**64
        if step == 0:
            return False
        at += step
    return True
