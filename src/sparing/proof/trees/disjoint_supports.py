"""The best supports without common features, for all components at once: exact for small problems.

max of the sum of lambda_max(A_S) over disjoint S_1, ..., S_k with |S_j| <= r_j. All supports are listed with their
values, and prices p >= 0 of the features bound the sum of any disjoint ones: features are used at most once, so sum
v(S_j) <= sum p + sum c(S_j) with c(S) = v(S) - p(S), and the c of disjoint supports are at most the largest ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np

from sparing.linalg.rounding import EPS
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget


@dataclass(frozen=True)
class Packed:
    """Disjoint supports in the order of the given sizes, their value, and an upper bound for all others."""

    supports: list[Indices]
    value: float
    bound: float
    prices: Array
    nodes: int


def best_disjoint(
    A: Array,
    sizes: Sequence[int],
    *,
    budget: Budget,
    max_nodes: int = 20_000,
    start: Sequence[Indices] | None = None,
    prices: Array | None = None,
) -> Packed | None:
    """The best disjoint supports with a bound that is valid at any time; None if there are too many supports.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    sizes : sequence of int
        Features of each component at most.
    budget : Budget
    max_nodes : int
        Nodes of the search at most.
    start : sequence of ndarray, optional
        Disjoint supports to begin with, in the order of ``sizes``.
    prices : ndarray of shape (d,), optional
        Prices of the features, at least 0; found by the subgradient method where they are not given.
    """
    d = len(A)
    capped = [min(size, d) for size in sizes]
    if not countable(d, capped):
        return None
    order = sorted(range(len(capped)), key=lambda j: -capped[j])
    kinds = [_Kind.of(A, t, capped.count(t), sum(capped) > d) for t in sorted(set(capped), reverse=True)]
    search = _Search(A, list(kinds), _singles(A, len(capped)) if start is None else [start[j] for j in order])
    if prices is None:
        prices = search.priced(budget)
        search.kinds = list(
            kinds
        )  # what is dropped must depend on the prices returned alone, so that it can be checked
    search.run(np.maximum(prices, 0.0), max_nodes, budget)
    found = list[Indices](np.zeros(0, dtype=np.intp) for _ in order)
    for j, support in zip(order, search.best, strict=True):
        found[j] = support
    return Packed(found, search.value, max(search.open, search.value) + search.margin, prices, search.nodes)


def countable(d: int, sizes: Sequence[int]) -> bool:
    """Are there enough features, and few enough supports to list them all?"""
    wide = sum(sizes) > d
    counts = [sum(comb(d, s) for s in range(1 if wide else t, t + 1)) for t in set(sizes)]
    return len(sizes) <= d and sum(counts) <= LIMITS.listed_supports


@dataclass
class _Kind:
    """All supports that ``count`` components may have; short ones are filled up with the number of features."""

    count: int
    supports: Indices
    values: Array

    @classmethod
    def of(cls, A: Array, size: int, count: int, wide: bool) -> _Kind:
        """Smaller supports are needed only where features are fewer than all together may use: more never have less."""
        d, supports, values = len(A), list[Indices](), list[Array]()
        for s in range(1 if wide else size, size + 1):
            listed = np.array(list(combinations(range(d), s)), dtype=np.intp)
            for at in range(0, len(listed), SCHEDULES.supports_at_once):
                S = listed[at : at + SCHEDULES.supports_at_once]
                values.append(np.asarray(np.linalg.eigvalsh(A[S[:, :, None], S[:, None, :]])[:, -1], dtype=float))
                supports.append(np.pad(S, ((0, 0), (0, size - s)), constant_values=d))
        return cls(count, np.vstack(supports), np.concatenate(values))

    def kept(self, keep: Array | Indices) -> _Kind:
        return _Kind(self.count, self.supports[keep], self.values[keep])


def _singles(A: Array, k: int) -> list[Indices]:
    """The features of most variance, one for each component: always feasible."""
    return [np.array([i], dtype=np.intp) for i in np.argsort(-np.diagonal(A), kind="stable")[:k]]


@dataclass
class _Search:
    """Depth first over supports in falling order of their reduced values c."""

    A: Array
    kinds: list[_Kind]
    best: list[Indices]
    value: float = field(init=False)
    open: float = field(init=False, default=-np.inf)
    nodes: int = field(init=False, default=0)
    margin: float = field(init=False)

    def __post_init__(self) -> None:
        self.value = sum(float(np.linalg.eigvalsh(self.A[np.ix_(S, S)])[-1]) for S in self.best)
        size = max(float(np.abs(kind.values).max()) for kind in self.kinds)
        self.margin = 16 * len(self.A) * EPS * len(self.best) * size

    def priced(self, budget: Budget) -> Array:
        """Prices by Polyak's subgradient steps; supports that no better choice can hold are dropped on the way."""
        prices = best = np.zeros(len(self.A))
        least = np.inf
        for step in range(LIMITS.priced_steps):
            reduced = [self._reduced(kind, prices) for kind in self.kinds]
            if any(len(c) < kind.count for c, kind in zip(reduced, self.kinds, strict=True)):
                return best  # too few are left for anything better
            tops = [
                np.argpartition(-c, kind.count - 1)[: kind.count] for c, kind in zip(reduced, self.kinds, strict=True)
            ]
            bound = float(prices.sum()) + sum(float(c[top].sum()) for c, top in zip(reduced, tops, strict=True))
            if bound < least:
                least, best = bound, prices
            if step % SCHEDULES.thinned_steps == 0:
                self._greedily(reduced)
                self._thin(best)
            gap = least - self.value
            if gap <= self.margin or budget.expired:
                break
            if step % SCHEDULES.thinned_steps == 0:
                continue  # places have changed
            taken = np.concatenate([kind.supports[top].ravel() for kind, top in zip(self.kinds, tops, strict=True)])
            slope = 1.0 - np.bincount(taken, minlength=len(prices) + 1)[: len(prices)]
            slope[(slope > 0) & (prices == 0)] = 0.0
            if not slope.any():
                break
            prices = np.maximum(prices - (bound - self.value) / float(slope @ slope) * slope, 0.0)
        return best

    @staticmethod
    def _reduced(kind: _Kind, prices: Array) -> Array:
        return np.asarray(kind.values - np.append(prices, 0.0)[kind.supports].sum(axis=1))

    def _greedily(self, reduced: list[Array]) -> None:
        """A feasible choice, one support after the other."""
        used, chosen = np.zeros(len(self.A) + 1, dtype=bool), list[Indices]()
        total = 0.0
        for kind, c in zip(self.kinds, reduced, strict=True):
            for _ in range(kind.count):
                free = np.flatnonzero(~used[kind.supports].any(axis=1))
                if len(free) == 0:
                    return
                at = free[int(np.argmax(c[free]))]
                chosen.append(kind.supports[at])
                total += float(kind.values[at])
                used[kind.supports[at]] = True
                used[-1] = False
        self._offer(total, chosen)

    def _offer(self, total: float, chosen: list[Indices]) -> None:
        if total > self.value:
            d = len(self.A)
            self.value, self.best = total, [support[support < d] for support in chosen]

    def _thin(self, prices: Array) -> None:
        """Keep supports that may be part of a better solution, given the largest c for all others."""
        sorted_c = [np.sort(self._reduced(kind, prices))[::-1] for kind in self.kinds]
        tops = [float(c[: kind.count].sum()) for c, kind in zip(sorted_c, self.kinds, strict=True)]
        if any(len(c) < kind.count for c, kind in zip(sorted_c, self.kinds, strict=True)):
            return
        bound = float(prices.sum()) + sum(tops)
        for at, kind in enumerate(self.kinds):
            exchanged = bound - float(sorted_c[at][kind.count - 1]) + self._reduced(kind, prices)
            self.kinds[at] = kind.kept(np.flatnonzero(~(exchanged <= self.value)))

    def run(self, prices: Array, max_nodes: int, budget: Budget) -> None:
        """The search itself; ``open`` holds the nodes not yet searched if it ends early."""
        self._thin(prices)
        self._prices, self._max_nodes, self._budget = float(prices.sum()), max_nodes, budget
        reduced = [self._reduced(kind, prices) for kind in self.kinds]
        orders = [np.argsort(-c, kind="stable") for c in reduced]
        self.kinds = [kind.kept(order) for kind, order in zip(self.kinds, orders, strict=True)]
        self._c = [c[order] for c, order in zip(reduced, orders, strict=True)]
        lists = [np.arange(len(c)) for c in self._c]
        self._below(0, self.kinds[0].count, lists, self._prices, 0.0, [], np.zeros(len(self.A) + 1, dtype=bool))

    def _below(
        self,
        at: int,
        missing: int,
        lists: list[Indices],
        above: float,
        total: float,
        chosen: list[Indices],
        used: Array,
    ) -> bool:
        """All choices for the components still missing; False where the search ended early."""
        if missing == 0:
            if at + 1 == len(self.kinds):
                self._offer(total, chosen)
                return True
            return self._below(at + 1, self.kinds[at + 1].count, lists, above, total, chosen, used)
        kind, c, candidates = self.kinds[at], self._c[at], lists[at]
        later = 0.0
        for other in range(at + 1, len(self.kinds)):
            if len(lists[other]) < self.kinds[other].count:
                return True
            later += float(self._c[other][lists[other][: self.kinds[other].count]].sum())
        for place in range(len(candidates) - missing + 1):
            bound = above + float(c[candidates[place : place + missing]].sum()) + later
            if bound <= self.value:
                return True
            self.nodes += 1
            if self.nodes > self._max_nodes or self._budget.expired:
                self.open = max(self.open, bound)
                return False
            number = candidates[place]
            S = kind.supports[number]
            now = used.copy()
            now[S] = True
            now[-1] = False
            left = [lists[other] if other < at else self._free(other, lists[other], now) for other in range(len(lists))]
            left[at] = left[at][left[at] > number]
            within = self._below(
                at, missing - 1, left, above + float(c[number]), total + float(kind.values[number]), [*chosen, S], now
            )
            if not within:
                rest = candidates[place + 1 : place + 1 + missing]
                if len(rest) == missing:
                    self.open = max(self.open, above + float(c[rest].sum()) + later)
                return False
        return True

    def _free(self, at: int, candidates: Indices, used: Array) -> Indices:
        return candidates[~used[self.kinds[at].supports[candidates]].any(axis=1)]
