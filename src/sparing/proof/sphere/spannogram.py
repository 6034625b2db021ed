"""Nonnegative spannogram: the x >= 0 with r nonzeros of largest |V'x|^2, from all possible supports of a thin V.

With c* = V'x* / |V'x*|, the support of the best x* is that of the r largest positive entries of Vc*. The c that share
such a support form a cone, and every such cone has an edge where m rows of V and 0, one row more, have the same
entry of Vc; so the supports next to all such edges are all there are. They are found a circle at a time: m - 1 rows
that tie leave a circle of c, around which each other row crosses their level once up and once down, and after sorting
these crossings it is known everywhere how many rows are above.

Entries of Vc* strictly inside and outside the support differ, except for equal rows, so that supports may be taken from
rows moved by a billionth, where no more than m ever tie. Rows with v'c* = 0 may then be added without effect; c* is an
eigenvector of V_I'V_I for the larger I too, though perhaps not the leading one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.gram.base import CACHE_ENTRIES
from sparing.linalg.eigen import top_spectrum
from sparing.proof.sphere.branch_and_bound import Rows
from sparing.proof.sphere.cones import best_direction_in_cone
from sparing.proof.sphere.fixed_support import fixed_support
from sparing.proof_limits import SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget

Mask = NDArray[np.bool_]

MOVED = 1e-9
"""How far rows are moved, as a share of the longest; supports that differ by less than this are equally good."""

EIGENVALUE_TIE = 1e-8
"""Eigenvalues closer than this share have no eigenvectors of their own."""

NO_BETTER = 1e-11
"""Supports that cannot exceed the best found by this share are not looked into."""


@dataclass(frozen=True)
class Optimum:
    """The best x >= 0 with |x| = 1: its support, loadings there, c = V'x / |V'x| and |V'x|^2.

    ``complete`` says that all supports have been seen: nothing is better.
    """

    support: Indices
    loadings: Array
    direction: Array
    value: float
    complete: bool


@dataclass(frozen=True)
class LowRank:
    """The problem max |V'x|^2 over unit x >= 0 with at most ``size`` nonzeros, exact for any V (d x m) with small m.

    Its optimum is known to use the rows ``certain``, and no others than these and ``open``.
    """

    V: Array
    size: int
    certain: Indices
    open: Indices

    @classmethod
    def of(cls, V: Array, size: int) -> LowRank:
        """The problem as it stands; rows without entries are of no use."""
        return cls(V, min(size, len(V)), np.arange(0), np.flatnonzero(V.any(axis=1)))

    @cached_property
    def _turned(self) -> tuple[Array, Array]:
        """(W, T) with V = W T' and rank(V) columns: otherwise cones have no edges."""
        _, lengths, rotation = np.linalg.svd(self.V, full_matrices=False)
        kept = lengths > 1e-12 * max(float(lengths.max(initial=0.0)), np.finfo(float).tiny)
        return self.V @ rotation[kept].T, rotation[kept].T

    @property
    def n_sets(self) -> int:
        """The sets of rows that may tie [asteris2014, Algorithm 2, line 3]."""
        return math.comb(len(self.open) + 1, self._turned[0].shape[1])

    def narrowed(self, budget: Budget) -> LowRank:
        """The same problem with rows settled that every optimum uses, or none."""
        W = self._turned[0]
        if W.shape[1] < 2 or self.size < 1:
            return self
        certain, possible = fixed_support(W, self.size, self._climbed().value, budget)
        return LowRank(self.V, self.size, np.flatnonzero(certain), np.flatnonzero(possible & ~certain))

    def solve(self, budget: Budget) -> Optimum:
        """The optimum, or the best found when the budget has expired."""
        W, rotation = self._turned
        found = self._climbed()
        m, free = W.shape[1], self.size - len(self.certain)
        if m < 2 or free < 0:
            return self._on_all_rows(found, rotation, True)
        search = _Search(W[self.certain], W[self.open], free, found)
        if len(self.open) < m or free == 0:
            search.all_supports()
            return self._on_all_rows(search.best, rotation, True)
        for at_zero, fixed in _circles(len(self.open), m):
            if budget.expired:
                return self._on_all_rows(search.best, rotation, False)
            search.around(fixed, at_zero)
        return self._on_all_rows(search.best, rotation, True)

    def _climbed(self) -> _Found:
        """A good x to begin with, among the rows that matter; with one column the best [asteris2014, Prop. 3.1]."""
        W = self._turned[0][np.concatenate([self.certain, self.open])]
        m = W.shape[1]
        if min(W.shape) == 0 or self.size == 0:
            return _Found(np.zeros(len(W)), np.zeros(m), 0.0)
        rows = Rows(W, self.size, nonnegative=True)
        others = np.random.default_rng(0).standard_normal((SCHEDULES.sphere_starts if m > 1 else 0, m))
        starts = np.concatenate([np.eye(m), -np.eye(m), rows.rows[: SCHEDULES.sphere_starts], others])
        lengths = np.linalg.norm(starts, axis=1, keepdims=True)
        arrived = rows.climbed(starts[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0])
        return _climb(W, self.size, arrived[int(np.argmax(rows.reached(arrived)))])

    def _on_all_rows(self, found: _Found, rotation: Array, complete: bool) -> Optimum:
        which = np.concatenate([self.certain, self.open])
        kept = found.x > 0
        order = np.argsort(which[kept])
        return Optimum(which[kept][order], found.x[kept][order], rotation @ found.c, found.value, complete)


