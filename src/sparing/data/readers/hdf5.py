"""HDF5, and AnnData's ``.h5ad`` which is HDF5 with fixed names: dense data sets, and sparse ones as groups."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.annotated import feature_names, table_key
from sparing.data.readers.base import FileRows, Options, check_stored, readable
from sparing.data.readers.compressed import GroupRows
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
    """The file, for reading; an error if its strings are damaged."""
    if not heaps_end(path):
        raise errors.broken_file(path, WHAT, "one of its text heaps is circular")
    return opened(path)


class Hdf5Rows(FileRows):
    """A two-dimensional data set."""

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
    """Open the table ``key``; by default X, or the only one of a file that is not AnnData."""
    with readable(path, WHAT), _sound(path) as file:
        key = table_key(path, file, lambda: _parts(file), options.key)
        part, names = file[key], feature_names(path, file, key)
        if not hasattr(part, "dtype"):
            return GroupRows(path, key, part, options, opened, names, lambda stored: int(stored.id.get_storage_size()))
        if names is not None and (part.ndim != 2 or len(names) != part.shape[1]):
            names = None
        return Hdf5Rows(path, key, part, options, names)


def _parts(file: Any) -> list[tuple[str, Any]]:
    """All groups and data sets, with their names."""
    parts: list[tuple[str, Any]] = []
    file.visititems(lambda name, part: parts.append((name, part)))
    return parts


@contextmanager
def tables_of(path: Path) -> Iterator[Any]:
    """The tables beside X: those of AnnData's observations and variables."""
    with readable(path, WHAT), _sound(path) as file:
        yield file


SIGNATURE = b"GCOL\x01\x00\x00\x00"
SHORTEST, LOOKED_AT = 64, 2**25
"""Minimum size of a file, and maximum size up to which its heaps are checked."""

HEADER = 16
"""Size of the header of a heap and of each of its objects, for the usual lengths of eight bytes."""

PLACES_OF_LENGTHS = {0: 14, 1: 14, 2: 10, 3: 10}
"""Position of the size of lengths, by the version of the superblock."""


def heaps_end(path: Path) -> bool:
    """Check that a walk through every heap ends. Large files and rare formats are not checked."""
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
    """Whether each step from object to object, as in the library, moves forward."""
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
