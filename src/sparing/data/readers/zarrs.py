"""Zarr folders: an array, or a group of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, check_stored, readable
from sparing.data.rows import RawBlock

WHAT = "a Zarr array or group (.zarr)"


def opened(path: Path) -> Any:
    """The array or group, for reading."""
    try:
        import zarr
    except ModuleNotFoundError:
        raise errors.needs_package("Reading Zarr", "zarr", "io") from None
    return zarr.open(str(path), mode="r")


class ZarrRows(FileRows):
    """An array of two dimensions. A chunk that is not there holds zeros (or the fill value): so the format has it."""

    what = WHAT
    reads_ahead = True

    def __init__(self, path: Path, key: str | None, data: Any, options: Options) -> None:
        super().__init__(path, data.shape, data.dtype, options.block_bytes)
        if _unpickles(data.metadata):
            raise errors.not_real(path, "object")
        check_stored(path, WHAT, data, data.nbytes_stored)
        self.key = key
        self.align(getattr(data, "shards", None) or data.chunks)

    def read(self) -> Iterator[RawBlock]:
        """Slices of the array."""
        top = opened(self.path)
        data = top if self.key is None else top[self.key]
        for start, stop in self.runs():
            yield DenseBlock(np.asarray(data[start:stop], dtype=self.dtype), start)


def open_rows(path: Path, options: Options) -> ZarrRows:
    """The array itself; in a group the array ``key``, else X, else the only table."""
    with readable(path, WHAT):
        top, key = opened(path), options.key
        if hasattr(top, "dtype"):
            if key is not None:
                raise errors.key_not_used(path, key)
            return ZarrRows(path, None, top, options)
        found = [name for name, part in top.members(max_depth=None) if getattr(part, "ndim", 0) == 2]
        if key is None:
            if "X" not in found and len(found) != 1:
                raise errors.which_part(path, found)
            key = "X" if "X" in found else found[0]
        if key not in top or not hasattr(top[key], "dtype"):
            raise errors.no_part(path, key, found)
        return ZarrRows(path, key, top[key], options)


def _unpickles(metadata: Any) -> bool:
    """Would reading run what a hostile file says? Zarr's second format has such a codec, and some versions use it."""
    codecs = (*(getattr(metadata, "filters", None) or ()), getattr(metadata, "compressor", None))
    return any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs)
