"""Standardization: centring, scaling and sample weights, once for every storage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparing import errors
from sparing.data.blocks import ColumnMoments
from sparing.data.jobs import (
    Columns,
    Extent,
    GramBlock,
    GramColumns,
    GramProduct,
    Job,
    Moments,
    PickedRows,
    Product,
    RowSquares,
    TransposedProduct,
    mapped,
    merged_pair,
)
from sparing.data.rows import InMemoryRows, Rows
from sparing.data.sketch import Condensed, CountSketch, Sketch, column_squares
from sparing.data.standardized_block import DENSIFIED_ENTRIES, Standardization
from sparing.gram.base import GATHER_RATIO, GRAM_LIMIT, DataMatrix, RowSketch, runs
from sparing.gram.dense import view_of_columns, view_of_gram
from sparing.results import Array, Indices

COMFORTABLE = (1e-70, 1e70)
"""Range of values whose squares and fourth powers are far from the limits of double precision."""

ACCEPTED = (1e-290, 1e290)
"""Range of values that can be scaled to about 1."""

ROUNDED = 32 * float(np.finfo(float).eps)
"""A feature or target whose deviation is below this share of its mean is constant up to rounding errors."""

FAINT = 1e-140
"""Features below this size, if the largest are near 1, get a separate unit, because their squares would vanish."""

FOUND = 4.0
"""What a product with a stored entry of a sparse matrix costs, as a multiple of one with a dense entry."""

FAR_FROM_ZERO = 1e5
"""Means that exceed the spread by this factor are subtracted from the rows block by block, before any product."""


def standardized(
    rows: Rows, *, scale: bool = False, mean: Array | None = None, deviation: Array | None = None
) -> DataMatrix:
    """Checked rows as a view: centred and scaled by their own means and deviations, or by given ones."""
    return StandardizedRows(rows, scale=scale, mean=mean, deviation=deviation)


class StandardizedRows(DataMatrix):
    """Rows of any storage, centred, scaled and weighted.

    Values are first multiplied by a power of two (``unit``), which is exact and keeps squares in range. Constant
    features are exactly zero, whatever the rounding error of their mean.

    Parameters
    ----------
    rows : Rows
    center, scale : bool
        Compute means and standard deviations (n - 1) from the rows.
    mean, deviation : ndarray of shape (d,), optional
        Use these instead, in the user's units: for new data of a fitted model.
    weights : ndarray of shape (n,), optional
        Weight of each row; integers count as that many copies of it.
    sketch : CountSketch or Condensed, optional
        A job on raw rows that shares the first pass; :attr:`sketch` has its result.
    """

    has_rows = has_blocks = True

    def __init__(
        self,
        rows: Rows,
        *,
        center: bool = True,
        scale: bool = False,
        mean: Array | None = None,
        deviation: Array | None = None,
        weights: Array | None = None,
        sketch: CountSketch | Condensed | None = None,
    ) -> None:
        self.rows, self.weights = rows, weights
        self._sketch_job = sketch
        self._sketch: RowSketch | None = None
        self.n_samples, self.n_features = rows.shape
        self._gram: Array | None = None
        self._row_gram: Array | None = None
        self.unit, self.unit_mean, self.factor = 1.0, np.zeros(self.n_features), np.ones(self.n_features)
        self.shift: Array | None = None  # a reference row, if implicit centring would lose too many digits
        self.unit_rest: Array | None = None  # the mean of the shifted rows

        self.unit, moments = self._measure()
        if mean is not None:
            self.unit_mean = mean * self.unit
        elif center:
            self.unit_mean = moments.mean
        squares = moments.deviation + moments.weight * (moments.mean - self.unit_mean) ** 2
        varies = squares > moments.weight * (ROUNDED * moments.mean) ** 2
        self.total_weight = None if weights is None else moments.weight
        degrees = max(moments.weight - 1.0, 1.0)
        self._centred, self._scaled, scaled = center, scale, scale or deviation is not None
        faint = self._faint_spread(moments) if scale and deviation is None else np.zeros(self.n_features)
        varies |= faint > 0
        spread = np.sqrt(squares / max(moments.weight, 1.0))
        far = varies & (faint == 0) & (np.abs(self.unit_mean) > FAR_FROM_ZERO * spread)
        if center and far.any():  # sparse rows stay sparse: a zero would be far from the mean
            squares = self._shift_rows(far | rows.is_dense, squares, learned=mean is None)
        with np.errstate(over="ignore", under="ignore"):
            if deviation is not None:
                self.deviation = deviation * self.unit
            elif scale:
                learned = np.where(faint > 0, faint / np.sqrt(degrees), np.sqrt(squares / degrees))
                self.deviation = np.where(varies, learned, self.unit)
            else:
                self.deviation = np.full(self.n_features, self.unit)
            inverse = 1.0 / self.deviation if scaled else np.ones(self.n_features)
            self.factor = inverse if mean is not None else np.where(varies, inverse, 0.0)
            self.square_unit = 1.0 if scaled else float(np.float64(self.unit) ** -2)
            self._diagonal = np.where(faint > 0, degrees, squares * np.where(faint > 0, 0.0, self.factor) ** 2)

    def _shift_rows(self, shifted: NDArray[np.bool_], squares: Array, *, learned: bool) -> Array:
        """Subtract the means of these features from the rows, and return sums of squares of the shifted rows.

        The rounding error of a mean matters if the mean is 10^12 times the spread. Therefore one more pass computes the
        mean of the shifted rows, which is subtracted from products.
        """
        self.shift = np.where(shifted, self.unit_mean / self.unit, 0.0)
        self.unit_rest = np.where(shifted, 0.0, self.unit_mean)
        if not learned or self.rows.is_gone:
            return squares
        own = self.one_pass(Moments(self.unit))[0]
        self.unit_rest = np.where(shifted, own.mean, self.unit_mean)
        return np.where(shifted, own.deviation, squares)

    def _measure(self) -> tuple[float, ColumnMoments]:
        """The power of two that scales values to about 1, and the moments of the columns in that unit."""
        job = self._sketch_job
        guess = 1.0 if job is None else job.unit
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moments, *sketch = self.one_pass(Moments(guess), *([] if job is None else [job]))
            self._raw_sketch: Sketch | None = sketch[0] if sketch else None
            size = np.abs(moments.mean).max() + np.sqrt(moments.deviation.max() / max(moments.weight, 1.0))
        low, high = COMFORTABLE
        if size == 0 or low < size < high:  # also false for NaN
            unit = 1.0 if size == 0 else float(2.0 ** -np.round(np.log2(size)))
            return guess * unit, ColumnMoments(moments.weight, moments.mean * unit, moments.deviation * unit**2)
        peak, flaw = self.one_pass(Extent())[0]
        if flaw is not None:
            raise errors.NotFiniteError(flaw[2], flaw[0], flaw[1])
        if not ACCEPTED[0] < peak < ACCEPTED[1]:
            raise errors.out_of_scale(peak)
        unit = float(2.0 ** -np.round(np.log2(peak)))
        return unit, self.one_pass(Moments(unit))[0]

    def _faint_spread(self, moments: ColumnMoments) -> Array:
        """Norms of features that are so small compared with others that their squares vanish; 0 for all others."""
        sizes = np.abs(moments.mean)
        faint = (sizes > 0) & (sizes < FAINT) & (moments.deviation < FAINT**2)
        if not faint.any():
            return np.zeros(self.n_features)
        exponents = np.where(faint, np.minimum(-np.frexp(sizes)[1], 1000), 0)
        own = self.one_pass(Moments(np.ldexp(self.unit, exponents)))[0]
        squares = own.deviation + own.weight * (own.mean - np.ldexp(self.unit_mean, exponents)) ** 2
        varies = squares > own.weight * (ROUNDED * own.mean) ** 2
        return np.where(faint & varies, np.ldexp(np.sqrt(squares), -exponents), 0.0)

    @property
    def mean(self) -> Array:
        """The mean subtracted from each feature, in the user's units."""
        return self.unit_mean / self.unit

    @property
    def scale(self) -> Array:
        """The divisor of each centred feature, in the user's units."""
        return self.deviation / self.unit

    @property
    def rounding_error(self) -> float:
        """The rounding error of all features together."""
        return float(np.linalg.norm(self.rounding_errors))

    @property
    def rounding_errors(self) -> Array:
        """If means are subtracted from products instead of rows, the rounding errors of these products remain.

        These are sums over all rows, and their errors may all have the same sign, for example in sorted rows.
        """
        left = self.unit_mean if self.unit_rest is None else self.unit_rest
        n, eps = self.n_samples or 0, float(np.finfo(float).eps)
        return np.asarray(eps * n * np.sqrt(n) * np.abs(left * self.factor))

    @property
    def passes(self) -> int:
        """Number of passes over all rows so far."""
        return self.rows.passes

    def _placement(self) -> Standardization:
        return Standardization(self.unit, self.unit_mean, self.factor, self.shift, self.weights, self.unit_rest)

    @property
    def rows_in_memory(self) -> bool:
        """The same as for the rows."""
        return self.rows.is_resident

    @property
    def imputation(self) -> Array | None:
        """The values for missing entries, as for the rows."""
        return self.rows.imputation

    @property
    def sketch(self) -> RowSketch | None:
        """The sketch from the first pass, centred and scaled; always the same arrays."""
        job, raw = self._sketch_job, self._raw_sketch
        if job is not None and raw is not None:
            self._raw_sketch = None  # its rows are reused for the sketch
            rows = raw.placed(job.reference, self._placement())
            kept = column_squares(rows).sum()
            if not np.isfinite(kept) or (kept == 0 and self.total > 0):
                raise ValueError(
                    "The first rows of X are of another order of magnitude than the rest, beyond single precision, so "
                    "X cannot be sketched. Shuffle the rows, rescale the features, or use passes='any'."
                )
            dropped = raw.dropped * float((job.reference * self.unit * self.factor).max()) ** 2
            self._sketch = RowSketch(rows, dropped, job.has_leading)
        return self._sketch

    def take_sketch(self) -> RowSketch:
        """Return the sketch; the view keeps no reference to it."""
        sketch, self._sketch = self.sketch, None
        assert sketch is not None
        return sketch

    def recentred(self, center: bool) -> StandardizedRows:
        """The same rows, centred or not, divided by the resulting deviations."""
        return StandardizedRows(self.rows, center=center, scale=self._scaled, weights=self.weights)

    def split(self, train: Indices, test: Indices) -> tuple[StandardizedRows, StandardizedRows]:
        """Views of some rows and of others; all statistics of features, including fill values, come from the first."""
        train, test = np.unique(train), np.unique(test)
        known, unseen = (None if self.weights is None else self.weights[part] for part in (train, test))
        rows = self.rows.chosen(train)
        fitted = StandardizedRows(rows, center=self._centred, scale=self._scaled, weights=known)
        others = self.rows.chosen(test, rows.imputation)
        return fitted, StandardizedRows(others, mean=fitted.mean, deviation=fitted.scale, weights=unseen)

    def sampled(self, numbers: Indices) -> StandardizedRows:
        """The view of some rows, in memory; statistics of features come from these rows."""
        numbers = np.unique(numbers)
        rows, weights = InMemoryRows(self.rows.chosen(numbers)), None if self.weights is None else self.weights[numbers]
        return StandardizedRows(rows, center=self._centred, scale=self._scaled, weights=weights)

    def one_pass(self, *jobs: Job) -> list[Any]:
        """Run all jobs in one pass over the rows."""
        self.rows.passes += 1
        placement = self._placement()
        merged = self.rows.run(partial(mapped, jobs, placement), partial(merged_pair, jobs))
        return [job.finish(result) for job, result in zip(jobs, merged, strict=True)]

    def _one(self, job: Job) -> Array:
        result: Array = self.one_pass(job)[0]
        return result

    def matmat(self, V: Array) -> Array:
        """``X @ V``."""
        return self._one(Product(V))

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``."""
        return self._one(TransposedProduct(U))

    def columns(self, J: ArrayLike) -> Array:
        """``X[:, J]``, dense."""
        return self._one(Columns(np.asarray(J, dtype=np.intp)))

    @property
    def product_work(self) -> float:
        """Of sparse rows only stored entries are multiplied, which also have to be found."""
        if self.has_gram or self.rows.is_dense or not self.rows.is_resident:
            return super().product_work
        density = self.rows.first(lambda block: block.density)
        return super().product_work * min(FOUND * float(density or 0.0), 1.0)

    @property
    def has_gram(self) -> bool:
        """Whether A has been computed."""
        return self._gram is not None

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V``, in one pass over the rows."""
        return self._gram @ V if self._gram is not None else self._one(GramProduct(V))

    def gram_columns(self, J: ArrayLike) -> Array:
        """``A[:, J]``."""
        J = np.asarray(J, dtype=np.intp)
        return self._gram[:, J] if self._gram is not None else self._one(GramColumns(J))

    def gram_diagonal(self) -> Array:
        """Squared column norms, known from the first pass."""
        return self._diagonal

    def gram(self) -> Array:
        """A itself, computed once."""
        if self._gram is None:
            if self.n_features > GRAM_LIMIT:
                raise errors.gram_too_large(self.n_features, GRAM_LIMIT)
            self._gram = self._one(GramBlock())
        return self._gram

    def restricted(self, J: Indices) -> DataMatrix:
        """The columns J, stored if they are small, otherwise as their Gram matrix."""
        if self._gram is not None:
            return view_of_gram(self._gram[np.ix_(J, J)])
        assert self.n_samples is not None
        if self.n_samples <= GATHER_RATIO * len(J):
            return view_of_columns(self.columns(J))
        return view_of_gram(self._one(GramBlock(J)))

    @property
    def squares_cheaply(self) -> bool:
        """With XX' in memory (A^2)_JJ = X_J'(XX')X_J is cheap."""
        return self._row_gram is not None

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``."""
        if self._row_gram is None:
            return super().gram_squared(J, gram_columns)
        C = self.columns(J)
        return C.T @ (self._row_gram @ C)

    def picked_rows(self, numbers: Indices) -> Iterator[Array]:
        """Some rows, dense and in the given order, a block of columns at a time."""
        distinct, place = np.unique(numbers, return_inverse=True)
        parts = self.one_pass(PickedRows(distinct))[0]
        for run in runs(self.n_features, len(numbers)):
            yield np.concatenate([part.columns(run) for part in parts])[place]

    def row_squares(self) -> Array:
        """Squared norms of the rows, in one pass."""
        return self._one(RowSquares())

    def row_gram(self) -> Array:
        """``X @ X.T``, computed once: by blocks of columns, or for sparse X by products with the identity."""
        if self._row_gram is not None:
            return self._row_gram
        n, d = self.rows.shape
        out = np.zeros((n, n))
        if self.rows.is_dense:
            width = max(64, 8 * DENSIFIED_ENTRIES // n)
            for first in range(0, d, width):
                C = self._one(Columns(slice(first, min(first + width, d))))
                out += C @ C.T
        else:
            for first in range(0, n, 64):
                unit_vectors = np.eye(n, min(64, n - first), -first)
                out[:, first : first + 64] = self.matmat(self.rmatmat(unit_vectors))
        self._row_gram = out
        return out
