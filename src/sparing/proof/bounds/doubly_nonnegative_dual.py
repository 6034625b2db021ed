"""The dual of the doubly nonnegative relaxation: one matrix proves the bound for x >= 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.rounding import rounded_up
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds._witness import as_floats
from sparing.proof.bounds.semidefinite_dual import DUAL_LIMIT
from sparing.proof.hypotheses import valid_for
from sparing.proof.relaxations.doubly_nonnegative import one_sided_value
from sparing.proof.trees.nonnegative_proof import proposed_dual
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class DoublyNonnegativeDual:
    """x'Ax <= lambda_max(A - Y) + (r - 1) max(Y_ij, 0), Y of zero diagonal, x >= 0 [daspremont2007, Sec. 2].

    One component. The relaxation's iteration proposes Y, one ``eigvalsh`` certifies it, however far the iteration went.

    Parameters
    ----------
    max_iter : int
        Iterations at most, one eigendecomposition each. A hundred are enough on most data.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives, or of the variance known.

    Notes
    -----
    **Differs from the paper.** It asks |Y_ij| to be small, for x of any sign. For x >= 0 only positive Y_ij cost: the
    dual of the same relaxation with M_ij >= 0.
    """

    max_iter: int = 200
    tolerance: float = 1e-7

    reference: ClassVar = Reference("daspremont2007", "Sec. 2, dual of the semidefinite relaxation; one-sided")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound and its Y, for one nonnegative component and not too many features."""
        view, problem = task.gram, task.problem
        if problem.n_components != 1 or not problem.nonnegative or view.n_features > DUAL_LIMIT:
            return None
        support, loadings = np.arange(0), np.zeros(0)
        if incumbent is not None and len(incumbent.loadings) == 1:
            support, loadings = incumbent.support, incumbent.loadings[0]
        r, steps = problem.n_nonzero, self.max_iter
        with single_threaded_blas(float(view.n_features) ** 3):
            Y = proposed_dual(view.gram(), r, support, loadings, steps, self.tolerance, run.budget)
        return Bound(recompute(view, problem, Y), "the doubly nonnegative dual", "always", recompute, Y)


@valid_for(one=True, nonnegative=True)
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The inequality itself, from the data and Y."""
    if (Y := as_floats(witness, view.n_features, view.n_features)) is None:
        return math.inf
    with single_threaded_blas(float(view.n_features) ** 3):
        return rounded_up(one_sided_value(view.gram(), Y, min(problem.n_nonzero, view.n_features)), view)
