"""Views held in memory: a Gram matrix, or a few columns of the data."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.results import Array, Indices


def view_of_gram(
    matrix: Array,
    *,
    is_psd: bool = True,
    square_unit: float = 1.0,
    scale: Array | None = None,
    psd_slack: float = 0.0,
    columns: Array | None = None,
) -> DataMatrix:
    """A symmetric matrix in memory as a view: a covariance, or the Gram matrix of a few features.

    Where these features are ``columns`` with few rows, products with their Gram matrix are taken by way of them.
    """
    return DenseGram(matrix, is_psd=is_psd, square_unit=square_unit, scale=scale, psd_slack=psd_slack, columns=columns)


class DenseGram(DataMatrix):
    """A in memory: a covariance or correlation matrix of the user, or the Gram matrix of a few columns."""

    def __init__(
        self,
        matrix: Array,
        *,
        is_psd: bool = True,
        square_unit: float = 1.0,
        scale: Array | None = None,
        psd_slack: float = 0.0,
        columns: Array | None = None,
    ) -> None:
        self._matrix, self._scale, self.psd_slack = matrix, scale, psd_slack
        self.n_features = len(matrix)
        self._factor = columns if columns is not None and 2 * len(columns) < self.n_features else None
        self.is_psd = is_psd
        self.square_unit = square_unit

    @property
    def scale(self) -> Array:
        """Standard deviations that the user's matrix was divided by, if it was."""
        return super().scale if self._scale is None else self._scale

    @property
    def has_gram(self) -> bool:
        """Always."""
        return True

    def gram(self) -> Array:
        """A, whatever its size."""
        return self._matrix

    @property
    def product_work(self) -> float:
        """Multiplications of a product with A, for each column of it."""
        return super().product_work if self._factor is None else 2.0 * self._factor.size

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V``."""
        return self._matrix @ V if self._factor is None else self._factor.T @ (self._factor @ V)

    def gram_columns(self, J: ArrayLike) -> Array:
        """``A[:, J]``."""
        return self._matrix[:, np.asarray(J, dtype=np.intp)]

    def gram_diagonal(self) -> Array:
        """The variances."""
        return np.diagonal(self._matrix)

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        return DenseGram(self._matrix[np.ix_(J, J)], is_psd=self.is_psd, psd_slack=self.psd_slack)


def view_of_columns(columns: Array, *, is_residual: bool = False) -> DataMatrix:
    """Centred and scaled columns in memory as a view, possibly a residual of other data."""
    return ColumnBlock(columns, is_residual=is_residual)


class ColumnBlock(DataMatrix):
    """Centred and scaled columns C (n x p) of some view: the pool of a search."""

    def __init__(self, columns: Array, *, is_residual: bool = False) -> None:
        self._columns = columns
        self.n_features, self.is_residual = columns.shape[1], is_residual

    def columns(self, J: ArrayLike) -> Array:
        """``C[:, J]``."""
        return self._columns[:, np.asarray(J, dtype=np.intp)]

    def gram_matmat(self, V: Array) -> Array:
        """``C'C V``."""
        return self._columns.T @ (self._columns @ V)

    def gram_columns(self, J: ArrayLike) -> Array:
        """``C'C[:, J]``."""
        return self._columns.T @ self._columns[:, np.asarray(J, dtype=np.intp)]

    def gram_diagonal(self) -> Array:
        """Squared column norms."""
        return cast(Array, np.einsum("ij,ij->j", self._columns, self._columns))

    def restricted(self, J: Indices) -> DataMatrix:
        """Fewer columns."""
        return ColumnBlock(self._columns[:, J])
