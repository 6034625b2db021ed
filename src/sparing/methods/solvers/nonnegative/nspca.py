"""Coordinate ascent on a penalised objective, one feature at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.truncation import keep_largest
from sparing.methods.base import check_counts, check_settings
from sparing.objectives.nonnegative import NonnegativeObjective, best_nonnegative
from sparing.results import Array, Component, Indices, Reference
from sparing.run import Budget, Run
from sparing.search.truncated_power import leading_directions, pool_of, psd_shift
from sparing.search_limits import SEARCH
from sparing.task import Task

SHIFT_SHARE = 1e-6
"""Unit of a matrix without a positive eigenvalue, as a share of its shift."""

STEEP = 1e24
"""Ratio of the linear to the quadratic term above which the latter changes no digit of the root."""


@dataclass(frozen=True)
class Nspca:
    """Coordinate ascent on u'Au/2 - alpha/4 (u'u - 1)^2 - beta 1'u over u >= 0 [zass2007, Algorithm NSPCA].

    Parameters
    ----------
    restarts : int
        Number of random directions to start from, each with a random order of features; ``start`` is used in addition,
        with both signs.
    alpha : float
        Weight of the unit norm, in units of the largest eigenvalue. A larger value keeps the norm closer to 1 and can
        reach more counts, but is slower, because updates of single features can hardly rotate a vector of fixed norm.
    refit : bool
        Improve the best few results, with up to r features. Otherwise the loadings are those of the ascent, shrunk by
        the penalty, and their number is the count that the penalty reached.
    max_iter : int
        Maximum number of sweeps over the features for each penalty. An ascent that stops early may have a count that no
        stationary point has.

    Notes
    -----
    **Optimises** the above; no update lowers it. Each entry gets its best value with the others fixed: zero or a root
    of a cubic, whichever has the higher objective.
    **Guarantee.** None: the result depends on the starts. The count cannot be controlled: binary search finds the beta
    of the largest count of at most r, which may be far smaller if the count jumps. If no penalty leaves between one and
    r features, the single feature with the largest variance is returned (with ``refit`` the r largest entries just
    before the jump are also improved).
    **Differs from the paper.** It computes one component, so the orthogonality of several does not matter. Features
    that are zero and would stay zero are skipped. With more than 512 features the ascent uses 512 or twice r of them
    (never more than 4096), those with the largest variance and the largest entries in the three leading eigenvectors;
    ``refit`` uses all features. An A that is not positive semidefinite is shifted. With a metric the ascent uses the
    numerator, and the metric is used to compare and improve results and the best single feature.
    """

    restarts: int = 10
    alpha: float = 4.0
    refit: bool = True
    max_iter: int = 50

    reference: ClassVar = Reference("zass2007", "Algorithm NSPCA")

    def __post_init__(self) -> None:
        check_counts(restarts=self.restarts, max_iter=self.max_iter)
        given: object = self.alpha
        if not (isinstance(given, Real) and 0 < float(given) < math.inf):
            raise errors.not_a_positive_number("alpha", given)
        check_settings(self)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best of all starts."""
        view, n_nonzero, start = task.gram, task.n_nonzero, task.start
        objective = NonnegativeObjective(view, task.metric, run.budget)
        pool = _pool(objective, n_nonzero, run.rng)
        found: list[Array] = []
        if len(pool):
            shift = psd_shift(view, run.rng)
            A = view.restricted(pool).gram() + shift * np.eye(len(pool))
            largest = max(float(top_eigenpairs(A, 1)[0][0]), SHIFT_SHARE * shift)
            ascent = Ascent(A / largest, float(self.alpha), self.max_iter)
            starts = np.abs(run.rng.standard_normal((self.restarts, view.n_features)))
            if start is not None:
                starts = np.vstack([starts, np.maximum(start.T, 0.0), np.maximum(-start.T, 0.0)])
            guess: float | None = None
            for x in starts[:, pool]:
                ends, guess = self._with_count(ascent, x, run.rng.permutation(len(pool)), n_nonzero, guess, run.budget)
                found += ends
                if run.budget.expired:
                    break
        candidates = np.zeros((view.n_features, len(found)))
        candidates[pool] = np.reshape(found, (len(found), len(pool))).T
        if task.metric is not None:
            candidates = np.column_stack([candidates, objective.best_feature()])
        return best_nonnegative(objective, candidates, n_nonzero, refit=self.refit)

    def _with_count(
        self, ascent: Ascent, x: Array, order: Indices, n_nonzero: int, guess: float | None, budget: Budget
    ) -> tuple[list[Array], float | None]:
        """The result with the largest count of at most ``n_nonzero``, and its penalty.

        Every penalty is tried from x. The first is ``guess``, the penalty of another start, and the second is close to
        it, because starts usually agree about the penalty. With ``refit`` the largest entries of the result just above
        the count are a candidate, too.
        """
        if not x.any():
            return [], guess
        x = x / np.linalg.norm(x)
        above = best = ascent.end(x, 0.0, order, budget)
        if np.count_nonzero(above) <= n_nonzero:
            return [best], guess
        low, high, reached, beta, near = 0.0, ascent.limit, 0, 0.0, guess
        for place in range(SEARCH.nspca_penalties):
            beta = (low + high) / 2 if near is None else near
            u = ascent.end(x, beta, order, budget)
            count = int(np.count_nonzero(u))
            if count > n_nonzero:
                low, above = beta, u
            else:
                high = beta
                if count > reached:
                    reached, best = count, u
            if count == n_nonzero or high - low <= SEARCH.nspca_jump * high or budget.expired:
                break
            change = SEARCH.nspca_near if count > n_nonzero else 1 / SEARCH.nspca_near
            near = beta * change if place == 0 and guess is not None else None
        ends = [best] if reached else []
        return [*ends, keep_largest(above[:, None], n_nonzero)[:, 0]] if self.refit else ends, beta


