"""The best nonnegative direction of a matrix of low rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.methods.base import check_counts
from sparing.objectives.nonnegative import NonnegativeObjective, best_nonnegative
from sparing.proof.sphere.spannogram import LowRank, leading_factors
from sparing.results import Array, Component, Reference
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class Spannogram:
    """The exact optimum for the leading eigenpairs of A alone [asteris2014, Algorithms 1 and 2].

    Parameters
    ----------
    rank : int
        Eigenpairs used, the paper's d.
    refit : bool
        Improve the optimum on all of A. Otherwise return it as is.
    max_sets : int
        Maximum number of sets of ``rank`` features to examine; ten million take half a minute. Usually few remain,
        because bounds on cells of directions settle most features beforehand.

    Notes
    -----
    **Optimises** x'A_d x over unit x >= 0 with r nonzeros, where A_d keeps the ``rank`` leading eigenpairs of A, and
    x'A'_d x, where A'_d lowers them by the next eigenvalue; the x that is better on A is kept. The latter makes the
    answer exact for A = sigma I + C with C positive semidefinite of that rank.
    **Guarantee.** At least ``approximation_factor`` of the optimum [asteris2014, Theorem 1], for either of them, and
    with ``shifted=True`` for the latter. If time runs out, the best direction so far has no guarantee.
    **Differs from the paper.** Sets are examined one circle of directions at a time, and most are skipped, with the
    same result. Line 11 of its Algorithm 2 keeps one row too many, and any number of rows that tie at 0 can belong to a
    support, not only the number that fits: as printed it misses optima. An A that is not positive semidefinite is
    reduced to its positive eigenvalues. With a metric the low rank part is that of the numerator, and the metric is
    used by ``refit``.
    """

    rank: int = 3
    refit: bool = True
    max_sets: int = 10_000_000

    reference: ClassVar = Reference("asteris2014", "Algorithms 1 and 2")

    def __post_init__(self) -> None:
        check_counts(rank=self.rank, max_sets=self.max_sets)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best direction for the leading eigenpairs, improved on all of A."""
        objective = NonnegativeObjective(task.gram, task.metric, run.budget)
        plain, shifted = leading_factors(task.gram, self.rank, run.rng)
        found = [
            self._optimum(np.where(objective.usable[:, None], V, 0.0), task.n_nonzero, run.budget)
            for V in (plain, shifted)
        ]
        return best_nonnegative(objective, np.column_stack(found), task.n_nonzero, refit=self.refit)

    def _optimum(self, V: Array, n_nonzero: int, budget: Budget) -> Array:
        """The best x for VV'; zero where V has no columns."""
        problem = LowRank.of(V, n_nonzero)
        if problem.n_sets > SEARCH.spannogram_sets and V.shape[1] <= SEARCH.spannogram_rank:
            problem = problem.narrowed(budget)
        if problem.n_sets > self.max_sets and not budget.expired:
            raise ValueError(
                f"Spannogram(rank={self.rank}) would examine {problem.n_sets:.3g} sets of features: of {len(V)} too "
                f"many may belong to the best component. max_sets={self.max_sets} are allowed. Pass a lower rank or a "
                "larger max_sets, or use solver='spannogram_net' or 'auto'."
            )
        best = problem.solve(budget)
        x = np.zeros(len(V))
        x[best.support] = best.loadings
        return x
