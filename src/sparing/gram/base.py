"""The DataMatrix contract: everything above this folder uses X only through these methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sparing import errors
from sparing.results import Array, Indices

GRAM_LIMIT = 8192
"""The largest number of features for which a d x d matrix is ever formed from data (half a gibibyte)."""

GATHER_RATIO = 4
"""Columns are stored instead of their Gram matrix if they have at most this many times more rows than columns."""

CACHE_ENTRIES = 2**18
"""Size of working arrays (2 MiB), so that they stay in the cache."""


class RowSketch(NamedTuple):
    """A few rows B that represent all rows of X, with B'B close to X'X.

    Attributes
    ----------
    rows : ndarray of shape (m, d), of single or double precision
    dropped : float
        Upper bound of the eigenvalues of X'X - B'B, if the sketch has the leading directions of X.
    has_leading : bool
        Whether the leading directions of B approximate those of X after one pass. Otherwise they need more passes.
    """

    rows: Any
    dropped: float
    has_leading: bool


class DataMatrix(ABC):
    """Centred, scaled and weighted X, accessed through its Gram matrix A = X'X, independent of the storage.

    Laws (tested for every view in ``tests/conformance``): A is symmetric, columns agree with products, the diagonal
    agrees with the columns, a restricted view is the matrix of its columns; with rows, <u, Xv> = <X'u, v> and A = X'X.

    Sums of squares are in units of the view; ``square_unit`` converts them to those of the user's data.
    """

    n_features: int
    n_samples: int | None = None
    total_weight: float | None = None  # of all rows, if they have weights
    is_psd: bool = True
    psd_slack: float = 0.0  # how far rounding may push an eigenvalue of a positive semidefinite A below zero
    has_rows: bool = False
    has_blocks: bool = False  # whether one_pass can run jobs over the rows
    is_residual: bool = False  # whether it is a residual of other data, with more dependent features
    square_unit: float = 1.0
    unit: float = 1.0  # the power of two that values were multiplied by, to keep their squares in range

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
    def product_work(self) -> float:
        """Roughly the multiplications of a product with A, for each column of it."""
        d = self.n_features
        return float(d * d if self.has_gram else 2 * d * min(self.n_samples or d, d))

    @property
    def passes(self) -> int:
        """Number of passes over X so far; 0 if there is no X."""
        return 0

    @property
    def mean(self) -> Array:
        """The mean subtracted from each feature, in the user's units."""
        return np.zeros(self.n_features)

    @property
    def scale(self) -> Array:
        """The divisor of each centred feature, in the user's units."""
        return np.ones(self.n_features)

    @property
    def rounding_error(self) -> float:
        """Frobenius norm of the rounding errors that centring leaves in X."""
        return 0.0

    @property
    def rounding_errors(self) -> Array:
        """The same for each feature, shape (d,)."""
        return np.zeros(self.n_features)

    def unprojected_diagonal(self) -> Array:
        """Squared column norms before deflation, the reference for rounding errors."""
        return self.gram_diagonal()

    @property
    def origin(self) -> DataMatrix:
        """The view that reads the data, if this one is a cache."""
        return self

    def cached(self, J: Indices | None = None, gram_columns: Array | None = None) -> DataMatrix:
        """This view with a cache of Gram columns; the view itself if it already has one.

        Columns ``A[:, J]`` that are already computed can be passed.
        """
        from sparing.gram.cached import CachedGram

        return CachedGram(self, J, gram_columns)

    def masked(self, dropped: Indices) -> DataMatrix:
        """This view with some features set to zero, so that they are not used."""
        from sparing.gram.derived import Masked

        return Masked(self, dropped)

    def narrowed(self, kept: Indices) -> DataMatrix:
        """Only some features of this view, with its rows if it has any, without a copy."""
        from sparing.gram.derived import SelectedFeatures

        return SelectedFeatures(self, kept)

    def updated(self, W: Array, C: Array, *, is_psd: bool) -> DataMatrix:
        """``A + W C W'`` for W (d x m) and symmetric C (m x m), without rows."""
        from sparing.gram.derived import LowRankUpdate

        return LowRankUpdate(self, W, C, is_psd=is_psd)

    def projected(self, *, directions: Array | None = None, residual_of: Array | None = None) -> DataMatrix:
        """X without ``directions`` (d x m, orthonormal), or the residual of a regression on the scores X
        ``residual_of``."""
        from sparing.gram.derived import Projected

        return Projected(self, directions=directions, residual_of=residual_of)

    def noisy(self, variance: float | Array) -> DataMatrix:
        """This view with independent noise of some variance on every reading: A + n diag(variance).

        The variance is in the user's units, after scaling; n is the sum of weights, and 1 if A is a covariance.
        """
        from sparing.gram.noisy import Noisy

        n = self.n_samples if self.total_weight is None else self.total_weight
        amount = np.asarray(variance, dtype=np.float64) * ((n or 1) / self.square_unit)
        return Noisy(self, np.array(np.broadcast_to(amount, (self.n_features,))))

    @property
    def signal(self) -> DataMatrix:
        """The data without noise on their readings; the view itself if there is none."""
        return self

    @property
    def noise(self) -> Array | None:
        """The part of the diagonal of A due to noise on the readings, shape (d,); None if there is none."""
        return None

    def transposed(self) -> DataMatrix:
        """``X'``, for views with rows: its features are the samples of this one."""
        from sparing.gram.transposed import Transposed

        return Transposed(self)

    @property
    def total(self) -> float:
        """``trace(A)``, the sum of squares of X."""
        return float(self.gram_diagonal().sum())

    @property
    def has_gram(self) -> bool:
        """Whether A is in memory, so that its columns are free."""
        return False

    def gram(self) -> Array:
        """A itself, for at most ``GRAM_LIMIT`` features."""
        if self.n_features > GRAM_LIMIT:
            raise errors.gram_too_large(self.n_features, GRAM_LIMIT)
        return self.gram_columns(np.arange(self.n_features))

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``, shape (len(J), len(J)); pass A[:, J] if it is known."""
        Z = self.gram_columns(J) if gram_columns is None else gram_columns
        return Z.T @ Z

    @property
    def squares_cheaply(self) -> bool:
        """Whether ``gram_squared`` needs no Gram columns."""
        return False

    def restricted(self, J: Indices) -> DataMatrix:
        """The view of the columns J only, with cheap Gram columns."""
        from sparing.gram.dense import view_of_gram

        return view_of_gram(self.gram_columns(J)[J], is_psd=self.is_psd, psd_slack=self.psd_slack)

    # --- views with rows ---

    @property
    def rows_in_memory(self) -> bool:
        """Whether all rows are in this process's memory, so that reading columns is cheap."""
        return False

    @property
    def imputation(self) -> Array | None:
        """The replacement of missing values of each feature, in the user's units; None if none may be missing."""
        return None

    @property
    def sketch(self) -> RowSketch | None:
        """The sketch of the rows from the first pass, if requested, so that a fit needs few more passes."""
        return None

    def take_sketch(self) -> RowSketch:
        """Hand over the sketch: the view keeps no reference, so it may be modified and is freed in time."""
        raise errors.needs_rows("A sketch", self.n_features)

    def matmat(self, V: Array) -> Array:
        """``X @ V``, shape (n, m)."""
        raise errors.needs_rows("A product with X", self.n_features)

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``, shape (d, m)."""
        raise errors.needs_rows("A product with X'", self.n_features)

    def columns(self, J: ArrayLike) -> Array:
        """``X[:, J]``, dense, shape (n, len(J))."""
        raise errors.needs_rows("Reading columns", self.n_features)

    def picked_rows(self, numbers: Indices) -> Iterator[Array]:
        """Some rows, dense and in the given order, a block of columns at a time."""
        assert self.n_samples is not None
        parts = []
        for run in runs(len(numbers), self.n_samples):
            unit = np.zeros((self.n_samples, run.stop - run.start))
            unit[numbers[run], np.arange(run.stop - run.start)] = 1.0
            parts.append(self.rmatmat(unit).T)
        yield np.concatenate(parts)

    def row_squares(self) -> Array:
        """Squared lengths of the rows, shape (n,)."""
        assert self.n_samples is not None
        squares = np.zeros(self.n_samples)
        for run in runs(self.n_features, self.n_samples):
            squares += np.square(self.columns(np.arange(run.start, run.stop))).sum(axis=1)
        return squares

    def row_gram(self) -> Array:
        """``X @ X.T``, for a small number of rows."""
        raise errors.needs_rows("The Gram matrix of rows", self.n_features)

    def split(self, train: Indices, test: Indices) -> tuple[DataMatrix, DataMatrix]:
        """The view of some rows, with their own means and deviations, and of other rows with the same ones."""
        raise errors.needs_rows("Holding rows out", self.n_features)

    def sampled(self, numbers: Indices) -> DataMatrix:
        """The view of some rows, in memory."""
        raise errors.needs_rows("Looking at some rows", self.n_features)

    def recentred(self, center: bool) -> DataMatrix:
        """The view of the same rows, centred or not."""
        raise errors.needs_rows("Other means", self.n_features)

    def one_pass(self, *jobs: Any) -> list[Any]:
        """Run jobs in one shared pass over the rows."""
        raise errors.needs_rows("A pass over the data", self.n_features)


def runs(size: int, length: int) -> Iterator[slice]:
    """Split ``size`` items of ``length`` dense entries each into blocks."""
    width = max(1, CACHE_ENTRIES // max(length, 1))
    for first in range(0, size, width):
        yield slice(first, min(first + width, size))
