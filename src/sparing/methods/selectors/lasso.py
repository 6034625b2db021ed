"""Features on the Lasso path of given targets, at the point where it has the requested number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.rounding import first_largest
from sparing.methods.selectors.filling import Filling
from sparing.methods.selectors.greedy import Greedy
from sparing.methods.selectors.response import ResponseTarget, explains_something, leading_targets, needs_targets
from sparing.objectives.span import INDEPENDENT
from sparing.results import Array, Indices, Reference, Selection
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task

FOLLOWED = 1e-9
"""Correlations below this share of the initial largest are rounding errors; the path ends there."""


@dataclass(frozen=True)
class Lasso:
    """Follow the Lasso path of given targets from no feature to ``n_columns`` features [boutsidis2011, Sec. 6].

    Features enter as the penalty decreases and leave if their coefficient becomes zero [efron2004, Sec. 3.1]; the final
    fit on the selected features is not shrunk. Forward selection takes a full step for each feature. The Lasso stops as
    soon as another feature is equally correlated, which errs less with few samples or similar features. Features are
    normalised, so their units do not matter.

    Notes
    -----
    **Guarantee.** None in terms of PCA's loss; ``selector="auto"`` of :class:`SparsePCARegressor` runs it with dual set
    selection as a safeguard, so that Theorem 1 holds.
    **Differs from the paper.** It asks for selectors that use the targets but gives no algorithm. With several targets,
    norms of rows replace absolute values, as in multiresponse least angle regression [simila2007], and a feature leaves
    if its coefficients point away from its correlations.
    """

    reference: ClassVar = Reference("boutsidis2011", "Sec. 6")
    uses_targets: ClassVar = True

    def select(self, task: Task, run: Run) -> Selection:
        """Return at most ``n_columns`` columns; those of ``Greedy`` if no feature explains any of the targets."""
        target = task.target
        if not isinstance(target, ResponseTarget):
            raise needs_targets("selector='lasso'")
        aim = leading_targets(target)
        if not explains_something(task.gram, aim, target):
            return Greedy().select(replace(task, target=target.spectrum), run)
        return _Path(replace(task, target=aim)).followed()


class _Path:
    """The columns on the path so far, their coefficients, and X'(T - fit) divided by each column's norm.

    Between two events the fit moves linearly towards the least squares fit on its columns, and the correlations of
    these columns shrink by the same factor.
    """

    def __init__(self, task: Task) -> None:
        self.task, self.filling = task, Filling(task)
        squares = task.gram.gram_diagonal()
        self.norms = np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
        self.current = self._at_least_squares()
        self.coefficients = np.zeros_like(self.current)
        self.height = self.first = float(np.linalg.norm(self.current[self.filling.open()], axis=1).max(initial=0.0))

    def followed(self) -> Selection:
        """The columns at the point where one more would enter; if the path ends before, columns with the largest
        residual are added."""
        barred = -1  # a column that left stays out for one step
        for _ in range(SEARCH.lasso_events * self.task.n_nonzero):
            aim, solution = self._at_least_squares(), self._least_squares()
            entering, share = self._next(aim, barred)
            leaving, earlier = self._first_to_leave(solution)
            leaves, share = earlier <= share, min(share, earlier)
            height = (1.0 - share) * self.height
            if height <= FOLLOWED * self.first or not (leaves or self.filling.room):
                break
            self.height = height
            self.current += share * (aim - self.current)
            self.coefficients += share * (solution - self.coefficients)
            barred = leaving if leaves else -1
            if leaves:
                self._leave(leaving)
            else:
                self.filling.take(entering)
        self.filling.fill_up()
        return self.filling.selection()

    def _at_least_squares(self) -> Array:
        """Correlations with the residual of least squares on the columns."""
        return self.filling.state.cross / self.norms

    def _least_squares(self) -> Array:
        """Coefficients of the least squares fit."""
        solution, chosen = np.zeros_like(self.coefficients), self.filling.state.chosen
        if chosen:
            solution[chosen] = np.linalg.solve(self.filling.inside(), self.task.target.cross[chosen])
        return solution

    def _free(self) -> Indices:
        """Columns that may leave: all but the required."""
        return np.setdiff1d(np.array(self.filling.state.chosen, dtype=np.intp), self.task.rules.required)

    def _next(self, aim: Array, barred: int) -> tuple[int, float]:
        """The next column whose correlation equals that of the active ones, and the step length to that point.

        |(1 - g) c + g a| = (1 - g) h for its correlations c now and a at the end, and the correlation h of the active
        columns.
        """
        open_ = self.filling.open() if self.filling.room else self._would_add()
        if barred >= 0:
            open_[barred] = False
        now = np.einsum("ij,ij->i", self.current, self.current)
        if len(self._free()) == 0:  # nothing moves yet: the most correlated column is first
            j = first_largest(np.where(open_, now, -1.0))
            return j, 0.0 if open_.any() else np.inf
        mixed, end = np.einsum("ij,ij->i", self.current, aim), np.einsum("ij,ij->i", aim, aim)
        shares = np.where(open_, _first_root(now - self.height**2, mixed, end), np.inf)
        j = first_largest(-shares)
        return j, float(shares[j])

    def _would_add(self) -> NDArray[np.bool_]:
        """Inactive columns that are independent of the active ones; none if no more are allowed."""
        state = self.filling.state
        outside: NDArray[np.bool_] = state.left > INDEPENDENT * state.square
        outside[state.chosen] = False
        return outside

    def _first_to_leave(self, solution: Array) -> tuple[int, float]:
        """The first column whose coefficients no longer point along its correlations, and the step length to that
        point."""
        free = self._free()
        along = np.einsum("ij,ij->i", self.coefficients[free], self.current[free])
        after = np.einsum("ij,ij->i", solution[free], self.current[free])
        shares = np.divide(along, along - after, out=np.full(len(free), np.inf), where=(after < 0) & (along > 0))
        if len(free) == 0 or not np.isfinite(shares.min()):
            return -1, np.inf
        place = first_largest(-shares)
        return int(free[place]), float(shares[place])

    def _leave(self, j: int) -> None:
        """Continue without a column."""
        known = self.filling.selection()
        rest, self.coefficients[j] = known.columns != j, 0.0
        self.filling = Filling(self.task)
        self.filling.extend(known.columns[rest], known.gram_columns[:, rest])


def _first_root(above: Array, mixed: Array, end: Array) -> Array:
    """The smallest g in [0, 1] with (1 - g)^2 above + 2 g (1 - g) mixed + g^2 end = 0 for each; infinite if there is
    none.

    ``above`` is at most 0: in t = g / (1 - g) the larger root of end t^2 + 2 mixed t + above = 0.
    """
    above = np.minimum(above, 0.0)
    root = np.sqrt(np.maximum(mixed**2 - end * above, 0.0))
    sum_ = mixed + root  # t = -above / (mixed + root), which loses no digits for mixed > 0
    t = np.divide(-above, sum_, out=np.full_like(above, np.inf), where=sum_ > 0)
    return np.where(np.isfinite(t), t / (1 + np.where(np.isfinite(t), t, 0.0)), np.inf)
