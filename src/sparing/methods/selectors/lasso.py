"""Features that the Lasso's path to given targets holds when it has as many as are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.lasso import EVENTS
from sparing.linalg.signs import first_largest
from sparing.methods.selectors.filling import Filling
from sparing.methods.selectors.greedy import Greedy
from sparing.methods.selectors.response import ResponseTarget, explains_something, leading_targets, needs_targets
from sparing.objectives.span import INDEPENDENT
from sparing.results import Array, Indices, Reference, Selection
from sparing.run import Run
from sparing.task import Task

FOLLOWED = 1e-9
"""Correlations below this share of the largest at first are rounding: there the path ends."""


@dataclass(frozen=True)
class Lasso:
    """Follow the path of the Lasso from no feature to ``n_columns`` of them, for given targets [boutsidis2011, Sec. 6].

    Features enter in the order in which the penalty lets them, and leave where their coefficient becomes zero
    [efron2004, Sec. 3.1]; the fit on what is found is not shrunken. Forward selection commits itself to each choice
    fully; here a choice is weighed against the next as soon as that explains as much, which errs less where samples are
    few or features alike. Features count in units of their own norm, so that their units do not matter.

    Notes
    -----
    **Guarantee.** None in terms of PCA's loss; ``selector="auto"`` of :class:`SparsePCARegressor` runs it with dual set
    selection as safeguard, so that Theorem 1 holds.
    **Differs from the paper.** It names the wish for choices that look at the targets and no algorithm. For several
    targets lengths of rows take the place of absolute values, as in multiresponse least angle regression [simila2007],
    and a feature leaves where its coefficients point away from what it correlates with.
    """

    reference: ClassVar = Reference("boutsidis2011", "Sec. 6")
    uses_targets: ClassVar = True

    def select(self, task: Task, run: Run) -> Selection:
        """At most ``n_columns`` columns; those of ``Greedy`` where nothing of the targets can be explained."""
        target = task.target
        if not isinstance(target, ResponseTarget):
            raise needs_targets("selector='lasso'")
        aim = leading_targets(target)
        if not explains_something(task.gram, aim, target):
            return Greedy().select(replace(task, target=target.spectrum), run)
        return _Path(replace(task, target=aim)).followed()


class _Path:
    """Columns on the path so far, their coefficients, and X'(T - fit) in units of each column's norm.

    Between two events the fit moves straight to the least squares fit on the columns it has, along which their own
    correlations shrink alike, by the share of the way that is gone.
    """

    def __init__(self, task: Task) -> None:
        self.task, self.filling = task, Filling(task)
        squares = task.gram.gram_diagonal()
        self.norms = np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
        self.current = self._at_least_squares()
        self.coefficients = np.zeros_like(self.current)
        self.height = self.first = float(np.linalg.norm(self.current[self.filling.open()], axis=1).max(initial=0.0))

    def followed(self) -> Selection:
        """The columns where one more would enter, and columns of largest residual where the path ends before."""
        barred = -1  # what has left stays out for one step
        for _ in range(EVENTS * self.task.n_nonzero):
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
        """Correlations with what least squares on the columns leaves."""
        return self.filling.state.cross / self.norms

    def _least_squares(self) -> Array:
        """Coefficients of that fit."""
        solution, chosen = np.zeros_like(self.coefficients), self.filling.state.chosen
        if chosen:
            solution[chosen] = np.linalg.solve(self.filling.inside(), self.task.target.cross[chosen])
        return solution

    def _free(self) -> Indices:
        """Columns that may leave: all but the required."""
        return np.setdiff1d(np.array(self.filling.state.chosen, dtype=np.intp), self.task.rules.required)

    def _next(self, aim: Array, barred: int) -> tuple[int, float]:
        """The column whose correlation is the first to equal that of those inside, and the share of the way to there.

        |(1 - g) c + g a| = (1 - g) h for its correlations c now and a at the end, and the height h of those inside.
        """
        open_ = self.filling.open() if self.filling.room else self._would_add()
        if barred >= 0:
            open_[barred] = False
        now = np.einsum("ij,ij->i", self.current, self.current)
        if len(self._free()) == 0:  # nothing moves yet: what correlates most is first
            j = first_largest(np.where(open_, now, -1.0))
            return j, 0.0 if open_.any() else np.inf
        mixed, end = np.einsum("ij,ij->i", self.current, aim), np.einsum("ij,ij->i", aim, aim)
        shares = np.where(open_, _first_root(now - self.height**2, mixed, end), np.inf)
        j = first_largest(-shares)
        return j, float(shares[j])

    def _would_add(self) -> NDArray[np.bool_]:
        """Columns outside that are independent of those inside, where there is no room for them."""
        state = self.filling.state
        outside: NDArray[np.bool_] = state.left > INDEPENDENT * state.square
        outside[state.chosen] = False
        return outside

    def _first_to_leave(self, solution: Array) -> tuple[int, float]:
        """The first column whose coefficients stop pointing along its correlations, and the share of the way."""
        free = self._free()
        along = np.einsum("ij,ij->i", self.coefficients[free], self.current[free])
        after = np.einsum("ij,ij->i", solution[free], self.current[free])
        shares = np.divide(along, along - after, out=np.full(len(free), np.inf), where=(after < 0) & (along > 0))
        if len(free) == 0 or not np.isfinite(shares.min()):
            return -1, np.inf
        place = first_largest(-shares)
        return int(free[place]), float(shares[place])

    def _leave(self, j: int) -> None:
        """Go on without a column."""
        known = self.filling.selection()
        rest, self.coefficients[j] = known.columns != j, 0.0
        self.filling = Filling(self.task)
        self.filling.extend(known.columns[rest], known.gram_columns[:, rest])


def _first_root(above: Array, mixed: Array, end: Array) -> Array:
    """The least g in [0, 1] with (1 - g)^2 above + 2 g (1 - g) mixed + g^2 end = 0 for each; infinite where none is.

    ``above`` is at most 0: in t = g / (1 - g) the larger root of end t^2 + 2 mixed t + above = 0.
    """
    above = np.minimum(above, 0.0)
    root = np.sqrt(np.maximum(mixed**2 - end * above, 0.0))
    sum_ = mixed + root  # t = -above / (mixed + root), which loses no digits for mixed > 0
    t = np.divide(-above, sum_, out=np.full_like(above, np.inf), where=sum_ > 0)
    return np.where(np.isfinite(t), t / (1 + np.where(np.isfinite(t), t, 0.0)), np.inf)
