"""NumPy's ``.npy`` files: memory-mapped, so that a block is read when it is used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, readable
from sparing.data.rows import RawBlock

WHAT = "a NumPy array (.npy)"

LONGEST_HEADER = 2**14
"""Number of bytes read to find shape and type; NumPy accepts no header of this length."""


class Header(NamedTuple):
    """Shape and type of an array, from the header of its file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int  # offset of the numbers, in bytes

    @property
    def n_bytes(self) -> int:
        """Size of the numbers in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


class NpyRows(FileRows):
    """A mapped array."""

    what = WHAT

    def read(self) -> Iterator[RawBlock]:
        """Slices of the map."""
        array = np.lib.format.open_memmap(self.path, mode="r")
        for start, stop in self.runs():
            yield DenseBlock(np.asarray(array[start:stop], dtype=self.dtype), start)


def open_rows(path: Path, options: Options) -> NpyRows:
    """Check the header and the length of the file."""
    with readable(path, WHAT):
        with path.open("rb") as file:
            header = header_of(file)
        rows = NpyRows(path, header.shape, header.dtype, options.block_bytes)
        size, expected = path.stat().st_size, header.begin + header.n_bytes
        if size < expected:
            raise errors.broken_file(path, WHAT, f"{size} bytes of {expected}")
    return rows


def header_of(file: IO[bytes]) -> Header:
    """Shape and type of the array that begins here; the claimed length of the header is not trusted."""
    beginning = BytesIO(file.read(LONGEST_HEADER))
    version = np.lib.format.read_magic(beginning)
    parse = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = parse(beginning)
    if min(shape, default=0) < 0:
        raise ValueError(f"its shape is {shape}")
    return Header(shape, dtype, beginning.tell())
