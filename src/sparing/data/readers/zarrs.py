"""Zarr folders: an array, or a group of arrays, such as AnnData."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.annotated import feature_names, table_key
from sparing.data.readers.base import FileRows, Options, check_stored, readable
from sparing.data.readers.compressed import GroupRows, check_codecs
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
    """A two-dimensional array. By the format, a missing chunk holds zeros (or the fill value)."""

    what = WHAT
    reads_ahead = True

    def __init__(self, path: Path, key: str | None, data: Any, options: Options, names: list[str] | None) -> None:
        super().__init__(path, data.shape, data.dtype, options.block_bytes, feature_names=names)
        check_codecs(path, data)
        check_stored(path, WHAT, data, data.nbytes_stored)
        self.key = key
        self.align(getattr(data, "shards", None) or data.chunks)

    def read(self) -> Iterator[RawBlock]:
        """Slices of the array."""
        top = opened(self.path)
        data = top if self.key is None else top[self.key]
        for start, stop in self.runs():
            yield DenseBlock(np.asarray(data[start:stop], dtype=self.dtype), start)


def open_rows(path: Path, options: Options) -> FileRows:
    """Open the array itself; in a group the table ``key``, otherwise X, otherwise the only one if it is not AnnData."""
    with readable(path, WHAT):
        top = opened(path)
        if hasattr(top, "dtype"):
            if options.key is not None:
                raise errors.key_not_used(path, options.key)
            return ZarrRows(path, None, top, options, None)
        key = table_key(path, top, lambda: top.members(max_depth=None), options.key)
        part = top[key]
        for array in [part] if hasattr(part, "dtype") else [array for _, array in part.arrays()]:
            check_codecs(path, array)
        names = feature_names(path, top, key)
        if not hasattr(part, "dtype"):
            return GroupRows(path, key, part, options, _closed, names, lambda array: int(array.nbytes_stored()))
        fits = names is not None and part.ndim == 2 and len(names) == part.shape[1]
        return ZarrRows(path, key, part, options, names if fits else None)


@contextmanager
def tables_of(path: Path) -> Iterator[Any]:
    """The tables beside X: those of AnnData's observations and variables; none beside a single array."""
    with readable(path, WHAT):
        top = opened(path)
        yield {} if hasattr(top, "dtype") else top


@contextmanager
def _closed(path: Path) -> Iterator[Any]:
    """Return the group; other formats have files to close."""
    yield opened(path)
