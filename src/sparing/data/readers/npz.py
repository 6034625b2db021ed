"""Archives of NumPy and SciPy. They are compressed as a whole, so they are read once, as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.readers.base import LoadedRows, Options, check_room, readable
from sparing.data.readers.npy import Header, header_of

WHAT = "an archive of NumPy arrays or a SciPy sparse matrix (.npz)"
SINGLE = b"\x93NUMPY"
SPARSE = {"format", "shape", "data"}

NAMES = ("feature_names", "columns", "names")
"""Names of arrays that may hold the feature names."""


def open_rows(path: Path, options: Options) -> LoadedRows:
    """Open a sparse matrix of ``scipy.sparse.save_npz``, or the array ``key``, otherwise X, otherwise the only
    table."""
    with readable(path, WHAT), path.open("rb") as file:
        if file.read(len(SINGLE)) == SINGLE:
            raise errors.broken_file(path, WHAT, "it is a single array; rename it to .npy")
        file.seek(0)
        with np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
            headers = {name: _header(path, archive, name) for name in archive.files}
            if set(headers) >= SPARSE and options.key is None:
                check_room(path, 2 * sum(header.n_bytes for header in headers.values()))  # again by columns
                matrix = sparse.load_npz(path)
                return LoadedRows(path, matrix, options, _names(archive, headers, matrix.shape))
            key = _table(path, headers, options.key)
            check_room(path, sum(header.n_bytes for name, header in headers.items() if name in {key, *NAMES}))
            return LoadedRows(path, archive[key], options, _names(archive, headers, headers[key].shape))


def _table(path: Path, headers: dict[str, Header], key: str | None) -> str:
    """The name of the array to read; Python objects are never unpickled."""
    tables = [name for name, header in headers.items() if len(header.shape) == 2]
    if key is None:
        if "X" not in headers and len(tables) != 1:
            raise errors.which_part(path, tables)
        key = "X" if "X" in headers else tables[0]
    if key not in headers:
        if set(headers) >= SPARSE:
            raise errors.unreadable(path, f"it has no table {key!r}; it holds one sparse matrix. Leave key out")
        raise errors.no_part(path, key, tables)
    if headers[key].dtype.hasobject:
        raise errors.not_real(path, headers[key].dtype)
    return key


def _names(archive: np.lib.npyio.NpzFile, headers: dict[str, Header], shape: Sequence[int]) -> list[str] | None:
    """The feature names: a text array with one entry per column of the table, if any; never Python objects."""
    for name in NAMES:
        header = headers.get(name)
        if header is not None and header.dtype.kind == "U" and len(shape) == 2 and header.shape == (shape[1],):
            return [str(entry) for entry in archive[name]]
    return None


def _header(path: Path, archive: np.lib.npyio.NpzFile, name: str) -> Header:
    """Shape and type of an array; an error if it is truncated."""
    assert archive.zip is not None
    info = archive.zip.getinfo(name if name in archive.zip.namelist() else f"{name}.npy")
    with archive.zip.open(info) as file:
        header = header_of(file)
    there = info.file_size - header.begin
    if header.n_bytes != there and not header.dtype.hasobject:
        raise errors.broken_file(path, WHAT, f"{there} bytes of {header.n_bytes} in {name!r}")
    return header
