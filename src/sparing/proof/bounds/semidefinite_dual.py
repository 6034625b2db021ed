"""The dual of the semidefinite relaxation: one matrix proves the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds._witness import as_floats
from sparing.proof.hypotheses import valid_for
from sparing.proof.relaxations.semidefinite import dual_value, relaxed
from sparing.proof_effort import LIMITS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class SemidefiniteDual:
    """x'Ax <= lambda_max(A - Y) + r max|Y_ij| for every symmetric Y [daspremont2007, Sec. 2], one component.

    The relaxation's iteration proposes Y, one ``eigvalsh`` certifies it, however far the iteration went.

    Parameters
    ----------
    max_iter : int, optional
        Iterations at most, one eigendecomposition each, in place of those of the effort.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives.
    """

    max_iter: int | None = None
    tolerance: float = 1e-4

    name: ClassVar = "semidefinite_dual"
    objective: ClassVar = "variance"
    scales: ClassVar = True
    reference: ClassVar = Reference("daspremont2007", "Sec. 2, dual of the semidefinite relaxation")

    def applies(self, task: Task) -> bool:
        """For one component and not too many features."""
        return task.problem.is_single and task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task) -> float:
        """A quarter of a second for 40 steps of 200 features; others come first where loadings are nonnegative."""
        return math.inf if task.problem.nonnegative else 0.5 * (task.gram.n_features / 200) ** 3

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound and its Y, for one component and not too many features."""
        view, problem = task.gram, task.problem
        if not self.applies(task):
            return None
        steps = run.effort.proof.dual_steps(view.n_features, unhurried=64) if self.max_iter is None else self.max_iter
        _, Y = relaxed(view.gram(), problem.n_nonzero, max_iter=steps, tolerance=self.tolerance, budget=run.budget)
        return Bound(self.check(task, Y), self.name, "the dual of the semidefinite relaxation", "always", Y)

    @valid_for(one=True)
    def check(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and Y."""
        if (Y := as_floats(witness, task.gram.n_features, task.gram.n_features)) is None:
            return math.inf
        return rounded_up(dual_value(task.gram.gram(), Y, task.problem.n_nonzero), task.gram)
