"""A few columns held in memory, ready for Gram columns one at a time."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.results import Array, Indices


def view_of_columns(columns: Array, *, is_residual: bool = False) -> DataMatrix:
    """Centred and scaled columns in memory as a view; are they what is left of other data?"""
    return ColumnBlock(columns, is_residual=is_residual)


class ColumnBlock(DataMatrix):
    """Centred and scaled columns C (n x p) of some view: the pool that a search works in."""

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
