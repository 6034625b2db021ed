"""Text tables such as CSV of any length: only a few rows of text are in memory at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, readable
from sparing.data.readers.notes import (
    ROWS_PER_LEVEL,
    are_values,
    code_columns,
    codes_note,
    is_nameless,
    row_numbers_note,
    values_note,
)
from sparing.data.readers.temporary_files import Scratch
from sparing.data.readers.text_format import TextFormat, format_of
from sparing.data.readers.text_numbers import COMMA, MISSING, Tally, is_number
from sparing.data.rows import RawBlock

WHAT = "a text table in UTF-8 or UTF-16 with a header (.csv, .tsv, .txt)"

CELLS = 2**16
"""Number of cells of text in memory at a time."""

PARSING = threading.Lock()


@dataclass(frozen=True)
class _Columns:
    """The columns that are features, and the treatment of the others."""

    numeric: list[int]
    left_out: list[str]
    notes: list[str]
    explained: set[str]


class TextRows(FileRows):
    """The numeric columns of a text table; empty cells are NaN.

    Text is slow to read, so opening writes the numbers to a temporary file, which every pass uses.
    """

    what = WHAT

    def __init__(self, form: TextFormat, columns: _Columns, numbers: Scratch, tally: Tally, options: Options) -> None:
        names = [form.header[j] for j in columns.numeric]
        shape = tally.n_rows, len(columns.numeric)
        super().__init__(
            form.path, shape, np.float64, options.block_bytes, feature_names=names, left_out=columns.left_out
        )
        self.notes += columns.notes
        self.explained |= columns.explained
        self._format, self._decimal, self._numeric = form, tally.decimal, columns.numeric
        self._numbers: Scratch | None = numbers

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_numbers": None}

    def close(self) -> None:
        """Delete the temporary file."""
        self._numbers = None

    def read(self) -> Iterator[RawBlock]:
        """Blocks of numbers."""
        with PARSING:
            if self._numbers is None:
                self._numbers = _set_aside(self._format, Tally(len(self._format.header), self._decimal))
            numbers = self._numbers
        width = len(self._format.header)
        for start, stop in self.runs():
            rows = numbers.read(np.float64, (stop - start) * width, 8 * start * width).reshape(-1, width)
            yield DenseBlock(rows if len(self._numeric) == width else rows[:, self._numeric], start)


def open_rows(path: Path, options: Options) -> TextRows:
    """Read all cells once, to find the numeric columns and the number of rows."""
    with readable(path, WHAT):
        form = format_of(path, options.delimiter)
        if all(is_number(cell.replace(",", ".")) or cell.strip().lower() in MISSING for cell in form.header):
            raise errors.unreadable(path, "its first row holds numbers only; a header that names the columns is needed")
        decimal = options.decimal or (None if form.delimiter == ";" else ".")
        tally = Tally(len(form.header), decimal)
        numbers = _set_aside(form, tally)
        if tally.n_rows == 0:
            raise errors.unreadable(path, "a header and at least one row of numbers are needed")
        return TextRows(form, _sorted_out(form, tally, options), numbers, tally, options)


def _set_aside(form: TextFormat, tally: Tally) -> Scratch:
    """Store the numbers of all columns, row by row."""
    numbers, rows, at = Scratch(), form.rows(), 0
    while batch := list(islice(rows, max(1, CELLS // len(form.header)))):
        block = tally.parsed([cells for _, cells in batch], [line for line, _ in batch])
        numbers.write(block, at)
        at += block.nbytes
    return numbers


def _sorted_out(form: TextFormat, tally: Tally, options: Options) -> _Columns:
    """Select the features. A numeric column with an unreadable cell is an error, unless the user dropped it."""
    header, drop, notes = form.header, set(options.drop), []
    odd = [j for j in tally.unreadable() if header[j] not in drop]
    if odd and not options.drop_unreadable:
        raise _odd_cell(form, tally, odd)
    if odd:
        row, line, cell = tally.odd[odd[0]]
        lost = errors.listed(header[j] for j in odd)
        notes.append(
            f"{lost} left out: {errors.quoted(cell)} in row {row} (line {line}) of {errors.quoted(header[odd[0]])} is "
            "not a number"
        )
    found = tally.numeric()
    texts = [j for j in tally.text() if header[j] not in drop]
    if not found:
        raise errors.no_numeric_column(form.path, header, _comma_hint(tally, texts))
    numeric = [j for j in found if header[j] not in drop]
    if not numeric:
        raise errors.unreadable(form.path, "all numeric columns were dropped. Keep at least one")
    used = set(numeric)
    left_out = [name for j, name in enumerate(header) if j not in used]
    names = [header[j] for j in numeric]
    if empty := [header[j] for j in tally.empty() if header[j] not in drop]:
        notes.append(f"every cell of {errors.listed(empty)} is missing")
    if hint := _comma_hint(tally, texts):
        notes.append(f"a column was left out because it is not numeric{hint}")
    if are_values(names):
        notes.append(values_note(names))
    notes += [row_numbers_note(header[j], j) for j in numeric if _may_number_rows(header[j], j, tally)]
    with np.errstate(invalid="ignore"):  # infinity is rejected later
        levels = np.where(tally.is_whole, tally.high - tally.low + 1, np.inf)[numeric]
    if codes := code_columns(names, levels.tolist(), tally.n_rows):
        notes.append(codes_note(codes))
    return _Columns(numeric, left_out, notes, {header[j] for j in odd})


def _may_number_rows(name: str, j: int, tally: Tally) -> bool:
    """Whether it is an integer column without a name, or a long one that counts up by one."""
    counts = tally.numbers_rows[j] and tally.n_rows >= ROWS_PER_LEVEL
    return bool(tally.is_whole[j] and (counts or is_nameless(name)))


def _comma_hint(tally: Tally, columns: list[int]) -> str:
    """A clause about the first cell of these columns that would be a number with a decimal comma."""
    cells = (tally.odd[j].text for j in columns if j in tally.odd and tally.decimal != ",")
    cell = next((cell for cell in cells if COMMA.fullmatch(cell)), None)
    return "" if cell is None else f"; if the comma of {cell!r} is a decimal sign pass decimal=','"


def _odd_cell(form: TextFormat, tally: Tally, odd: list[int]) -> errors.UnreadableError:
    """The error for an unreadable cell, with a suggestion."""
    j = odd[0]
    row, line, cell = tally.odd[j]
    others = f" (and {len(odd) - 1} more columns have such a cell)" if len(odd) > 1 else ""
    return errors.unreadable(
        form.path,
        f"row {row} (line {line}) of column {errors.quoted(form.header[j])} holds {errors.quoted(cell)}, which is not "
        f"a number, beside {int(tally.numbers[j])} cells that are{others}. Correct the cell, leave it empty if the "
        "value is missing, or pass drop_unreadable=True to leave such columns out" + _comma_hint(tally, odd[:1]),
    )
