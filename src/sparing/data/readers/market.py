"""Matrix Market text files, read whole."""

from __future__ import annotations

import gzip
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

from scipy import io

from sparing import errors
from sparing.data.readers.base import NONZERO_BYTES, LoadedRows, Options, check_room, readable

WHAT = "a Matrix Market file (.mtx)"
CHUNK = 2**20
"""Characters that are looked at together; no line is as long."""


AS_ARRAY: dict[str, Any] = {"spmatrix": False} if "spmatrix" in signature(io.mmread).parameters else {}
"""Versions of SciPy that know both kinds of sparse matrices want to be told which."""

BESIDE = ("features.tsv", "features.tsv.gz", "genes.tsv", "genes.tsv.gz")
"""Lists of genes, as Cell Ranger writes them beside its matrix."""


def open_rows(path: Path, options: Options) -> LoadedRows:
    """A sparse matrix, or a dense one where the file says ``array``; ``.mtx.gz`` is unpacked on the way."""
    table = read_matrix(path)
    rows = LoadedRows(path, table.T if options.transpose else table, options)
    if not options.transpose and any((path.parent / name).exists() for name in BESIDE):
        rows.notes.append(
            "it is read as samples by features, but the gene list next to it suggests that its rows are genes; open "
            "the "
            "folder for cells by genes with their names, or pass transpose=True"
        )
    return rows


def read_matrix(path: Path) -> Any:
    """The matrix as it is written, if it is whole and there is room for it."""
    with readable(path, WHAT):
        length, ended = _text_of(path)
        n, d, entries, *_ = io.mminfo(path)
        if min(n, d) < 1:
            raise errors.not_a_matrix(path, (n, d))
        if entries > length:  # each entry has two characters, or its mirror image has
            raise errors.broken_file(path, WHAT, f"it claims to have {entries} entries and is too short for them")
        check_room(path, NONZERO_BYTES * entries + (0 if ended else 2 * length))
        return io.mmread(path if ended else _with_an_end(path), **AS_ARRAY)


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _text_of(path: Path) -> tuple[int, bool]:
    """How many characters there are, and whether the last line has an end; refused if some are no text.

    SciPy's parser runs beyond the text, and the process ends with it, at a zero byte and where the last line goes on
    after its number without an end.
    """
    length, last = 0, b""
    with _opened(path) as file:
        while chunk := file.read(CHUNK):
            if b"\0" in chunk:
                raise errors.broken_file(path, WHAT, "it holds bytes that are not text")
            if len(chunk) == CHUNK and b"\n" not in chunk:
                raise errors.broken_file(path, WHAT, f"a line has more than {CHUNK} characters")
            length, last = length + len(chunk), chunk[-1:]
    return length, last == b"\n"


def _with_an_end(path: Path) -> BytesIO:
    with _opened(path) as file:
        return BytesIO(file.read() + b"\n")
