"""Orthogonal components: the dual of the relaxation on the Fantope, and a part of A for all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.effort import ProofEffort
from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds.base import ContinuedBound, Hypothesis, Kept, as_floats
from sparing.proof.bounds.shared_part import (
    DUAL,
    METHOD,
    PART,
    RelaxedPart,
    Single,
    affordable_rounds,
    part_seconds,
    split_value,
)
from sparing.proof.relaxations.fantope import (
    SharedPartSearch,
    in_own_unit,
    projection_relaxation,
    projection_value,
    split,
)
from sparing.proof.trees.prover import bound_of_one_component
from sparing.proof_limits import LIMITS
from sparing.results import Array, Bound, Encoder, Problem, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class OrthogonalDual(ContinuedBound):
    """tr(H'AH) <= the k largest eigenvalues of A - Y + s max|Y_ij| for orthonormal H, every symmetric Y.

    s is the number of nonzeros of all columns: sum |P_ij| <= sum of |h_j|_1^2 <= s for P = HH', a matrix of the Fantope
    [vu2013, Alg. 1]. With W = (A - Y - mu I)_+ and mu the k-th eigenvalue of A - Y the same bound is
    tr W + k lambda^(r)(A - W) with the dual bound in place of lambda^(r), the most variance of r features. So any W
    and any better bound on lambda^(r)(A - W) give one too: h_j'Ah_j = h_j'Wh_j + h_j'(A - W)h_j. Where lambda^(r) is
    exact a better W is searched for.

    Only for orthogonal components, or such without common features.

    Parameters
    ----------
    single : callable
        ``single(B, r)``, a proved bound on lambda^(r)(B) for symmetric B, not necessarily positive semidefinite. By
        default a search of supports of limited size.
    max_iter : int, optional
        Maximum number of iterations of the relaxation, one eigendecomposition each, instead of the number that
        ``effort`` sets.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives.
    rounds : int, optional
        Rounds of the search for W, instead of the number that ``effort`` sets.
    """

    single: Single = bound_of_one_component
    max_iter: int | None = None
    tolerance: float = 1e-4
    rounds: int | None = None

    name: ClassVar = "orthogonal_dual"
    hypothesis: ClassVar = Hypothesis("variance", orthogonal=True)
    scales: ClassVar = True
    reference: ClassVar = Reference("vu2013", "Alg. 1, the dual of its problem")

    def _suits(self, task: Task) -> bool:
        """For several components and not too many features."""
        return task.problem.is_several and task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one eigendecomposition per step, and of the rounds of the search for a part."""
        return part_seconds(task, effort, effort.orthogonal_rounds)

    def _begin(self, task: Task) -> RelaxedPart:
        """The relaxation on the Fantope."""
        (_, A), problem = in_own_unit(task.gram.gram()), task.problem
        return RelaxedPart(projection_relaxation(A, problem.n_components, nonzeros(problem, len(A))))

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The best of all with its Y or W, for orthogonal components and not too many features."""
        view, problem = task.gram, task.problem
        if not self.hypothesis.holds(problem) or view.n_features > LIMITS.witness_features:
            return None
        unit, A = in_own_unit(view.gram())
        k, search = problem.n_components, (kept or Kept()).begun(lambda: self._begin(task))
        effort = run.effort.proof
        steps = effort.dual_steps(len(A)) if self.max_iter is None else self.max_iter
        _, Y = search.relaxation.run(steps, self.tolerance, run.budget)
        found = [self._proved(task, DUAL, unit * Y)]
        if not problem.shared_support and not run.budget.expired:
            start, sizes = split(A, Y, k), [min(problem.n_nonzero, view.n_features)] * k
            rounds = affordable_rounds(task, effort, effort.orthogonal_rounds) if self.rounds is None else self.rounds
            is_first = search.part is None
            part = search.part_from(lambda: SharedPartSearch(A, sizes, start)).run(rounds, run.budget)
            found.append(self._proved(task, PART, unit * part))
            # a part is better than the one before for the true lambda^(r), not for every bound
            if is_first and part is not start and found[1].value > found[0].value:
                found.append(self._proved(task, PART, unit * start))
        return min(found, key=lambda bound: bound.value)

    def _proved(self, task: Task, kind: str, matrix: Array) -> Bound:
        words = METHOD if kind == PART else "the dual of the Fantope relaxation"
        return Bound(self.check(task, (kind, matrix)), self.name, words, "always", (kind, matrix))

    def _again(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and W, or for the relaxation from Y."""
        kind, given = witness
        (d, k), problem = (task.gram.n_features, task.problem.n_components), task.problem
        if kind not in (PART, DUAL) or (matrix := as_floats(given, d, d)) is None:
            return math.inf
        if kind == DUAL:
            value = projection_value(task.gram.gram(), matrix, k, nonzeros(problem, d))
        elif problem.shared_support:  # features are counted for all together, not for each
            return math.inf
        else:
            value = split_value(task.gram.gram(), matrix, [min(problem.n_nonzero, d)] * k, self.single)
        return rounded_up(value, task.gram)


def nonzeros(problem: Problem, n_features: int) -> int:
    """Maximum number of nonzeros of all columns together; a total of d may replace any larger one."""
    k, r = problem.n_components, problem.n_nonzero
    if problem.shared_support and r < n_features:
        return int(max(r, k))
    return int(k * min(r, n_features))
