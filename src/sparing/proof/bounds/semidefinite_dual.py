"""The dual of the semidefinite relaxation: one matrix proves the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.gram import DataMatrix
from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds._witness import as_floats
from sparing.proof.hypotheses import valid_for
from sparing.proof.relaxations.semidefinite import dual_value, relaxed
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task

DUAL_LIMIT = 500
"""The most features for which the witness, a matrix of features by features, is kept (two mebibytes)."""


@dataclass(frozen=True)
class SemidefiniteDual:
    """x'Ax <= lambda_max(A - Y) + r max|Y_ij| for every symmetric Y [daspremont2007, Sec. 2], one component.

    The relaxation's iteration proposes Y, one ``eigvalsh`` certifies it, however far the iteration went.

    Parameters
    ----------
    max_iter : int
        Iterations at most, one eigendecomposition each.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives.
    """

    max_iter: int = 200
    tolerance: float = 1e-4

    reference: ClassVar = Reference("daspremont2007", "Sec. 2, dual of the semidefinite relaxation")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound and its Y, for one component and not too many features."""
        view, problem = task.gram, task.problem
        if problem.n_components != 1 or view.n_features > DUAL_LIMIT:
            return None
        r = problem.n_nonzero
        _, Y = relaxed(view.gram(), r, max_iter=self.max_iter, tolerance=self.tolerance, budget=run.budget)
        return Bound(recompute(view, problem, Y), "the dual of the semidefinite relaxation", "always", recompute, Y)


@valid_for(one=True)
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The inequality itself, from the data and Y."""
    if (Y := as_floats(witness, view.n_features, view.n_features)) is None:
        return math.inf
    return rounded_up(dual_value(view.gram(), Y, problem.n_nonzero), view)
