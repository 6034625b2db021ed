"""Variance captured by supports: J(S), the sum of the k largest eigenvalues of C_SS relative to A_SS, and its upper
bounds.

Where the columns of S are nearly collinear, as they are wherever features outnumber samples, they may span anything:
J(S) <= J(F) + the |S| - |F| largest eigenvalues of what columns F, which are not, leave of X.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from sparing.linalg.rounding import NEARLY_COLLINEAR, whitening_margin
from sparing.linalg.span import independent_columns
from sparing.proof_limits import LIMITS
from sparing.results import Array, Indices


class Judged(NamedTuple):
    """Captured variance and its upper bound: equal up to rounding, unless columns are collinear."""

    captured: Array
    bound: Array


class Captured:
    """J of supports among the nonzero columns, which are renumbered.

    Parameters
    ----------
    gram, squared : ndarray of shape (d, d)
        A and C. With A @ A in place of C, J is the variance that the best encoder captures; with the identity in place
        of A it is the sum of the largest eigenvalues of C_SS.
    rank : int
        Number of components k.
    alive : ndarray of int
        The columns that are not zero.

    Attributes
    ----------
    is_white : bool
        Is A the identity? Then nothing has to be whitened.
    """

    def __init__(self, gram: Array, squared: Array, rank: int, alive: Indices) -> None:
        norms = np.sqrt(np.maximum(np.diagonal(gram)[alive], 0.0))
        outer, part = np.multiply.outer(norms, norms), np.ix_(alive, alive)
        self.gram, self.squared, self.rank, self.alive = gram[part] / outer, squared[part] / outer, rank, alive
        self.is_white = bool((self.gram == np.eye(len(alive))).all())
        self._whole, self._norms = gram, norms

    def judged(self, supports: Indices) -> Judged:
        """Captured variance of many supports of one size (rows), and its upper bounds."""
        rows, columns = supports[:, :, None], supports[:, None, :]
        if self.is_white:
            captured = np.linalg.eigvalsh(self.squared[rows, columns])[:, -self.rank :].sum(axis=1)
            size = supports.shape[1]
            return Judged(captured, captured * (1 + self.rank * whitening_margin(size, float(size))))
        inside = self.gram[rows, columns]
        try:
            inverse = np.linalg.inv(np.linalg.cholesky(inside))
        except np.linalg.LinAlgError:
            each = [self._judged_alone(support) for support in supports]
            return Judged(np.array([one for one, _ in each]), np.array([bound for _, bound in each]))
        G = inverse @ self.squared[rows, columns] @ inverse.transpose(0, 2, 1)
        captured = np.linalg.eigvalsh(G)[:, -self.rank :].sum(axis=1)
        squares = np.square(inverse).sum(axis=(1, 2))
        bounds = captured * (1 + self.rank * whitening_margin(supports.shape[1], squares))
        for i in np.flatnonzero(squares >= 1 / NEARLY_COLLINEAR):
            captured[i], bounds[i] = self._judged_alone(supports[i])
        return Judged(captured, bounds)

    def best_of(self, supports: Indices) -> tuple[int, float, float]:
        """The first best of many supports (rows of feature indices), its captured variance, and an upper bound for all
        of them."""
        known, places = np.isin(supports, self.alive), np.searchsorted(self.alive, supports)
        captured, bounds = np.zeros(len(supports)), np.zeros(len(supports))  # features that are 0 capture nothing
        for count in np.unique(known.sum(axis=1)[known.any(axis=1)]):
            rows = np.flatnonzero(known.sum(axis=1) == count)
            for part in np.array_split(rows, -(-len(rows) // LIMITS.node_supports)):
                captured[part], bounds[part] = self.judged(places[part][known[part]].reshape(len(part), -1))
        best = int(captured.argmax())
        return best, float(captured[best]), float(bounds.max())

    def beside_kept(self, kept: Indices, n_open: int) -> float:
        """Upper bound on the variance captured by these columns and any ``n_open`` others; rounded up."""
        parts = self._apart(kept)
        return self._beside(parts, n_open + len(kept) - len(parts))

    @cached_property
    def _spectrum(self) -> Array:
        """Eigenvalues of the matrix of all columns."""
        return np.asarray(np.linalg.eigvalsh(self._whole))

    def _judged_alone(self, support: Indices) -> tuple[float, float]:
        """Evaluate one support, whose columns may be collinear: dependent columns count as much as any could."""
        parts = self._apart(support)
        return self._captured_apart(parts), self._beside(parts, len(support) - len(parts))

    def _apart(self, columns: Indices) -> Indices:
        """Some of the columns that are not nearly collinear, the first one of those that are."""
        if len(columns) == 0:
            return columns
        kept, R = independent_columns(self.gram[np.ix_(columns, columns)])
        while len(kept) and np.square(np.linalg.inv(R)).sum() >= 1 / NEARLY_COLLINEAR:
            kept, R = kept[:-1], R[:-1, :-1]
        return columns[np.sort(kept)]

    def _captured_apart(self, columns: Indices) -> float:
        """J of columns that are not collinear."""
        if len(columns) == 0:
            return 0.0
        part = np.ix_(columns, columns)
        inverse = np.linalg.inv(np.linalg.cholesky(self.gram[part]))
        return float(np.linalg.eigvalsh(inverse @ self.squared[part] @ inverse.T)[-self.rank :].sum())

    def _beside(self, columns: Indices, count: int) -> float:
        """Upper bound on the variance captured by these columns, which are not collinear, and any ``count`` others;
        rounded up."""
        captured, left, squares = self._captured_apart(columns), self._whole, 1.0
        if len(columns):
            J = self.alive[columns]
            inverse = np.linalg.inv(np.linalg.cholesky(self.gram[np.ix_(columns, columns)])) / self._norms[columns]
            W = inverse @ self._whole[J]
            left, squares = self._whole - W.T @ W, float(np.square(inverse * self._norms[columns]).sum())
        values = (np.linalg.eigvalsh(left) if len(columns) else self._spectrum)[::-1][: min(count, self.rank)]
        most = float(self._spectrum[-self.rank :].sum())
        rounding = self.rank * float(whitening_margin(len(self._whole), squares)) * most
        return min(captured + float(np.maximum(values, 0.0).sum()), most) + rounding
