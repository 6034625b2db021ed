"""Orthogonal components: lists of supports, each refuted by a part of A that all components share.

For orthonormal h_j with supports S_j and any symmetric W: sum h_j'Ah_j <= s(W) + sum v_W(S_j), where s(W) is the sum
of the k largest eigenvalues of W [fan1949, Theorem 1] and v_W(S) = lambda_max((A - W)_S). All lists of k supports that
one W does not bound by a target are written down; then the list with the highest bound gets a W of its own, which
bounds others as well, until none is left. The proof is the pool of all W: one look at the lists with each of them.

A W for one list: let H be the best directions on its supports. Where they are stationary, (Ah_j) on S_j is the sum of
m_ij h_i on S_j, and W = H(M - D)H' + n(I - HH') with n the least eigenvalue of M - D, for some diagonal D, is tight if
any W is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.optimize import minimize

from sparing.linalg.rounding import EPS
from sparing.proof.relaxations.fantope import scale_of, smoothed_sum
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget

TIGHT = 1e-8
"""Lists within this share of the best directions known count as refuted."""


@dataclass(frozen=True)
class Listed:
    """An upper bound for orthonormal directions, the pool of W that proves it, and the best supports that were seen."""

    bound: float
    target: float
    pool: Array
    supports: tuple[Indices, ...]
    value: float


@dataclass
class ListSearch:
    """A search for shared parts that refute lists: the lists that are left, and the pool so far."""

    of: SupportLists
    best: float
    found: tuple[Indices, ...]
    pool: list[Array]
    target: float
    lists: tuple[Indices, Array] | None
    is_stuck: bool = False

    def run(self, rounds: int, budget: Budget) -> Listed:
        """The bound after so many rounds, with those of earlier calls; infinite where there are too many lists."""
        while self.lists is not None and len(self.lists[0]) and not self.is_stuck:
            if len(self.pool) > rounds or budget.expired:
                break
            self._refute(*self.lists)
        pool = np.array(self.pool)
        bound = np.inf if self.lists is None else self.of._bound(pool, self.target, self.lists[1])
        return Listed(bound, self.target, pool, self.found, self.best)

    def _refute(self, tuples: Indices, bounds: Array) -> None:
        """A shared part for the list with the highest bound."""
        worst = [self.of.supports[at] for at in tuples[int(np.argmax(bounds))]]
        value, W = self.of._part_for(worst, self.target)
        if value > self.best * (1 + TIGHT):
            self.best, self.found = value, tuple(worst)
            self.target = max(self.target, self.best * (1 + TIGHT))
        self.lists = self.of._filtered(W, tuples, bounds, self.target)
        self.pool.append(W)
        same = len(self.lists[0]) == len(tuples)
        self.is_stuck = same and float(self.lists[1].max()) > self.target > value  # this list cannot be refuted


class SupportLists:
    """All lists of k supports of one size.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric.
    size, count : int
        Features of each component, and number of components k.
    usable : ndarray of int, optional
        Features that may be read.
    """

    def __init__(self, A: Array, size: int, count: int, usable: Indices | None = None) -> None:
        features = np.arange(len(A)) if usable is None else usable
        self.A, self.count = A, count
        listed = list(combinations(features, min(size, len(features))))
        self.supports: Indices = np.array(listed, dtype=np.intp)
        self.scale = scale_of(A)
        self.search: ListSearch | None = None

    def prove(self, starts: Sequence[Array], H: Array, *, rounds: int, budget: Budget) -> Listed:
        """Refute all lists above the best directions known (H, d x k) as far as rounds and time allow.

        ``starts`` are some W to begin with; the lists that a single W does not bound are written down.
        """
        return self.begin(starts, H).run(rounds, budget)

    def begin(self, starts: Sequence[Array], H: Array) -> ListSearch:
        """The same before its first round."""
        best, found = float(np.einsum("ij,ij->", H, self.A @ H)), tuple(np.flatnonzero(h) for h in H.T)
        trials = [*starts, min(self._around(H, found), key=lambda W: self._value(W, found))]
        first = min(trials, key=lambda W: _leading(W, self.count) + self.count * float(self._tops(W).max()))
        for gap in (0.0, *SCHEDULES.target_gaps):
            target = best * (1 + max(gap, TIGHT))
            if (lists := self._lists(first, target)) is not None:
                break
        self.search = ListSearch(self, best, found, [first], np.inf if lists is None else target, lists)
        return self.search

    def check(self, pool: Array, target: float) -> float:
        """An upper bound for orthonormal directions, from any pool and any target."""
        if (lists := self._lists(pool[0], target)) is None:
            return np.inf
        for W in pool[1:]:
            lists = self._filtered(W, *lists, target)
        return self._bound(pool, target, lists[1])

    def _bound(self, pool: Array, target: float, left: Array) -> float:
        """The target, or the highest bound of the lists that are left; rounded up."""
        d, largest = len(self.A), float(np.abs(pool).max(initial=0.0))
        rounding = 16 * (self.count + 1) * d * EPS * d * (self.scale + largest)
        return max(target, float(left.max(initial=-np.inf))) + rounding

    def _tops(self, W: Array, which: Indices | None = None) -> Array:
        """v_W of all supports, or of some."""
        supports, B = self.supports if which is None else self.supports[which], self.A - W
        parts = np.array_split(supports, -(-len(supports) // SCHEDULES.supports_at_once))
        return np.concatenate([np.linalg.eigvalsh(B[S[:, :, None], S[:, None, :]])[:, -1] for S in parts])

    def _lists(self, W: Array, target: float) -> tuple[Indices, Array] | None:
        """All lists (rows of increasing positions) that neither W nor W = 0 bounds by a target; None if there are too
        many."""
        level, shared, alone = _leading(W, self.count), self._tops(W), self._tops(np.zeros_like(W))
        order = np.argsort(-shared, kind="stable")
        order = order[level + shared[order] + (self.count - 1) * shared.max() > target]
        values, others = shared[order], alone[order]
        tuples, sums = np.zeros((1, 0), dtype=np.intp), np.full((1, 2), [level, 0.0])
        for missing in range(self.count - 1, -1, -1):
            first = tuples[:, -1] if tuples.shape[1] else np.zeros(1, dtype=np.intp)
            # places from the last one on, while the rest, at most as good each, can still pass the target
            last = np.searchsorted(-values, -(target - sums[:, 0]) / (missing + 1), side="left")
            lengths = np.maximum(last - first, 0)
            if int(lengths.sum()) > LIMITS.listed_tuples:
                return None
            rows = np.repeat(np.arange(len(tuples)), lengths)
            added = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[rows]
            tuples = np.column_stack([tuples[rows], added])
            sums = sums[rows] + np.column_stack([values[added], others[added]])
            reach = sums + missing * np.array([0.0, others.max(initial=0.0)])
            kept = reach[:, 1] > target
            tuples, sums = tuples[kept], sums[kept]
        bounds = sums.min(axis=1)
        kept = bounds > target
        return np.sort(order[tuples[kept]], axis=1), bounds[kept]

    def _filtered(self, W: Array, tuples: Indices, bounds: Array, target: float) -> tuple[Indices, Array]:
        """The lists that W does not bound by the target either."""
        if len(tuples) == 0:
            return tuples, bounds
        used, places = np.unique(tuples, return_inverse=True)
        bounds = np.minimum(bounds, _leading(W, self.count) + self._tops(W, used)[places.reshape(tuples.shape)].sum(1))
        kept = bounds > target
        return tuples[kept], bounds[kept]

    def _part_for(self, supports: Sequence[Indices], target: float) -> tuple[float, Array]:
        """The variance of directions on these supports, and a W that bounds all of them."""
        H = orthogonal_directions(self.A, supports)
        W = min(self._around(H, supports), key=lambda W: self._value(W, supports))
        if self._value(W, supports) > target:
            trial = self._minimised(W, supports)
            W = min(W, trial, key=lambda W: self._value(W, supports))
        return float(np.einsum("ij,ij->", H, self.A @ H)), W

    def _value(self, W: Array, supports: Sequence[Indices]) -> float:
        """s(W) + sum v_W."""
        B = self.A - W
        return _leading(W, self.count) + sum(float(np.linalg.eigvalsh(B[np.ix_(S, S)])[-1]) for S in supports)

    def _around(self, H: Array, supports: Sequence[Indices]) -> list[Array]:
        """W = H(M - D)H' + n(I - HH') for several D; a multiple of I more in D changes no bound."""
        AH, k = self.A @ H, H.shape[1]
        M = np.diag(np.einsum("ij,ij->j", H, AH))
        for i, j in combinations(range(k), 2):
            pairs = [(H[S, a], AH[S, b]) for a, b, S in ((i, j, supports[j]), (j, i, supports[i]))]
            shared = [float(q @ p / (q @ q)) for q, p in pairs if q @ q > TIGHT]
            M[i, j] = M[j, i] = sum(shared) / max(len(shared), 1)
        rest, steps = np.eye(len(H)) - H @ H.T, SCHEDULES.part_shifts if k <= 3 else (0.0,)
        out = list[Array]()
        for shifts in product(steps, repeat=k - 1):
            inside = M - np.diag(np.append(shifts, 0.0)) * M.max()
            out.append(H @ inside @ H.T + float(np.linalg.eigvalsh(inside)[0]) * rest)
        return out

    def _minimised(self, start: Array, supports: Sequence[Indices]) -> Array:
        """A W with a low bound for one list: maxima smoothed less and less, on the features of the list alone."""
        U = np.unique(np.concatenate(supports))
        places, d, k = [np.searchsorted(U, S) for S in supports], len(U), min(self.count, len(U))
        B, W, upper = self.A[np.ix_(U, U)], start[np.ix_(U, U)], np.triu_indices(d)
        twice = np.where(upper[0] == upper[1], 1.0, 2.0)

        def full(entries: Array) -> Array:
            out = np.zeros((d, d))
            out[upper] = entries
            return out + np.triu(out, 1).T

        for share in SCHEDULES.part_widths:
            width = share * self.scale

            def function(entries: Array, width: float = width) -> tuple[float, Array]:
                value, slope = smoothed_sum(full(entries), k, width)
                rest = B - full(entries)
                for S in places:
                    values, vectors = np.linalg.eigh(rest[np.ix_(S, S)])
                    weights = np.exp((values - values[-1]) / width)
                    value += float(values[-1]) + width * float(np.log(weights.sum()))
                    slope[np.ix_(S, S)] -= (vectors * (weights / weights.sum())) @ vectors.T
                return value, slope[upper] * twice

            W = full(minimize(function, W[upper], jac=True, method="L-BFGS-B", options={"maxiter": 60}).x)
        out = np.eye(len(self.A)) * float(np.linalg.eigvalsh(W)[d - k])
        out[np.ix_(U, U)] = W
        return out


def _leading(W: Array, count: int) -> float:
    """The sum of the k largest eigenvalues."""
    return float(np.linalg.eigvalsh(W)[-count:].sum())


def orthogonal_directions(A: Array, supports: Sequence[Indices]) -> Array:
    """Orthonormal directions (columns) on given supports with large variance: each in turn the best given the others.

    If a support has no direction orthogonal to the others, its column is 0.
    """
    best, reached = np.zeros((len(A), len(supports))), -np.inf
    for first in range(len(supports)):
        H, before = np.zeros((len(A), len(supports))), -np.inf
        order = [(first + step) % len(supports) for step in range(len(supports))]
        for _ in range(SCHEDULES.direction_turns):
            for j in order:
                H[:, j] = 0.0
                H[supports[j], j] = _beside(A[np.ix_(supports[j], supports[j])], H[supports[j]])
            value = float(np.einsum("ij,ij->", H, A @ H))
            if value <= before * (1 + TIGHT * TIGHT):
                break
            before = value
        if before > reached:
            best, reached = H, before
    return best


def _beside(B: Array, others: Array) -> Array:
    """The unit x with the largest x'Bx that is orthogonal to the columns of ``others``; 0 if there is none."""
    U, values, _ = np.linalg.svd(others)
    free = U[:, int((values > TIGHT).sum()) :]
    if free.shape[1] == 0:
        return np.zeros(len(B))
    return np.asarray(free @ np.linalg.eigh(free.T @ B @ free)[1][:, -1])
