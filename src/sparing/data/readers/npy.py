"""NumPy's own files, one array each: mapped into memory, so that a block is read when it is used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sparing.data.blocks import RawBlock
from sparing.data.dense import DenseBlock
from sparing.data.readers.base import FileRows, Options, readable
from sparing.errors import files

WHAT = "a NumPy array (.npy)"


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
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(file)
            begin = file.tell()
        rows = NpyRows(path, shape, dtype, options.block_bytes)
        expected = begin + rows.shape[0] * rows.shape[1] * dtype.itemsize
        if path.stat().st_size < expected:
            raise files.broken_file(path, WHAT, f"{path.stat().st_size} bytes of {expected}")
    return rows
