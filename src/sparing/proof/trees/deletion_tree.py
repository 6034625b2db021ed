"""Best-first search over deletions of columns for the r that lose least, with a bound at every step.

J(S), what the best encoder with k components on columns S captures, only falls when columns are taken away. A node is
a set Q of columns still allowed, some of which must stay; e = |Q| - r of the others have to go. Then

- J(S) <= J(Q) for every S in the node, and
- J(S) <= the e-th largest J(Q - j): whichever e columns go, one of them is at best the e-th least missed.

One eigendecomposition of Q gives J(Q - j) for all j: dropping a column removes one direction y from the span, and the
eigenvalues that are left solve sum_i y_i^2 / (theta_i - mu) = 0.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import cast

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.rounding import EPS
from sparing.objectives.shared import captured_by
from sparing.proof_effort import LIMITS
from sparing.results import Array, Indices
from sparing.rules import NO_RULES, Rules
from sparing.run import Budget

WELL_CONDITIONED = 1e-9
"""Unit-norm Gram matrices with a smaller eigenvalue are not searched: rounding would exceed any gap worth proving."""

CLOSED = 1e-10
"""Open nodes that promise less than this share above the incumbent count as closed."""


@dataclass(frozen=True)
class Searched:
    """The best support found, what it captures, and what no support of this size can exceed."""

    support: Indices
    captured: float
    bound: float
    nodes: int
    proved: bool = True


@dataclass(order=True)
class _Node:
    """Columns still allowed; the first ``kept`` of them must stay. A heap puts the highest bound first.

    A ``leaf`` is one support: nothing of it has to go.
    """

    priority: float
    tie: int
    columns: Indices = field(compare=False)
    kept: int = field(compare=False)
    leaf: bool = field(compare=False, default=False)


class DeletionTree:
    """The search over supports of one view.

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
        smallest = float(np.linalg.eigvalsh(self.gram)[0])
        self.enumerated, self.searchable = enumerated, smallest > WELL_CONDITIONED
        size = len(self.alive)
        # eigenvalues of R^-T B R^-1 are wrong by at most about this share of the largest
        self.margin = 16 * size * EPS * (1.0 + size / max(smallest, EPS))

    @classmethod
    def of(cls, view: DataMatrix, rank: int, rules: Rules = NO_RULES) -> DeletionTree:
        """The tree of a view whose Gram matrix fits in memory."""
        gram = view.gram()
        return cls(gram, gram @ gram, rank, rules)

    def _whitened(self, columns: Indices) -> tuple[Array, Array]:
        """G = L^-1 (A^2)_QQ L^-T, and the unit directions that single columns provide."""
        part = np.ix_(columns, columns)
        inverse = np.linalg.inv(np.linalg.cholesky(self.gram[part]))
        G = inverse @ self.squared[part] @ inverse.T
        return (G + G.T) / 2, inverse / np.linalg.norm(inverse, axis=0)

    def captured(self, columns: Indices) -> float:
        """J(S)."""
        return float(captured_by(self.gram, self.squared, self.rank, columns[None])[0])

    def _bounds(self, columns: Indices, kept: int, n_open: int) -> tuple[float, Array]:
        """What no support of the node captures more than, and J(Q - j) for every j in Q; both rounded up."""
        G, duals = self._whitened(columns)
        values, vectors = np.linalg.eigh(G)
        values, weights = values[::-1], np.square(vectors[:, ::-1].T @ duals)  # weights[i, j] = y_i^2 of column j
        bound = float(values[: self.rank].sum())
        if 0 < kept < len(columns):
            bound = min(bound, self._by_what_is_kept(values, G, kept, n_open))
        rounding = self.rank * self.margin * float(values[0])
        return bound + rounding, self._without_one(values, weights) + rounding

    def _by_what_is_kept(self, values: Array, G: Array, kept: int, n_open: int) -> float:
        """Two bounds from the kept columns F and what n_open more can add; F comes first in Q, so G holds both blocks.

        J(S) <= J(F) + the n_open largest of what Q adds to F (Ky Fan); and J(S) <= the n_open largest of Q + the
        k - n_open largest of F, because n_open columns change at most so many eigenvalues (Weyl).
        """
        inside = np.linalg.eigvalsh(G[:kept, :kept])[::-1]
        beside = np.linalg.eigvalsh(G[kept:, kept:])[::-1]
        split = inside[: self.rank].sum() + beside[: min(n_open, self.rank)].sum()
        changed = values[:n_open].sum() + inside[: max(self.rank - n_open, 0)].sum()
        return float(min(split, changed))

    def _without_one(self, values: Array, weights: Array) -> Array:
        """Sum of the k largest roots of sum_i y_i^2 / (theta_i - mu), each from above, for all columns y at once."""
        wanted = min(self.rank, len(values) - 1)
        high = np.repeat(values[:wanted, None], len(values), axis=1)
        low = np.repeat(values[1 : wanted + 1, None], len(values), axis=1)
        tiny = EPS * values[0]
        for _ in range(24):  # bisections: 2^-24 of the distance between neighbours is left
            middle = (low + high) / 2
            gaps = values[:, None, None] - middle
            gaps[np.abs(gaps) < tiny] = tiny
            above = (weights[:, None] / gaps).sum(axis=0) > 0  # rises from -inf to inf between neighbouring values
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return cast(Array, high.sum(axis=0))

    def search(self, size: int, incumbent: Indices, *, budget: Budget, max_nodes: int) -> Searched:
        """The support of ``size`` columns that captures most, as far as nodes and time allow.

        At the cap, the best open bound is returned with the incumbent: it is valid at every moment.
        """
        place = {int(j): i for i, j in enumerate(self.alive)}
        best = np.array([place[int(j)] for j in incumbent if int(j) in place], dtype=np.intp)  # others capture nothing
        captured, nodes = self.captured(best) if len(best) else 0.0, 0
        constant, size = self._constant, size - len(self._constant)
        if len(self.alive) <= size and self.rules.within_limits(np.arange(len(self.alive))[None])[0]:
            whole = self.captured(np.arange(len(self.alive)))
            support = np.union1d(self.alive, constant)
            return Searched(support, whole, whole * (1 + CLOSED) + self._rounding(whole), 0)
        order = np.append(self.rules.required, np.setdiff1d(np.arange(len(self.alive)), self.rules.required))
        open_nodes = [_Node(-np.inf, 0, order, len(self.rules.required))]
        while open_nodes and nodes < max_nodes and not budget.expired:
            if -open_nodes[0].priority <= captured * (1 + CLOSED):
                break
            node = heapq.heappop(open_nodes)
            nodes += 1
            for child in self._children(node, size, captured, nodes):
                if not child.leaf:
                    heapq.heappush(open_nodes, child)
                elif (value := self.captured(child.columns)) > captured:
                    best, captured = child.columns, value
            if nodes % 200 == 0:
                budget.say(
                    f"{nodes} nodes, {len(open_nodes)} open: {captured:.6g} of at most {-open_nodes[0].priority:.6g}"
                )
        closed = captured * (1 + CLOSED) + self._rounding(captured)
        bound = max([closed, *(-node.priority for node in open_nodes)])
        support = np.union1d(self.alive[best], constant)
        return Searched(support, captured, bound, nodes, not open_nodes or bound == closed)

    def _fitting(self, columns: Indices, kept: int) -> Indices:
        """The columns without those that a budget, or the limit of a group, has no room for beside the kept ones."""
        if not self.rules.has_limits or kept == len(columns):
            return columns
        rooms = replace(self.rules, required=columns[:kept]).rooms(1, len(self.alive))
        return np.append(columns[:kept], columns[kept:][rooms.open()[0, columns[kept:]]])

    def _rounding(self, captured: float) -> float:
        """How much J of a single support may be understated."""
        return self.rank * self.margin * captured

    def _best_of_all(self, columns: Indices, kept: int, size: int) -> Indices:
        """The best support of a small node, by trying all."""
        added = np.array(list(combinations(columns[kept:], size - kept)), dtype=np.intp)
        sets = np.column_stack([np.tile(columns[:kept], (len(added), 1)), added])
        return cast(Indices, sets[np.argmax(captured_by(self.gram, self.squared, self.rank, sets))])

    def _children(self, node: _Node, size: int, captured: float, tie: int) -> list[_Node]:
        """What is left of a node: nothing, one support, or a column deleted in one half and kept in the other."""
        columns, kept = self._fitting(node.columns, node.kept), node.kept
        if (excess := self.rules.fewest_deletions(columns, kept, size)) is None or kept > size:
            return []
        if excess == 0:
            return [_Node(0.0, tie, columns, len(columns), leaf=True)]
        whole, without = self._bounds(columns, kept, size - kept)
        needed = np.arange(len(columns)) < kept
        needed |= without <= captured * (1 + CLOSED)  # deleting such a column cannot beat the incumbent
        columns = np.concatenate([columns[needed], columns[~needed]])
        without, kept = without[~needed], int(needed.sum())
        if (excess := self.rules.fewest_deletions(columns, kept, size)) is None or kept > size:
            return []
        if kept == size:  # within all limits, or more would have to go than may
            return [_Node(0.0, tie, columns[:size], size, leaf=True)]
        if not self.rules.has_limits and comb(len(columns) - kept, size - kept) <= self.enumerated:
            return [_Node(0.0, tie, self._best_of_all(columns, kept, size), size, leaf=True)]
        bound = min(whole, -node.priority, float(np.sort(without)[-excess]))
        if bound <= captured * (1 + CLOSED):
            return []
        j = int(np.argmin(without))
        missed = float(min(without[j], bound))
        rest = np.delete(columns, kept + j)
        return [
            _Node(-missed, 2 * tie, rest, kept),
            _Node(-bound, 2 * tie + 1, np.insert(rest, kept, columns[kept + j]), kept + 1),
        ]
