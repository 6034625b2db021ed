"""Branch and bound on Schur complements: can any r features reach a target?

With the features S fixed and L above lambda_max(A_S), a larger support S + T has lambda_max(A_{S+T}) >= L exactly where
lambda_max(G_T) >= L for G = A_FF + A_FS (L - A_SS)^-1 A_SF: the remaining problem is the same with fewer features on G,
and fixing one more feature p is the rank-one change G + g_p g_p' / (L - G_pp). So every bound on sparse components
applies to every node, and a node is closed if one of them is below L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sparing.proof_limits import SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget

Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Outcome:
    """``support`` reaches the target; or ``refuted``: none does; or neither, where the nodes were used up."""

    support: Indices | None
    refuted: bool
    nodes: int


@dataclass(frozen=True)
class Node:
    """Features fixed (``chosen``), features still free with their Schur complement G, and which pairs of them may be
    together in a support that reaches the target (``allowed``, false on the diagonal)."""

    chosen: tuple[int, ...]
    free: Indices
    G: Array
    allowed: Mask

    def keep(self, places: Indices | Mask) -> Node:
        """The same with fewer free features."""
        at = np.flatnonzero(places) if places.dtype == bool else places
        return replace(self, free=self.free[at], G=self.G[at[:, None], at], allowed=self.allowed[at[:, None], at])

    def fix(self, p: int, target: float, gone: Indices) -> Node:
        """The free feature in place p becomes fixed; those that may not be with it, or are refuted already, are out."""
        beside = self.allowed[p].copy()
        beside[gone] = False
        with_p = np.flatnonzero(beside)
        g = self.G[p, with_p]
        child = self.keep(with_p)
        G = child.G + np.multiply.outer(g, g / (target - self.G[p, p]))
        return replace(child, chosen=(*self.chosen, int(self.free[p])), G=G)


class SchurTree:
    """Search for a support of ``size`` features of A with lambda_max >= ``target``.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    size : int
        At most d.
    target : float
        Above every diagonal entry, or one feature reaches it already.
    floors : ndarray of shape (size + 1,)
        ``floors[t]``: every t features of a support that reaches the target have lambda_max of at least this; minus
        infinity where nothing is known.
    leader : int, optional
        A feature that every support looked at contains.
    said : str
        What is known so far, for reports.
    """

    def __init__(
        self, A: Array, size: int, target: float, floors: Array, leader: int | None = None, *, said: str = ""
    ) -> None:
        self.A, self.size, self.target, self.floors = A, size, target, floors
        self._said = said or f"{size} features"
        root = Node((), np.arange(len(A)), A, ~np.eye(len(A), dtype=bool))
        self._open: list[Callable[[], Node]] = [lambda: root]
        if leader is not None:
            self._open = [lambda: root.fix(leader, target, np.zeros(0, dtype=np.intp))]

    def search(self, max_nodes: int, budget: Budget) -> Outcome:
        """Depth first, strongest features first; refuted features are excluded from the rest of the search."""
        nodes = spoken = 0
        while self._open:
            if nodes >= max_nodes or budget.expired:
                return Outcome(None, False, nodes)
            node = self._open.pop()()
            nodes += 1 + len(node.free) ** 2 // SCHEDULES.node_entries
            if nodes >= spoken + SCHEDULES.report_nodes:
                spoken = nodes
                budget.say(f"{self._said}; {nodes} nodes more, {len(self._open)} open")
            node, support = self._reduced(self._floored(node))
            if support is not None:
                return Outcome(np.sort(np.array(support, dtype=np.intp)), False, nodes)
            if len(node.free):
                self._branch(node)
        return Outcome(None, True, nodes)

    def _branch(self, node: Node) -> None:
        """A child for each of the strongest features, without those before it; the remaining features come last.

        Between two children only the earlier sums of rows are used: they are too large, so their refutations stay
        valid. Matrices are made when their turn comes.
        """
        m, alive = self.size - len(node.chosen), np.ones(len(node.free), dtype=bool)
        children: list[Callable[[], Node]] = []
        tests = self._row_tests(node, m)
        for p in np.argsort(-tests[0][0], kind="stable")[: 1 + len(alive) // SCHEDULES.branched_share]:
            if alive[p]:
                children.append(partial(node.fix, int(p), self.target, np.flatnonzero(~alive)))
                alive[p] = False
                for rows, need in tests:
                    alive &= _reaching(np.where(alive, rows, 0.0), m, need)
        if alive.sum() >= m:
            children.append(partial(node.keep, alive))
        self._open.extend(reversed(children))

    def _floored(self, node: Node) -> Node:
        """Without the features, and pairs of them, that stay below the floor together with those fixed."""
        fixed = np.array(node.chosen, dtype=np.intp)
        s = len(fixed)
        if s + 2 > self.size or not np.isfinite(self.floors[s + 1]) or len(node.free) == 0:
            return node
        values, vectors = np.linalg.eigh(self.A[fixed[:, None], fixed])
        top = values[-1] if s else -np.inf
        if s and top < self.floors[s]:
            return node.keep(np.zeros(0, dtype=np.intp))
        if (floor := self.floors[s + 1]) > top:
            Y = self._whitened(fixed, node.free, floor, values, vectors)
            node = node.keep(self.A[node.free, node.free] + np.einsum("ij,ij->j", Y, Y) >= floor)
        if (floor := self.floors[s + 2]) > top:
            Y = self._whitened(fixed, node.free, floor, values, vectors)
            G = self.A[node.free[:, None], node.free] + Y.T @ Y
            node = replace(node, allowed=node.allowed & reaching_pairs(G, floor))
        return node

    def _whitened(self, fixed: Indices, free: Indices, level: float, values: Array, vectors: Array) -> Array:
        """Y with Y'Y = A_FS (level - A_SS)^-1 A_SF."""
        return (vectors.T @ self.A[fixed[:, None], free]) / np.sqrt(level - values)[:, None]

    def _reduced(self, node: Node) -> tuple[Node, tuple[int, ...] | None]:
        """The node without features that cannot help, to a fixed point; empty if it is refuted; or a support."""
        nothing = np.zeros(0, dtype=np.intp)
        L, m = self.target, self.size - len(node.chosen)
        while True:
            count, own = len(node.free), np.diagonal(node.G)
            if count < m:
                return node.keep(nothing), None
            if own.max() >= L:
                return node, (*node.chosen, int(node.free[own.argmax()]))
            if m == 1:
                return node.keep(nothing), None
            if m == 2:
                pairs = np.flatnonzero(node.allowed & reaching_pairs(node.G, L))
                if len(pairs):
                    i, j = divmod(int(pairs[0]), count)
                    return node, (*node.chosen, int(node.free[i]), int(node.free[j]))
                return node.keep(nothing), None
            if count == m:
                if np.linalg.eigvalsh(node.G)[-1] >= L:
                    return node, (*node.chosen, *map(int, node.free))
                return node.keep(nothing), None
            kept = self._useful(node, m)
            if kept.all():
                return node, None
            node = node.keep(kept)

    def _useful(self, node: Node, m: int) -> Mask:
        """Features that may be among m whose block of G reaches the target.

        Gershgorin's circles and Frobenius norms; (lambda - c)^2 <= |G_T - cI|_F^2 for every c, and the best c is known
        in closed form for given rows [wolkowicz1980]. Circles refute all or nothing: the row that reaches the target
        need not be the feature that is missing.
        """
        own, squares = np.diagonal(node.G), _strongest_squares(node, m)
        none = np.zeros(len(own), dtype=bool)
        if (own + np.sqrt(squares).sum(axis=1)).max() < self.target:
            return none
        useful: Mask = node.allowed.sum(axis=1) >= m - 1
        for rows, need in self._row_tests(node, m, squares.sum(axis=1)):
            useful &= _reaching(rows, m, need)
        return useful

    def _row_tests(self, node: Node, m: int, beside: Array | None = None) -> list[tuple[Array, float]]:
        """Upper bounds on the contribution of each row to |G_T - cI|_F^2, and the value it must reach; for two c below
        the target."""
        own = np.diagonal(node.G)
        if beside is None:
            beside = _strongest_squares(node, m).sum(axis=1)
        shifts = (min(0.0, self.target), best_shift(own, beside, m))
        return [(np.square(own - shift) + beside, (self.target - shift) ** 2) for shift in shifts]


