"""CSV and TSV of any length: text is read a few rows at a time, and never held."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, Scratch, readable
from sparing.data.rows import RawBlock
from sparing.results import Array

WHAT = "a text table in UTF-8 with a header (.csv, .tsv)"

MISSING = {"", "na", "nan", "null", "none", "?"}
"""Cells that are no number, and no text either."""

CELLS = 2**16
"""Cells of text in memory at a time."""

LONGEST_LINE = 2**27
"""Characters; as cells they take many times as much memory."""


class TextRows(FileRows):
    """The numeric columns of a text table; empty cells are NaN.

    Text is slow to read: the first reading writes its numbers to a temporary file, which later ones use.
    """

    what = WHAT

    def __init__(self, path: Path, header: list[str], numeric: list[int], n: int, options: Options) -> None:
        names = [header[j] for j in numeric]
        left_out = [name for j, name in enumerate(header) if j not in set(numeric)]
        super().__init__(
            path, (n, len(numeric)), np.float64, options.block_bytes, feature_names=names, left_out=left_out
        )
        self._numeric = numeric
        self._numbers: Scratch | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_numbers": None}

    def close(self) -> None:
        """Delete the temporary file."""
        self._numbers = None

    def read(self) -> Iterator[RawBlock]:
        """Blocks of numbers, from the text or from what an earlier reading left."""
        known, d = self._numbers, self.shape[1]
        if known is not None:
            for start, stop in self.runs():
                rows = np.fromfile(known.path, np.float64, count=(stop - start) * d, offset=8 * start * d)
                yield DenseBlock(rows.reshape(-1, d), start)
            return
        numbers, start = Scratch(), 0
        with numbers.path.open("wb") as file:
            for rows in self._parse():
                file.write(rows.data)  # not tofile, in which Ctrl-C may become a TypeError of NumPy's
                yield DenseBlock(rows, start)
                start += len(rows)
        self._numbers = numbers

    def _parse(self) -> Iterator[Array]:
        """The text as blocks of numbers."""
        rows, filled = np.empty((self.block_rows, self.shape[1])), 0
        for cells in lines_of(self.path, max(1, CELLS // self.shape[1])):
            columns = list(zip(*cells, strict=True))
            part = np.column_stack([_parsed(columns[j]) for j in self._numeric])
            while len(part):
                taken = min(len(part), self.block_rows - filled)
                rows[filled : filled + taken] = part[:taken]
                part, filled = part[taken:], filled + taken
                if filled == self.block_rows:
                    yield rows
                    rows, filled = np.empty_like(rows), 0
        if filled:
            yield rows[:filled]


def open_rows(path: Path, options: Options) -> TextRows:
    """One scan: which columns hold numbers, and how many rows there are."""
    with readable(path, WHAT):
        header = header_of(path)
        may, seen, n = set(range(len(header))), set(), 0
        for cells in lines_of(path, max(1, CELLS // len(header))):
            n += len(cells)
            for j, column in enumerate(zip(*cells, strict=True)):
                if j in may:
                    values = _numbers_or_none(column)
                    if values is None:
                        may.discard(j)
                    elif j not in seen and not np.isnan(values).all():
                        seen.add(j)
        if n == 0:
            raise errors.unreadable(path, "a header and at least one row of numbers are needed")
        numeric = sorted(may & seen)
        if not numeric:
            raise errors.no_numeric_column(path, header)
        repeated = [name for name, times in Counter(header[j] for j in numeric).items() if times > 1]
        if repeated:
            raise errors.column_repeated(path, repeated)
        return TextRows(path, header, numeric, n, options)


def header_of(path: Path) -> list[str]:
    """The names of the columns."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        header = next((row for row in csv.reader(_lines(path, file), delimiter=_delimiter(path)) if row), None)
    if header is None:
        raise errors.unreadable(path, "it is empty; a header and at least one row of numbers are needed")
    if len(header) == 1 and ";" in header[0]:
        raise errors.unreadable(path, "its cells are separated by ';'; save it with commas (and decimal points)")
    if _numbers_or_none(tuple(header)) is not None:
        raise errors.unreadable(path, "its first row holds numbers only; a header that names the columns is needed")
    return header


def lines_of(path: Path, many: int) -> Iterator[list[list[str]]]:
    """Rows of cells after the header, ``many`` at a time; each is as long as the header."""
    delimiter = _delimiter(path)
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(_lines(path, file), delimiter=delimiter)
        width = len(next(row for row in reader if row))
        batch: list[list[str]] = []
        for row in reader:
            if not row:
                continue
            if len(row) != width:
                why = f"line {reader.line_num} has {len(row)} cells, the header has {width}; quote cells that hold"
                raise errors.unreadable(path, f"{why} {delimiter!r}")
            batch.append(row)
            if len(batch) == many:
                yield batch
                batch = []
        if batch:
            yield batch


def _lines(path: Path, file: TextIO) -> Iterator[str]:
    """Lines of text, none of them endless."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            why = f"a line of it has more than {LONGEST_LINE} characters. Write it as .npy, .h5, .zarr or .parquet"
            raise errors.unreadable(path, why)
        yield line


def _delimiter(path: Path) -> str:
    return "," if path.suffix.lower() == ".csv" else "\t"


def _parsed(cells: tuple[str, ...]) -> Array:
    """A column that is known to be numeric."""
    try:
        return np.array(list(map(float, cells)))
    except ValueError:
        return np.array([np.nan if cell.strip().lower() in MISSING else float(cell) for cell in cells])


def _numbers_or_none(cells: tuple[str, ...]) -> Array | None:
    """A column as floats; None where it holds text."""
    if any("_" in cell for cell in cells):  # Python's numbers may hold them, a table's may not
        return None
    try:
        return _parsed(cells)
    except ValueError:
        return None
