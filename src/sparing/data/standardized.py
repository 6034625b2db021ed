"""Centring, scaling and weights, once for every storage."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sparing import errors
from sparing.data.jobs import (
    ColumnMoments,
    Columns,
    Extent,
    GramBlock,
    GramColumns,
    GramProduct,
    Job,
    Moments,
    Product,
    TransposedProduct,
)
from sparing.data.rows import RawBlock, Rows
from sparing.data.sketch import Condensed, CountSketch, Sketch, column_squares
from sparing.gram.base import GRAM_LIMIT, DataMatrix
from sparing.gram.columns import ColumnBlock
from sparing.gram.dense import DenseGram
from sparing.results import Array, Indices

GATHER_RATIO = 4
"""Columns of a restricted view are kept as such while rows are at most this many times as many, else as Gram matrix."""

DENSIFIED_ENTRIES = 2**17
"""Entries of sparse columns made dense at a time (1 MiB)."""

FILLED = 0.05
"""Share of stored entries from which a product of dense strips is faster than one of sparse ones."""

COMFORTABLE = (1e-70, 1e70)
"""Sizes of values whose squares and fourth powers are far from the limits of double precision."""

ACCEPTED = (1e-290, 1e290)
"""Sizes of values that can be brought near 1 at all."""

ROWS_AT_A_TIME = 4096
"""Rows of a product that are corrected for the mean at a time, so that the correction needs no memory to speak of."""

ROUNDED = 32 * np.finfo(float).eps
"""A feature whose deviation is below this share of its mean is constant, but for rounding."""

FAINT = 1e-140
"""Features below this size, where the largest are near 1, are measured in a unit of their own: squares would vanish."""

FAR_FROM_ZERO = 1e5
"""Means that exceed the spread by this factor are subtracted from the rows block by block, before any product."""


class Standardization(NamedTuple):
    """What is done to raw rows: all that a block needs to know, wherever it is."""

    unit: float
    unit_mean: Array
    factor: Array
    shift: Array | None
    weights: Array | None


class StandardizedBlock:
    """``diag(w)^1/2 (u X - 1 m') diag(t)`` for a block of raw rows X; the difference is never formed as a whole.

    Both factors of a Gram product are centred, so that its error grows with mean / spread and not with its square.
    """

    def __init__(self, raw: RawBlock, affine: Standardization) -> None:
        self.start, self.stop = raw.start, raw.stop
        self._unit, self.mean, self._factor = affine.unit, affine.unit_mean, affine.factor
        self.raw = raw
        if affine.shift is not None:
            self.raw, self.mean = raw.shifted(affine.shift), affine.unit_mean - affine.unit * affine.shift
        self._plain = bool((self._factor == 1.0).all())
        self.weights = None if affine.weights is None else affine.weights[raw.start : raw.stop]
        self._root = None if self.weights is None else np.sqrt(self.weights)[:, None]

    def matmat(self, V: Array) -> Array:
        """``X @ V``."""
        scaled = V if self._plain else self._factor[:, None] * V
        out = self.raw.matmat(self._unit * scaled)
        out -= self.mean @ scaled
        if self._root is not None:
            out *= self._root
        return out

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``."""
        if self._root is not None:
            U = U * self._root
        out = self.raw.rmatmat(self._unit * U if self._unit != 1.0 else U)
        sums = U.sum(axis=0)
        for first in range(0, len(out), ROWS_AT_A_TIME):
            out[first : first + ROWS_AT_A_TIME] -= np.multiply.outer(self.mean[first : first + ROWS_AT_A_TIME], sums)
        if not self._plain:
            out *= self._factor[:, None]
        return out

    def columns(self, J: Indices | slice) -> Array:
        """``X[:, J]``, dense."""
        return self._placed(self.raw.columns(J), J)

    def _runs(self, J: Indices) -> list[slice]:
        """Runs of J whose columns may be dense at one time."""
        few = min(max(DENSIFIED_ENTRIES // max(self.stop - self.start, 1), 4), 32)
        width = len(J) if self.raw.is_dense else few
        return [slice(i, min(i + width, len(J))) for i in range(0, len(J), max(width, 1))]

    def gram_columns(self, J: Indices) -> Array:
        """``X.T @ X[:, J]``."""
        runs = self._runs(J)
        if len(runs) == 1:
            return self.rmatmat(self.columns(J))
        out = np.empty((len(self.mean), len(J)), order="F")
        for run in runs:
            out[:, run] = self.rmatmat(self.columns(J[run]))
        return out

    def restricted(self, J: Indices) -> StandardizedBlock:
        """The same rows, columns J alone."""
        part = copy(self)
        part.raw, part.mean, part._factor = self.raw.restricted(J), self.mean[J], self._factor[J]
        return part

    def gram_block(self, J: Indices | None) -> Array:
        """``X[:, J].T @ X[:, J]``, or of all columns."""
        if J is not None:
            return self.restricted(J).gram_block(None)
        p = len(self.mean)
        if self.raw.density < FILLED:
            return self.gram_columns(np.arange(p))
        gram = np.zeros((p, p))
        for rows, values in self.raw.dense_rows(max(DENSIFIED_ENTRIES // max(p, 1), p)):
            C = self._placed(values, slice(None), rows)
            gram += C.T @ C
        return gram

    def _placed(self, values: Array, J: Indices | slice, rows: slice = slice(None)) -> Array:
        """Raw values of some rows and columns, scaled, centred and weighted in place."""
        if self._unit != 1.0:
            values *= self._unit
        values -= self.mean[J]
        values *= self._factor[J]
        if self._root is not None:
            values *= self._root[rows]
        return values


def mapped(jobs: Sequence[Job], placement: Standardization, raw: RawBlock) -> list[Any]:
    """What all jobs make of one block of raw rows."""
    block = StandardizedBlock(raw, placement)
    return [job.map(block) for job in jobs]


def merged_pair(jobs: Sequence[Job], first: list[Any], second: list[Any]) -> list[Any]:
    """The results of two neighbouring runs of rows; the first may be overwritten."""
    return [job.merge(a, b) for job, a, b in zip(jobs, first, second, strict=True)]


class StandardizedRows(DataMatrix):
    """Rows of any storage, centred, scaled and weighted.

    Values are multiplied by a power of two first (``unit``), which changes no digit and keeps squares in range.
    Features that are constant are exactly zero here, whatever the rounding of their mean.

    Parameters
    ----------
    rows : Rows
    center, scale : bool
        Learn means and standard deviations (n - 1) from the rows.
    mean, deviation : ndarray of shape (d,), optional
        Use these instead, in the user's units: for new data of a fitted model.
    weights : ndarray of shape (n,), optional
        Weight of each row; whole numbers count as that many copies of it.
    sketch : CountSketch or Condensed, optional
        A job on raw rows that shares the first reading; :meth:`sketch` has its result.
    """

    has_rows = True

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
        self.n_samples, self.n_features = rows.shape
        self._gram: Array | None = None
        self._row_gram: Array | None = None
        self.unit, self.unit_mean, self.factor = 1.0, np.zeros(self.n_features), np.ones(self.n_features)
        self.shift: Array | None = None  # a reference row, where implicit centring would lose too many digits

        self.unit, moments = self._measure()
        if mean is not None:
            self.unit_mean = mean * self.unit
        elif center:
            self.unit_mean = moments.mean
        squares = moments.deviation + moments.weight * (moments.mean - self.unit_mean) ** 2
        varies = squares > moments.weight * (ROUNDED * moments.mean) ** 2
        self.total_weight = None if weights is None else moments.weight
        degrees = max(moments.weight - 1.0, 1.0)
        scaled = scale or deviation is not None
        faint = self._faint_spread(moments) if scale and deviation is None else np.zeros(self.n_features)
        varies |= faint > 0
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
        spread = np.sqrt(squares / max(moments.weight, 1.0))
        far = varies & (faint == 0) & (np.abs(self.unit_mean) > FAR_FROM_ZERO * spread)
        if center and far.any():  # sparse rows stay sparse: a zero, so far from the mean, would have been spread
            self.shift = np.where(far | rows.is_dense, self.unit_mean / self.unit, 0.0)

    def _measure(self) -> tuple[float, ColumnMoments]:
        """The power of two that brings values near 1, and the columns' moments in that unit."""
        job = self._sketch_job
        guess = 1.0 if job is None else job.unit
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moments, *sketch = self.one_pass(Moments(guess), *([] if job is None else [job]))
            self._sketch: Sketch | None = sketch[0] if sketch else None
            size = np.abs(moments.mean).max() + np.sqrt(moments.deviation.max() / max(moments.weight, 1.0))
        low, high = COMFORTABLE
        if size == 0 or low < size < high:  # false for NaN as well
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
        """Roots of the sums of squares of features so small beside others that these vanish; 0 for all others."""
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
        """What is subtracted from each feature, in the user's units."""
        return self.unit_mean / self.unit

    @property
    def scale(self) -> Array:
        """What each centred feature is divided by, in the user's units."""
        return self.deviation / self.unit

    @property
    def rounding_error(self) -> float:
        """That of all features together."""
        return float(np.linalg.norm(self.rounding_errors))

    @property
    def rounding_errors(self) -> Array:
        """Means that are subtracted from products, not from the rows, leave the rounding of products with them.

        These are sums over all rows, whose errors may all have one sign, as where rows are sorted.
        """
        left = self.unit_mean if self.shift is None else self.unit_mean - self.unit * self.shift
        n, eps = self.n_samples or 0, float(np.finfo(float).eps)
        return np.asarray(eps * n * np.sqrt(n) * np.abs(left * self.factor))

    @property
    def passes(self) -> int:
        """Readings of all rows so far."""
        return self.rows.passes

    def _placement(self) -> Standardization:
        return Standardization(self.unit, self.unit_mean, self.factor, self.shift, self.weights)

    @property
    def has_sketch(self) -> bool:
        """Did a sketch share the first reading?"""
        return self._sketch is not None

    def sketch(self) -> tuple[Any, float]:
        """Rows B with B'B near X'X, kept from the first reading, and what no eigenvalue of X'X - B'B exceeds.

        They are handed over, not kept.
        """
        assert self._sketch is not None
        assert self._sketch_job is not None
        sketch, self._sketch = self._sketch, None
        reference = self._sketch_job.reference
        rows = sketch.placed(reference, self._placement())
        kept = column_squares(rows).sum()
        if not np.isfinite(kept) or (kept == 0 and self.total > 0):
            raise errors.sizes_change_too_much()
        return rows, sketch.dropped * float((reference * self.unit * self.factor).max()) ** 2

    def one_pass(self, *jobs: Job) -> list[Any]:
        """Run all jobs over one reading of the rows."""
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
    def has_gram(self) -> bool:
        """Has A been asked for before?"""
        return self._gram is not None

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V``, from the rows in one read."""
        return self._gram @ V if self._gram is not None else self._one(GramProduct(V))

    def gram_columns(self, J: ArrayLike) -> Array:
        """``A[:, J]``."""
        J = np.asarray(J, dtype=np.intp)
        return self._gram[:, J] if self._gram is not None else self._one(GramColumns(J))

    def gram_diagonal(self) -> Array:
        """Squared column norms, known from the first read."""
        return self._diagonal

    def gram(self) -> Array:
        """A itself, computed once."""
        if self._gram is None:
            if self.n_features > GRAM_LIMIT:
                raise errors.gram_too_large(self.n_features, GRAM_LIMIT)
            self._gram = self._one(GramBlock())
        return self._gram

    def restricted(self, J: Indices) -> DataMatrix:
        """The columns J: as themselves where that is small, else as their Gram matrix."""
        if self._gram is not None:
            return DenseGram(self._gram[np.ix_(J, J)])
        assert self.n_samples is not None
        if self.n_samples <= GATHER_RATIO * len(J):
            return ColumnBlock(self.columns(J))
        return DenseGram(self._one(GramBlock(J)))

    @property
    def squares_cheaply(self) -> bool:
        """With XX' in memory (A^2)_JJ = X_J'(XX')X_J is small work."""
        return self._row_gram is not None

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``."""
        if self._row_gram is None:
            return super().gram_squared(J, gram_columns)
        C = self.columns(J)
        return C.T @ (self._row_gram @ C)

    def row_gram(self) -> Array:
        """``X @ X.T``, computed once: by runs of columns, or by products with the identity where X is sparse."""
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
