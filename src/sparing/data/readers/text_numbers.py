"""Cells of text as numbers, and a tally of every column: how many are numbers, and the first cell that is none."""

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
"""Cells that are no number, and no text either, in lower case."""

COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", re.ASCII)
"""A number with a decimal comma."""


class OddCell(NamedTuple):
    """A cell that is no number."""

    row: int
    line: int
    text: str


class Tally:
    """What the columns of a table hold, counted while their cells are read.

    Parameters
    ----------
    width : int
        The number of columns.
    decimal : {".", ",", None}
        None: a point or a comma, whichever comes first in the file; the other is no number then.
    """

    def __init__(self, width: int, decimal: str | None = ".") -> None:
        self.decimal, self.n_rows = decimal, 0
        self.numbers, self.others = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
        self.odd: dict[int, OddCell] = {}
        self.is_whole, self.numbers_rows = np.ones(width, dtype=bool), np.ones(width, dtype=bool)
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)

    def parsed(self, rows: list[list[str]], lines: list[int]) -> Array:
        """Cells as numbers, one row for each line; NaN where there is none."""
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
        """Numbers, where some cells hold none; these are counted."""
        width, comma = len(self.numbers), self.decimal == ","
        values, others = [], []
        for k, cell in enumerate(cells):
            try:
                if "_" in cell or (comma and "." in cell):  # Python's numbers may hold the one, a table's may not
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
        """Numbers, and what they look like."""
        if (candidates := np.flatnonzero(self.numbers_rows)).size:  # does each row add one to the row before?
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
        """What the first number with a fraction is written with."""
        for cell in cells:
            if "," in cell and COMMA.fullmatch(cell):
                return ","
            if "." in cell and is_number(cell):
                return "."
        return None

    def unreadable(self) -> list[int]:
        """Columns that hold mostly numbers, and something that is none."""
        return np.flatnonzero((self.others > 0) & (self.numbers > self.others)).tolist()

    def text(self) -> list[int]:
        """Columns that hold something else than numbers."""
        return np.flatnonzero(self.others > 0).tolist()

    def empty(self) -> list[int]:
        """Columns without any value."""
        return np.flatnonzero((self.others == 0) & (self.numbers == 0)).tolist()

    def numeric(self) -> list[int]:
        """Columns that hold numbers alone, and one at least."""
        return np.flatnonzero((self.others == 0) & (self.numbers > 0)).tolist()


def is_number(cell: Any) -> bool:
    """Is it a number, as a text table has them?"""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
