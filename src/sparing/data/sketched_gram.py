"""A sketch of X that fits in memory, as a view."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparing.data.dense import DenseBlock
from sparing.data.sketch import column_squares
from sparing.gram.base import DataMatrix
from sparing.gram.dense import view_of_gram
from sparing.results import Array, Indices


def view_of_sketch(parts: list[Any], extra: Array) -> DataMatrix:
    """Rows B that stand for those of X, in parts, as the view ``B'B + diag(extra)``."""
    return SketchedGram(parts, extra)


class SketchedGram(DataMatrix):
    """``B'B + diag(extra)`` for rows B of any type, given in parts of (m x d): a sketch of X that fits in memory."""

    def __init__(self, parts: list[Any], extra: Array, *, square_unit: float = 1.0, noise: float = 0.0) -> None:
        self.square_unit, self._noise = square_unit, noise
        self.parts = [DenseBlock(part) for part in parts]
        self._extra = extra
        self.n_features = len(extra)
        self.n_samples = sum(len(part) for part in parts)
        self._diagonal = extra.copy()
        for part in parts:
            self._diagonal += column_squares(part)

    @property
    def rounding_error(self) -> float:
        """As whoever made the rows says."""
        return self._noise

    def gram_matmat(self, V: Array) -> Array:
        """``(B'B + diag(extra)) V``."""
        out = self._extra[:, None] * V
        for part in self.parts:
            out += part.rmatmat(part.matmat(V))
        return out

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J."""
        J = np.asarray(J, dtype=np.intp)
        out = np.zeros((self.n_features, len(J)))
        for part in self.parts:
            out += part.rmatmat(part.columns(J))
        out[J, np.arange(len(J))] += self._extra[J]
        return out

    def gram_diagonal(self) -> Array:
        """The diagonal."""
        return self._diagonal

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        C = np.concatenate([part.columns(J) for part in self.parts])
        gram = C.T @ C
        gram[np.diag_indices(len(J))] += self._extra[J]
        return view_of_gram(gram)
