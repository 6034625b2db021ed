"""Chosen columns, and how well they span a target: adding, dropping and swapping in Gram coordinates.

Rows are never needed. With Q an orthonormal basis of the chosen columns and T the target (n x k), the state is
W = X'Q, M = X'(T - QQ'T), what is left of each column's square, and Q'T. Candidates may be all columns or a pool.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy import linalg

from sparing.linalg.signs import first_largest
from sparing.results import Array, Indices

INDEPENDENT = 1e-10
"""A column counts as new while its squared distance from the span exceeds this share of its own square."""

SCAN, SCAN_ON = 128, 1024
"""Candidates scored together when looking for the best swap: first, where it mostly is found, and from then on."""


SHORT = 64
"""Candidates of a scan that are worth another look after its best swap."""


class Spanning:
    """The state of a search for columns that span a target.

    Parameters
    ----------
    cross : ndarray of shape (p, k)
        X'T for the p candidate columns.
    diagonal : ndarray of shape (p,)
        Their squared norms.
    capacity : int
        The most columns that will be chosen at one time.
    """

    def __init__(self, cross: Array, diagonal: Array, capacity: int) -> None:
        p, k = cross.shape
        self.chosen: list[int] = []
        self.cross = cross.copy(order="F")
        self.square = diagonal
        self.left = diagonal.copy()
        self._W = np.empty((p, capacity), order="F")
        self._target = np.empty((capacity, k))
        self._known_duals: Array | None = None

    @property
    def W(self) -> Array:
        """X'Q."""
        return self._W[:, : len(self.chosen)]

    @property
    def target(self) -> Array:
        """Q'T."""
        return self._target[: len(self.chosen)]

    def restricted(self, candidates: Indices, capacity: int) -> Spanning:
        """The same state for some candidates, all chosen ones among them."""
        pool = Spanning(self.cross[candidates], self.square[candidates], capacity)
        place = np.empty(len(self.left), dtype=np.intp)
        place[candidates] = np.arange(len(candidates))
        pool.chosen = [int(place[j]) for j in self.chosen]
        pool.left = self.left[candidates]
        pool.W[:], pool.target[:] = self.W[candidates], self.target
        return pool

    @property
    def captured(self) -> float:
        """||Q'T||^2: how much of the target is spanned."""
        return float(np.square(self.target).sum())

    def gains(self) -> Array:
        """How much of the target each candidate would add; 0 for chosen and dependent ones."""
        new = self.left > INDEPENDENT * self.square
        new[self.chosen] = False
        squares = np.einsum("ij,ij->i", self.cross, self.cross)
        return cast(Array, np.divide(squares, self.left, out=np.zeros_like(squares), where=new))

    def extend(self, added: Indices, gram_columns: Array) -> None:
        """Choose columns whose Gram columns A[:, added] are given, by one blocked Gram-Schmidt step.

        Columns that turn out to depend on the others are left out.
        """
        if len(added) == 0:
            return
        fresh = (self.W[added] @ self.W.T).T
        np.subtract(gram_columns, fresh, out=fresh)
        try:
            R = linalg.cholesky(fresh[added], check_finite=False)
            dependent = bool((np.square(np.diagonal(R)) <= INDEPENDENT * self.square[added]).any())
        except linalg.LinAlgError:
            dependent = True
        if dependent:  # together they depend on one another more than each alone
            for j, column in zip(added, gram_columns.T, strict=True):
                if self.left[j] > INDEPENDENT * self.square[j]:
                    self.add(int(j), column)
            return
        target = linalg.solve_triangular(R, self.cross[added], trans="T", check_finite=False)
        fresh = linalg.blas.dtrsm(1.0, R, fresh, side=1, overwrite_b=True)  # fresh R^-1, in place
        self.append(added, fresh, target)

    def add(self, j: int, gram_column: Array) -> None:
        """Choose one column."""
        root = np.sqrt(self.left[j])
        fresh = (gram_column - self.W @ self.W[j]) / root
        self.append([j], fresh[:, None], self.cross[j : j + 1] / root)

    def append(self, added: Indices | list[int], fresh: Array, target: Array) -> None:
        """Choose columns by the new part of Q: X' times it, and its inner products with what is left of T."""
        old = len(self.chosen)
        self._known_duals = None
        self.chosen += [int(j) for j in added]
        self.cross -= (target.T @ fresh.T).T  # in the order of memory that both have
        self.left -= np.einsum("ij,ij->i", fresh, fresh)
        self.W[:, old:], self.target[old:] = fresh, target

    def _duals(self) -> Array:
        """Columns y_s: Q y_s is the unit direction of chosen column s that the other chosen ones lack."""
        if self._known_duals is None:
            inside = self.W[self.chosen]
            try:
                Y = np.linalg.inv(inside)
            except np.linalg.LinAlgError:  # a column of which only rounding was left provides nothing of its own
                Y = np.linalg.pinv(inside)
            self._known_duals = cast(Array, Y / np.maximum(np.linalg.norm(Y, axis=0), np.finfo(float).tiny))
        return self._known_duals

    def worth(self) -> Array:
        """What the target loses when each chosen column is dropped."""
        return cast(Array, np.square(self.target.T @ self._duals()).sum(axis=0))

    def drop(self, slot: int) -> None:
        """Undo the choice in a slot: turn Q so that its private direction is the last, and forget that."""
        v = self._duals()[:, slot].copy()
        self._known_duals = None
        v[-1] += 1.0 if v[-1] >= 0 else -1.0  # Householder: the direction becomes -+e_last
        v /= np.linalg.norm(v)
        W, target = self.W, self.target
        W -= np.multiply.outer(2 * (W @ v), v)
        target -= np.multiply.outer(2 * v, v @ target)
        self.cross += np.multiply.outer(W[:, -1], target[-1])
        self.left += W[:, -1] ** 2
        del self.chosen[slot]

    def best_swap(
        self, floor: float, scanned: int | None = None, among: Indices | None = None
    ) -> tuple[float, int, int, Indices]:
        """The swap that spans most: (gain, slot to drop, candidate to take); gain 0 where none exceeds ``floor``.

        With w = x_j'Q y_s and t = (Q'T)'y_s the gain is |M_j + w t|^2 / (left_j + w^2) - |t|^2. It is never above what
        adding j alone would gain, so candidates are scanned by that and the scan ends early, or after
        ``scanned`` candidates. Candidates are all, or those ``among``; the last result are those that gained most.
        """
        single = self.gains()
        promising = np.flatnonzero(single > floor) if among is None else among[single[among] > floor]
        order = promising[np.argsort(-single[promising], kind="stable")][:scanned]
        Y = self._duals()
        T = self.target.T @ Y
        dropped = np.square(T).sum(axis=0)
        best = (0.0, -1, -1)
        reached = np.zeros(len(order))
        for start in (0, *range(SCAN, len(order), SCAN_ON)):
            some = order[start : SCAN if start == 0 else start + SCAN_ON]
            if len(some) == 0 or single[some[0]] <= max(best[0], floor):
                break
            w = self.W[some] @ Y
            M = self.cross[some]
            gain = w * dropped
            gain += 2 * (M @ T)
            gain *= w
            gain += np.square(M).sum(axis=1)[:, None]
            gain /= self.left[some][:, None] + np.square(w)
            gain -= dropped
            reached[start : start + len(some)] = gain.max(axis=1)
            if reached[start : start + len(some)].max() > max(best[0], floor):
                row, slot = divmod(first_largest(gain.ravel()), len(dropped))
                best = (float(gain[row, slot]), slot, int(some[row]))
        gainers = np.flatnonzero(reached > floor)
        return *best, order[gainers[np.argsort(-reached[gainers], kind="stable")[:SHORT]]]
