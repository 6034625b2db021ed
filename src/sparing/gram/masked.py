"""A view some of whose features are set to zero."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.gram.dense import DenseGram
from sparing.results import Array, Indices


class Masked(DataMatrix):
    """The base view with rows and columns ``dropped`` of its Gram matrix set to zero: features that may not be used."""

    def __init__(self, base: DataMatrix, dropped: Indices) -> None:
        self.base = base
        self._kept = np.ones(base.n_features)
        self._kept[dropped] = 0.0
        self.n_features = base.n_features
        self.is_psd, self.square_unit, self.psd_slack = base.is_psd, base.square_unit, base.psd_slack

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
        """As the base."""
        return self.base.has_gram

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V`` with the dropped features at zero."""
        return self._kept[:, None] * self.base.gram_matmat(self._kept[:, None] * V)

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J; those of dropped features are zero."""
        J = np.asarray(J, dtype=np.intp)
        return cast(Array, self._kept[:, None] * self.base.gram_columns(J) * self._kept[J])

    def gram_diagonal(self) -> Array:
        """Squared column norms, zero for dropped features."""
        return self._kept * self.base.gram_diagonal()

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        kept = self._kept[J]
        block = self.base.restricted(J).gram() * np.multiply.outer(kept, kept)
        return DenseGram(block, is_psd=self.is_psd, psd_slack=self.psd_slack)
