"""Nonnegative sparse directions: climbing on the matrix itself.

x'Bx / x'Mx over x >= 0 is hard even where the support is known. The result is a local optimum: removing a feature,
adding one or exchanging two does not improve it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.metric import Metric, top_quotients
from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.objectives.variance import GROWTH, RayleighObjective, component_of
from sparing.results import Array, Component, Indices
from sparing.run import Budget
from sparing.search_limits import SEARCH

SUPPORT_DECOMPOSED = 400
"""Nonzeros up to which the block of a support is decomposed; beyond that products with B do it."""


GRADIENT_ROUNDING = 1e-9
"""Pulls below this share of the quotient are rounding."""


def positive_part(V: Array, n_nonzero: int, allowed: NDArray[np.bool_] | None = None) -> Array:
    """Unit columns: the r largest positive entries of those of V that have any."""
    kept = V > 0 if allowed is None else (V > 0) & allowed[:, None]
    return unit_columns(keep_largest(np.where(kept, V, 0.0), n_nonzero))


class NonnegativeObjective(RayleighObjective):
    """The problem max x'Bx / x'Mx over x >= 0 with at most r nonzeros.

    As :class:`RayleighObjective`, but loadings on a support come from local ascent from a few starts, until ``budget``
    ends.
    """

    def __init__(self, view: DataMatrix, metric: Metric | None = None, budget: Budget | None = None) -> None:
        super().__init__(view, metric)
        self.budget = budget or Budget()
        self.n_products = 0
        """Products with B so far."""

    def slope(self, rho: float, x: Array) -> Array:
        """(B - rho M)x for a direction x of quotient rho: where positive, more of that feature raises it."""
        self.n_products += 1
        return super().slope(rho, x)

    def restricted(self, J: Indices) -> NonnegativeObjective:
        """The same problem on the features J alone, in memory."""
        inside = super().restricted(J)
        return NonnegativeObjective(inside.view, inside.metric, self.budget)

    def solve(self, support: Indices) -> tuple[float, Array]:
        """The best local optimum on a support, from its leading directions both ways and from its best feature."""
        if len(support) == 0:
            return 0.0, np.zeros(0)
        B, M = self._blocks(support)
        leading = _eigenpairs(B, M)[1][:, :2]
        starts = positive_part(np.column_stack([leading, -leading]), len(support))
        best = int(np.argmax(np.diagonal(B) / np.square(self.scale[support])))
        ends = [upward(B, M, x) for x in [*starts.T, np.eye(len(support))[best]]]
        return max(ends, key=lambda end: end[0])

    def climbed(self, x: Array, n_nonzero: int) -> tuple[float, Array]:
        """A local optimum above x (d entries): truncated steps on all features, each followed by the best loadings."""
        if min(n_nonzero, int(np.count_nonzero(x > 0))) > SUPPORT_DECOMPOSED:
            x = self.stepped(x, n_nonzero, SEARCH.truncated_steps_long)
            return self.ratio(x), x
        x = positive_part(x[:, None], n_nonzero, self.usable)[:, 0]
        rho, x = self.settled(x)
        for _ in range(SEARCH.truncated_turns):
            after = positive_part((self.slope(rho, x) + self._curb(rho) * x)[:, None], n_nonzero, self.usable)
            if after.shape[1] == 0 or np.array_equal(after[:, 0] != 0, x != 0) or self.budget.expired:
                break
            higher, after = self.settled(after[:, 0])
            if higher <= rho * (1 + GROWTH):
                break
            rho, x = higher, after
        return rho, x

    def stepped(self, x: Array, n_nonzero: int, steps: int, allowed: NDArray[np.bool_] | None = None) -> Array:
        """The best of some truncated steps from x, one product each, which go further where the last ones led uphill.

        What a step along the last one reaches is kept if it is higher; else the next one is plain, and never falls.
        """
        allowed = self.usable if allowed is None else allowed
        now = last = best = positive_part(x[:, None], n_nonzero, allowed)[:, 0]
        reached, uphill = -np.inf, 0
        for _ in range(steps):
            self.n_products += 1
            Bx, Mx = self.view.gram_matmat(now[:, None])[:, 0], now
            if self.metric is not None:
                Mx = self.metric.matmat(now[:, None])[:, 0]
            rho = float(now @ Bx) / float(now @ Mx)
            if self.budget.expired or (rho <= reached and uphill == 0):
                break
            if rho <= reached:
                now, uphill = last, 0
                continue
            little, best, reached = rho <= reached * (1 + GRADIENT_ROUNDING), now, rho
            after = positive_part((Bx - rho * Mx + self._curb(rho) * now)[:, None], n_nonzero, allowed)
            if little or after.shape[1] == 0:
                break
            further = after[:, 0] + uphill / (uphill + 3) * (after[:, 0] - last)
            last, uphill = after[:, 0], uphill + 1
            now = unit_columns(np.where(last > 0, np.maximum(further, 0.0), 0.0)[:, None])[:, 0]
        return best

    def exchanged(self, x: Array, n_nonzero: int, max_swaps: int) -> tuple[float, Array]:
        """A local optimum that no single exchange of features found improves; ``x`` is one that is climbed."""
        rho, x = self.settled(x)
        for _ in range(max_swaps if np.count_nonzero(x) <= SUPPORT_DECOMPOSED else 0):
            if self.budget.expired:
                break
            trials = [self.climbed(trial, n_nonzero) for trial in self._exchanges(rho, x, n_nonzero)]
            higher, after = max(trials, key=lambda end: end[0], default=(rho, x))
            if higher <= rho * (1 + GROWTH):
                break
            rho, x = higher, after
        return rho, x

    def exchange_cost(self, size: int) -> float:
        """Operations of one exchange: a table of features by nonzeros, and decompositions of the exchanges made."""
        return float(self.view.n_features * size + (1 + SEARCH.verified_exchanges) * size**3)

    def best_feature(self) -> Array:
        """The unit vector of the feature of largest quotient."""
        single = np.divide(self._worth, np.square(self.scale), out=np.full(len(self.scale), -np.inf), where=self.usable)
        return np.eye(len(single), 1, -first_largest(single))[:, 0]

    def found(self, rho: float, x: Array) -> Component:
        """The direction x as a component."""
        support = np.flatnonzero(x)
        return component_of(support, x[support], rho)

    def ratio(self, x: Array) -> float:
        """x'Bx / x'Mx."""
        below = float(x @ x) if self.metric is None else float(x @ self.metric.matmat(x[:, None])[:, 0])
        return float(x @ self.view.gram_matmat(x[:, None])[:, 0]) / below

    def _blocks(self, support: Indices) -> tuple[Array, Array | None]:
        return self.view.restricted(support).gram(), None if self.metric is None else self.metric.block(support)

    def settled(self, x: Array) -> tuple[float, Array]:
        """The local optimum on the support of x that lies uphill."""
        support = np.flatnonzero(x)
        if len(support) > SUPPORT_DECOMPOSED:
            x = self.stepped(x, len(support), SEARCH.truncated_steps_long, x > 0)
            return self.ratio(x), x
        rho, v = upward(*self._blocks(support), x[support])
        out = np.zeros_like(x)
        out[support] = v
        return rho, out

    def _cut(self, V: Array, counts: Indices) -> Array:
        """Truncate as for signed loadings; negative entries count as zero."""
        return super()._cut(np.maximum(V, 0.0), counts)

    def _exchanges(self, rho: float, x: Array, n_nonzero: int) -> list[Array]:
        """Directions with one feature less and another more that promise most.

        With N = B - rho M, so that x'Nx = 0: without feature i, x becomes y = x - x_i e_i with y'Ny = x_i^2 N_ii, and y
        + t e_j, t >= 0, has the larger eigenvalue of a two by two matrix. Each is feasible, so its gain is a lower
        bound.
        """
        support, free = np.flatnonzero(x), self.usable.copy()
        free[support] = False
        others = np.flatnonzero(free)
        if len(support) > n_nonzero or len(others) == 0:
            return []
        pull = self.slope(rho, x)
        if len(others) * len(support) > SEARCH.exchange_entries:
            others = others[np.argsort(-pull[others], kind="stable")[: SEARCH.exchange_entries // len(support)]]
        columns = -self._shifted(support, rho)
        cross, own = columns[others], np.diagonal(columns[support])
        v, worth = x[support], self._worth[others] - rho * np.square(self.scale[others])
        left = np.maximum(1.0 - np.square(v), np.finfo(float).tiny)
        if len(support) < n_nonzero:  # one more without one less
            cross, own = np.column_stack([cross, np.zeros(len(others))]), np.append(own, 0.0)
            v, left = np.append(v, 0.0), np.append(left, 1.0)
        first = np.square(v) * own / left
        joint = (pull[others][:, None] - cross * v) / np.sqrt(left)
        middle, half = (first + worth[:, None]) / 2, (first - worth[:, None]) / 2
        gain = middle + np.hypot(half, np.maximum(joint, 0.0))
        few = min(SEARCH.verified_exchanges, gain.size)
        order = np.argpartition(-gain, few - 1, axis=None)[:few]
        trials = []
        for flat in order[np.lexsort((order, -gain.flat[order]))]:
            j, slot = divmod(int(flat), gain.shape[1])
            trial = x.copy()
            if slot < len(support):
                trial[support[slot]] = 0.0
            share = np.arctan2(2 * max(joint[j, slot], 0.0), first[slot] - worth[j]) / 2
            trial *= np.cos(share) / max(float(np.linalg.norm(trial)), np.finfo(float).tiny)
            trial[others[j]] = max(np.sin(share), np.finfo(float).eps)
            trials.append(trial)
        return trials


def best_nonnegative(
    objective: NonnegativeObjective, candidates: Array, n_nonzero: int, *, refit: bool, finalists: int = 4
) -> Component:
    """The best of nonnegative candidates (columns): as it is, or with ``refit`` after the best few have been climbed.

    If there is none, the single feature with the largest quotient is returned, so that there always is an answer.
    """
    X = positive_part(candidates, n_nonzero, objective.usable)
    if X.shape[1] == 0:
        X = objective.best_feature()[:, None]
    ratios = np.array([objective.ratio(x) for x in X.T])
    order = np.argsort(-ratios, kind="stable")
    if not refit or not objective.usable.any():
        return objective.found(float(ratios[order[0]]), X[:, order[0]])
    ends = [objective.climbed(X[:, j], n_nonzero) for j in order[:finalists]]
    return objective.found(*ends[first_largest(np.array([rho for rho, _ in ends]))])


def upward(B: Array, M: Array | None, x: Array) -> tuple[float, Array]:
    """Climb from x >= 0 (of any norm, not zero) to a local optimum of x'Bx / x'Mx over x >= 0.

    On the features in use: towards their leading direction, where the quotient only rises, as far as no entry becomes
    negative; the feature that would is left out, for good unless it pulls at the end. Then all features with a positive
    gradient enter.
    """
    x = x.copy()
    rho, best = -np.inf, x
    for _ in range(2 * len(x) + SEARCH.truncated_turns):
        used = np.flatnonzero(x > 0)
        inside = np.ix_(used, used)
        metric = None if M is None else M[inside]
        values, vectors = _eigenpairs(B[inside], metric)
        if len(values) == 0:
            break
        v, now = vectors[:, 0], x[used]
        v = v * (np.sign(v @ (now if metric is None else metric @ now)) or 1.0)
        v = v / np.linalg.norm(v)
        if v.min() < -GRADIENT_ROUNDING:  # to the border, and without the feature that is reached there
            now = now / np.linalg.norm(now)
            steps = np.where(v < 0, now / np.maximum(now - v, np.finfo(float).tiny), np.inf)
            step = float(steps.min())
            x[used] = np.where(
                steps <= step * (1 + GRADIENT_ROUNDING), 0.0, np.maximum((1 - step) * now + step * v, 0.0)
            )
            continue
        x[:] = 0.0
        x[used] = np.maximum(v, 0.0)
        if values[0] <= rho * (1 + GRADIENT_ROUNDING):
            break
        rho, best = float(values[0]), x / np.linalg.norm(x)
        slope = B @ best - rho * (best if M is None else M @ best)
        coming = np.where((best == 0) & (slope > GRADIENT_ROUNDING * abs(rho)), slope, 0.0)
        if not coming.any():
            break
        x = _between(B, M, best, coming / np.linalg.norm(coming))
    return (rho, best) if np.isfinite(rho) else _quotient_of(B, M, x if x.any() else best)


def _between(B: Array, M: Array | None, x: Array, y: Array) -> Array:
    """The best direction in the plane of x and y, where y pulls x: a sum of both with positive weights."""
    P = np.column_stack([x, y])
    weights = _eigenpairs(P.T @ B @ P, None if M is None else P.T @ M @ P)[1][:, 0]
    return np.asarray(P @ np.abs(weights))


def _eigenpairs(B: Array, M: Array | None) -> tuple[Array, Array]:
    """The two largest quotients, and their directions as columns."""
    if M is None:
        return top_eigenpairs(B, min(2, len(B)))
    return top_quotients(B, M, 2)


def _quotient_of(B: Array, M: Array | None, x: Array) -> tuple[float, Array]:
    x = x / np.linalg.norm(x)
    return float(x @ B @ x) / float(1.0 if M is None else x @ M @ x), x
