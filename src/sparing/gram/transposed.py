"""The transposed view: samples become columns, so that column selectors can choose rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sparing import errors
from sparing.gram.base import GATHER_RATIO, GRAM_LIMIT, DataMatrix
from sparing.gram.dense import ColumnBlock, DenseGram
from sparing.results import Array, Indices

FEW_SAMPLES, SMALL_PRODUCT = 1024, 2e9
"""XX' is formed for at most this many samples and n^2 d, because its columns would be requested one by one."""


class Transposed(DataMatrix):
    """``X'`` around a view of X that has rows; X' is never formed, and XX' only for few samples.

    Feature i of this view is sample i of the base: ``gram_matmat`` is X(X'U), ``gram_columns`` X X[I]'. If the base has
    XX' or X'X in memory, they are used as Gram matrix and row Gram matrix. Otherwise XX' is formed for at most
    ``few_samples`` samples.
    """

    has_rows = True

    def __init__(self, base: DataMatrix, *, few_samples: int = FEW_SAMPLES) -> None:
        if not base.has_rows or base.n_samples is None:
            raise errors.needs_rows("Choosing data points", base.n_features)
        self.base, self.few_samples = base, few_samples
        self.n_features, self.n_samples = base.n_samples, base.n_features
        self.square_unit = base.square_unit
        self._squares: Array | None = None
        self._gram: Array | None = None

    @property
    def passes(self) -> int:
        """Number of passes over the data of the base."""
        return self.base.passes

    @property
    def has_gram(self) -> bool:
        """Whether the base has XX', or it is small."""
        n, d = self.n_features, self.n_samples or 0
        return self.base.squares_cheaply or (n <= self.few_samples and n * n * d <= SMALL_PRODUCT)

    def gram(self) -> Array:
        """``XX'``, for few samples."""
        if self.n_features > GRAM_LIMIT:
            raise errors.gram_too_large(self.n_features, GRAM_LIMIT)
        if self._gram is None:
            self._gram = self.base.row_gram()
        return self._gram

    def gram_matmat(self, V: Array) -> Array:
        """``X @ (X.T @ V)``."""
        return self.gram() @ V if self.has_gram else self.base.matmat(self.base.rmatmat(V))

    def gram_columns(self, J: ArrayLike) -> Array:
        """``X @ X[J].T``."""
        J = np.asarray(J, dtype=np.intp)
        return self.gram()[:, J] if self.has_gram else self.base.matmat(self.columns(J))

    def gram_diagonal(self) -> Array:
        """Squared norms of the samples, computed once."""
        if self._squares is None:
            self._squares = self.base.row_squares()
        return self._squares

    @property
    def squares_cheaply(self) -> bool:
        """With X'X in memory (XX')^2 on the samples J is X[J] X'X X[J]'."""
        return self.base.has_gram

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(XX' @ XX')[J, J]``."""
        if not self.squares_cheaply:
            return super().gram_squared(J, gram_columns)
        C = self.columns(J)
        return C.T @ self.base.gram_matmat(C)

    def restricted(self, J: Indices) -> DataMatrix:
        """The samples J, stored if they have few features, otherwise as their Gram matrix."""
        if self.has_gram:
            return DenseGram(self.gram()[np.ix_(J, J)])
        if (self.n_samples or 0) <= GATHER_RATIO * len(J):
            return ColumnBlock(self.columns(J))
        gram = np.zeros((len(J), len(J)))
        for strip in self.base.picked_rows(J):
            gram += strip @ strip.T
        return DenseGram(gram)

    def matmat(self, V: Array) -> Array:
        """``X.T @ V``."""
        return self.base.rmatmat(V)

    def rmatmat(self, U: Array) -> Array:
        """``X @ U``."""
        return self.base.matmat(U)

    def columns(self, J: ArrayLike) -> Array:
        """``X[J].T``, dense."""
        J = np.asarray(J, dtype=np.intp)
        return np.concatenate([strip.T for strip in self.base.picked_rows(J)])

    def row_gram(self) -> Array:
        """``X.T @ X``, for few features."""
        return self.base.gram()
