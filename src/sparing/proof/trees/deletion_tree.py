"""Best-first search over deletions of columns for the r that lose least, with a bound at every step.

J(S), what the best encoder with k components on columns S captures, only falls when columns are taken away. A node is
a set Q of columns still allowed, some of which must stay; e = |Q| - r of the others have to go. Then

- J(S) <= J(Q) for every S in the node, and
- J(S) <= the e-th largest J(Q - j): whichever e columns go, one of them is at best the e-th least missed.

One eigendecomposition of Q gives J(Q - j) for all j: dropping a column removes one direction y from the span, and the
eigenvalues that are left solve sum_i y_i^2 / (theta_i - mu) = 0. Keeping a column leaves Q as it is, and all of that.

Where the columns of Q are nearly collinear, as they are wherever features outnumber samples, they may span anything:
J(S) <= J(F) + the |S| - |F| largest eigenvalues of what columns F, which are not, leave of X.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.rounding import EPS
from sparing.linalg.span import independent_columns
from sparing.proof_effort import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.rules import NO_RULES, Rules
from sparing.run import Budget

WELL_CONDITIONED = 1e-9
"""Columns whose unit-norm Gram matrix has a smaller eigenvalue count as collinear: rounding would exceed any gap."""

CLOSED = 1e-10
"""Open nodes that promise less than this share above the incumbent count as closed."""

ROUNDED = 1e-7
"""Supports that were tried may be above the best of them by this share, and be no better: they are rounded up."""


@dataclass(frozen=True)
class Searched:
    """The best support found, what it captures, and what no support of this size can exceed."""

    support: Indices
    captured: float
    bound: float
    nodes: int
    proved: bool = True


class Judged(NamedTuple):
    """What a support captures, and what it cannot exceed: the same but for rounding, unless columns are collinear."""

    captured: float
    bound: float


@dataclass(order=True)
class _Node:
    """Columns still allowed; the first ``kept`` of them must stay. A heap puts the highest bound first.

    A ``leaf`` has few supports, or one, which are tried.
    """

    priority: float
    tie: int
    columns: Indices = field(compare=False)
    kept: int = field(compare=False)
    leaf: bool = field(compare=False, default=False)


class DeletionTree:
    """The search over supports of one view.

    With the identity in place of A, and A in place of A @ A, J(S) is the sum of the k largest eigenvalues of A_S.

    Parameters
    ----------
    gram, squared : ndarray of shape (d, d)
        A and A @ A.
    rank : int
        Number of components k.
    rules : Rules
        Which columns may and must stay. With a budget or limits of groups, more columns than the excess over the size
        may have to go; a node whose columns keep all of them is a leaf, because J only falls.
    enumerated : int
        Nodes with at most so many supports are settled by trying them all.
    """

    def __init__(
        self,
        gram: Array,
        squared: Array,
        rank: int,
        rules: Rules = NO_RULES,
        *,
        enumerated: int = LIMITS.node_supports,
    ) -> None:
        norms = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
        self.alive = np.flatnonzero((norms > 0) & rules.usable(len(gram)))
        self._constant = np.setdiff1d(rules.required, self.alive)  # they stay, and capture nothing
        self.rules = rules.beside(self._constant).restricted(self.alive, len(gram))
        outer = np.multiply.outer(norms[self.alive], norms[self.alive])
        part = np.ix_(self.alive, self.alive)
        self.gram, self.squared, self.rank = gram[part] / outer, squared[part] / outer, rank
        self._whole, self._norms, self.enumerated = gram, norms, enumerated

    @classmethod
    def of(cls, view: DataMatrix, rank: int, rules: Rules = NO_RULES) -> DeletionTree:
        """The tree of a view whose Gram matrix fits in memory."""
        gram = view.gram()
        return cls(gram, gram @ gram, rank, rules)

    # ------------------------------------------------------------------------------------------------ one support

    def judged(self, supports: Indices) -> list[Judged]:
        """What many supports of one size (rows) capture, and cannot exceed."""
        rows, columns = supports[:, :, None], supports[:, None, :]
        inside = self.gram[rows, columns]
        try:
            inverse = np.linalg.inv(np.linalg.cholesky(inside))
        except np.linalg.LinAlgError:
            return [self._judged_alone(support) for support in supports]
        G = inverse @ self.squared[rows, columns] @ inverse.transpose(0, 2, 1)
        captured = np.linalg.eigvalsh(G)[:, -self.rank :].sum(axis=1)
        squares = np.square(inverse).sum(axis=(1, 2))
        bounds = captured * (1 + self.rank * _margin(supports.shape[1], squares))
        return [
            Judged(float(value), float(bound)) if square < 1 / WELL_CONDITIONED else self._judged_alone(support)
            for value, bound, square, support in zip(captured, bounds, squares, supports, strict=True)
        ]

    def best_of(self, supports: Indices) -> tuple[int, float, float]:
        """Of many supports (rows, numbers of features) the first best, what it captures, and what none can exceed."""
        known, places = np.isin(supports, self.alive), np.searchsorted(self.alive, supports)
        judged = [Judged(0.0, 0.0)] * len(supports)  # of features that capture nothing
        for count in np.unique(known.sum(axis=1)[known.any(axis=1)]):
            rows = np.flatnonzero(known.sum(axis=1) == count)
            for part in np.array_split(rows, -(-len(rows) // LIMITS.node_supports)):
                for at, one in zip(part, self.judged(places[part][known[part]].reshape(len(part), -1)), strict=True):
                    judged[at] = one
        best = int(np.argmax([one.captured for one in judged]))
        return best, judged[best].captured, max(one.bound for one in judged)

    def _judged_alone(self, support: Indices) -> Judged:
        """One support, whose columns may be collinear: those that are add as much as anything could."""
        parts = self._apart(support)
        value = self._captured_apart(parts)
        return Judged(value, self._beside(parts, len(support) - len(parts)))

    def _apart(self, columns: Indices) -> Indices:
        """Some of the columns that are not nearly collinear, the first one of those that are."""
        if len(columns) == 0:
            return columns
        kept, R = independent_columns(self.gram[np.ix_(columns, columns)])
        while len(kept) and np.square(np.linalg.inv(R)).sum() >= 1 / WELL_CONDITIONED:
            kept, R = kept[:-1], R[:-1, :-1]
        return columns[np.sort(kept)]

    def _captured_apart(self, columns: Indices) -> float:
        """J of columns that are not collinear."""
        if len(columns) == 0:
            return 0.0
        G, _, _ = self._whitened(columns)
        return float(np.linalg.eigvalsh(G)[-self.rank :].sum())

    def _beside(self, columns: Indices, count: int) -> float:
        """What these columns, which are not collinear, and any ``count`` others capture at most; rounded up."""
        captured, left, squares = self._captured_apart(columns), self._whole, 1.0
        if len(columns):
            J = self.alive[columns]
            inverse = np.linalg.inv(np.linalg.cholesky(self.gram[np.ix_(columns, columns)])) / self._norms[J]
            W = inverse @ self._whole[J]
            left, squares = self._whole - W.T @ W, float(np.square(inverse * self._norms[J]).sum())
        values = np.linalg.eigvalsh(left)[::-1][: min(count, self.rank)]
        most = float(np.linalg.eigvalsh(self._whole)[-self.rank :].sum())
        rounding = self.rank * float(_margin(len(self._whole), squares)) * most
        return min(captured + float(np.maximum(values, 0.0).sum()), most) + rounding

    def captured(self, columns: Indices) -> float:
        """J(S)."""
        return self.judged(columns[None])[0].captured

    # -------------------------------------------------------------------------------------------- bounds of a node

    def _whitened(self, columns: Indices) -> tuple[Array, Array, float]:
        """G = L^-1 (A^2)_QQ L^-T, the unit directions that single columns provide, and |L^-1|^2 >= |A_QQ^-1|."""
        part = np.ix_(columns, columns)
        inverse = np.linalg.inv(np.linalg.cholesky(self.gram[part]))
        G = inverse @ self.squared[part] @ inverse.T
        norms = np.square(inverse).sum(axis=0)
        return (G + G.T) / 2, inverse / np.sqrt(norms), float(norms.sum())

    def _bounds(self, columns: Indices, kept: int, n_open: int) -> tuple[float, Array]:
        """What no support of the node captures more than, and J(Q - j) for every j that may go; both rounded up."""
        try:
            G, duals, squares = self._whitened(columns)
        except np.linalg.LinAlgError:
            squares = np.inf
        if squares >= 1 / WELL_CONDITIONED:
            parts = self._apart(columns[:kept])
            most = self._beside(parts, n_open + kept - len(parts))
            return most, np.full(len(columns) - kept, most)
        values, vectors = np.linalg.eigh(G)
        values, weights = values[::-1], np.square(vectors[:, ::-1].T @ duals[:, kept:])  # y_i^2 of column j
        rounding = self.rank * float(_margin(len(columns), squares)) * float(values[0])
        return float(values[: self.rank].sum()) + rounding, without_one(values, weights, self.rank) + rounding

    # ---------------------------------------------------------------------------------------------------- the search

    def search(self, size: int, incumbent: Indices, *, budget: Budget, max_nodes: int) -> Searched:
        """The support of ``size`` columns that captures most, as far as nodes and time allow.

        At the cap, the best open bound is returned with the incumbent: it is valid at every moment.
        """
        place = {int(j): i for i, j in enumerate(self.alive)}
        best = np.array([place[int(j)] for j in incumbent if int(j) in place], dtype=np.intp)  # others capture nothing
        captured, settled = self.judged(best[None])[0] if len(best) else Judged(0.0, 0.0)
        constant, size = self._constant, size - len(self._constant)
        every = np.arange(len(self.alive))
        if len(every) <= size and self.rules.within_limits(every[None])[0]:
            whole = self.judged(every[None])[0] if len(every) else Judged(0.0, 0.0)
            return Searched(np.union1d(self.alive, constant), whole.captured, _above(whole), 0)
        order = np.append(self.rules.required, np.setdiff1d(every, self.rules.required))
        open_nodes, nodes = [_Node(-np.inf, 0, order, len(self.rules.required))], 0
        while open_nodes and nodes < max_nodes and not budget.expired:
            if -open_nodes[0].priority <= captured * (1 + CLOSED):
                break
            node = heapq.heappop(open_nodes)
            nodes += 1
            if node.leaf:
                judged, support = self._best(node, size)
                settled = max(settled, _above(judged))
                if judged.captured > captured:
                    best, captured = support, judged.captured
                continue
            for child in self._children(node, size, captured, nodes):
                heapq.heappush(open_nodes, child)
            if nodes % 200 == 0 and open_nodes:
                budget.say(
                    f"{nodes} nodes, {len(open_nodes)} open: {captured:.6g} of at most {-open_nodes[0].priority:.6g}"
                )
        settled = max(settled, captured * (1 + CLOSED))
        bound = max([settled, *(-node.priority for node in open_nodes)])
        proved = bound == settled and settled <= captured * (1 + ROUNDED)
        return Searched(np.union1d(self.alive[best], constant), captured, bound, nodes, proved)

    def _few(self, size: int) -> int:
        """How many supports of a node are tried: fewer where each costs more."""
        return min(self.enumerated, LIMITS.node_work // size**3 + 1)

    def _fitting(self, columns: Indices, kept: int) -> Indices:
        """The columns without those that a budget, or the limit of a group, has no room for beside the kept ones."""
        if not self.rules.has_limits or kept == len(columns):
            return columns
        rooms = replace(self.rules, required=columns[:kept]).rooms(1, len(self.alive))
        return np.append(columns[:kept], columns[kept:][rooms.open()[0, columns[kept:]]])

    def _best(self, leaf: _Node, size: int) -> tuple[Judged, Indices]:
        """The best support of a leaf, by trying all that it has, and what none of them can exceed."""
        columns, kept = leaf.columns, leaf.kept
        if len(columns) <= size:
            return self.judged(columns[None])[0], columns
        added = np.array(list(combinations(columns[kept:], size - kept)), dtype=np.intp)
        sets = np.column_stack([np.tile(columns[:kept], (len(added), 1)), added])
        judged = self.judged(sets)
        at = int(np.argmax([one.captured for one in judged]))
        return Judged(judged[at].captured, max(one.bound for one in judged)), sets[at]

    def _children(self, node: _Node, size: int, captured: float, tie: int) -> list[_Node]:
        """What is left of a node: nothing, a leaf, or its parts by the first column that goes, those before it kept.

        Columns are in the order in which they are missed, the most missed first: the part where it goes is the least.
        """
        columns, kept = self._fitting(node.columns, node.kept), node.kept
        if (excess := self.rules.fewest_deletions(columns, kept, size)) is None or kept > size:
            return []
        if excess == 0:
            return [_Node(node.priority, tie, columns, len(columns), leaf=True)]
        whole, without = self._bounds(columns, kept, size - kept)
        order = np.argsort(without, kind="stable")
        columns, without = np.append(columns[:kept], columns[kept:][order]), without[order]
        needed = int(np.searchsorted(without, captured * (1 + CLOSED), side="right"))
        kept, without = kept + needed, without[needed:]  # deleting such a column cannot beat the incumbent
        if (excess := self.rules.fewest_deletions(columns, kept, size)) is None or kept > size:
            return []
        if kept == size:  # within all limits, or more would have to go than may
            return [_Node(node.priority, tie, columns[:size], size, leaf=True)]
        if not self.rules.has_limits and comb(len(columns) - kept, size - kept) <= self._few(size):
            return [_Node(node.priority, tie, columns, kept, leaf=True)]
        bound = min(whole, -node.priority, float(without[-excess]))
        if bound <= captured * (1 + CLOSED):
            return []
        parts = list[_Node]()
        for at in range(min(len(without) - excess, size - kept) + 1):  # as many have to go, and no more may stay
            if not self.rules.has_limits and comb(len(without) - at, size - kept - at) <= self._few(size):
                return [*parts, _Node(-bound, tie, columns, kept + at, leaf=True)]
            rest = np.delete(columns, kept + at)
            parts.append(_Node(-min(float(without[at]), bound), tie, rest, kept + at))
        return parts


def _margin(size: int, squares: Array | float) -> Array:
    """By how much eigenvalues of L^-1 B L^-T are wrong at most, as a share of the largest; |L^-1|^2 is given."""
    return np.asarray(16 * size * EPS * (1.0 + size * np.minimum(squares, 1 / WELL_CONDITIONED)))


def _above(judged: Judged) -> float:
    """What a support that was tried cannot exceed."""
    return max(judged.bound, judged.captured * (1 + CLOSED))


def without_one(values: Array, weights: Array, rank: int) -> Array:
    """Sum of the k largest roots of sum_i y_i^2 / (theta_i - mu), each from above, for all columns y at once.

    There is one root between neighbouring theta. Multiplied by its distances from both the function is nearly linear,
    so that false position, with the end that stays put halved (Illinois), needs few steps; the upper end is returned.
    """
    wanted = min(rank, len(values) - 1)
    high = np.repeat(values[:wanted, None], weights.shape[1], axis=1)
    low = np.repeat(values[1 : wanted + 1, None], weights.shape[1], axis=1)
    top, bottom, tiny = high.copy(), low.copy(), EPS * float(values[0])
    width = top - bottom
    at_high, at_low = weights[:wanted] * width, -weights[1 : wanted + 1] * width
    above = np.zeros(width.shape, dtype=bool)
    for step in range(SCHEDULES.secular_steps):
        before, slope = above, at_high - at_low
        share = np.divide(-at_low, slope, out=np.full_like(slope, 0.5), where=slope > 0)
        middle = low + (high - low) * np.clip(share, 1e-3, 1 - 1e-3)
        gaps = values[:, None, None] - middle
        gaps[np.abs(gaps) < tiny] = tiny
        at = (weights[:, None] / gaps).sum(axis=0) * (top - middle) * (middle - bottom)
        above = at > 0
        if step:  # the end that stays a second time counts half
            at_low = np.where(above & before, at_low / 2, at_low)
            at_high = np.where(above | before, at_high, at_high / 2)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
        at_low, at_high = np.where(above, at_low, at), np.where(above, at, at_high)
    return np.asarray(high.sum(axis=0))
