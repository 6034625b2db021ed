"""Bound for several components: a part of A shared by all, the rest bounded for one direction at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.linalg.rounding import EPS, rounded_up
from sparing.linalg.rows import squares, sum_of_largest, sums
from sparing.proof.bounds.base import ContinuedBound, Hypothesis, Kept, as_floats, eigen_seconds
from sparing.proof.relaxations.fantope import (
    PartSearch,
    SharedPartSearch,
    in_own_unit,
    leading_sum,
    projection_relaxation,
    projection_value,
    scale_of,
    split,
    top_of_all,
)
from sparing.proof.relaxations.semidefinite import Alternation, dual_value, relaxed
from sparing.proof_limits import LIMITS, SCHEDULES, SECONDS
from sparing.results import Array, Bound, Encoder, Problem, Reference
from sparing.run import Budget, Run
from sparing.task import Task

Single = Callable[[Array, int], float]
"""``single(B, r)`` >= x'Bx for all unit x with r nonzeros, B symmetric, proved."""

PART, DUAL = "part", "dual"
"""Kinds of witnesses: W, and the dual matrix Y of a relaxation."""

METHOD = "a part for all components and a rest for each"

COSINE_SLACK = 1e-8
"""Share added to the largest eigenvalue of H'H: loadings keep a limit on cosines up to rounding."""


@dataclass
class RelaxedPart:
    """A relaxation, and the search for a shared part that starts where it ends."""

    relaxation: Alternation
    part: PartSearch | None = None

    def part_from(self, start: Callable[[], PartSearch]) -> PartSearch:
        """The search that has begun; while it has had no round, a new one from where the relaxation is now."""
        if self.part is None or self.part.rounds == 0:
            self.part = start()
        return self.part


