"""Matrix Market text files, read whole."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from scipy import io

from sparing import errors
from sparing.data.readers.base import LoadedRows, Options, check_room, readable

WHAT = "a Matrix Market file (.mtx)"
CHUNK = 2**20
"""Characters that are looked at together; no line is as long."""

ENTRY_BYTES = 32
"""An entry in memory: value, row and column as read, and once more by columns."""


def open_rows(path: Path, options: Options) -> LoadedRows:
    """A sparse matrix, or a dense one where the file says ``array``; ``.mtx.gz`` is unpacked on the way."""
    with readable(path, WHAT):
        length, ended = _text_of(path)
        n, d, entries, *_ = io.mminfo(path)
        if min(n, d) < 1:
            raise errors.not_a_matrix(path, (n, d))
        if entries > length:  # each entry has two characters, or its mirror image has
            raise errors.broken_file(path, WHAT, f"it claims to have {entries} entries and is too short for them")
        check_room(path, ENTRY_BYTES * entries + (0 if ended else 2 * length))
        return LoadedRows(path, io.mmread(path if ended else _with_an_end(path)), options)


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
                raise errors.broken_file(path, WHAT, "it holds bytes that are no text")
            if len(chunk) == CHUNK and b"\n" not in chunk:
                raise errors.broken_file(path, WHAT, f"a line has more than {CHUNK} characters")
            length, last = length + len(chunk), chunk[-1:]
    return length, last == b"\n"


def _with_an_end(path: Path) -> BytesIO:
    with _opened(path) as file:
        return BytesIO(file.read() + b"\n")
