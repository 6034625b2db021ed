"""The format of a text table: compression, encoding, delimiter and header."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from sparing import errors

DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".tab": "\t", ".txt": "\t,; "}
"""Possible delimiters by file extension; the first is used for a single column. A blank means any number of blanks."""

UNPACKERS: dict[str, Any] = {"": None, ".gz": gzip.open, ".bz2": bz2.open, ".zst": None}
ENDINGS = [f"{ending}{packed}" for ending in DELIMITERS for packed in UNPACKERS]

LONGEST_LINE = 2**27
"""Maximum number of characters of a line; as cells they take many times more memory."""

MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""First bytes that name an encoding."""


@dataclass(frozen=True)
class TextFormat:
    """The parameters to read the cells of a file."""

    path: Path
    encoding: str
    delimiter: str
    header: list[str]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line numbers and cells after the header; each row is as long as the header."""
        width = len(self.header)
        with opened(self.path, self.encoding) as file:
            reader = _reader(self.path, file, self.delimiter)
            next(row for row in reader if row)
            line = reader.line_num
            try:
                for row in reader:
                    line = reader.line_num
                    if not row:
                        continue
                    if len(row) != width:
                        why = f"line {line} has {len(row)} cells, the header has {width}; quote cells that hold"
                        raise errors.unreadable(self.path, f"{why} {self.delimiter!r}")
                    yield line, row
            except csv.Error as broken:
                raise _badly_quoted(self.path, line, broken) from broken


def is_text(path: Path) -> bool:
    """Whether the extension is that of a text table, compressed or not."""
    return path.name.lower().endswith(tuple(ENDINGS))


def format_of(path: Path, delimiter: str | None = None) -> TextFormat:
    """Infer the format from the first two rows."""
    encoding = _encoding(path)
    marks = delimiter or DELIMITERS[_ending(path)]
    found: dict[str, list[list[str]]] = {}
    broken = csv.Error()
    for mark in marks:
        try:
            found[mark] = _first_rows(path, encoding, mark)
        except csv.Error as error:  # such as a cell as long as a line, without delimiters
            broken = error
    if not all(found.values()):
        raise errors.unreadable(path, "it is empty; a header and at least one row of numbers are needed")
    fitting = [mark for mark, rows in found.items() if _is_table(mark, rows)]
    if len(fitting) > 1 and fitting[-1] == " ":
        fitting.pop()
    if len(fitting) > 1:
        ways = " or by ".join(map(repr, fitting))
        raise errors.unreadable(path, f"its cells may be separated by {ways}. Choose one with delimiter={fitting[0]!r}")
    mark = fitting[0] if fitting else marks[0]
    if mark not in found:
        raise _badly_quoted(path, 0, broken) from broken
    header, *more = found[mark]
    has_row_names = mark == " " and bool(more) and len(more[0]) == len(header) + 1
    return TextFormat(path, encoding, mark, [""] * has_row_names + header)


def _badly_quoted(path: Path, line: int, broken: csv.Error) -> errors.UnreadableError:
    """The error for an unclosed quote, which would include the lines up to the next one."""
    why = f"cells after line {line} cannot be separated ({broken}). Quote a cell as a whole, and double quotes inside"
    return errors.unreadable(path, why)


def _is_table(mark: str, rows: list[list[str]]) -> bool:
    """Whether header and first row have the same number of cells, more than one."""
    header, *more = rows
    return len(header) > 1 and (not more or len(more[0]) - len(header) in ({0, 1} if mark == " " else {0}))


def _first_rows(path: Path, encoding: str, delimiter: str) -> list[list[str]]:
    with opened(path, encoding) as file:
        return list(islice((row for row in _reader(path, file, delimiter) if row), 2))


def _reader(path: Path, file: TextIO, delimiter: str) -> Any:
    if delimiter == " ":
        lines = (line.strip() for line in _lines(path, file))
        return csv.reader(lines, delimiter=" ", skipinitialspace=True, strict=True)
    return csv.reader(_lines(path, file), delimiter=delimiter, strict=True)


def _lines(path: Path, file: TextIO) -> Iterable[str]:
    """Lines of text of limited length."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            why = f"a line of it has more than {LONGEST_LINE} characters. Write it as .npy, .h5, .zarr or .parquet"
            raise errors.unreadable(path, why)
        yield line


@contextmanager
def opened(path: Path, encoding: str) -> Iterator[TextIO]:
    """The text, decompressed while reading."""
    with _unpacked(path) as raw, TextIOWrapper(raw, encoding, newline="") as file:
        yield file


def _unpacked(path: Path) -> BufferedReader:
    suffix = path.suffix.lower()
    if suffix == ".zst":
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            raise errors.needs_package("Reading .zst files", "pyarrow", "io") from None
        return BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return BufferedReader(UNPACKERS[suffix](path) if UNPACKERS.get(suffix) else path.open("rb", buffering=0))


def _encoding(path: Path) -> str:
    """UTF-16 if a byte order mark or zero bytes indicate it, otherwise UTF-8."""
    with _unpacked(path) as raw:
        start = raw.read(64)
    marked = next((name for mark, name in MARKS.items() if start.startswith(mark)), None)
    if marked is not None or b"\0" not in start:
        return marked or "utf-8"
    for name, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if len(start) % 2 == 0 and zeros.count(0) == len(zeros) and start.count(0) == len(zeros):
            return name
    return "utf-8"


def _ending(path: Path) -> str:
    return next(ending for ending in DELIMITERS if any(path.name.lower().endswith(ending + p) for p in UNPACKERS))