def sizes_in_turn(problem: Problem, n_features: int) -> list[int]:
    """The number of features that successive Gram-Schmidt directions can have."""
    k, r, d = problem.n_components, problem.n_nonzero, n_features
    if not problem.shared_support:
        return [min(j * r, d) for j in range(1, k + 1)]
    return [d] * k if r >= d else [j * r // k for j in range(1, k + 1)]  # a total of d may stand for any larger one


def most_absolute(problem: Problem, n_features: int) -> float:
    """What the sum of all |P_ij| can be, for the projection P on the span of any components."""
    k, r = problem.n_components, problem.n_nonzero
    u = max(min(r if problem.shared_support else k * r, n_features), k)
    flat = (k + math.sqrt(k * (u - 1) * (u - k))) * (1 + 8 * EPS)
    if problem.max_cosine < 1 and not problem.shared_support:  # P is HH' / gamma and a psd matrix on u features
        own = k / largest_gram(problem)
        flat = min(flat, (own * min(r, n_features) + (k - own) * u) * (1 + 8 * EPS))
    return min(float(sum(sizes_in_turn(problem, n_features))), flat)


def largest_gram(problem: Problem) -> float:
    """gamma: what no eigenvalue of H'H exceeds, for unit columns H whose cosines keep their limit; rounded up.

    The diagonal of H'H is 1, and its other entries are the cosines; its trace is k.
    """
    k, cosine = problem.n_components, problem.max_cosine
    return (1 + (k - 1) * (cosine if 0 <= cosine <= 1 else 1.0)) * (1 + COSINE_SLACK)


def split_value(A: Array, W: Array, sizes: list[int], single: Single) -> float:
    """The bound of any symmetric W, rounded up.

    W less its k-th eigenvalue mu, and A - W with mu more, say the same. Then no term is below what it is for fewer
    directions than asked for, where components repeat one another.
    """
    symmetric, k = (W + W.T) / 2, len(sizes)
    values = np.linalg.eigvalsh(symmetric)
    mu = float(values[len(A) - k])
    above = float((values[len(A) - k :] - mu).sum())
    once = {t: max(single(A - symmetric, t) + mu, 0.0) for t in set(sizes)}
    rounding = 8 * len(A) * EPS * (len(A) * scale_of(A) + 2 * float(np.abs(values).max()))
    return above + sum(once[t] for t in sizes) + k * rounding


def part_seconds(task: Task, effort: ProofEffort, rounds: int) -> float:
    """The relaxation on the Fantope, rounds of the search for a shared part, and its check."""
    relaxation, each = _relaxation_and_round(task, effort)
    return relaxation + affordable_rounds(task, effort, rounds) * each


def affordable_rounds(task: Task, effort: ProofEffort, rounds: int) -> int:
    """As many of these rounds as there is room for beside the relaxation, which comes first."""
    relaxation, each = _relaxation_and_round(task, effort)
    return int(effort.share * min(max((effort.cost - relaxation) / each, 0.0), rounds))


def _relaxation_and_round(task: Task, effort: ProofEffort) -> tuple[float, float]:
    d, k = task.gram.n_features, task.problem.n_components
    step = eigen_seconds(d)
    smooth = SECONDS.cuts + SECONDS.smooth * SCHEDULES.smooth_steps * step * (k + 1) / 3
    return SECONDS.single + 1.5 * replace(effort, share=1.0).dual_steps(d) * step, smooth


def single_steps(n_features: int) -> int:
    """Steps of the relaxation that bounds one direction; none where they would be too few to help."""
    steps = int(LIMITS.single_steps * min((LIMITS.single_features / n_features) ** 3, 1.0))
    return steps if steps >= 5 else 0


def best_single(B: Array, size: int) -> float:
    """A bound on lambda^(size)(B): that of all supports, or the best of simple bounds and the semidefinite dual."""
    exact = top_of_all(B, size)
    if exact is not None:
        return exact
    quick = _quick(B, size)
    if (steps := single_steps(len(B))) == 0:
        return quick
    _, Y = relaxed(B, size, max_iter=steps, tolerance=1e-4, budget=Budget())
    return min(quick, dual_value(B, Y, size))


def _quick(B: Array, size: int) -> float:
    """The largest eigenvalue, row sums and row sums of squares, whichever is least."""
    own = np.arange(len(B))
    by_squares = math.sqrt(sum_of_largest(squares(B, own, size), size))
    rows = min(float(sums(B, own, size).max()), by_squares)
    return min(leading_sum(B, 1), rows + 8 * len(B) * EPS * len(B) * scale_of(B))


@dataclass(frozen=True)
class SharedPart(ContinuedBound):
    """The k largest eigenvalues of W + the sum of lambda^(t_j)(A - W), for every symmetric W [fan1949, Theorem 1].

    lambda^(t)(B) is the most x'Bx of any unit x with t nonzeros, and t_j = min(j r, d). It holds for all components,
    orthogonal or not. For the projection P on their span tr(PW) is at most the k largest eigenvalues of W. Gram-Schmidt
    writes P as the sum of q_j q_j', q_j a combination of the first j components, so with at most j r nonzeros, and
    q_j'(A - W)q_j <= lambda^(t_j)(A - W). Where the components have u features in all, take the one with fewest first:
    the j smallest of k numbers have at most j/k of their sum, so t_j = floor(j u / k).

    k lambda^(r)(A) is no such bound: components that nearly repeat one another buy each other features.

    W = (A - mu I)_+ is tried for several mu, W = 0 among them. Another W, and a bound of its own, come from the dual
    matrix Y of the relaxation: sum |P_ij| is at most the sum of t_j, and at most k + sqrt(k (u - 1)(u - k)) on u
    features, because sum P_ij^2 = k and sum P_ii^2 >= k^2 / u. One more W is searched for where lambda^(t) is exact.

    Parameters
    ----------
    single : callable
        ``single(B, r)``, a proved bound on lambda^(r)(B) for symmetric B, not necessarily positive semidefinite. By
        default all supports where they are few, otherwise the best of simple bounds and the semidefinite dual.
    max_iter : int, optional
        Maximum number of iterations of the relaxation, one eigendecomposition each, instead of the number that
        ``effort`` sets.
    rounds : int, optional
        Rounds of the search for W, instead of the number that ``effort`` sets.
    """

    single: Single = best_single
    max_iter: int | None = None
    rounds: int | None = None

    name: ClassVar = "shared_part"
    hypothesis: ClassVar = Hypothesis("variance", components="several")
    scales: ClassVar = True
    reference: ClassVar = Reference("fan1949", "Theorem 1, for W and the rest apart")

    def _suits(self, task: Task) -> bool:
        """For components that need not be orthogonal, and not too many features."""
        return not task.problem.is_orthogonal and task.gram.n_features <= LIMITS.witness_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """An eigendecomposition a step, of the relaxation and of those of each direction.

        Others come first where cosines are limited.
        """
        d, k = task.gram.n_features, task.problem.n_components
        if task.problem.max_cosine < 1 and not task.problem.shared_support:
            return math.inf
        rounds = effort.rounds if comb(d, min(k * task.n_nonzero, d)) <= LIMITS.enumerated_supports else 0
        return part_seconds(task, effort, rounds) - SECONDS.single + 1.5 * k * single_steps(d) * eigen_seconds(d)

    def _begin(self, task: Task) -> RelaxedPart:
        """The relaxation on the Fantope."""
        (_, A), problem = in_own_unit(task.gram.gram()), task.problem
        return RelaxedPart(projection_relaxation(A, problem.n_components, most_absolute(problem, len(A))))

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The best of all with its W or Y; for several components and not too many features."""
        view, problem = task.gram, task.problem
        if not self.hypothesis.holds(problem) or view.n_features > LIMITS.witness_features:
            return None
        (unit, A), sizes = in_own_unit(view.gram()), sizes_in_turn(problem, view.n_features)
        k, search = len(sizes), (kept or Kept()).begun(lambda: self._begin(task))
        effort = run.effort.proof
        steps = effort.dual_steps(len(A)) if self.max_iter is None else self.max_iter
        _, Y = search.relaxation.run(steps, 1e-4, run.budget)
        found = [self._proved(task, DUAL, unit * Y)]
        if effort.share == 1:  # the rest of each direction costs more than a share
            trials = [split(A, Y, k), self._shifted(A, sizes, effort.shifts)]
            if self.single is not best_single or all(top_of_all(A, t) is not None for t in sizes):
                rounds = affordable_rounds(task, effort, effort.rounds) if self.rounds is None else self.rounds
                part = search.part_from(lambda: SharedPartSearch(A, sizes, trials[0]))
                trials = [part.run(rounds, run.budget)]  # never worse than its start
            found += [self._proved(task, PART, unit * W) for W in trials if not run.budget.expired]
        return min(found, key=lambda bound: bound.value)

    def _proved(self, task: Task, kind: str, matrix: Array) -> Bound:
        return Bound(self.check(task, (kind, matrix)), self.name, METHOD, "always", (kind, matrix))

    def _again(self, task: Task, witness: Any) -> float:
        """The inequality itself, from the data and W, or for the relaxation from Y."""
        kind, given = witness
        d, k = task.gram.n_features, task.problem.n_components
        if kind not in (PART, DUAL) or (matrix := as_floats(given, d, d)) is None:
            return math.inf
        if kind == DUAL:
            value = projection_value(task.gram.gram(), matrix, k, most_absolute(task.problem, d))
            value += (k - 1) * float(task.gram.psd_slack)  # components that repeat one another leave a direction out
        else:
            value = split_value(task.gram.gram(), matrix, sizes_in_turn(task.problem, d), self.single)
        return rounded_up(value, task.gram)

    def _shifted(self, A: Array, sizes: list[int], count: int) -> Array:
        """The best (A - mu I)_+, compared by cheap bounds."""
        values, vectors = np.linalg.eigh(A)
        shifts = np.linspace(max(float(values[len(A) - min(len(A), 2 * len(sizes))]), 0.0), float(values[-1]), count)
        trials = [np.asarray((vectors * np.maximum(values - mu, 0.0)) @ vectors.T) for mu in shifts]
        return min(trials, key=lambda W: split_value(A, W, sizes, _quick))
