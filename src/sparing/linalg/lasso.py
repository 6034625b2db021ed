"""Lasso and elastic net in Gram coordinates, exactly, along the regularization path."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import TIE, keep_largest
from sparing.results import Array, Indices
from sparing.search_limits import SEARCH


def thresholded(target: Array, level: float, size: int) -> Array:
    """Soft thresholding by ``level``, or by the level that leaves ``size`` entries; the first of equal ones stay.

    The b that minimises |b|^2 - 2 target'b + 2 level |b|_1.
    """
    kept, extent = target, np.abs(target)
    if size < len(target):
        kept = keep_largest(target[:, None], size)[:, 0]
        last = extent[kept != 0].min(initial=np.inf)
        level = max(level, float(extent[extent < last * (1 - TIE)].max(initial=0.0)))
    return np.asarray(np.sign(kept) * np.maximum(np.abs(kept) - level, 0.0))


class LassoPath:
    """The b that minimises b'Gb - 2 target'b + 2 level |b|_1, for one G and a sequence of targets.

    On a support S with signs s the solution is G_SS^-1 (target_S - level s), until a feature enters or leaves as the
    level decreases or the target changes [efron2004, Sec. 3.1]. With a ridge on the diagonal of G it is the elastic
    net.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
        Positive definite.
    max_events : int
        Maximum number of events per feature (entering or leaving); a path stops there.
    """

    def __init__(self, gram: Array, *, max_events: int = SEARCH.lasso_events) -> None:
        self.gram, self.max_events = gram, max_events
        self._forget()

    def _forget(self) -> None:
        """Reset to b = 0."""
        self._support = np.zeros(0, dtype=np.intp)
        self._signs = np.zeros(len(self.gram))
        self._target: Array | None = None

    def penalised(self, target: Array, level: float) -> Array:
        """The solution at a penalty level, warm-started from the last solution at the same level."""
        if level == 0:  # not sparse: no path needed
            return np.asarray(linalg.solve(self.gram, target, assume_a="pos"))
        if self._target is None:
            fall = max(float(np.abs(target).max()) - level, 0.0)
            found = self._followed(target, np.zeros_like(target), level, fall, len(target))
        else:
            found = self._followed(target, self._target - target, level, 0.0, len(target))
        self._target = target
        return found

    def counted(self, target: Array, size: int) -> Array:
        """The solution of ``size`` entries at the level where one more would enter.

        If features tie, more than ``size`` may enter at once; the largest are kept.
        """
        self._forget()
        found = self._followed(target, np.zeros_like(target), 0.0, float(np.abs(target).max()), size)
        return keep_largest(found[:, None], size)[:, 0]

    def _followed(self, target: Array, change: Array, level: float, fall: float, size: int) -> Array:
        """Follow from target + change and level + fall to target and level, or until there are more than ``size``
        features.

        ``now`` is the remaining share of the way; the solution there is p + now q on the support.
        """
        b, now = np.zeros_like(target), 1.0
        barred = np.zeros(0, dtype=np.intp)  # features that just left: they may return with the other sign only
        for _ in range(self.max_events * len(target)):
            S, signs = self._support, self._signs[self._support]
            rows = self.gram[S]
            ends = np.column_stack([target[S] - level * signs, change[S] - fall * signs])
            p, q = _solved(rows[:, S], ends)
            rest, drift = target - p @ rows, change - q @ rows
            back = barred[np.sign(rest[barred]) == self._signs[barred]]
            enter = _entering(rest, drift, level, fall, np.append(S, back))
            leave = np.divide(-p, q, out=np.where(signs * p < 0, now, 0.0), where=(signs * p < 0) & (signs * q > 0))
            coming = float(enter.max())
            after = min(max(coming, float(leave.max(initial=0.0))), now)
            if coming >= after > 0 and len(S) >= size and after < now * (1 - TIE):
                now = after
                break
            now = after
            if now <= 0:
                break
            if coming >= now:
                j = first_largest(enter)
                self._support, self._signs[j], barred = np.append(S, j), np.sign(rest[j]), S[:0]
            else:
                slot = first_largest(leave)
                self._support, barred = np.delete(S, slot), S[[slot]]
        b[S] = p + now * q
        return b


def _solved(inside: Array, ends: Array) -> tuple[Array, Array]:
    """G_SS^-1 times both columns."""
    if len(inside):
        ends = linalg.solve(inside, ends, assume_a="pos", check_finite=False)
    return ends[:, 0], ends[:, 1]


def _entering(rest: Array, drift: Array, level: float, fall: float, taken: Indices) -> Array:
    """Remaining shares of the way when |rest + share drift| = level + share fall; 0 for features that do not enter."""
    slope = fall - drift * np.sign(rest)
    free = (np.abs(rest) > level) & (slope > 0)
    free[taken] = False
    return np.divide(np.abs(rest) - level, slope, out=np.zeros_like(rest), where=free)
