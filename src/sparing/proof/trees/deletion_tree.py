"""Best-first search over deletions of columns for the r that lose least, with a bound at every step.

J(S), the variance that the best encoder with k components on columns S captures, never increases when columns are
removed. A node is a set Q of columns still allowed, some of which must stay, and J(Q) bounds all of its supports; the
perspective relaxation, which chooses columns in part, bounds them more closely. It also shows which columns have to
stay or to go if a support is to be better than the best known, and in which order to branch: in the parts of a node the
first, second or third column that it prefers goes, and those before it stay. The last part has few supports, all of
which are evaluated.

Nodes are taken from the heap by the dozen, because their matrices are decomposed faster together.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, count
from math import comb
from typing import NamedTuple

import numpy as np

from sparing.gram import DataMatrix
from sparing.proof.relaxations.perspective import Columns, Completions, Relaxed, relaxed
from sparing.proof.trees.captured import Captured
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.rules import NO_RULES, Mask, Rules
from sparing.run import Budget

CLOSED = 1e-10
"""Open nodes that promise less than this share above the incumbent count as closed."""

TRIED_ROUNDING = 1e-7
"""Supports that were tried may be above the best of them by this share, and be no better: they are rounded up."""


@dataclass(frozen=True)
class Searched:
    """The best support found, its captured variance, and an upper bound for supports of this size; and where it
    stopped."""

    support: Indices
    captured: float
    bound: float
    nodes: int
    proved: bool = True
    stopped: _Stopped | None = None


class _Node(NamedTuple):
    """Columns still allowed; the first ``kept`` of them must stay. A heap puts the highest bound first."""

    priority: float
    tie: int
    columns: Indices
    kept: int
    shares: Array  # of all columns, in the relaxation of the node that this is a part of


class _Best:
    """The best support so far, and values of those that were tried."""

    def __init__(self, support: Indices, of: Captured) -> None:
        self._of, self.support, self.captured, self.settled = of, support, 0.0, 0.0
        if len(support):
            self.look(support[None])

    @property
    def target(self) -> float:
        """The value that a better support must exceed."""
        return self.captured * (1 + CLOSED)

    def look(self, supports: Indices) -> None:
        """Try supports of one size."""
        judged = self._of.judged(supports)
        at = int(judged.captured.argmax())
        if judged.captured[at] > self.captured:
            self.support, self.captured = supports[at], float(judged.captured[at])
        self.settled = max(self.settled, float(judged.bound.max()), self.target)


@dataclass(frozen=True)
class _Stopped:
    """Where a search can go on: the best support and the heap of open nodes."""

    best: _Best
    open_nodes: list[_Node]


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
        may have to go; a node whose columns keep all of them has one support to try, because J only falls.
    enumerated : int
        Parts of a node with at most this number of supports are enumerated.
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
        alive = np.flatnonzero((np.diagonal(gram) > 0) & rules.usable(len(gram)))
        self._constant = np.setdiff1d(rules.required, alive)  # they stay, and capture nothing
        self.rules = rules.beside(self._constant).restricted(alive, len(gram))
        self.of, self.enumerated, self._ties = Captured(gram, squared, rank, alive), enumerated, count()

    @classmethod
    def of_view(cls, view: DataMatrix, rank: int, rules: Rules = NO_RULES) -> DeletionTree:
        """The tree of a view whose Gram matrix fits in memory."""
        gram = view.gram()
        return cls(gram, gram @ gram, rank, rules)

    def search(
        self, size: int, incumbent: Indices, *, budget: Budget, max_nodes: int, earlier: Searched | None = None
    ) -> Searched:
        """The support of ``size`` columns that captures most, as far as nodes and time allow.

        At the cap, the best open bound is returned with the incumbent: it is valid at every moment. An ``earlier``
        search of the same support goes on.
        """
        alive, size = self.of.alive, size - len(self._constant)
        known = np.searchsorted(alive, incumbent[np.isin(incumbent, alive)])  # others capture nothing
        every, best = np.arange(len(alive)), _Best(known, self.of)
        if len(every) <= size and self.rules.within_limits(every[None])[0]:
            best = _Best(every, self.of)
            return Searched(np.union1d(alive, self._constant), best.captured, best.settled, 0)
        if earlier is None or earlier.stopped is None:
            order = np.append(self.rules.required, np.setdiff1d(every, self.rules.required))
            shares = np.full(len(every), size / max(len(every), 1))
            open_nodes, nodes = [_Node(-np.inf, 0, order, len(self.rules.required), shares)], 0
        else:
            best, open_nodes, nodes = earlier.stopped.best, earlier.stopped.open_nodes, earlier.nodes
        most = int(np.clip(SCHEDULES.tree_entries // max(len(every), 1) ** 2, 1, SCHEDULES.tree_nodes))
        while open_nodes and nodes < max_nodes and not budget.expired and -open_nodes[0].priority > best.target:
            taken = [heapq.heappop(open_nodes) for _ in range(min(most, max_nodes - nodes, len(open_nodes)))]
            for part in self._branched(taken, size, best, first=nodes == 0):
                heapq.heappush(open_nodes, part)
            nodes += len(taken)
            if open_nodes and nodes // SCHEDULES.report_nodes > (nodes - len(taken)) // SCHEDULES.report_nodes:
                said = f"{best.captured:.6g} of at most {-open_nodes[0].priority:.6g}"
                budget.say(f"{nodes} nodes, {len(open_nodes)} open: {said}")
        bound = max([best.settled, best.target, *(-node.priority for node in open_nodes)])
        proved = bound <= max(best.settled, best.target) and best.settled <= best.captured * (1 + TRIED_ROUNDING)
        support, stopped = np.union1d(alive[best.support], self._constant), _Stopped(best, open_nodes)
        return Searched(support, best.captured, bound, nodes, proved, stopped)

    # -------------------------------------------------------------------------------------------------------- nodes

    def _branched(self, taken: list[_Node], size: int, best: _Best, *, first: bool) -> Iterator[_Node]:
        """The parts of nodes that may have better supports. Where a part has few supports they are tried at once."""
        inside = list[_Node]()
        for node in taken:
            columns = self._fitting(node.columns, node.kept)
            excess = self.rules.fewest_deletions(columns, node.kept, size)
            if excess is None or node.kept > size:
                continue
            if excess == 0 or node.kept == size:  # within all limits, or more would have to go than may
                best.look(columns[None] if excess == 0 else columns[None, :size])
            else:
                inside.append(node._replace(columns=columns))
        if not inside:
            return
        columns, relaxation = self._relaxed(inside, size, best.target, first=first)
        tried = list[Completions]()
        for at, node in enumerate(inside):
            yield from self._parts(node, at, relaxation, size, best, tried)
        if tried:
            possible = relaxation.may_exceed(best.target, tried)
            each = zip(tried, possible, strict=True)
            better = np.concatenate([columns[one.node][one.supports[those]] for one, those in each])
            for part in np.array_split(better, -(-len(better) // LIMITS.node_supports)) if len(better) else []:
                best.look(part)
            best.settled = max(best.settled, best.target)

    def _parts(
        self, node: _Node, at: int, relaxation: Relaxed, size: int, best: _Best, tried: list[Completions]
    ) -> Iterator[_Node]:
        """The parts of a node by the first column that goes, those before it kept; the last has few supports to try."""
        width, most, target = len(node.columns), float(relaxation.bound[at]), best.target
        if not np.isfinite(most):
            most = self.of.beside_kept(node.columns[: node.kept], size - node.kept)
        remaining = relaxation.whole[at] - relaxation.missed[at, :width]  # without one column
        gone = self.rules.fewest_deletions(node.columns, node.kept, size) or 0
        bound = min(most, -node.priority, float(np.sort(remaining[node.kept :])[-gone]))
        if bound <= target:
            return
        gains, room = relaxation.gains[at, :width], float(relaxation.room[at])
        stay, go = _fixed(gains[node.kept :], size - node.kept, most - target if room > most - target else np.inf)
        stay |= remaining[node.kept :] <= target
        free, staying = np.flatnonzero(~stay & ~go) + node.kept, np.flatnonzero(stay) + node.kept
        free = free[np.argsort(-relaxation.shares[at, free], kind="stable")]
        order = np.concatenate([np.arange(node.kept), staying, free])
        columns, kept = node.columns[order], node.kept + len(staying)
        excess = self.rules.fewest_deletions(columns, kept, size)
        if excess is None or kept > size or (len(columns) < size and not self.rules.has_limits):
            return
        if excess == 0 or kept == size:
            best.look(columns[None] if excess == 0 else columns[None, :size])
            return
        shares = node.shares.copy()
        shares[node.columns] = relaxation.shares[at, :width]
        largest, certain = _largest(gains[node.kept :], size - node.kept), float(gains[staying].sum())
        few = self._few(size, screened=bool(relaxation.is_trace[at]))
        for i in range(min(len(free) - excess, size - kept) + 1):  # as many have to go, and no more may stay
            places = size - kept - i
            if not self.rules.has_limits and comb(len(free) - i, places) <= few:
                tried.append(Completions(at, order[: kept + i], free[i:], _subsets(len(free) - i, places)))
                return
            lost = largest - certain - _largest(gains[free[i + 1 :]], places)
            if (its_bound := min(bound, most - min(lost, room), float(remaining[free[i]]))) > target:
                rest = np.concatenate([columns[: kept + i], columns[kept + i + 1 :]])
                yield _Node(-its_bound, next(self._ties), rest, kept + i, shares)
            certain += float(gains[free[i]])

    def _relaxed(self, nodes: list[_Node], size: int, target: float, *, first: bool) -> tuple[Indices, Relaxed]:
        """Columns of the nodes, padded, and their relaxations; the first one takes more steps."""
        counts, kept = np.array([len(node.columns) for node in nodes]), np.array([node.kept for node in nodes])
        columns = np.zeros((len(nodes), counts.max()), dtype=np.intp)
        for row, node in zip(columns, nodes, strict=True):
            row[: len(node.columns)] = node.columns
        here, are_kept = (np.arange(counts.max()) < number[:, None] for number in (counts, kept))
        both, part = here[:, :, None] & here[:, None, :], (columns[:, :, None], columns[:, None, :])
        A = None if self.of.is_white else np.where(both, self.of.gram[part], np.eye(counts.max()))
        C = np.where(both, self.of.squared[part], 0.0)
        shares = np.take_along_axis(np.stack([node.shares for node in nodes]), columns, axis=1)
        steps = SCHEDULES.first_choice_steps if first else SCHEDULES.choice_steps
        rank = min(self.of.rank, size)
        return columns, relaxed(A, C, rank, Columns(here, are_kept, size), shares, target, steps)

    def _few(self, size: int, *, screened: bool) -> int:
        """Number of supports of a part that are tried: fewer if each costs more."""
        work = LIMITS.node_work if screened else LIMITS.node_work // 8
        return min(self.enumerated, work // size**3 + 1)

    def _fitting(self, columns: Indices, kept: int) -> Indices:
        """The columns that fit the budget and the limits of groups together with the kept ones."""
        if not self.rules.has_limits or kept == len(columns):
            return columns
        rooms = replace(self.rules, required=columns[:kept]).rooms(1, len(self.of.alive))
        return np.append(columns[:kept], columns[kept:][rooms.open()[0, columns[kept:]]])


def _fixed(gains: Array, places: int, slack: float) -> tuple[Mask, Mask]:
    """Columns that must stay and columns that must go if a choice is to lose less than ``slack``."""
    falling = np.append(-np.sort(-gains), 0.0)
    last, following = falling[min(places, len(gains)) - 1], falling[min(places, len(gains))]
    stay = (gains >= last) & (gains - following > slack)
    return stay, last - gains > slack


def _largest(gains: Array, places: int) -> float:
    """The sum of the largest gains for which there are places."""
    return float(-np.sort(-gains)[:places].sum())


@lru_cache(maxsize=256)
def _subsets(among: int, size: int) -> Indices:
    """All subsets of this size of the first numbers."""
    return np.array(list(combinations(range(among), size)), dtype=np.intp).reshape(comb(among, size), size)
