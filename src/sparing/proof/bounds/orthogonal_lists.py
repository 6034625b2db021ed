"""Bound for orthogonal components: lists of their supports, each refuted by a part of A that all of them share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds.base import ContinuedBound, Hypothesis, Kept, as_floats
from sparing.proof.relaxations.fantope import in_own_unit, relaxed_projection, split
from sparing.proof.trees.prover import REACHED
from sparing.proof.trees.support_lists import SupportLists, orthogonal_directions
from sparing.proof_limits import LIMITS, SECONDS
from sparing.results import Array, Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task

START_COSINE = 1e-6
"""The largest cosine of directions that a search may start from."""


@dataclass(frozen=True)
class OrthogonalLists(ContinuedBound):
    """tr(H'AH) <= the k largest eigenvalues of W + sum lambda_max((A - W)_S_j), one W for each list of supports S_j.

    For orthonormal H whose columns have supports S_j, and every symmetric W [fan1949, Theorem 1]. ``OrthogonalDual``
    has one W for all lists; here lists that it does not bound by the best directions known get others, until none is
    left. The witness is the pool of all W and the target: a check bounds all lists by them again. For supports that are
    few enough to list.

    Parameters
    ----------
    rounds : int, optional
        Maximum number of lists with a separate W, instead of the number that ``effort`` sets.
    """

    rounds: int | None = None

    name: ClassVar = "orthogonal_lists"
    hypothesis: ClassVar = Hypothesis("variance", components="several", orthogonal=True, separate=True)
    proves: ClassVar = True
    scales: ClassVar = True
    reference: ClassVar = Reference("fan1949", "Theorem 1, for lists of supports")

    def _suits(self, task: Task) -> bool:
        """For few supports."""
        d = task.gram.n_features
        return comb(d, min(task.n_nonzero, d)) <= LIMITS.enumerated_supports

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all lists; each takes longer to find with more components."""
        problem, d = task.problem, task.gram.n_features
        size = min(problem.n_nonzero, d)
        each = (SECONDS.list + SECONDS.listed * size * comb(d, size)) * SECONDS.more_lists ** (problem.n_components - 2)
        return effort.list_rounds * each if effort.list_rounds >= _fewest_lists(task) else math.inf

    def _begin(self, task: Task) -> SupportLists:
        """The lists."""
        (_, A), problem = in_own_unit(task.gram.gram()), task.problem
        usable = np.flatnonzero(task.rules.usable(len(A)))
        return SupportLists(A, min(task.n_nonzero, len(A)), problem.n_components, usable)

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The bound with its pool, and the best supports that were seen."""
        H = incumbent.components.T
        k, effort = task.problem.n_components, run.effort.proof
        rounds = effort.part(effort.list_rounds) if self.rounds is None else self.rounds
        if not self.applies(task) or not _is_orthonormal(H, k) or rounds < _fewest_lists(task):
            return None
        (unit, A), lists = in_own_unit(task.gram.gram()), (kept or Kept()).begun(lambda: self._begin(task))
        if (begun := lists.search) is None:
            steps, size = effort.dual_steps(len(A)), min(task.n_nonzero, len(A))
            _, Y = relaxed_projection(A, k, k * size, max_iter=steps, tolerance=1e-4, budget=run.budget)
            begun = lists.begin([split(A, Y, k)], H)
        found = begun.run(rounds, run.budget)
        if not math.isfinite(found.bound):
            return None
        witness = (unit * found.target, unit * found.pool)
        value, words = self.check(task, witness), f"{len(found.pool):,} shared parts for all lists of supports"
        free = not (task.problem.nonnegative or task.problem.disjoint or len(task.rules.required))
        again = orthogonal_directions(task.gram.gram(), found.supports)  # a check knows the supports alone
        reached = free and value <= float(np.vdot(again, task.gram.gram_matmat(again))) * (1 + REACHED)
        return Bound(value, self.name, words, "always", witness, reached, supports=found.supports)

    def _again(self, task: Task, witness: Any) -> float:
        """Bound all lists again with the pool: one step for each W."""
        (target, given), d = witness, task.gram.n_features
        pool = as_floats(given, len(given), d, d)
        if not self._suits(task) or pool is None or len(pool) == 0 or not math.isfinite(target):
            return math.inf
        usable = np.flatnonzero(task.rules.usable(d))
        lists = SupportLists(task.gram.gram(), min(task.n_nonzero, d), task.problem.n_components, usable)
        return rounded_up(lists.check((pool + pool.transpose(0, 2, 1)) / 2, float(target)), task.gram)


def _fewest_lists(task: Task) -> int:
    """Fewer would hardly help."""
    return LIMITS.fewest_lists * int(8 ** (task.problem.n_components - 2))


def _is_orthonormal(H: Array, count: int) -> bool:
    """Is the number of directions right, and are they orthonormal?"""
    return H.shape[1] == count and bool(np.abs(H.T @ H - np.eye(count)).max() <= START_COSINE)
