"""The best nonnegative direction found, with as much proof as can be had."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.methods.solvers.base import check_counts, check_incumbent
from sparing.methods.solvers.nonnegative.auto import NonnegativeAuto
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import GROWTH
from sparing.proof.sphere.low_rank import SphereSearch, decomposable, search_surrogate
from sparing.proof.trees.nonnegative_proof import prove_nonnegative
from sparing.proof.trees.prover import REACHED
from sparing.proof_effort import LIMITS
from sparing.results import Array, Bound, Component, Indices, Reference
from sparing.run import Budget, Run
from sparing.task import Task

RANKS = (4, 6, 8, 10, 12, 16)
"""Ranks of the surrogates that are searched in turn, until one of them proves the best or its cells run out."""

PROVED_CLOSE, MATRIX_STEPS, SHARE = 1e-7, 200, 0.6
"""How closely each surrogate is searched; iterations for the matrix that is searched; and what of the time that takes.
"""


@dataclass(frozen=True)
class NonnegativeExact:
    """Branch and bound on the matrix with entries raised, and on surrogates of rising rank [asteris2014, Sec. 3.2].

    The first searches supports, where features are few enough to decompose; the second searches the sphere, where
    features or samples are. Both bound all nonnegative directions from above, and what they find is climbed on the
    matrix itself. Where the bound and the best meet the optimum is proved.

    Parameters
    ----------
    incumbent : Solver
        Where the search starts.
    max_nodes, max_cells : int
        Nodes of the first search and cells of the second, at most: a minute or so.

    Notes
    -----
    **Optimises** x'Ax over unit x >= 0 with r nonzeros. Where the search or time runs out, or the user interrupts, the
    best direction so far is returned with a bound on all others. With a metric (generalized deflation), or where
    neither features nor samples are few enough to decompose, it is the answer of ``incumbent``: nothing is searched.
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
        """The best direction, or the best found with what none exceeds in its ``bound``."""
        view = task.gram
        found: Component = self.incumbent.solve(task, run.share(0.3))
        if task.metric is not None or run.budget.expired or not decomposable(view):
            return found
        search = _Search(view, min(task.n_nonzero, view.n_features), found, run.budget)
        try:
            if view.n_features <= LIMITS.decomposed_features:
                search.supports(self.max_nodes, run)
            search.sphere(self.max_cells, run.budget)
        except KeyboardInterrupt:  # what is proved so far is an answer
            run.budget.interrupt()
        proved = None if search.bound is None else replace(search.bound, nonnegative=True)
        return replace(search.best, bound=proved)


class _Search:
    """The best direction so far, and the least of all bounds."""

    def __init__(self, view: DataMatrix, size: int, found: Component, budget: Budget) -> None:
        self.view, self.size, self.best = view, size, found
        self.objective = NonnegativeObjective(view, None, budget)
        self.bound: Bound | None = None

    @property
    def proved(self) -> bool:
        return self.bound is not None and self.bound.value <= self.best.variance * (1 + REACHED)

    def supports(self, max_nodes: int, run: Run) -> None:
        """The search of supports, once more where it led to something better."""
        for _ in range(2):
            proof = prove_nonnegative(
                self.view,
                self.size,
                self.best.support,
                self.best.loadings,
                run.rng,
                max_nodes=max_nodes,
                max_iter=MATRIX_STEPS,
                budget=run.budget.share(SHARE),
            )
            before = self.best.variance
            self._learn(proof.bound, self._indicator(proof.support))
            if self.proved or self.best.variance <= before * (1 + GROWTH) or run.budget.expired:
                break

    def sphere(self, max_cells: int, budget: Budget) -> None:
        """Surrogates of rising rank, until one of them proves the best."""
        left = max_cells
        for rank in RANKS:
            if self.proved or left <= 0 or budget.expired:
                break
            effort = SphereSearch(rank, PROVED_CLOSE, left)
            searched = search_surrogate(self.view, self.size, effort, nonnegative=True, budget=budget)
            witness = effort._replace(max_cells=2 * searched.cells)
            bound = Bound(searched.bound, "shifted_low_rank", "the shifted low rank bound", "always", witness)
            self._learn(bound, searched.direction)
            left -= searched.cells
            assert self.bound is not None
            budget.say(f"rank {rank}: {self.best.variance:.6g} of at most {self.bound.value:.6g}")
            if rank >= self.view.n_features:  # higher ones are the same
                break

    def _indicator(self, support: Indices) -> Array:
        x = np.zeros(self.view.n_features)
        x[support] = 1.0
        return x

    def _learn(self, bound: Bound, direction: Array) -> None:
        """Keep what is better: the bound, and where climbing from the direction leads."""
        if self.bound is None or bound.value < self.bound.value:
            self.bound = bound
        if direction.max() > 0:
            rho, x = self.objective.climbed(direction, self.size)
            if rho > self.best.variance * (1 + GROWTH):
                self.best = self.objective.found(rho, x)
