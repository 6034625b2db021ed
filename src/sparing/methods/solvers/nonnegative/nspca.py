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
from sparing.methods.settings import check_settings
from sparing.methods.solvers.base import check_counts
from sparing.objectives.nonnegative import NonnegativeObjective, best_nonnegative
from sparing.results import Array, Component, Indices, Reference
from sparing.run import SEARCH, Budget, Run
from sparing.search.truncated_power import leading_directions, pool_of, psd_shift
from sparing.task import Task

SHIFT_SHARE = 1e-6
"""Share of the shift that a matrix without anything above zero is measured by, in place of its eigenvalue."""

STEEP = 1e24
"""A linear term so much larger than the quadratic one that the latter moves no digit of the root."""


@dataclass(frozen=True)
class Nspca:
    """Coordinate ascent on u'Au/2 - alpha/4 (u'u - 1)^2 - beta 1'u over u >= 0 [zass2007, Algorithm NSPCA].

    Parameters
    ----------
    restarts : int
        Random directions to start from, each with an order of its features; ``start`` comes in addition, both ways
        round.
    alpha : float
        Weight of the unit norm, in units of the largest eigenvalue. The larger the closer to unit norm, the more counts
        can be reached and the slower: one feature at a time cannot turn a vector whose norm must not change.
    refit : bool
        The best few ends are improved, with up to r features. Otherwise the loadings are those of the ascent, which the
        penalty has shrunk, and there are as many as the penalty left: their number says what count was reached.
    max_iter : int
        Sweeps over the features at most, for each penalty. An ascent that is cut short may leave a count that no
        stationary point has.

    Notes
    -----
    **Optimises** the above; no update lowers it. Each entry is given the best value there is, the others fixed: zero or
    a root of a cubic, whichever is higher.
    **Guarantee.** None: the result depends on the starts. The count cannot be controlled: beta is found by binary
    search for the largest count of at most r, but where it jumps that may be far less; where no penalty leaves between
    one and r features, the single feature of most variance is the answer (with ``refit`` also the r largest entries
    just before the jump are improved).
    **Differs from the paper.** One component only, so that the orthogonality of several plays no part. Features that
    are zero and would stay so are passed over. With more than 512 features those of most variance and those largest in
    the three leading eigenvectors take part in the ascent, 512 or twice r (never more than 4096); all of them in what
    ``refit`` does. An A that is not positive semidefinite is shifted until it is. With a metric the ascent is that of
    the numerator, and the metric enters when ends, and the best single feature, are compared and improved.
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
        """The best of all starts."""
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
        """The end with the largest count of at most ``n_nonzero``, and the penalty that led there.

        Every penalty is tried from x. The first is ``guess``, which another start ended with, the second close to it:
        starts agree about the penalty more often than not. With ``refit`` the largest entries of the end just above
        the count join.
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
        """A penalty that leaves nothing.

        Along a unit v >= 0 the slope is at most (1 + alpha) t - alpha t^3 - beta, since 1'v >= 1; this is its height.
        """
        return 2 * self.alpha * math.sqrt((1 + 1 / self.alpha) / 3) ** 3

    def end(self, x: Array, beta: float, order: Indices, budget: Budget) -> Array:
        """Where sweeps over the features, in this order, lead from x."""
        u = x.copy()
        for _ in range(self.max_iter):
            moved = self.sweep(u, beta, order)
            if moved <= SEARCH.nspca_change * np.linalg.norm(u) or budget.expired:
                break
        return u

    def sweep(self, u: Array, beta: float, order: Indices) -> float:
        """Give every entry of u in turn its best value; the largest change. Zeros that would stay are passed over."""
        slope, square = self.A @ u, float(u @ u)
        own = np.diagonal(self.A)
        slack = np.maximum(own + self.alpha * (1 - square), 0.0)
        leap = slack / 3 * np.sqrt(2 * slack / (3 * self.alpha))  # what the quartic alone gains per unit, at most
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

    The derivative is -alpha (u^3 - p u - q). For q > 0 it has one positive root. For q < 0 it has two or none, of which
    only the larger is a maximum, and zero may be a higher one.
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
    """The features that take part."""
    view, usable = objective.view, np.flatnonzero(objective.usable)
    size = max(SEARCH.nspca_features, min(2 * n_nonzero, SEARCH.nspca_most_features))
    if len(usable) <= size:
        return usable
    leading = np.where(objective.usable[:, None], leading_directions(view, 3, rng), 0.0)
    return np.intersect1d(pool_of(view, size, leading), usable)
