"""Matrix Market text files, read whole."""

from __future__ import annotations

from pathlib import Path

from scipy import io

from sparing.data.readers.base import Options, readable
from sparing.data.readers.memory import LoadedRows

WHAT = "a Matrix Market file (.mtx)"


def open_rows(path: Path, options: Options) -> LoadedRows:
    """A sparse matrix, or a dense one where the file says ``array``; ``.mtx.gz`` is unpacked on the way."""
    with readable(path, WHAT):
        return LoadedRows(path, io.mmread(path), options)
