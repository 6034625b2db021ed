"""Cells of text as numbers, with counts for every column: the number of numeric cells, and the first other cell."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from sparing.results import Array

MISSING = frozenset(
    [
        *("", "-", "--", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "?", "na", "n/a", "#n/a", "#n/a n/a", "#na", "<na>"),
        *("nan", "-nan", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "null", "(null)", "none", "missing"),
    ]
)
"""Cells that count as missing, in lower case."""

COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", re.ASCII)
"""A number with a decimal comma."""


class OddCell(NamedTuple):
    """A cell that is not a number."""

    row: int
    line: int
    text: str


class Tally:
    """Counts of the contents of each column, collected while cells are read.

    Parameters
    ----------
    width : int
        The number of columns.
    decimal : {".", ",", None}
        None: a point or a comma, whichever comes first in the file; cells with the other are then not numbers.
    """

    def __init__(self, width: int, decimal: str | None = ".") -> None:
        self.decimal, self.n_rows = decimal, 0
        self.numbers, self.others = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
        self.odd: dict[int, OddCell] = {}
        self.is_whole, self.numbers_rows = np.ones(width, dtype=bool), np.ones(width, dtype=bool)
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)

    def parsed(self, rows: list[list[str]], lines: list[int]) -> Array:
        """Cells as numbers, one row per line; NaN for cells that are not numbers."""
        cells, width = list(chain.from_iterable(rows)), len(self.numbers)
        text = "".join(cells)
        if self.decimal is None:
            self.decimal = self._decimal_of(cells) if "," in text or "." in text else None
        values = None if "_" in text or (self.decimal == "," and "." in text) else self._all_at_once(cells)
        block = (self._one_by_one(cells, lines) if values is None else values).reshape(-1, width)
        self._count(block)
        return block

    def _all_at_once(self, cells: list[str]) -> Array | None:
        """Numbers, if every cell is one."""
        plain = [cell.replace(",", ".") for cell in cells] if self.decimal == "," else cells
        try:
            return np.fromiter(map(float, plain), np.float64, len(plain))
        except ValueError:
            return None

    def _one_by_one(self, cells: list[str], lines: list[int]) -> Array:
        """Numbers, if some cells are not; those are counted."""
        width, comma = len(self.numbers), self.decimal == ","
        values, others = [], []
        for k, cell in enumerate(cells):
            try:
                if "_" in cell or (comma and "." in cell):  # Python accepts underscores, tables do not
                    raise ValueError
                values.append(float(cell.replace(",", ".") if comma else cell))
            except ValueError:
                values.append(np.nan)
                if cell.strip().lower() not in MISSING:
                    others.append(k)
        places = np.array(others, dtype=np.int64)
        columns, first = np.unique(places % width, return_index=True)
        self.others += np.bincount(places % width, minlength=width)
        for j, k in zip(columns.tolist(), places[first].tolist(), strict=True):
            self.odd.setdefault(j, OddCell(self.n_rows + k // width, lines[k // width], cells[k].strip()))
        return np.array(values)

    def _count(self, block: Array) -> None:
        """Count numbers and their kinds."""
        if (candidates := np.flatnonzero(self.numbers_rows)).size:  # whether each row adds one to the previous row
            first = block[0, candidates] if self.n_rows == 0 else self.low[candidates] + self.n_rows
            steps = np.arange(len(block))[:, None]
            self.numbers_rows[candidates] = (block[:, candidates] == first + steps).all(axis=0) & np.isfinite(first)
        self.n_rows += len(block)
        self.numbers += (~np.isnan(block)).sum(axis=0)
        self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
        self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))
        if self.is_whole.any():
            self.is_whole &= (np.isnan(block) | (np.floor(block) == block)).all(axis=0)

    @staticmethod
    def _decimal_of(cells: list[str]) -> str | None:
        """The decimal sign of the first number with a fraction."""
        for cell in cells:
            if "," in cell and COMMA.fullmatch(cell):
                return ","
            if "." in cell and is_number(cell):
                return "."
        return None

    def unreadable(self) -> list[int]:
        """Columns of mostly numbers with some unreadable cells."""
        return np.flatnonzero((self.others > 0) & (self.numbers > self.others)).tolist()

    def text(self) -> list[int]:
        """Columns that hold something other than numbers."""
        return np.flatnonzero(self.others > 0).tolist()

    def empty(self) -> list[int]:
        """Columns without any value."""
        return np.flatnonzero((self.others == 0) & (self.numbers == 0)).tolist()

    def numeric(self) -> list[int]:
        """Columns with only numbers, and at least one."""
        return np.flatnonzero((self.others == 0) & (self.numbers > 0)).tolist()


def is_number(cell: Any) -> bool:
    """Whether it is a number in the format of a text table."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
