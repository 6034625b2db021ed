"""Bound for components whose cosines are limited: between orthogonal components and free ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.effort import ProofEffort
from sparing.linalg.rounding import EPS, rounded_up
from sparing.proof.bounds.base import ContinuedBound, Hypothesis, Kept, as_floats
from sparing.proof.bounds.shared_part import (
    RelaxedPart,
    Single,
    affordable_rounds,
    best_single,
    largest_gram,
    most_absolute,
    part_seconds,
)
from sparing.proof.relaxations.fantope import (
    PartSearch,
    SharedPartSearch,
    in_own_unit,
    leading_sum,
    projection_relaxation,
    scale_of,
    split,
)
from sparing.proof.relaxations.limited_cosine import LimitedPartSearch, union_values, unions
from sparing.proof.trees.prover import bound_of_one_component
from sparing.proof_limits import LIMITS
from sparing.results import Array, Bound, Encoder, Problem, Reference
from sparing.run import Run
from sparing.task import Task

METHOD = "a part for all components and a rest for each, by the limit on cosines"


@dataclass(frozen=True)
class LimitedCosine(ContinuedBound):
    """max over Q of [S_k(W_Q) + (k - k/gamma) lambda_max(R_Q)] + (k/gamma) lambda^(r)(R), R = A - W, every symmetric W.

    S_k is the sum of the k largest eigenvalues, Q any set of the maximum number of features that the components can
    read together, and lambda^(r)(R) the largest x'Rx of unit x with r nonzeros. It bounds tr(PA), P the projection on
    the span of k unit columns H with r nonzeros each and cosines of at most c. H'H has ones on its diagonal and
    off-diagonal entries of at most c, so its eigenvalues are at most gamma = 1 + (k - 1) c, and HH' <= gamma P. With E
    = P - HH' / gamma, psd and of trace k - k/gamma on the features of H, tr(PR) = tr(HH'R) / gamma + tr(ER); and tr(PW)
    is at most S_k(W_Q) [fan1949, Theorem 1].

    It holds where H has a rank m < k as well: then k - m eigenvalues of W_Q and as often lambda_max(R_Q) are counted in
    addition, and by Weyl's inequality no such pair is below the k-th eigenvalue of A_Q. With c = 0 it is the bound of
    orthogonal components, with W = A that of the best features for all components together. Where sets Q are too many
    to list it is S_k(W) + (k - k/gamma) lambda^(u)(R) + (k/gamma) lambda^(r)(R), u the number of their features.

    Parameters
    ----------
    single : callable
        ``single(B, r)``, a proved bound on lambda^(r)(B) for symmetric B, not necessarily positive semidefinite. By
        default a search of supports of limited size.
    rounds : int, optional
        Rounds of the search for W, instead of the number that ``effort`` sets.
    """

    single: Single = bound_of_one_component
    rounds: int | None = None

    name: ClassVar = "limited_cosine"
    hypothesis: ClassVar = Hypothesis("variance", components="several", separate=True)
    scales: ClassVar = True
    reference: ClassVar = Reference("fan1949", "Theorem 1, for W and the rest apart")

    def _suits(self, task: Task) -> bool:
        """For components with a limit on cosines that are not orthogonal, and not too many features."""
        limited = task.problem.max_cosine < 1 and not task.problem.is_orthogonal
        return limited and task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one eigendecomposition per step, and of the rounds of the search for a part."""
        return part_seconds(task, effort, effort.orthogonal_rounds)

    def _begin(self, task: Task) -> RelaxedPart:
        """The relaxation on the Fantope."""
        (_, A), problem = in_own_unit(task.gram.gram()), task.problem
        return RelaxedPart(projection_relaxation(A, problem.n_components, most_absolute(problem, len(A))))

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The bound with its W, which starts as that of the relaxation on the Fantope."""
        if not self.applies(task):
            return None
        (unit, A), effort, problem = in_own_unit(task.gram.gram()), run.effort.proof, task.problem
        k, d = problem.n_components, len(A)
        search = (kept or Kept()).begun(lambda: self._begin(task))
        _, Y = search.relaxation.run(effort.dual_steps(d), 1e-4, run.budget)
        part = search.part_from(lambda: _part_search(A, problem, split(A, Y, k)))
        rounds = affordable_rounds(task, effort, effort.orthogonal_rounds) if self.rounds is None else self.rounds
        W = unit * part.run(rounds, run.budget)
        return Bound(self.check(task, W), self.name, METHOD, "always", W)

    def _again(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and W."""
        (d, k), problem = (task.gram.n_features, task.problem.n_components), task.problem
        if (W := as_floats(witness, d, d)) is None:
            return math.inf
        value = limited_value(task.gram.gram(), W, problem, self.single)
        return rounded_up(value, task.gram) + (k - 1) * float(task.gram.psd_slack)  # where H has less than full rank


def _part_search(A: Array, problem: Problem, start: Array) -> PartSearch:
    d, k = len(A), problem.n_components
    own, size = k / largest_gram(problem), min(problem.n_nonzero, d)
    sets, union = unions(d, k * size), min(k * size, d)
    if sets.shape[1] > union:
        return SharedPartSearch(A, [size] * k, start, weights={size: own, union: k - own})
    return LimitedPartSearch(A, k, size, own, sets, start)


def limited_value(A: Array, given: Array, problem: Problem, single: Single) -> float:
    """The bound of any symmetric W, rounded up."""
    d, k = len(A), problem.n_components
    W, own, size = (given + given.T) / 2, k / largest_gram(problem), min(problem.n_nonzero, d)
    sets, union, R = unions(d, k * size), min(k * size, d), A - W
    if sets.shape[1] > union:  # too many sets: all features for W, and any of so many for the rest
        together = leading_sum(W, k) + (k - own) * best_single(R, union)  # a search of such supports would not end
    else:
        together = float(union_values(A, W, sets, k, k - own).max())
    rounding = 8 * d * EPS * d * (scale_of(A) + scale_of(W))
    return together + own * single(R, size) + 3 * k * rounding
