"""Duals of semidefinite relaxations of one component: one matrix proves the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.linalg.rounding import rounded_up
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds.base import BoundMethod, ContinuedBound, Hypothesis, Kept, as_floats, eigen_seconds
from sparing.proof.relaxations.semidefinite import Alternation, dual_value, one_sided_value, relaxation
from sparing.proof.relaxations.sharper_dual import sharpened, sharper_value
from sparing.proof.trees.nonnegative_proof import proposed_dual
from sparing.proof_limits import LIMITS, SECONDS
from sparing.results import Array, Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class SemidefiniteDual(ContinuedBound):
    """x'Ax <= lambda_max(A - Y) + r max|Y_ij| for every symmetric Y [daspremont2007, Sec. 2], one component.

    The relaxation's iteration proposes Y, one ``eigvalsh`` certifies it, however far the iteration went.

    Parameters
    ----------
    max_iter : int, optional
        Maximum number of iterations, one eigendecomposition each, instead of the number that ``effort`` sets.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives.
    """

    max_iter: int | None = None
    tolerance: float = 1e-4

    name: ClassVar = "semidefinite_dual"
    hypothesis: ClassVar = Hypothesis("variance", components="one")
    scales: ClassVar = True
    reference: ClassVar = Reference("daspremont2007", "Sec. 2, dual of the semidefinite relaxation")

    def _suits(self, task: Task) -> bool:
        """For not too many features."""
        return task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one eigendecomposition per step; if loadings are nonnegative, other bounds come first."""
        d = task.gram.n_features
        return math.inf if task.problem.nonnegative else 1.5 * effort.dual_steps(d) * eigen_seconds(d)

    def _begin(self, task: Task) -> Alternation:
        """The relaxation."""
        return relaxation(task.gram.gram(), task.problem.n_nonzero)

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The bound and its Y, for one component and not too many features."""
        if not self.applies(task):
            return None
        steps = run.effort.proof.dual_steps(task.gram.n_features) if self.max_iter is None else self.max_iter
        _, Y = (kept or Kept()).begun(lambda: self._begin(task)).run(steps, self.tolerance, run.budget)
        return Bound(self.check(task, Y), self.name, "the dual of the semidefinite relaxation", "always", Y)

    def _again(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and Y."""
        if (Y := as_floats(witness, task.gram.n_features, task.gram.n_features)) is None:
            return math.inf
        return rounded_up(dual_value(task.gram.gram(), Y, task.problem.n_nonzero), task.gram)


@dataclass(frozen=True)
class SharperDual(BoundMethod):
    """x'Ax <= lambda_max(A - (Q + Q')/2 + Diag(a)) + the r largest b_i, all Q and a [li2020, Sec. on relaxation (16)].

    b_i = (sqrt(n_i^2 + a_i^2) - a_i)/2, where n_i is the norm of the r - 1 largest off-diagonal entries of row i of Q.
    One component. ``proof/relaxations/sharper_dual.py`` has the proof and the search; one ``eigvalsh`` certifies,
    however far the search went.

    Parameters
    ----------
    max_iter, max_relaxed : int, optional
        Maximum number of iterations, one eigendecomposition each, and those of the plain relaxation that it starts
        from, instead of the number that ``effort`` sets.

    Notes
    -----
    **Differs from the paper.** Its relaxation asks sum_j X_ij^2 <= X_ii z_i and (sum_j |X_ij|)^2 <= r X_ii z_i of every
    row and is left to a solver. Here a dual is minimised directly, and off-diagonal entries are priced by the r - 1
    largest ones, which covers both and is slightly tighter.
    """

    max_iter: int | None = None
    max_relaxed: int | None = None

    name: ClassVar = "sharper_dual"
    hypothesis: ClassVar = Hypothesis("variance", components="one")
    scales: ClassVar = True
    reference: ClassVar = Reference("li2020", "Sec. on relaxation (16), its dual")

    def _suits(self, task: Task) -> bool:
        """For not too many features."""
        return task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of eigendecompositions and other steps; if loadings are nonnegative, other bounds come first."""
        steps = SECONDS.sharper * effort.sharper_steps + 1.5 * effort.most_steps
        return math.inf if task.problem.nonnegative else steps * eigen_seconds(task.gram.n_features)

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its Q and a, for one component and not too many features."""
        view, problem = task.gram, task.problem
        if not self.applies(task):
            return None
        A, effort = view.gram(), run.effort.proof
        with single_threaded_blas(float(len(A)) ** 3):
            Q, a = sharpened(
                A,
                min(problem.n_nonzero, len(A)),
                max_iter=effort.part(effort.sharper_steps) if self.max_iter is None else self.max_iter,
                max_relaxed=effort.part(effort.most_steps) if self.max_relaxed is None else self.max_relaxed,
                target=_reached(A, incumbent),
                budget=run.budget,
            )
            value = self.check(task, (Q, a))
        return Bound(value, self.name, "a sharper semidefinite dual", "always", (Q, a))

    def _again(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data, Q and a."""
        d, (Q, a) = task.gram.n_features, witness
        if (Q := as_floats(Q, d, d)) is None or (a := as_floats(a, d)) is None:
            return math.inf
        return rounded_up(sharper_value(task.gram.gram(), Q, a, min(task.n_nonzero, d)), task.gram)


def _reached(A: Array, incumbent: Any) -> float:
    """The variance that is known to be possible: a bound as small as that is the end of the search."""
    if incumbent is None:
        return -np.inf
    x = np.asarray(incumbent.loadings[0])
    return float(x @ A[np.ix_(incumbent.support, incumbent.support)] @ x) / float(x @ x)


@dataclass(frozen=True)
class DoublyNonnegativeDual(BoundMethod):
    """x'Ax <= lambda_max(A - Y) + (r - 1) max(Y_ij, 0), Y of zero diagonal, x >= 0 [daspremont2007, Sec. 2].

    One component. The relaxation's iteration proposes Y, one ``eigvalsh`` certifies it, however far the iteration went.

    Parameters
    ----------
    max_iter : int, optional
        Maximum number of iterations, one eigendecomposition each, instead of the number that ``effort`` sets. A hundred
        are enough on most data.
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
    hypothesis: ClassVar = Hypothesis("variance", components="one", nonnegative=True)
    scales: ClassVar = True
    reference: ClassVar = Reference("daspremont2007", "Sec. 2, dual of the semidefinite relaxation; one-sided")

    def _suits(self, task: Task) -> bool:
        """For not too many features."""
        return task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one eigendecomposition per step."""
        d = task.gram.n_features
        return effort.dual_steps(d, unhurried=200) * eigen_seconds(d)

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

    def _again(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and Y."""
        if (Y := as_floats(witness, task.gram.n_features, task.gram.n_features)) is None:
            return math.inf
        with single_threaded_blas(float(task.gram.n_features) ** 3):
            value = one_sided_value(task.gram.gram(), Y, min(task.n_nonzero, task.gram.n_features))
        return rounded_up(value, task.gram)
