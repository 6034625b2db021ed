"""Many starts, then swaps: the solver for everyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.linalg.metric import OrthogonalTo
from sparing.linalg.signs import first_largest
from sparing.linalg.truncation import unit_columns
from sparing.methods.solvers.base import Solver
from sparing.methods.solvers.generalized_power import GeneralizedPowerL0
from sparing.methods.solvers.greedy import Greedy
from sparing.methods.solvers.truncated_power import TruncatedPower
from sparing.objectives.variance import GROWTH, RayleighObjective, component_of
from sparing.results import Array, Component, Indices, Reference
from sparing.run import Budget, Run
from sparing.search.best_component import best_component
from sparing.search.local import SMALL, LocalSearch
from sparing.search.truncated_power import column_starts, leading_directions, pool_of, truncated_powers
from sparing.task import Task

WHOLE, POOL, ROUNDS = 512, 128, 5
"""Features up to which all are searched at once; features searched at a time where there are more, and searches among
those that pull most."""

SCATTERED, SCATTERED_ENTRIES, KEPT_SUPPORTS, LARGEST, ALIKE = 64, 2 * 10**6, 8, 256, 0.5
"""Features anywhere that are started from, up to four times as many where there are not too many features in all, and
supports kept of what is reached, where so many of the largest variances are all above this share of the largest."""

MANY, POWER_STEPS = 200, 30
"""Numbers of nonzeros from which products with A alone are used, and power steps for their loadings."""

PENALTY_ENTRIES = 4 * 10**5
"""The most samples times features for a path of penalties: it takes a hundred products, a fifth of a second."""

SLOW, SETTLED = 1e-5, 1e-9
"""Growth in one step, as a share of the variance, that is not worth it: of the support, and of its loadings."""


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
        Swaps per finalist, at most.
    perturbations : int
        Times that the best is shaken, three in ten of its features exchanged, and improved again.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros, or x'Ax / x'Mx. Up to some fifty nonzeros among 512 features no
    single swap improves the result; with more of either, swaps are limited in number and in what they look at.
    Beyond 512 features the search is among the 128 of most variance or largest in a leading direction, or four times
    as many as asked for, and what is reached from features anywhere where variances are much alike; at the end those
    that pull the direction most may come in, whatever their variance.
    More than 200 nonzeros are found by truncated power, and where data are small a path of penalties, alone.
    **Differs from the paper.** Only the iteration is the paper's.
    """

    starts: int = 20
    finalists: int = 6
    max_swaps: int = 200
    perturbations: int = 4

    reference: ClassVar = Reference("yuan2013", "Algorithm 1")

    def solve(self, task: Task, run: Run) -> Component:
        """The best of all finalists."""
        view, n_nonzero, metric, start = task.gram, task.n_nonzero, task.metric, task.start
        whole = RayleighObjective(view.cached(), metric)
        usable = np.flatnonzero(whole.usable)
        if n_nonzero >= len(usable) or len(usable) == 0:
            return best_component(whole, np.ones((view.n_features, 1)), refit=True)
        leading = leading_directions(view, 3, run.rng) if start is None else start
        if view.n_features <= min(WHOLE, view.n_samples or WHOLE):
            whole = whole.restricted(np.arange(view.n_features))
        if n_nonzero > MANY and not isinstance(metric, OrthogonalTo):
            found = self._by_products(whole, n_nonzero, leading, run.budget)
            return max([found, *self._named(whole, task, run)], key=lambda component: component.variance)
        if view.n_features <= WHOLE:
            pool = np.arange(view.n_features)
        else:
            pool = pool_of(view, max(POOL, 4 * n_nonzero), np.where(whole.usable[:, None], leading, 0.0))
            pool = np.union1d(pool, whole.grown(n_nonzero))  # what forward selection takes from all features
            if self.perturbations and self._alike(whole):
                pool = np.union1d(pool, self._scattered(whole, n_nonzero, run))
        named = [component.support for component in self._named(whole, task, run)]
        pool = np.unique(np.concatenate([pool, *named]))
        inside = whole.restricted(pool)
        best = pool[self._local.search(inside, n_nonzero, leading[pool], run.rng, budget=run.budget)]
        for support in named:
            if whole.solve(support)[0] > whole.solve(best)[0] * (1 + GROWTH):
                _, places, _ = inside.improved(np.searchsorted(pool, support), self.max_swaps)
                best = pool[places]
        for _ in range(ROUNDS if len(pool) < view.n_features else 0):
            found = whole.component(best)
            pool = np.append(
                found.support, whole.gradient_candidates(found.vector(view.n_features), POOL, found.support)
            )
            _, places, _ = whole.restricted(pool).improved(np.arange(len(found.support)), self.max_swaps)
            if set(pool[places]) == set(best):
                break
            best = pool[places]
        return whole.component(best)

    def _named(self, whole: RayleighObjective, task: Task, run: Run) -> list[Component]:
        """What other solvers find soon, none of which is to be better than this one.

        For few nonzeros that is forward selection, where shaking the best does not see all features; for many, where
        nothing is shaken, truncated power and a path of penalties. None on the way to something else.
        """
        few, view = task.n_nonzero <= SMALL, whole.view
        if not self.perturbations or isinstance(task.metric, OrthogonalTo) or (few and view.n_features <= WHOLE):
            return []
        given = Task.of_component(view, task.n_nonzero, metric=task.metric, start=task.start)
        solvers: list[Solver] = [Greedy()] if few else []
        if not few and task.n_nonzero <= MANY:  # for more its starts are among those of this solver
            solvers.append(TruncatedPower())
        if not few and view.n_features * min(view.n_samples or view.n_features, view.n_features) <= PENALTY_ENTRIES:
            solvers.append(GeneralizedPowerL0())
        return [solver.solve(given, run) for solver in solvers if not run.budget.expired]

    @staticmethod
    def _alike(objective: RayleighObjective) -> bool:
        """Are variances so much alike, as those of correlations, that they do not tell which features to look at?"""
        variances = np.where(objective.usable, objective.view.gram_diagonal(), 0.0)
        return bool(np.partition(variances, -LARGEST)[-LARGEST] > ALIKE * variances.max())

    @staticmethod
    def _scattered(objective: RayleighObjective, n_nonzero: int, run: Run) -> Indices:
        """The features of the best supports that truncated power reaches from single features anywhere."""
        view, usable = objective.view, np.flatnonzero(objective.usable)
        many = max(SCATTERED, min(4 * SCATTERED, SCATTERED_ENTRIES // view.n_features))
        chosen = run.rng.choice(usable, min(many, len(usable)), replace=False)

        def best_of(starts: Array, steps: int) -> Array:
            ends = truncated_powers(
                view, starts, n_nonzero, max_iter=steps, settled=2, budget=run.budget, allowed=objective.usable[:, None]
            )
            values = np.einsum("ij,ij->j", ends, view.gram_matmat(ends))
            return ends[:, np.argsort(-values, kind="stable")[:KEPT_SUPPORTS]]

        kept = []
        for at in range(0, len(chosen), SCATTERED):
            some = chosen[at : at + SCATTERED]
            starts = np.zeros((view.n_features, len(some)))
            starts[some, np.arange(len(some))] = 1.0
            kept.append(best_of(starts, 4))
        return np.flatnonzero(best_of(np.column_stack(kept), 6).any(axis=1))

    @property
    def _local(self) -> LocalSearch:
        return LocalSearch(self.starts, self.finalists, self.max_swaps, self.perturbations)

    def _by_products(self, objective: RayleighObjective, n_nonzero: int, leading: Array, budget: Budget) -> Component:
        """For many nonzeros: truncated power from the leading directions, loadings by power steps on the support.

        Nothing of nonzeros by nonzeros is formed for the search, and no swap is tried.
        """
        view, usable = objective.view, objective.usable[:, None]
        starts = np.where(usable, np.column_stack([leading, column_starts(view, 1, leading)]), 0.0)
        X = truncated_powers(
            view, starts, n_nonzero, max_iter=50, settled=3, budget=budget, allowed=usable, growth=SLOW
        )
        Y = view.gram_matmat(X)
        best = first_largest(np.einsum("ij,ij->j", X, Y))
        kept = X[:, [best]] != 0
        x, top = unit_columns(np.where(kept, Y[:, [best]], 0.0)), 0.0
        for _ in range(POWER_STEPS):
            y = view.gram_matmat(x)
            before, top = top, float(np.einsum("ij,ij->", x, y))
            if top <= before * (1 + SETTLED):
                break
            x = unit_columns(np.where(kept, y, 0.0))
        else:
            top = float(np.einsum("ij,ij->", x, view.gram_matmat(x)))
        support = np.flatnonzero(x)
        metric = objective.metric
        below = 1.0 if metric is None else float(x[support, 0] @ metric.block(support) @ x[support, 0])
        return component_of(support, x[support, 0], top / below)
