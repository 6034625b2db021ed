"""Trace bound: the largest variances of single features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from sparing.effort import ProofEffort
from sparing.gram import DataMatrix
from sparing.linalg.rounding import EPS, rounded_up
from sparing.linalg.rows import sum_of_largest
from sparing.proof.bounds.base import BoundMethod, Hypothesis, eigen_seconds
from sparing.proof_limits import LIMITS
from sparing.results import Array, Bound, Encoder, Problem, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class LargestDiagonals(BoundMethod):
    """k mu + the u largest diagonals of (A - mu I)_+, for every mu >= 0 [fan1949, Theorem 1 on u features].

    u is the number of features that all k components use together. For the projection P on their span
    tr(PA) <= k mu + tr(P(A - mu I)_+), and P is at most the identity on those u features. So it holds for all
    components, orthogonal or not. mu = 0 gives the u largest variances, mu = lambda_1 gives k lambda_1; the best mu is
    searched, the function being convex.
    """

    name: ClassVar = "largest_diagonals"
    hypothesis: ClassVar = Hypothesis("variance")
    reference: ClassVar = Reference("fan1949", "Theorem 1, for A - mu I")

    def _suits(self, task: Task) -> bool:
        """Whether A is positive semidefinite, or small enough to decompose."""
        return task.gram.is_psd or task.gram.n_features <= LIMITS.decomposed_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Almost zero: the diagonal is known, and A is decomposed only if that is cheap."""
        return 0.0

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its mu; None if A is not positive semidefinite and too large to check."""
        view, problem = task.gram, task.problem
        if not self.applies(task):
            return None
        mu, d = 0.0, view.n_features
        cheap = eigen_seconds(d) <= LIMITS.free_share * run.effort.proof.cost
        if d <= LIMITS.decomposed_features and (cheap or not view.is_psd) and not run.budget.expired:
            values, weights = _decomposed(view)
            top = max(float(values[-1]), 0.0)
            found = minimize_scalar(
                lambda at: _at(at, values, weights, problem),
                bounds=(0.0, top),
                method="bounded",
                options={"xatol": 1e-6 * top},
            )
            mu = min((0.0, top, float(found.x)), key=lambda at: _at(at, values, weights, problem))
            if mu > 0:
                value = rounded_up(_at(mu, values, weights, problem), view)
                return Bound(value, self.name, "the largest variances", "always", mu)
        return Bound(self.check(task, mu), self.name, "the largest variances", "always", mu)

    def _again(self, task: Task, witness: Any) -> float:
        """The bound again, from the data and mu."""
        mu = float(witness)
        if not mu >= 0.0:
            return float("inf")
        if mu == 0.0 and task.gram.is_psd:
            used = min(_used(task.problem), task.gram.n_features)
            short = (
                max(used - task.problem.n_components, 0) * task.gram.psd_slack
            )  # A + psd_slack I is positive semidefinite
            return rounded_up(sum_of_largest(task.gram.gram_diagonal(), used) + short, task.gram)
        return rounded_up(_at(mu, *_decomposed(task.gram), task.problem), task.gram)


def _decomposed(view: DataMatrix) -> tuple[Array, Array]:
    """Rising eigenvalues, and the squared entries of their eigenvectors (columns)."""
    values, vectors = np.linalg.eigh(view.gram())
    return values, np.square(vectors)


def _used(problem: Problem) -> int:
    """How many features all components can use together."""
    return int(problem.n_nonzero if problem.shared_support else problem.n_components * problem.n_nonzero)


def _at(mu: float, values: Array, weights: Array, problem: Problem) -> float:
    """The bound at mu; the decomposition is off by a few d eps |A|, which mu makes up for."""
    k = problem.n_components
    rounding = 8 * len(values) * EPS * float(np.abs(values).max())
    return k * (mu + rounding) + sum_of_largest(weights @ np.maximum(values - mu, 0.0), _used(problem))
