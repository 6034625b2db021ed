"""Forward selection of columns that span a target, by Gram-Schmidt in Gram coordinates.

Rows are never needed. With Q an orthonormal basis of the chosen columns and T the target (n x k), the state is
W = X'Q, M = X'(T - QQ'T), the squared residual of each column, and Q'T. Candidates may be all columns or a pool.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy import linalg

from sparing.results import Array, Indices

INDEPENDENT = 1e-10
"""A column counts as new while its squared distance from the span exceeds this share of its own square."""


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
        """Choose columns by the new part of Q: X' times it, and its inner products with the residual of T."""
        old = len(self.chosen)
        self.chosen += [int(j) for j in added]
        if len(target) == 1:
            self.cross = linalg.blas.dger(-1.0, fresh[:, 0], target[0], a=self.cross, overwrite_x=0, overwrite_a=1)
        else:
            self.cross = linalg.blas.dgemm(-1.0, fresh, target, 1.0, self.cross, overwrite_c=1)
        self.left -= np.einsum("ij,ij->i", fresh, fresh)
        self.W[:, old:], self.target[old:] = fresh, target
