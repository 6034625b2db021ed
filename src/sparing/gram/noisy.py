"""Measurement noise: a view whose readings have independent noise of known variance."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.gram.derived import Derived
from sparing.results import Array, Indices


class Noisy(Derived):
    """``A + diag(noise)`` around a base view: the expected A if every reading has independent noise.

    It is the Gram matrix of X with d additional rows, sqrt(noise_j) e_j for feature j. Regression on some of its
    columns is ridge regression on those of X: features that are not read are predicted without their noise.

    Parameters
    ----------
    base : DataMatrix
    noise : ndarray of shape (d,)
        The number of samples times the variance of the noise, in squared units of the view.
    """

    def __init__(self, base: DataMatrix, noise: Array) -> None:
        super().__init__(base)
        self._noise, self.has_rows = noise, base.has_rows
        self.n_samples = None if base.n_samples is None else base.n_samples + base.n_features
        self._gram: Array | None = None

    @property
    def signal(self) -> DataMatrix:
        """The base, which has no noise."""
        return self.base.signal

    @property
    def noise(self) -> Array:
        """The noise added to the diagonal."""
        return self._noise if self.base.noise is None else self._noise + self.base.noise

    def gram(self) -> Array:
        """A with its noise, computed once."""
        if self._gram is None:
            self._gram = self.base.gram() + np.diag(self._noise)
        return self._gram

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V`` and the noise times V."""
        return self.base.gram_matmat(V) + self._noise[:, None] * V

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J, with the noise on the diagonal."""
        J = np.asarray(J, dtype=np.intp)
        columns = np.array(self.base.gram_columns(J))
        columns[J, np.arange(len(J))] += self._noise[J]
        return columns

    def gram_diagonal(self) -> Array:
        """Squared column norms and the noise."""
        return self.base.gram_diagonal() + self._noise

    def unprojected_diagonal(self) -> Array:
        """Squared norms of the base's columns before deflation, plus the noise."""
        return self.base.unprojected_diagonal() + self._noise

    @property
    def squares_cheaply(self) -> bool:
        """The same as for the base, because the noise adds only small products."""
        return self.base.squares_cheaply

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``: A^2 + AN + NA + N^2 for the noise N."""
        if not self.squares_cheaply:
            return super().gram_squared(J, gram_columns)
        N = self._noise[J]
        mixed = self.base.restricted(J).gram() * N
        return self.base.gram_squared(J) + mixed + mixed.T + np.diag(N**2)

    def restricted(self, J: Indices) -> DataMatrix:
        """The columns J of the base, with their noise."""
        return Noisy(self.base.restricted(J), self._noise[J])

    @cached_property
    def _roots(self) -> Array:
        return np.sqrt(self._noise)

    def matmat(self, V: Array) -> Array:
        """``X @ V``; rows of noise come after those of the data."""
        return np.concatenate([self.base.matmat(V), self._roots[:, None] * V])

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``."""
        n = len(U) - self.n_features
        return self.base.rmatmat(U[:n]) + self._roots[:, None] * U[n:]

    def columns(self, J: ArrayLike) -> Array:
        """``X[:, J]``, dense."""
        J = np.asarray(J, dtype=np.intp)
        below = np.zeros((self.n_features, len(J)))
        below[J, np.arange(len(J))] = self._roots[J]
        return np.concatenate([self.base.columns(J), below])

    def row_gram(self) -> Array:
        """``X @ X.T``, if there are few features as well."""
        beside = self.base.columns(np.arange(self.n_features)) * self._roots
        return np.block([[self.base.row_gram(), beside], [beside.T, np.diag(self._noise)]])

    def recentred(self, center: bool) -> DataMatrix:
        """The base, centred or not, with the same noise."""
        return Noisy(self.base.recentred(center), self._noise)