@dataclass(frozen=True)
class _Found:
    """A unit x >= 0 (an entry for each row), c = V'x / |V'x| and |V'x|^2."""

    x: Array
    c: Array
    value: float


def _climb(W: Array, size: int, c: Array) -> _Found:
    """Alternate between c and the x it selects, while this improves."""
    best = _Found(np.zeros(len(W)), c, 0.0)
    while True:
        entries = W @ best.c
        chosen = np.argsort(-entries, kind="stable")[:size]
        x = np.zeros(len(W))
        x[chosen] = np.maximum(entries[chosen], 0.0)
        x /= max(float(np.linalg.norm(x)), np.finfo(float).tiny)
        y = x @ W
        value = float(y @ y)
        if value <= best.value * (1 + 1e-15):
            return best
        best = _Found(x, y / np.sqrt(value), value)


class _Search:
    """Supports made of all ``certain`` rows and up to ``size`` of the open ones, and the best x so far."""

    def __init__(self, certain: Array, open_rows: Array, size: int, best: _Found) -> None:
        self.rows, self.size, self.best = np.concatenate([certain, open_rows]), size, best
        self.n_certain, self.base = len(certain), certain.T @ certain
        self.squares = np.einsum("ij,ik->ijk", open_rows, open_rows)
        longest = float(np.linalg.norm(open_rows, axis=1).max(initial=0.0))
        self.moved = open_rows + MOVED * longest * np.random.default_rng(1).standard_normal(open_rows.shape)

    def all_supports(self) -> None:
        """Every subset of the open rows, if they are fewer than needed for a tie."""
        n = len(self.moved)
        supports = [S for size in range(min(self.size, n) + 1) for S in combinations(range(n), size)]
        chosen = np.zeros((len(supports), n), dtype=bool)
        for row, support in zip(chosen, supports, strict=True):
            row[list(support)] = True
        self._try(chosen, self.base + np.einsum("bn,njk->bjk", chosen.astype(float), self.squares))

    def around(self, fixed: Indices, at_zero: bool) -> None:
        """The supports around one circle for each row of ``fixed``: rows that tie there, at 0 or at any level."""
        rows, (count, n_fixed), n = self.moved, fixed.shape, len(self.moved)
        anchors = np.zeros((count, rows.shape[1])) if at_zero else rows[fixed[:, 0]]
        across = rows[fixed] if at_zero else rows[fixed[:, 1:]] - anchors[:, None]
        plane = np.linalg.qr(across.swapaxes(1, 2), mode="complete")[0][:, :, -2:]
        first, second = plane[:, :, 0] @ rows.T, plane[:, :, 1] @ rows.T
        first -= np.einsum("bm,bm->b", plane[:, :, 0], anchors)[:, None]
        second -= np.einsum("bm,bm->b", plane[:, :, 1], anchors)[:, None]
        # row j is above where c is within a right angle of (first, second): half a turn of c, from 0, meets the ends
        # of these half circles by rising -first / second, those of rows with second >= 0 from inside
        side = np.where(second >= 0, 1, -1).astype(np.int32)
        np.put_along_axis(side, fixed, 0, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-first / second, axis=1)
        turning = np.take_along_axis(side, order, axis=1)
        above = (side > 0).sum(axis=1, dtype=np.int32)[:, None] - np.cumsum(turning, axis=1, dtype=np.int32)
        above -= turning < 0
        others = n - n_fixed - 1
        last = fixed[:, -1:] if n_fixed else np.full((count, 1), -1)
        least = 0 if at_zero else max(self.size - n_fixed, 0)
        wanted = ((above >= least) & (above < self.size)) | ((others - above >= least) & (others - above < self.size))
        circle, place = np.nonzero(wanted & (order > last))
        step = max(CACHE_ENTRIES // n, 1)
        for at in range(0, len(circle), step):
            k = circle[at : at + step]
            j = order[k, place[at : at + step]]
            C = second[k, j][:, None] * plane[k, :, 0] - first[k, j][:, None] * plane[k, :, 1]
            C /= np.linalg.norm(C, axis=1, keepdims=True)
            tied = np.column_stack([fixed[k], j])
            if at_zero:
                self._beside(C, tied, at_zero)
                self._beside(-C, tied, at_zero)
            else:
                level = np.einsum("bm,bm->b", C, anchors[k])
                self._beside(C * np.where(level < 0, -1.0, 1.0)[:, None], tied, at_zero)

    def _beside(self, C: Array, tied: Indices, at_zero: bool) -> None:
        """The supports next to directions C where the rows ``tied`` have the same entry, 0 or more.

        Above 0, these rows fill the remaining places of a support; at 0, any number of them may [asteris2014, Algorithm
        2, lines 9 to 17, which take only the former].
        """
        entries = C @ self.moved.T
        inside = entries > (0.0 if at_zero else np.take_along_axis(entries, tied[:, :1], axis=1))
        np.put_along_axis(inside, tied, False, axis=1)
        room = self.size - inside.sum(axis=1)
        shape = self.base.shape
        Q = self.base + (inside.astype(float) @ self.squares.reshape(len(self.moved), -1)).reshape(-1, *shape)
        for pattern in product([False, True], repeat=tied.shape[1]):
            more = np.flatnonzero(room >= sum(pattern) if at_zero else room == sum(pattern))
            if len(more) == 0:
                continue
            added = tied[more][:, list(pattern)]
            squares = Q[more] + self.squares[added].sum(axis=1)
            hopeful = np.linalg.eigvalsh(squares)[:, -1] > self.best.value * (1 + NO_BETTER)
            if hopeful.any():
                chosen = inside[more[hopeful]]
                np.put_along_axis(chosen, added[hopeful], True, axis=1)
                self._try(chosen, squares[hopeful])

    def _try(self, chosen: Mask, Q: Array) -> None:
        """The best x on each of the supports ``chosen`` (a row each), with Q = V_I'V_I."""
        whole = np.concatenate([np.ones((len(chosen), self.n_certain), dtype=bool), chosen], axis=1)
        whole, which = np.unique(whole, axis=0, return_index=True)
        step = max(CACHE_ENTRIES // self.rows.size, 1)
        for at in range(0, len(whole), step):
            inside, squares = whole[at : at + step], Q[which[at : at + step]]
            values, vectors = np.linalg.eigh(squares)
            C = np.concatenate([vectors, -vectors], axis=2)
            self._improve(inside, C)
            unclear = (values[:, 1:] - values[:, :-1] <= EIGENVALUE_TIE * values[:, -1:]) & (
                values[:, 1:] > self.best.value * (1 + NO_BETTER)
            )
            for b in np.flatnonzero(unclear.any(axis=1)):
                c = best_direction_in_cone(self.rows[inside[b]], squares[b])
                if c is not None:
                    self._improve(inside[b : b + 1], c[None, :, None])

    def _improve(self, inside: Mask, C: Array) -> None:
        """Keep the best x proportional to the positive part of V_I c, for the columns c of C[b] on support b."""
        X = np.maximum(self.rows @ C, 0.0) * inside[:, :, None]
        norms = np.square(X).sum(axis=1)
        Y = self.rows.T @ X
        values = np.square(Y).sum(axis=1) / np.maximum(norms, np.finfo(float).tiny)
        b, k = np.unravel_index(int(np.argmax(values)), values.shape)
        if values[b, k] > self.best.value:
            climbed = _climb(self.rows, self.n_certain + self.size, Y[b, :, k] / np.linalg.norm(Y[b, :, k]))
            x = X[b, :, k] / np.sqrt(norms[b, k])
            here = _Found(x, Y[b, :, k] / np.linalg.norm(Y[b, :, k]), float(values[b, k]))
            self.best = max(here, climbed, key=lambda found: found.value)


def _circles(n: int, m: int) -> Iterator[tuple[bool, Indices]]:
    """The sets of rows that tie on a circle, some at a time: m - 2 of them with 0, or m - 1."""
    for at_zero, size in ((True, m - 2), (False, m - 1)):
        sets, step = combinations(range(n), size), max(CACHE_ENTRIES // n, 1)
        while some := list(islice(sets, step)):
            yield at_zero, np.array(some, dtype=np.intp).reshape(len(some), size)


def leading_factors(view: DataMatrix, rank: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """V (d x m) such that VV' is A by its leading eigenpairs, and the same for A less its next eigenvalue.

    Fewer than ``rank`` columns if A has a lower rank; the second V has none if no eigenvalue exceeds the shift.
    """
    spectrum = top_spectrum(view, rank + 1, rng)
    values = spectrum.values[spectrum.values > 0]
    values, following = values[:rank], float(values[rank]) if len(values) > rank else 0.0
    basis = spectrum.basis[:, : len(values)]
    above = values - following
    kept = above > EIGENVALUE_TIE * values
    return basis * np.sqrt(values), basis[:, kept] * np.sqrt(above[kept])
