"""Branch and bound on the unit sphere of directions c: which r rows of V have the largest singular value?

g(c) = the sum of the r largest squares of Vc; its maximum over unit c is the largest |V'x|^2 over unit x with r
nonzeros. With c* best and x* its x, V'x* = sqrt(OPT) c*, so that sqrt(g(c)) >= x*'Vc = sqrt(OPT) c*'c for every c:

    OPT <= g(c) / cos^2(angle between c and c*).

So a cell of directions within theta of c holds no c* unless OPT <= g(c) / cos^2(theta). The sphere is divided into
cells, those with the highest bounds are halved, and c* is always in one of the open cells. For nonnegative x only
positive entries of Vc count, and all of this holds as it stands.

A cell is a box p +- w on a face of the cube [-1, 1]^m, seen from the origin. The directions within theta of p form a
convex cone, which holds the box as soon as it holds its corners. The angle between p and a corner p + delta depends
on s = p'delta alone, because |delta| = |w|, and is largest at s = -|w|^2, or at the smallest possible s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sparing.gram.base import CACHE_ENTRIES
from sparing.linalg.rounding import EPS
from sparing.proof_limits import SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget


@dataclass(frozen=True)
class Highest:
    """The best direction found, its rows and their value, and an upper bound for any r rows.

    ``cells`` is the work done, to be given as ``max_cells`` for the very same result again.
    """

    support: Indices
    direction: Array
    value: float
    bound: float
    cells: int


class Cells(NamedTuple):
    """Centres on the cube (one coordinate, of number ``face``, is 1 or -1), how often halved, and bounds."""

    centres: Array
    faces: Indices
    levels: Indices
    bounds: Array

    def some(self, which: Indices | NDArray[np.bool_]) -> Cells:
        """The cells at these positions, or where a mask is true."""
        return Cells(self.centres[which], self.faces[which], self.levels[which], self.bounds[which])

    def joined(self, others: Cells) -> Cells:
        """These and others."""
        centres, faces = np.concatenate([self.centres, others.centres]), np.concatenate([self.faces, others.faces])
        levels, bounds = np.concatenate([self.levels, others.levels]), np.concatenate([self.bounds, others.bounds])
        return Cells(centres, faces, levels, bounds)

    def halves(self) -> Cells:
        """Both halves of every cell, cut across its free coordinates in turn."""
        count, m = self.centres.shape
        rotation, rounds = self.levels % (m - 1), self.levels // (m - 1)
        step = np.zeros_like(self.centres)
        step[np.arange(count), (self.faces + 1 + rotation) % m] = 0.5 ** (rounds + 1.0)
        halved = self._replace(levels=self.levels + 1)
        return halved._replace(centres=self.centres - step).joined(halved._replace(centres=self.centres + step))

    def cosines(self) -> Array:
        """Lower bounds of the cosine between the centre of each cell and any direction in it."""
        m = self.centres.shape[1]
        order = (np.arange(m) - self.faces[:, None] - 1) % m  # of the free coordinates; the face itself is last
        times = (self.levels[:, None] + m - 2 - order) // max(m - 1, 1)
        widths = np.where(order < m - 1, 0.5**times, 0.0)
        square, reach = np.square(self.centres).sum(axis=1), np.square(widths).sum(axis=1)
        s = -np.minimum(reach, (np.abs(self.centres) * widths).sum(axis=1))
        return cast(Array, (square + s) / np.sqrt(square * (square + 2 * s + reach)))


class Rows:
    """The rows of V by decreasing norm, so that few of them need to be examined."""

    def __init__(
        self,
        V: Array,
        size: int,
        nonnegative: bool,
        *,
        climbs: int = SCHEDULES.climbs,
        extra_rows: int = SCHEDULES.extra_rows,
    ) -> None:
        norms = np.linalg.norm(V, axis=1)
        self.order = np.argsort(-norms, kind="stable")
        self.rows, self.norms = np.ascontiguousarray(V[self.order]), norms[self.order]
        self.size, self.nonnegative, self.spent = min(size, len(V)), nonnegative, 0.0
        self.climbs, self.extra_rows = climbs, extra_rows
        self.longest = float(np.linalg.norm(self.norms[: self.size]))
        # every entry of Vc is off by less than (m + 4) eps |v_i|, their sum of r squares by less than r eps of it
        self.slack = 4 * (V.shape[1] + self.size + 8) * EPS * self.longest

    def _entries(self, C: Array, count: int) -> Array:
        """The first ``count`` entries of Vc for every row c of C, or their sizes: the larger the better."""
        entries = C @ self.rows[:count].T
        return entries if self.nonnegative else np.abs(entries, out=entries)

    def reached(self, C: Array) -> Array:
        """g of every row of C."""
        values, wanted, count = np.empty(len(C)), np.arange(len(C)), self.size + self.extra_rows
        while len(wanted):
            count = min(count, len(self.rows))
            self.spent += len(wanted) * count / SCHEDULES.cell_rows
            following = self.norms[count] if count < len(self.rows) else -np.inf
            step, left = max(CACHE_ENTRIES // count, 1), []
            for first in range(0, len(wanted), step):
                part = wanted[first : first + step]
                entries = self._entries(C[part], count)
                entries.partition(count - self.size, axis=1)
                left.append(part[entries[:, count - self.size] < following])  # later rows may be among the largest
                values[part] = np.square(np.maximum(entries[:, count - self.size :], 0.0)).sum(axis=1)
            wanted, count = np.concatenate(left), 8 * count
        return values

    def supports(self, C: Array) -> Indices:
        """The r largest entries of Vc for every row of C."""
        count = self.size + self.extra_rows
        if len(C) > 1 and len(C) * len(self.rows) > CACHE_ENTRIES:
            return np.concatenate([self.supports(c[None]) for c in C])
        while True:
            count = min(count, len(self.rows))
            entries = self._entries(C, count)
            chosen = np.argpartition(entries, count - self.size, axis=1)[:, count - self.size :]
            least = np.take_along_axis(entries, chosen[:, :1], axis=1)
            if count == len(self.rows) or least.min() >= self.norms[count]:
                return chosen
            count *= 8

    def climbed(self, C: Array) -> Array:
        """Move every row of C to the best direction for its support, several times; g never decreases."""
        for _ in range(self.climbs):
            chosen = self.rows[self.supports(C)]
            if self.nonnegative:
                weights = np.maximum(chosen @ C[:, :, None], 0.0)
                moved = (chosen * weights).sum(axis=1)
                norms = np.linalg.norm(moved, axis=1, keepdims=True)
                C = np.where(norms > 0, moved / np.where(norms > 0, norms, 1.0), C)
            else:
                C = np.linalg.eigh(chosen.swapaxes(1, 2) @ chosen)[1][:, :, -1]
        return C

    def ceiling(self) -> float:
        """Upper bound of all supports: all rows together, or the r longest."""
        d, m = self.rows.shape
        together = float(np.linalg.norm(self.rows, 2))
        return float(min(together, self.longest) ** 2 * (1 + 16 * (d + m) * EPS))


def highest(
    V: Array,
    size: int,
    *,
    tolerance: float,
    max_cells: int,
    budget: Budget,
    nonnegative: bool = False,
    halved: int = SCHEDULES.halved_cells,
    climbs: int = SCHEDULES.climbs,
) -> Highest:
    """The largest squared singular value of any ``size`` rows of V, from both sides [asteris2014, Alg. 3].

    Parameters
    ----------
    V : ndarray of shape (d, m)
        m is at least 1 and small: each column more takes about two and a half times as many cells.
    size : int
        The number of rows r.
    tolerance : float
        Ends when the bound exceeds the value by at most this share. It costs little: each further digit takes about as
        many cells again as the digit before, except where very many supports are equally good.
    max_cells : int
        Maximum number of cells, exceeded by up to a thousand; each takes 8 (m + 3) bytes while it is open.
    budget : Budget
        When it has expired the bound is that of the cells open then, as at ``max_cells``.
    nonnegative : bool
        The largest |V'x|^2 over x >= 0 instead.
    halved, climbs : int
        Cells halved at a time, and steps of each direction that is improved: they change the work, never the proof.

    Notes
    -----
    **Differs from the paper.** Its net of directions is drawn at random and equally fine everywhere; this one is
    refined only where the optimum can be, and its bounds always hold.
    """
    rows, m = Rows(V, size, nonnegative, climbs=climbs), V.shape[1]
    ends = np.concatenate([np.eye(m), -np.eye(m)]) if nonnegative else np.eye(m)  # g(c) = g(-c) otherwise
    count = len(ends)
    cells = Cells(ends, np.arange(count) % m, np.zeros(count, dtype=np.intp), np.full(count, rows.ceiling()))
    longest = rows.rows[: SCHEDULES.climbed_directions][rows.norms[: SCHEDULES.climbed_directions] > 0]
    best, value = _best(rows, np.concatenate([ends, longest / np.linalg.norm(longest, axis=1, keepdims=True)]))
    waiting, closed, seen, turns = cells.some(np.arange(0)), value, 0, 0
    while True:
        cosines = cells.cosines()
        directions = cells.centres / np.linalg.norm(cells.centres, axis=1, keepdims=True)
        reached = rows.reached(directions)
        seen, turns = seen + len(reached), turns + 1
        promising = np.argsort(-reached, kind="stable")[: SCHEDULES.climbed_directions]
        other, higher = _best(rows, directions[promising])
        if higher > value:
            best, value = other, higher
        bounds = np.square((np.sqrt(reached) + rows.slack) / cosines) * (1 + 16 * (m + 4) * EPS)
        cells = cells._replace(bounds=np.minimum(cells.bounds, bounds))
        split = cosines < 1.0  # a single direction, up to rounding, is its own bound
        closed = max(closed, float(cells.bounds[~split].max(initial=0.0)))
        waiting = waiting.joined(cells.some(split))
        hopeful = waiting.bounds > value * (1 + tolerance)
        closed = max(closed, float(waiting.bounds[~hopeful].max(initial=0.0)))
        waiting = waiting.some(hopeful)
        bound, spent = max(closed, value, float(waiting.bounds.max(initial=0.0))), max(seen, int(rows.spent))
        if turns % 100 == 0:
            budget.say(f"{seen} cells, {len(waiting.bounds)} open: {value:.6g} of at most {bound:.6g}")
        if len(waiting.bounds) == 0 or spent >= max_cells or budget.expired:
            break
        order = np.argsort(-waiting.bounds, kind="stable")
        cells, waiting = waiting.some(order[:halved]).halves(), waiting.some(order[halved:])
    support = rows.supports(best[None])[0]
    support = support[rows.rows[support] @ best > 0] if nonnegative else support
    return Highest(np.sort(rows.order[support]), best, value, bound, spent)


def _best(rows: Rows, C: Array) -> tuple[Array, float]:
    """The best direction that climbing from any row of C finds, and its g."""
    arrived = rows.climbed(C)
    reached = rows.reached(arrived)
    at = int(np.argmax(reached))
    return arrived[at], float(reached[at])
