"""The data contract: everything above this folder sees X through these methods and no others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparing import errors
from sparing.results import Array, Indices

GRAM_LIMIT = 8192
"""The largest number of features for which a d x d matrix is ever formed from data (half a gibibyte)."""


class DataMatrix(ABC):
    """Centred, scaled, weighted X, seen through its Gram matrix A = X'X. Storage is somebody else's business.

    Laws (tested for every view in ``tests/conformance``): A is symmetric, columns agree with products, the diagonal
    agrees with the columns, a restricted view is the matrix of its columns; where there are rows,
    <u, Xv> = <X'u, v> and A = X'X.

    Sums of squares are in units of the view; ``square_unit`` turns them into those of the user's data.
    """

    n_features: int
    n_samples: int | None = None
    total_weight: float | None = None  # of all rows, where they have weights of their own
    is_psd: bool = True
    psd_slack: float = 0.0  # how far below zero an eigenvalue of a "positive semidefinite" A may be
    has_rows: bool = False
    square_unit: float = 1.0

    @abstractmethod
    def gram_matmat(self, V: Array) -> Array:
        """``A @ V`` for V of shape (d, m)."""

    @abstractmethod
    def gram_columns(self, J: ArrayLike) -> Array:
        """``A[:, J]``, shape (d, len(J))."""

    @abstractmethod
    def gram_diagonal(self) -> Array:
        """Squared column norms, shape (d,)."""

    @property
    def passes(self) -> int:
        """How often all of X has been read so far; 0 where there is no X."""
        return 0

    @property
    def mean(self) -> Array:
        """What was subtracted from each feature, in the user's units."""
        return np.zeros(self.n_features)

    @property
    def scale(self) -> Array:
        """What each centred feature was divided by, in the user's units."""
        return np.ones(self.n_features)

    @property
    def rounding_error(self) -> float:
        """Size of the rounding errors that centring leaves in X, as a Frobenius norm."""
        return 0.0

    @property
    def rounding_errors(self) -> Array:
        """The same for each feature, shape (d,)."""
        return np.zeros(self.n_features)

    @property
    def origin(self) -> DataMatrix:
        """The view that reads the data themselves, where this one only remembers."""
        return self

    @property
    def total(self) -> float:
        """``trace(A)``, the sum of squares of X."""
        return float(self.gram_diagonal().sum())

    @property
    def has_gram(self) -> bool:
        """Is A in memory, so that its columns cost nothing?"""
        return False

    def gram(self) -> Array:
        """A itself, for at most ``GRAM_LIMIT`` features."""
        if self.n_features > GRAM_LIMIT:
            raise errors.gram_too_large(self.n_features, GRAM_LIMIT)
        return self.gram_columns(np.arange(self.n_features))

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``, shape (len(J), len(J)); give A[:, J] where it is known."""
        Z = self.gram_columns(J) if gram_columns is None else gram_columns
        return Z.T @ Z

    @property
    def squares_cheaply(self) -> bool:
        """Can ``gram_squared`` do without Gram columns?"""
        return False

    def restricted(self, J: Indices) -> DataMatrix:
        """The view of the columns J alone, made so that its Gram columns are cheap."""
        from sparing.gram.dense import DenseGram

        return DenseGram(self.gram_columns(J)[J], is_psd=self.is_psd, psd_slack=self.psd_slack)

    # --- views with rows ---

    def matmat(self, V: Array) -> Array:
        """``X @ V``, shape (n, m)."""
        raise errors.needs_rows("A product with X", self.n_features)

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``, shape (d, m)."""
        raise errors.needs_rows("A product with X'", self.n_features)

    def columns(self, J: ArrayLike) -> Array:
        """``X[:, J]``, dense, shape (n, len(J))."""
        raise errors.needs_rows("Reading columns", self.n_features)

    def row_gram(self) -> Array:
        """``X @ X.T``, for few rows."""
        raise errors.needs_rows("The Gram matrix of rows", self.n_features)

    def recentred(self, center: bool) -> DataMatrix:
        """The view of the same rows, centred or not."""
        raise errors.needs_rows("Other means", self.n_features)

    def one_pass(self, *jobs: Any) -> list[Any]:
        """Run jobs over one shared read of the rows."""
        raise errors.needs_rows("A pass over the data", self.n_features)
