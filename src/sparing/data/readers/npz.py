"""Archives of NumPy and SciPy. They are compressed as a whole, so they are read whole, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sparing.data.readers.base import Options, readable
from sparing.data.readers.memory import LoadedRows
from sparing.errors import files

WHAT = "an archive of NumPy arrays or a SciPy sparse matrix (.npz)"


def open_rows(path: Path, options: Options) -> LoadedRows:
    """A sparse matrix of ``scipy.sparse.save_npz``; or the array ``key``, else X, else the only table."""
    with readable(path, WHAT), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise files.broken_file(path, WHAT, "it is a single array; rename it to .npy")
        names = list(archive.files)
        if {"format", "shape", "data"} <= set(names) and options.key is None:
            return LoadedRows(path, sparse.load_npz(path), options)
        return LoadedRows(path, _table(path, archive, names, options.key), options)


def _table(path: Path, archive: Any, names: list[str], key: str | None) -> Any:
    """The array that is meant; Python objects are never unpickled."""
    shapes = {name: _header(archive, name) for name in names}
    tables = [name for name, (shape, _) in shapes.items() if len(shape) == 2]
    if key is None:
        if "X" not in names and len(tables) != 1:
            raise files.which_part(path, tables)
        key = "X" if "X" in names else tables[0]
    if key not in names:
        raise files.no_part(path, key, tables)
    if shapes[key][1].hasobject:
        raise files.not_real(path, shapes[key][1])
    return archive[key]


def _header(archive: Any, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array, without its values."""
    member = name if name in archive.zip.namelist() else f"{name}.npy"
    with archive.zip.open(member) as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(file)
    return shape, dtype