def _reaching(rows: Array, m: int, need: float) -> Mask:
    """Rows that reach the sum together with the m - 1 strongest others."""
    strongest = np.partition(rows, len(rows) - m)[len(rows) - m :]  # the least of them first
    return np.asarray(rows + strongest[1:].sum() >= need)


def _strongest_squares(node: Node, m: int) -> Array:
    """The m - 1 largest squares of allowed off-diagonal entries, for every row."""
    squares = np.where(node.allowed, np.square(node.G), 0.0)
    count = squares.shape[1]
    return np.partition(squares, count - m + 1, axis=1)[:, count - m + 1 :]


def best_shift(own: Array, beside: Array, m: int) -> float:
    """The c that makes c + |G_T - cI|_F least, for the m strongest rows."""
    top = np.argpartition(np.square(own) + beside, len(own) - m)[len(own) - m :]
    mean = own[top].mean()
    spread = np.square(own[top] - mean).sum() + beside[top].sum()
    return float(mean - np.sqrt(spread / (m * (m - 1))))


def reaching_pairs(G: Array, level: float) -> Mask:
    """Which pairs of features have lambda_max of at least ``level`` (the diagonal means nothing)."""
    short = level - np.diagonal(G)
    low = short > 0
    return np.asarray(~(low[:, None] & low) | (np.multiply.outer(short, short) <= np.square(G)))
