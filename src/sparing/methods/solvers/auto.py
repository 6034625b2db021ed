"""The default solver: many starts, then swaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.linalg.metric import OrthogonalTo
from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import unit_columns
from sparing.methods.base import Solver
from sparing.methods.solvers.generalized_power import GeneralizedPowerL0
from sparing.methods.solvers.greedy import Greedy
from sparing.objectives.variance import GROWTH, RayleighObjective, component_of
from sparing.results import Array, Component, Indices, Reference
from sparing.run import Budget, Run
from sparing.search.best_component import best_component
from sparing.search.local import LocalSearch
from sparing.search.truncated_power import column_starts, leading_directions, pool_of, truncated_powers
from sparing.search_limits import SEARCH
from sparing.task import Task

SLOW, SETTLED_LOADINGS = 1e-5, 1e-9
"""Relative growth of the variance in one step below which an iteration stops: of the support, and of its loadings."""


@dataclass(frozen=True)
class Auto:
    """Truncated power from many starts [yuan2013, Algorithm 1] and forward selection, then swaps of single features.

    Parameters
    ----------
    starts : int
        Number of single features to start from, in addition to the leading eigenvectors.
    finalists : int
        Number of distinct supports, the best of all starts, to improve by swaps.
    max_swaps : int
        Maximum number of swaps per finalist.
    perturbations : int
        Number of perturbations of the best support: three in ten of its features are replaced, and it is improved
        again.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros, or x'Ax / x'Mx. For up to about fifty nonzeros among 512 features no
    single swap improves the result; with more of either, the number and range of swaps are limited. Beyond 512 features
    d the search uses a pool of 512^2 / d features (at least 128, or up to 150 more than requested) with the largest
    variances or the largest entries in a leading direction. If variances are similar, features reached from starts
    anywhere are added; at the end features with the largest gradient may enter, whatever their variance. Beyond fifty
    nonzeros truncated power on all features, and for small data a path of penalties, gradually replace these starts.
    **Differs from the paper.** Only the iteration is the paper's.
    """

    starts: int = 20
    finalists: int = 6
    max_swaps: int = 200
    perturbations: int = 4

    reference: ClassVar = Reference("yuan2013", "Algorithm 1")

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best of all finalists."""
        view, n_nonzero, metric, start = task.gram, task.n_nonzero, task.metric, task.start
        whole = RayleighObjective(view.cached(), metric)
        usable = np.flatnonzero(whole.usable)
        if n_nonzero >= len(usable) or len(usable) == 0:
            return best_component(whole, np.ones((view.n_features, 1)), refit=True)
        leading = leading_directions(view, 3, run.rng) if start is None else start
        if view.n_features <= min(SEARCH.whole, view.n_samples or SEARCH.whole):
            whole = whole.restricted(np.arange(view.n_features))
        by_products = not isinstance(metric, OrthogonalTo)  # otherwise only the search in a pool runs
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
        """A support after swaps with the features of largest gradient, among all features."""
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
        """A direction by forward selection of this share of the features among all; the others can follow in one
        step."""
        if share == 1 and whole.view.n_features <= SEARCH.whole:  # the search among all features starts with it
            return np.zeros((whole.view.n_features, 0))
        found = whole.component(whole.grown(max(1, round(share * n_nonzero))))
        return found.vector(whole.view.n_features)[:, None]

    def _named(self, whole: RayleighObjective, task: Task, run: Run) -> list[Component]:
        """Quick results of other solvers, so that this solver is never worse than they are.

        For few nonzeros this is forward selection, if perturbations do not reach all features; for many nonzeros a path
        of penalties. None for intermediate problems.
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
        """Whether variances are too similar, as in correlation matrices, to indicate promising features."""
        variances = np.where(objective.usable, objective.view.gram_diagonal(), 0.0)
        return bool(np.partition(variances, -SEARCH.many_large)[-SEARCH.many_large] > SEARCH.as_large * variances.max())

    def _scattered(self, objective: RayleighObjective, n_nonzero: int, share: float, run: Run) -> Array:
        """The best directions that truncated power reaches from single features anywhere, if this is worthwhile."""
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

        The search forms no matrix of size nonzeros x nonzeros and tries no swap.
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
    """Number of features in the pool: all of a few hundred, and gradually fewer of more, so that there is no jump."""
    return max(SEARCH.pool, min(n_features, SEARCH.whole**2 // n_features))
