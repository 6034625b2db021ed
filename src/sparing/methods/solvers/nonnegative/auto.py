"""The default nonnegative solver: many starts on the whole matrix, some from low rank surrogates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.methods.solvers.auto import Auto
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import GROWTH
from sparing.proof.sphere.branch_and_bound import highest
from sparing.results import Array, Component, Reference
from sparing.run import Budget, Run
from sparing.search.truncated_power import column_starts, furthest_scores, leading_directions, pool_of, truncated_powers
from sparing.search_limits import SEARCH
from sparing.task import Task

FEATURES_AT_ONCE = 64
"""Number of features processed at a time."""

LEAST_STARTS = 2
"""Of each kind."""

FREE = Auto(starts=3, finalists=2, perturbations=1)
"""A quick solver for a good component of any sign."""


@dataclass(frozen=True)
class NonnegativeAuto:
    """The best directions of low rank surrogates [asteris2014, Sec. 3.2] and other starts, improved on the whole
    matrix.

    Parameters
    ----------
    starts : int
        Number of features and of random directions to start from, in addition to leading eigenvectors and surrogates.
    finalists : int
        Number of distinct directions, the best of all starts, to improve by swaps of single features.
    max_swaps : int
        Maximum number of swaps per finalist.
    perturbations : int
        Number of perturbations of the best support, each improved again.
    surrogates : bool
        Also start from the best directions of surrogates of low rank.
    any_sign : bool
        Also start from a good component of any sign, if it has few features.
    pool : int
        Maximum number of features from which the starts are chosen.

    Notes
    -----
    **Optimises** x'Ax over unit x >= 0 with r nonzeros, or x'Ax / x'Mx.
    **Differs from the paper.** Branch and bound on the sphere finds the optimum of the surrogate instead of Algorithms
    1 to 3, at higher rank. It is only a start; the result is a local optimum of A itself.
    """

    starts: int = 16
    finalists: int = 6
    max_swaps: int = 60
    perturbations: int = 8
    surrogates: bool = True
    any_sign: bool = True
    pool: int = 512

    reference: ClassVar = Reference("asteris2014", "Sec. 3.2")

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best of all finalists."""
        return self._scaled(run.effort.share_of(task.n_nonzero))._solved(task, run)

    def _scaled(self, share: float) -> NonnegativeAuto:
        """A share of all starts, at least a few: long directions from most of them end alike, and each costs more."""
        starts, finalists, pool = (
            min(most, max(LEAST_STARTS, math.ceil(share * most))) for most in (self.starts, self.finalists, self.pool)
        )
        swaps, perturbations = math.ceil(share * self.max_swaps), math.ceil(share * self.perturbations)
        return replace(
            self, starts=starts, finalists=finalists, pool=pool, max_swaps=swaps, perturbations=perturbations
        )

    def _solved(self, task: Task, run: Run) -> Component:
        view = task.gram
        objective = NonnegativeObjective(view.cached(), task.metric, run.budget)
        size = min(task.n_nonzero, view.n_features)
        max_swaps = min(self.max_swaps, int(run.effort.exchange_work / objective.exchange_cost(size)))
        ends = truncated_powers(
            view,
            self._starts(view, size, run, task.start),
            size,
            max_iter=SEARCH.truncated_steps,
            settled=2,
            budget=run.budget,
            allowed=objective.usable[:, None],
            nonnegative=True,
            work=run.effort.start_work,
            least=self.finalists,
        )
        best, reached = objective.best_feature(), -np.inf
        for x in self._distinct(objective, ends):
            rho, x = objective.climbed(x, size)
            if not run.budget.expired:
                rho, x = objective.exchanged(x, size, max_swaps)
            if rho > reached * (1 + GROWTH):
                best, reached = x, rho
            if run.budget.expired:
                break
        for _ in range(self.perturbations):
            if run.budget.expired:
                break
            rho, x = objective.exchanged(self._perturbed(objective, best, size, run.rng), size, max_swaps)
            if rho > reached * (1 + GROWTH):
                best, reached = x, rho
        return objective.found(reached, best)

    def _starts(self, view: DataMatrix, size: int, run: Run, start: Array | None) -> Array:
        """Nonnegative starting directions of all kinds."""
        leading = leading_directions(
            view, min((max if self.surrogates else min)(SEARCH.surrogate_ranks), view.n_features), run.rng
        )
        columns = column_starts(view, self.starts, leading)
        if not run.budget.expired:
            columns = np.column_stack([columns, self._furthest(view, size, leading, run.rng)])
        chance = np.abs(run.rng.standard_normal((view.n_features, self.starts)))
        given = leading if start is None else np.column_stack([start, leading])
        if (
            self.any_sign and run.effort.share_of(size) == 1 and not run.budget.expired
        ):  # the best of any sign may have only one sign
            free = FREE.solve(Task.of_component(view, size, start=leading[:, :3]), run)
            given = np.column_stack([given, free.vector(view.n_features)])
        sphere = self._from_surrogates(view, size, leading, run.budget)
        return np.column_stack([sphere, given, -given, columns, chance])

    def _furthest(self, view: DataMatrix, size: int, leading: Array, rng: np.random.Generator) -> Array:
        """Features from which a truncated step gains most, among all or in a pool completed at random.

        If variances tie, as in correlation matrices, nothing else finds small groups of correlated features.
        """
        if view.n_features <= self.pool:
            pool = np.arange(view.n_features)
        else:
            usable = np.flatnonzero(view.gram_diagonal() > 0)
            drawn = rng.choice(usable, min(max(self.pool // 2, 1), len(usable)), replace=False)
            pool = np.union1d(pool_of(view, max(self.pool // 2, 1), leading), drawn)
        scores = [
            furthest_scores(np.maximum(view.gram_columns(pool[at : at + FEATURES_AT_ONCE]), 0.0), size)
            for at in range(0, len(pool), FEATURES_AT_ONCE)
        ]
        chosen = pool[np.argsort(-np.concatenate(scores), kind="stable")[: self.starts]]
        starts = np.zeros((view.n_features, len(chosen)))
        starts[chosen, np.arange(len(chosen))] = 1.0
        return starts

    def _from_surrogates(self, view: DataMatrix, size: int, leading: Array, budget: Budget) -> Array:
        """The best directions of the shifted low rank surrogates, as vectors of features."""
        products = view.gram_matmat(leading)
        values, rotation = np.linalg.eigh(leading.T @ products)
        values, rotation = values[::-1], rotation[:, ::-1]
        found = []
        for rank in SEARCH.surrogate_ranks if self.surrogates else ():
            last = float(values[rank]) if rank < len(values) else 0.0
            kept = values[:rank] > max(last, 0.0) * (1 + GROWTH) + np.finfo(float).tiny
            if not kept.any() or budget.expired:
                break
            U, excess = leading @ rotation[:, :rank][:, kept], values[:rank][kept] - max(last, 0.0)
            V = U * np.sqrt(excess)
            best = highest(
                V,
                size,
                tolerance=SEARCH.surrogate_tolerance,
                max_cells=SEARCH.surrogate_cells,
                budget=budget,
                nonnegative=True,
            )
            found.append(V @ best.direction)
        return np.column_stack([np.zeros((view.n_features, 0)), *found])

    def _distinct(self, objective: NonnegativeObjective, ends: Array) -> list[Array]:
        """The best directions with different features."""
        if ends.shape[1] == 0:
            return [objective.best_feature()]
        below = 1.0 if objective.metric is None else np.einsum("ij,ij->j", ends, objective.metric.matmat(ends))
        ratios = np.einsum("ij,ij->j", ends, objective.view.gram_matmat(ends)) / below
        chosen = dict[tuple[int, ...], Array]()
        for j in np.argsort(-ratios, kind="stable"):
            chosen.setdefault(tuple(np.flatnonzero(ends[:, j]).tolist()), ends[:, j])
            if len(chosen) == self.finalists:
                break
        return list(chosen.values())

    @staticmethod
    def _perturbed(objective: NonnegativeObjective, best: Array, size: int, rng: np.random.Generator) -> Array:
        """The best direction without some of its features, improved again."""
        support = np.flatnonzero(best)
        x = best.copy()
        x[rng.permutation(support)[: int(SEARCH.perturbed_share * len(support))]] = 0.0
        return objective.climbed(x, size)[1]
