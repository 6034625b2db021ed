"""Incremental column selection: dependent columns are skipped, missing ones filled up greedily."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.signs import first_largest
from sparing.linalg.span import independent_columns
from sparing.objectives.span import INDEPENDENT, Spanning
from sparing.results import Array, Indices, Selection
from sparing.rules import Rooms
from sparing.task import Task

NEVER = 1e-15
"""Odds below this share of the largest are rounding: such a column would not be drawn in any lifetime."""


class Filling:
    """Columns taken so far, their Gram columns, and the state that says what each further column would add.

    A column that lies in the span of those taken (a copy, a constant) is never taken: it would name a feature that adds
    nothing.

    Parameters
    ----------
    task : Task
        With the number of columns that will be taken at most, what they should span, which ``state.gains()`` refers to,
        and rules: required columns are taken at once, others while the rules leave room for them.
    """

    def __init__(self, task: Task) -> None:
        self.view, self.n_columns = task.gram, task.n_nonzero
        self.state = Spanning(task.target.cross, self.view.gram_diagonal(), self.n_columns)
        self._gram_columns: list[Array] = []
        self._rooms: Rooms | None = None
        self._dependent = np.zeros(0, dtype=np.intp)
        if task.rules:
            required = task.rules.required
            self.extend(required, self.view.gram_columns(required))
            self._dependent = np.setdiff1d(required, self.state.chosen)  # taken in any case
            self.n_columns -= len(self._dependent)
            self._rooms = task.rules.rooms(1, self.view.n_features)

    def copy(self) -> Filling:
        """The same columns, to go on from in another way."""
        twin = object.__new__(Filling)
        twin.view, twin.n_columns = self.view, self.n_columns
        twin.state = self.state.restricted(np.arange(len(self.state.left)), self.n_columns)
        twin._gram_columns, twin._dependent = list(self._gram_columns), self._dependent
        twin._rooms = None if self._rooms is None else self._rooms.copy()
        return twin

    @property
    def room(self) -> int:
        """How many columns may still be taken."""
        return self.n_columns - len(self.state.chosen)

    def open(self) -> NDArray[np.bool_]:
        """Which columns would add something to the span?"""
        new: NDArray[np.bool_] = self.state.left > INDEPENDENT * self.state.square
        new[self.state.chosen] = False
        return new if self._rooms is None else new & self._rooms.open()[0]

    def take(self, j: int, gram_column: Array | None = None) -> None:
        """One column that is open."""
        if gram_column is None:
            gram_column = self.view.gram_columns(np.array([j]))[:, 0]
        self.state.add(j, gram_column)
        self._gram_columns.append(gram_column)
        if self._rooms is not None:
            self._rooms.take(np.array([j]))

    def offer(self, order: Indices) -> None:
        """Take columns in this order while there is room; one product for as many as there is room for."""
        rest = order
        while self.room and len(rest):
            some, rest = rest[: self.room], rest[self.room :]
            some = some if self._rooms is None else some[self.open()[some]]
            self.extend(some, self.view.gram_columns(some))
            rest = rest[self.open()[rest]]

    def extend(self, columns: Indices, gram_columns: Array) -> None:
        """Take those of the columns, whose Gram columns are given, that are open when their turn comes."""
        kept, _ = independent_columns(gram_columns[columns])  # pivots first: neighbours alike would eat all digits
        for j, gram_column in zip(columns[kept], gram_columns.T[kept], strict=True):
            if self._rooms is not None and not self._rooms.open()[0, j]:
                continue
            if self.state.left[j] > INDEPENDENT * self.state.square[j]:
                self.take(int(j), gram_column)

    def fill_up(self) -> None:
        """Columns of largest residual, one product each, until there is no room or nothing is left."""
        while self.room:
            left = np.where(self.open(), self.state.left, 0.0)
            j = first_largest(left)
            if left[j] <= 0:
                return
            self.take(j)

    def inside(self) -> Array:
        """The Gram matrix of the columns that were taken as independent."""
        return np.array([column[self.state.chosen] for column in self._gram_columns])

    def selection(self) -> Selection:
        """What has been taken, in the order of choice."""
        chosen = np.array(self.state.chosen, dtype=np.intp)
        columns = np.stack(self._gram_columns).T if self._gram_columns else np.zeros((self.view.n_features, 0))
        if len(self._dependent) == 0:
            return Selection(chosen, columns)
        known = np.column_stack([self.view.gram_columns(self._dependent), columns])
        return Selection(np.append(self._dependent, chosen), known)


def order_of_draws(odds: Array, rng: np.random.Generator) -> Indices:
    """Columns in the order in which draws with replacement, with these odds, meet them first; odds of 0 never.

    Gumbel's trick: the largest of log(odds) + noise is a draw, the next largest a draw from the others, and so on. So
    "draw until r are distinct" takes no loop, however uneven the odds.
    """
    noise = rng.gumbel(size=len(odds))
    drawable = np.flatnonzero(odds > NEVER * odds.max())
    return drawable[np.argsort(-(np.log(odds[drawable]) + noise[drawable]), kind="stable")]
