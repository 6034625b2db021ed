"""Incremental column selection: skips dependent columns and fills up greedily."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.rounding import first_largest
from sparing.linalg.span import independent_columns
from sparing.objectives.span import INDEPENDENT, Spanning
from sparing.results import Array, Indices, Selection
from sparing.rules import Rooms
from sparing.task import Task

NEVER = 1e-15
"""Odds below this share of the largest are rounding errors: such a column would practically never be drawn."""


class Filling:
    """The columns taken so far, their Gram columns, and the state that computes the gain of each further column.

    A column in the span of those already taken (a copy or a constant) is never taken, because it adds nothing.

    Parameters
    ----------
    task : Task
        Provides the maximum number of columns, the target to span (the reference of ``state.gains()``) and the rules:
        required columns are taken first, others while the rules allow them.
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
            self._dependent = np.setdiff1d(required, self.state.chosen)  # taken although dependent
            self.n_columns -= len(self._dependent)
            self._rooms = task.rules.rooms(1, self.view.n_features)

    def copy(self) -> Filling:
        """Return a copy, to continue from the same columns in another way."""
        twin = object.__new__(Filling)
        twin.view, twin.n_columns = self.view, self.n_columns
        twin.state = self.state.restricted(np.arange(len(self.state.left)), self.n_columns)
        twin._gram_columns, twin._dependent = list(self._gram_columns), self._dependent
        twin._rooms = None if self._rooms is None else self._rooms.copy()
        return twin

    @property
    def room(self) -> int:
        """Number of columns that may still be taken."""
        return self.n_columns - len(self.state.chosen)

    def open(self) -> NDArray[np.bool_]:
        """Mask of the columns that would enlarge the span."""
        new: NDArray[np.bool_] = self.state.left > INDEPENDENT * self.state.square
        new[self.state.chosen] = False
        return new if self._rooms is None else new & self._rooms.open()[0]

    def take(self, j: int, gram_column: Array | None = None) -> None:
        """Take one column that is still open."""
        if gram_column is None:
            gram_column = self.view.gram_columns(np.array([j]))[:, 0]
        self.state.add(j, gram_column)
        self._gram_columns.append(gram_column)
        if self._rooms is not None:
            self._rooms.take(np.array([j]))

    def offer(self, order: Indices) -> None:
        """Take columns in this order while the rules allow more, with one product for all of them."""
        rest = order
        while self.room and len(rest):
            some, rest = rest[: self.room], rest[self.room :]
            some = some if self._rooms is None else some[self.open()[some]]
            self.extend(some, self.view.gram_columns(some))
            rest = rest[self.open()[rest]]

    def extend(self, columns: Indices, gram_columns: Array) -> None:
        """Take those of the given columns (with Gram columns) that are still open when their turn comes."""
        kept, _ = independent_columns(gram_columns[columns])  # pivots first: nearly equal columns would lose all digits
        for j, gram_column in zip(columns[kept], gram_columns.T[kept], strict=True):
            if self._rooms is not None and not self._rooms.open()[0, j]:
                continue
            if self.state.left[j] > INDEPENDENT * self.state.square[j]:
                self.take(int(j), gram_column)

    def fill_up(self) -> None:
        """Add columns with the largest residual, one product each, until no more are allowed or the residual is
        zero."""
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
        """The taken columns, in order of choice."""
        chosen = np.array(self.state.chosen, dtype=np.intp)
        columns = np.stack(self._gram_columns).T if self._gram_columns else np.zeros((self.view.n_features, 0))
        if len(self._dependent) == 0:
            return Selection(chosen, columns)
        known = np.column_stack([self.view.gram_columns(self._dependent), columns])
        return Selection(np.append(self._dependent, chosen), known)


def order_of_draws(odds: Array, rng: np.random.Generator) -> Indices:
    """Columns in the order of their first appearance in draws with replacement and these odds; never those with odds 0.

    Gumbel's trick: the largest of log(odds) + noise is a draw, the next largest is a draw from the others, and so on.
    "Draw until r are distinct" therefore needs no loop, even for very uneven odds.
    """
    noise = rng.gumbel(size=len(odds))
    drawable = np.flatnonzero(odds > NEVER * odds.max())
    return drawable[np.argsort(-(np.log(odds[drawable]) + noise[drawable]), kind="stable")]