@dataclass(frozen=True)
class Ascent:
    """u'Au/2 - alpha/4 (u'u - 1)^2 - beta 1'u over u >= 0, for A of leading eigenvalue 1."""

    A: Array
    alpha: float
    max_iter: int

    @property
    def limit(self) -> float:
        """A penalty that makes all entries zero.

        Along a unit v >= 0 the slope is at most (1 + alpha) t - alpha t^3 - beta, because 1'v >= 1; this is its
        maximum.
        """
        return 2 * self.alpha * math.sqrt((1 + 1 / self.alpha) / 3) ** 3

    def end(self, x: Array, beta: float, order: Indices, budget: Budget) -> Array:
        """The limit of sweeps over the features, in this order, from x."""
        u = x.copy()
        for _ in range(self.max_iter):
            moved = self.sweep(u, beta, order)
            if moved <= SEARCH.nspca_change * np.linalg.norm(u) or budget.expired:
                break
        return u

    def sweep(self, u: Array, beta: float, order: Indices) -> float:
        """Set every entry of u in turn to its best value; return the largest change. Zeros that would stay zero are
        skipped."""
        slope, square = self.A @ u, float(u @ u)
        own = np.diagonal(self.A)
        slack = np.maximum(own + self.alpha * (1 - square), 0.0)
        leap = slack / 3 * np.sqrt(2 * slack / (3 * self.alpha))  # maximum gain of the quartic alone per unit
        visited = order[(u > 0)[order] | (slope > beta - leap)[order]]
        moved, diagonal = 0.0, own.tolist()
        for i in visited.tolist():
            before = float(u[i])
            others = square - before * before
            after = best_entry(
                self.alpha, diagonal[i] + self.alpha * (1 - others), float(slope[i]) - diagonal[i] * before - beta
            )
            if after != before:
                u[i] = after
                slope += (after - before) * self.A[i]
                square = others + after * after
                moved = max(moved, abs(after - before))
        return moved


def best_entry(alpha: float, c1: float, c2: float) -> float:
    """The maximiser over u >= 0 of -alpha/4 u^4 + c1/2 u^2 + c2 u: zero, or the largest root of its derivative.

    The derivative is -alpha (u^3 - p u - q). For q > 0 it has one positive root. For q < 0 it has two or none; only the
    larger root is a maximum, and zero may be higher.
    """
    p, q = c1 / alpha, c2 / alpha
    w = math.sqrt(abs(p) / 3)
    cube = 2 * w**3
    if (p <= 0 and q <= 0) or q < -cube:
        return 0.0
    if q >= STEEP * cube:
        return math.cbrt(q)
    t = q / cube
    if p < 0:
        return 2 * w * math.sinh(math.asinh(t) / 3)
    u = 2 * w * (math.cos(math.acos(t) / 3) if t <= 1 else math.cosh(math.acosh(t) / 3))
    return u if q >= 0 or u * (p / 2 - u * u / 4) + q > 0 else 0.0


def _pool(objective: NonnegativeObjective, n_nonzero: int, rng: np.random.Generator) -> Indices:
    """The features used in the ascent."""
    view, usable = objective.view, np.flatnonzero(objective.usable)
    size = max(SEARCH.nspca_features, min(2 * n_nonzero, SEARCH.nspca_most_features))
    if len(usable) <= size:
        return usable
    leading = np.where(objective.usable[:, None], leading_directions(view, 3, rng), 0.0)
    return np.intersect1d(pool_of(view, size, leading), usable)
