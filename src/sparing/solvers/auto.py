"""Many starts, then swaps: the solver for everyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix, Remembered
from sparing.linalg.metric import Metric
from sparing.results import Array, Component, Indices, Reference
from sparing.search.power import column_starts, leading_directions, truncated_powers
from sparing.search.quotient import GROWTH, Quotient


@dataclass(frozen=True)
class Auto:
    """Truncated power from many starts [yuan2013, Algorithm 1] and forward selection, then swaps of single features.

    Parameters
    ----------
    starts : int
        Features to start from, beside the leading eigenvectors.
    finalists : int
        Distinct supports, the best of all starts, that swaps then improve.
    max_swaps : int
        Swaps per finalist.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros, or x'Ax / x'Mx. The result cannot be improved by any single swap of
    a feature, and its loadings are the best on their support.
    **Differs from the paper.** Only the iteration is the paper's.
    """

    starts: int = 20
    finalists: int = 6
    max_swaps: int = 200

    reference: ClassVar = Reference("yuan2013", "Algorithm 1")

    def solve(
        self,
        view: DataMatrix,
        n_nonzero: int,
        rng: np.random.Generator,
        *,
        metric: Metric | None = None,
        start: Array | None = None,
        budget: Budget,
    ) -> Component:
        """The best of all finalists."""
        view = Remembered(view)
        quotient = Quotient(view, metric)
        usable = np.flatnonzero(quotient.usable)
        if n_nonzero >= len(usable):
            return quotient.component(usable)
        best, reached = usable[:n_nonzero], -np.inf
        for support in self._finalists(quotient, view, n_nonzero, rng, start, budget):
            rho, support, _ = quotient.improved(support, self.max_swaps)
            if rho > reached * (1 + GROWTH):
                best, reached = support, rho
            if budget.expired:
                break
        return quotient.component(best)

    def _finalists(
        self,
        quotient: Quotient,
        view: DataMatrix,
        n_nonzero: int,
        rng: np.random.Generator,
        start: Array | None,
        budget: Budget,
    ) -> list[Indices]:
        """Distinct supports, best first."""
        leading = leading_directions(view, 3, rng) if start is None else start
        starts = np.column_stack([leading, column_starts(view, n_nonzero, self.starts)])
        ends = truncated_powers(view, starts, n_nonzero, max_iter=30, settled=2, budget=budget)
        supports = {tuple(np.flatnonzero(x * quotient.usable)) for x in ends.T}
        supports.add(tuple(np.sort(quotient.grown(n_nonzero))))
        full = [np.array(quotient.grown(n_nonzero, np.array(S, dtype=np.intp))) for S in sorted(supports) if S]
        return sorted(full, key=lambda S: -quotient.solve(S)[0])[: self.finalists]
