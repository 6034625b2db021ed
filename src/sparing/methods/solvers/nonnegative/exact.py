"""Nonnegative sparse PCA of one component with the tightest available bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.methods.base import check_counts, check_incumbent
from sparing.methods.solvers.nonnegative.auto import NonnegativeAuto
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import GROWTH
from sparing.proof.sphere.low_rank import SphereSearch, decomposable, search_surrogate
from sparing.proof.trees.nonnegative_proof import prove_nonnegative
from sparing.proof.trees.prover import REACHED
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Bound, Component, Indices, Reference
from sparing.run import Budget, Run
from sparing.task import Task


@dataclass(frozen=True)
class NonnegativeExact:
    """Branch and bound on the matrix with raised entries, and on surrogates of increasing rank [asteris2014, Sec. 3.2].

    The first searches supports, if the features are few enough for a decomposition; the second searches the sphere, if
    the features or the samples are. Both give upper bounds for all nonnegative directions, and the directions they find
    are improved on the matrix itself. If the bound equals the best value, the optimum is proved.

    Parameters
    ----------
    incumbent : Solver
        Solver of the starting point.
    max_nodes, max_cells : int
        Maximum number of nodes of the first search and of cells of the second, about a minute by default.

    Notes
    -----
    **Optimises** x'Ax over unit x >= 0 with r nonzeros. If a limit or the time is reached, or the user interrupts, the
    best direction so far is returned with a bound on all others. With a metric (generalized deflation), or if neither
    features nor samples are few enough for a decomposition, nothing is searched and the answer of ``incumbent`` is
    returned.
    **Differs from the paper.** Ranks far above three, bounds that hold for the matrix itself, and a search of supports
    that the paper does not have (``proof/trees/nonnegative_proof.py``).
    """

    incumbent: Any = field(default_factory=NonnegativeAuto)
    max_nodes: int = 50_000
    max_cells: int = 500_000

    reference: ClassVar = Reference("asteris2014", "Sec. 3.2")

    def __post_init__(self) -> None:
        check_counts(max_nodes=self.max_nodes, max_cells=self.max_cells)
        check_incumbent(self.incumbent)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best direction, or the best found with an upper bound on all directions in ``bound``."""
        view = task.gram
        found: Component = self.incumbent.solve(task, run.share(SCHEDULES.incumbent_share))
        if task.metric is not None or run.budget.expired or not decomposable(view):
            return found
        search = _Search(view, min(task.n_nonzero, view.n_features), found, run.budget)
        try:
            if view.n_features <= LIMITS.decomposed_features:
                search.supports(self.max_nodes, run)
            search.sphere(self.max_cells, run.budget)
        except KeyboardInterrupt:  # the bound proved so far is valid
            run.budget.interrupt()
        proved = None if search.bound is None else replace(search.bound, nonnegative=True)
        return replace(search.best, bound=proved)


class _Search:
    """The best direction so far, and the smallest bound."""

    def __init__(self, view: DataMatrix, size: int, found: Component, budget: Budget) -> None:
        self.view, self.size, self.best = view, size, found
        self.objective = NonnegativeObjective(view, None, budget)
        self.bound: Bound | None = None

    @property
    def proved(self) -> bool:
        return self.bound is not None and self.bound.value <= self.best.variance * (1 + REACHED)

    def supports(self, max_nodes: int, run: Run) -> None:
        """Search supports, and once more if it found something better."""
        for _ in range(2):
            proof = prove_nonnegative(
                self.view,
                self.size,
                self.best.support,
                self.best.loadings,
                run.rng,
                max_nodes=max_nodes,
                max_iter=SCHEDULES.raised_steps,
                budget=run.budget.share(SCHEDULES.raised_share),
            )
            before = self.best.variance
            self._learn(proof.bound, self._indicator(proof.support))
            if self.proved or self.best.variance <= before * (1 + GROWTH) or run.budget.expired:
                break

    def sphere(self, max_cells: int, budget: Budget) -> None:
        """Search surrogates of increasing rank, until one proves the optimum."""
        left = max_cells
        for rank in SCHEDULES.exact_ranks:
            if self.proved or left <= 0 or budget.expired:
                break
            effort = SphereSearch(rank, SCHEDULES.exact_gap, left)
            searched = search_surrogate(self.view, self.size, effort, nonnegative=True, budget=budget)
            witness = effort._replace(max_cells=2 * searched.cells)
            bound = Bound(searched.bound, "shifted_low_rank", "the shifted low rank bound", "always", witness)
            self._learn(bound, searched.direction)
            left -= searched.cells
            assert self.bound is not None
            budget.say(f"rank {rank}: {self.best.variance:.6g} of at most {self.bound.value:.6g}")
            if rank >= self.view.n_features:  # higher ranks are the same
                break

    def _indicator(self, support: Indices) -> Array:
        x = np.zeros(self.view.n_features)
        x[support] = 1.0
        return x

    def _learn(self, bound: Bound, direction: Array) -> None:
        """Keep the better bound, and the better direction after local ascent."""
        if self.bound is None or bound.value < self.bound.value:
            self.bound = bound
        if direction.max() > 0:
            rho, x = self.objective.climbed(direction, self.size)
            if rho > self.best.variance * (1 + GROWTH):
                self.best = self.objective.found(rho, x)
