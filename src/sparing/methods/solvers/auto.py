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
from sparing.objectives.variance import GROWTH, RayleighObjective, component_of
from sparing.results import Array, Component, Indices, Reference
from sparing.run import SEARCH, Budget, Run
from sparing.search.best_component import best_component
from sparing.search.local import LocalSearch
from sparing.search.truncated_power import column_starts, leading_directions, pool_of, truncated_powers
from sparing.task import Task

SLOW, SETTLED_LOADINGS = 1e-5, 1e-9
"""Growth in one step, as a share of the variance, that is not worth it: of the support, and of its loadings."""


@dataclass(frozen=True)
class Auto:
    """Truncated power from many starts [yuan2013, Algorithm 1] and forward selection, then swaps of single features.

    Parameters
    ----------
    starts : int
        Number of features to start from, in addition to the leading eigenvectors.
    finalists : int
        Distinct supports, the best of all starts, that swaps then improve.
    max_swaps : int
        Swaps per finalist, at most.
    perturbations : int
        Number of perturbations of the best support: three in ten of its features are replaced, and it is improved
        again.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros, or x'Ax / x'Mx. Up to some fifty nonzeros among 512 features no
    single swap improves the result; with more of either, swaps are limited in number and in what they look at.
    Beyond 512 features d the search is among the 512^2 / d, at least 128, of most variance or largest in a leading
    direction, or up to 150 more than asked for, and what is reached from features anywhere where variances are much
    alike; at the end those that pull the direction most may come in, whatever their variance.
    Beyond fifty nonzeros truncated power on all features, and where data are small a path of penalties, compete with
    fewer and fewer of these starts, until they are alone.
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
        if view.n_features <= min(SEARCH.whole, view.n_samples or SEARCH.whole):
            whole = whole.restricted(np.arange(view.n_features))
        by_products = not isinstance(metric, OrthogonalTo)  # else nothing competes with the search in a pool
        share = run.effort.share_of(n_nonzero) if by_products else 1.0
        scattered, rivals = self._scattered(whole, n_nonzero, share, run), self._named(whole, task, run)
        forward = self._forward(whole, n_nonzero, share)
        if share < 1:
            leading = np.column_stack([leading, forward])
            starts = np.column_stack([leading, scattered])
            rivals.append(self._by_products(whole, n_nonzero, starts, run.budget))
        local = self._local(share)
        if rivals and (local.finalists == 0 or run.budget.expired):
            return max(rivals, key=lambda component: component.variance)
        known = [component.support for component in rivals]
        pool = np.arange(view.n_features)
        if view.n_features > SEARCH.whole:
            room = n_nonzero + 3 * (n_nonzero if share == 1 else run.effort.full_search)
            size = max(_pool_size(view.n_features), room)
            reached = np.column_stack([forward, scattered]).any(axis=1)
            pool = pool_of(view, size, np.where(whole.usable[:, None], leading, 0.0))
            pool = np.unique(np.concatenate([pool, np.flatnonzero(reached), *known]))
        inside = whole.restricted(pool)
        best = pool[local.search(inside, n_nonzero, leading[pool], run.rng, budget=run.budget)]
        for support in known:
            if whole.solve(support)[0] > whole.solve(best)[0] * (1 + GROWTH):
                _, places, _ = inside.improved(np.searchsorted(pool, support), self.max_swaps)
                best = pool[places]
        return whole.component(best if len(pool) == view.n_features else self._opened(whole, best))

    def _opened(self, whole: RayleighObjective, best: Indices) -> Indices:
        """A support after swaps with the features that pull it most, wherever they are."""
        for _ in range(SEARCH.pool_searches):
            found = whole.component(best)
            near = whole.gradient_candidates(found.vector(whole.view.n_features), SEARCH.pool, found.support)
            pool = np.append(found.support, near)
            _, places, _ = whole.restricted(pool).improved(np.arange(len(found.support)), self.max_swaps)
            if set(pool[places]) == set(best):
                break
            best = pool[places]
        return best

    @staticmethod
    def _forward(whole: RayleighObjective, n_nonzero: int, share: float) -> Array:
        """The direction of this share of the features, taken one by one from all: the rest may follow at once."""
        if share == 1 and whole.view.n_features <= SEARCH.whole:  # the search among all features begins with it
            return np.zeros((whole.view.n_features, 0))
        found = whole.component(whole.grown(max(1, round(share * n_nonzero))))
        return found.vector(whole.view.n_features)[:, None]

    def _named(self, whole: RayleighObjective, task: Task, run: Run) -> list[Component]:
        """What other solvers find soon, none of which is to be better than this one.

        For few nonzeros that is forward selection, where shaking the best does not see all features; for many a path
        of penalties. None on the way to something else.
        """
        few, view = run.effort.share_of(task.n_nonzero) == 1, whole.view
        if not self.perturbations or isinstance(task.metric, OrthogonalTo) or (few and view.n_features <= SEARCH.whole):
            return []
        given = Task.of_component(view, task.n_nonzero, metric=task.metric, start=task.start)
        small = view.n_features * min(view.n_samples or view.n_features, view.n_features) <= SEARCH.penalty_entries
        solvers: list[Solver] = [Greedy()] if few else [GeneralizedPowerL0()] if small else []
        return [solver.solve(given, run) for solver in solvers if not run.budget.expired]

    @staticmethod
    def _alike(objective: RayleighObjective) -> bool:
        """Are variances so much alike, as those of correlations, that they do not tell which features to look at?"""
        variances = np.where(objective.usable, objective.view.gram_diagonal(), 0.0)
        return bool(np.partition(variances, -SEARCH.many_large)[-SEARCH.many_large] > SEARCH.as_large * variances.max())

    def _scattered(self, objective: RayleighObjective, n_nonzero: int, share: float, run: Run) -> Array:
        """The best directions that truncated power reaches from single features anywhere, where that is worth it."""
        view, usable = objective.view, np.flatnonzero(objective.usable)
        left_out = view.n_features - _pool_size(view.n_features)
        if not self.perturbations or left_out <= 0 or not self._alike(objective):
            return np.zeros((view.n_features, 0))
        many = max(SEARCH.scattered, min(4 * SEARCH.scattered, SEARCH.scattered_entries // view.n_features))
        chosen = run.rng.permutation(usable)[: int(np.ceil(share * min(many, left_out)))]

        def best_of(starts: Array, steps: int) -> Array:
            ends = truncated_powers(
                view, starts, n_nonzero, max_iter=steps, settled=2, budget=run.budget, allowed=objective.usable[:, None]
            )
            values = np.einsum("ij,ij->j", ends, view.gram_matmat(ends))
            return ends[:, np.argsort(-values, kind="stable")[: SEARCH.kept_supports]]

        kept = list[Array]()
        for at in range(0, len(chosen), SEARCH.scattered):
            if kept and run.budget.expired:
                break
            some = chosen[at : at + SEARCH.scattered]
            starts = np.zeros((view.n_features, len(some)))
            starts[some, np.arange(len(some))] = 1.0
            kept.append(best_of(starts, 4))
        return best_of(np.column_stack(kept), 6)

    def _local(self, share: float) -> LocalSearch:
        """The search in a pool with this share of its starts."""
        starts, finalists, perturbations = (
            round(share * count) for count in (self.starts, self.finalists, self.perturbations)
        )
        return LocalSearch(starts, finalists, self.max_swaps, perturbations, forward=share == 1)

    def _by_products(self, objective: RayleighObjective, n_nonzero: int, leading: Array, budget: Budget) -> Component:
        """For many nonzeros: truncated power from these directions, loadings by power steps on the best support.

        Nothing of nonzeros by nonzeros is formed for the search, and no swap is tried.
        """
        view, usable = objective.view, objective.usable[:, None]
        starts = np.where(usable, np.column_stack([leading, column_starts(view, 1, leading)]), 0.0)
        X = truncated_powers(
            view, starts, n_nonzero, max_iter=50, settled=3, budget=budget, allowed=usable, growth=SLOW
        )
        best = first_largest(np.einsum("ij,ij->j", X, view.gram_matmat(X)))
        x = truncated_powers(view, X[:, [best]], n_nonzero, max_iter=50, settled=3, budget=budget, allowed=usable)
        kept, top = x != 0, 0.0
        for _ in range(SEARCH.power_steps):
            y = view.gram_matmat(x)
            before, top = top, float(np.einsum("ij,ij->", x, y))
            if top <= before * (1 + SETTLED_LOADINGS):
                break
            x = unit_columns(np.where(kept, y, 0.0))
        else:
            top = float(np.einsum("ij,ij->", x, view.gram_matmat(x)))
        support = np.flatnonzero(x)
        metric = objective.metric
        below = 1.0 if metric is None else float(x[support, 0] @ metric.block(support) @ x[support, 0])
        return component_of(support, x[support, 0], top / below)


def _pool_size(n_features: int) -> int:
    """Features that are searched at a time: all of some hundreds, fewer of more, so that nothing jumps."""
    return max(SEARCH.pool, min(n_features, SEARCH.whole**2 // n_features))
