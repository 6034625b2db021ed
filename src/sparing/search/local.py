"""Supports from many starts, improved by swaps: for problems small enough to hold A."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.objectives.variance import GROWTH, RayleighObjective
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search.truncated_power import distinct_ranks, furthest_starts, truncated_powers


@dataclass(frozen=True)
class LocalSearch:
    """Truncated power and, if asked for, forward selection give supports; swaps and perturbations improve them."""

    starts: int = 20
    finalists: int = 6
    max_swaps: int = 200
    perturbations: int = 4
    forward: bool = True

    def search(
        self, objective: RayleighObjective, n_nonzero: int, leading: Array, rng: np.random.Generator, *, budget: Budget
    ) -> Indices:
        """The best support among all that are reached from the finalists, and by shaking the best of them."""
        best, reached = np.flatnonzero(objective.usable)[:n_nonzero], -np.inf
        for support in self._finalists(objective, n_nonzero, leading, budget):
            rho, support, _ = objective.improved(support, self.max_swaps)
            if rho > reached * (1 + GROWTH):
                best, reached = support, rho
            if budget.expired:
                return best
        for _ in range(self.perturbations):
            kept = rng.permutation(best)[: max(1, round(0.7 * n_nonzero))]
            rho, support, _ = objective.improved(objective.grown(n_nonzero, kept), self.max_swaps)
            if rho > reached * (1 + GROWTH):
                best, reached = support, rho
            if budget.expired:
                break
        return best

    def _finalists(self, objective: RayleighObjective, n_nonzero: int, leading: Array, budget: Budget) -> list[Indices]:
        """Distinct supports, best first."""
        view = objective.view
        starts = np.column_stack([leading, furthest_starts(view.gram(), n_nonzero, self.starts)])
        ends = truncated_powers(view, starts, n_nonzero, max_iter=30, settled=2, budget=budget)
        supports = {tuple(np.flatnonzero(x * objective.usable)) for x in ends.T}
        if self.forward:
            supports.add(tuple(np.sort(objective.grown(n_nonzero))))
        full = [np.array(objective.grown(n_nonzero, np.array(S, dtype=np.intp))) for S in sorted(supports) if S]
        ranks = distinct_ranks(np.array([objective.solve(S)[0] for S in full]))
        return [full[i] for i in np.argsort(ranks, kind="stable")[: self.finalists]]
