"""The dual of the doubly nonnegative relaxation: one matrix proves the bound for x >= 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.linalg.rounding import rounded_up
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds._witness import as_floats
from sparing.proof.hypotheses import valid_for
from sparing.proof.relaxations.doubly_nonnegative import one_sided_value
from sparing.proof.trees.nonnegative_proof import proposed_dual
from sparing.proof_effort import LIMITS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class DoublyNonnegativeDual:
    """x'Ax <= lambda_max(A - Y) + (r - 1) max(Y_ij, 0), Y of zero diagonal, x >= 0 [daspremont2007, Sec. 2].

    One component. The relaxation's iteration proposes Y, one ``eigvalsh`` certifies it, however far the iteration went.

    Parameters
    ----------
    max_iter : int, optional
        Iterations at most, one eigendecomposition each, in place of those of the effort. A hundred are enough on most
        data.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives, or of the variance known.

    Notes
    -----
    **Differs from the paper.** It asks |Y_ij| to be small, for x of any sign. For x >= 0 only positive Y_ij cost: the
    dual of the same relaxation with M_ij >= 0.
    """

    max_iter: int | None = None
    tolerance: float = 1e-7

    name: ClassVar = "doubly_nonnegative_dual"
    objective: ClassVar = "variance"
    scales: ClassVar = True
    reference: ClassVar = Reference("daspremont2007", "Sec. 2, dual of the semidefinite relaxation; one-sided")

    def applies(self, task: Task) -> bool:
        """For one nonnegative component and not too many features."""
        return task.problem.is_single and task.problem.nonnegative and task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task) -> float:
        """Half a second for 40 steps of 500 features."""
        return 0.5 * (task.gram.n_features / 500) ** 3

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound and its Y, for one nonnegative component and not too many features."""
        view, problem = task.gram, task.problem
        if not self.applies(task):
            return None
        support, loadings = np.arange(0), np.zeros(0)
        if incumbent is not None and len(incumbent.loadings) == 1:
            support, loadings = incumbent.support, incumbent.loadings[0]
        d, r = view.n_features, problem.n_nonzero
        steps = run.effort.proof.dual_steps(d, unhurried=200) if self.max_iter is None else self.max_iter
        with single_threaded_blas(float(view.n_features) ** 3):
            Y = proposed_dual(view.gram(), r, support, loadings, steps, self.tolerance, run.budget)
        return Bound(self.check(task, Y), self.name, "the doubly nonnegative dual", "always", Y)

    @valid_for(one=True, nonnegative=True)
    def check(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and Y."""
        if (Y := as_floats(witness, task.gram.n_features, task.gram.n_features)) is None:
            return math.inf
        with single_threaded_blas(float(task.gram.n_features) ** 3):
            value = one_sided_value(task.gram.gram(), Y, min(task.n_nonzero, task.gram.n_features))
        return rounded_up(value, task.gram)
