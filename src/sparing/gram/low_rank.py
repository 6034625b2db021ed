"""A view whose Gram matrix is changed by a few rank-one terms."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.gram.dense import DenseGram
from sparing.results import Array, Indices


class LowRankUpdate(DataMatrix):
    """``A + W C W'`` around a base view, for W (d x m) and symmetric C (m x m): what deflations leave.

    It has no rows: not every such matrix is the Gram matrix of data, and ``is_psd`` says whether this one is. Where
    it is, it compresses A by a projection: no eigenvalue falls further below zero than the base's.
    """

    def __init__(self, base: DataMatrix, W: Array, C: Array, *, is_psd: bool) -> None:
        self.base, self._W, self._C = base, W, C
        self.n_features = base.n_features
        self.is_psd, self.square_unit, self.psd_slack = is_psd, base.square_unit, base.psd_slack

    @property
    def rounding_error(self) -> float:
        """That of the base."""
        return self.base.rounding_error

    @property
    def rounding_errors(self) -> Array:
        """Those of the base."""
        return self.base.rounding_errors

    @property
    def passes(self) -> int:
        """Those of the base."""
        return self.base.passes

    @property
    def has_gram(self) -> bool:
        """As the base: the change costs little."""
        return self.base.has_gram

    def gram_matmat(self, V: Array) -> Array:
        """``(A + W C W') V``."""
        return self.base.gram_matmat(V) + self._W @ (self._C @ (self._W.T @ V))

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J."""
        J = np.asarray(J, dtype=np.intp)
        return cast(Array, self.base.gram_columns(J) + self._W @ (self._C @ self._W[J].T))

    def gram_diagonal(self) -> Array:
        """The diagonal; below zero only where the matrix is indefinite."""
        whole = self.base.gram_diagonal()
        rest = whole + np.einsum("ij,ij->i", self._W @ self._C, self._W)
        return cast(Array, np.where(rest > 0, rest, 0.0) if self.is_psd else rest)

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        W = self._W[J]
        block = self.base.restricted(J).gram() + W @ self._C @ W.T
        return DenseGram(block, is_psd=self.is_psd, psd_slack=self.psd_slack)
