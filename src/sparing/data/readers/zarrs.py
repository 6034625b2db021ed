"""Zarr folders: an array, or a group of arrays, such as AnnData."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers import annotated
from sparing.data.readers.annotated import feature_names, row_names, table_key, text_column
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
    """An array of two dimensions. A chunk that is not there holds zeros (or the fill value): so the format has it."""

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
    """The array itself; in a group the table ``key``, else X, else the only one of a group that is not AnnData."""
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


def sample_names(path: Path) -> list[str] | None:
    """AnnData's names of observations."""
    with readable(path, WHAT):
        top = opened(path)
        return row_names(path, top["obs"]) if not hasattr(top, "dtype") and "obs" in top else None


def feature_column(path: Path, name: str) -> tuple[list[str] | None, list[str] | None]:
    """Names of AnnData's variables, and a column of their table."""
    with readable(path, WHAT):
        top = opened(path)
        if hasattr(top, "dtype") or "var" not in top:
            return None, None
        return row_names(path, top["var"]), text_column(path, top["var"], name)


def sample_column(path: Path, name: str) -> list[str]:
    """A column of AnnData's observations, as text."""
    with readable(path, WHAT):
        top = opened(path)
        return annotated.sample_column(path, {} if hasattr(top, "dtype") else top, name)


@contextmanager
def _closed(path: Path) -> Iterator[Any]:
    """The group, where others have files to close."""
    yield opened(path)
