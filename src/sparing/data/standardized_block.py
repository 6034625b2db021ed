"""A standardized block of rows: the input of jobs."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from scipy import linalg

from sparing.data.rows import RawBlock
from sparing.results import Array, Indices

DENSIFIED_ENTRIES = 2**17
"""Number of entries of sparse columns made dense at a time (1 MiB)."""

FILLED = 0.05
"""Share of stored entries from which a product of dense strips is faster than one of sparse ones."""


class Standardization(NamedTuple):
    """The standardization of raw rows: all parameters that a block needs, wherever it is.

    ``shift``, if any, is subtracted from the rows themselves, and ``unit_rest``, the mean of the shifted rows, from
    products with them.
    """

    unit: float
    unit_mean: Array
    factor: Array
    shift: Array | None
    weights: Array | None
    unit_rest: Array | None = None


class StandardizedBlock:
    """``diag(w)^1/2 (u X - 1 m') diag(t)`` for a block of raw rows X; the difference is never formed.

    Both factors of a Gram product are centred, so its error grows with mean / spread, not with the square of this
    ratio.
    """

    def __init__(self, raw: RawBlock, affine: Standardization) -> None:
        self.start, self.stop = raw.start, raw.stop
        self.unit, self.mean, self.factor = affine.unit, affine.unit_mean, affine.factor
        self.raw = raw
        if affine.shift is not None:
            assert affine.unit_rest is not None
            self.raw, self.mean = raw.shifted(affine.shift), affine.unit_rest
        self._plain = bool((self.factor == 1.0).all())
        self.weights = None if affine.weights is None else affine.weights[raw.start : raw.stop]
        self._root = None if self.weights is None else np.sqrt(self.weights)[:, None]

    def matmat(self, V: Array) -> Array:
        """``X @ V``."""
        scaled = V if self._plain else self.factor[:, None] * V
        out = self.raw.matmat(self.unit * scaled)
        out -= self.mean @ scaled
        if self._root is not None:
            out *= self._root
        return out

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``."""
        if self._root is not None:
            U = U * self._root
        out = self.raw.rmatmat(self.unit * U if self.unit != 1.0 else U)
        _subtract_outer(out, self.mean, U.sum(axis=0))
        if not self._plain:
            out *= self.factor[:, None]
        return out

    def columns(self, J: Indices | slice) -> Array:
        """``X[:, J]``, dense."""
        return self._placed(self.raw.columns(J), J)

    def _runs(self, J: Indices) -> list[slice]:
        """Blocks of J whose columns may be dense at the same time."""
        few = min(max(4 * DENSIFIED_ENTRIES // max(self.stop - self.start, 1), 4), 32)
        width = len(J) if self.raw.is_dense else few
        return [slice(i, min(i + width, len(J))) for i in range(0, len(J), max(width, 1))]

    def gram_columns(self, J: Indices) -> Array:
        """``X.T @ X[:, J]``."""
        runs = self._runs(J)
        if len(runs) == 1:
            return self.rmatmat(self.columns(J))
        if (out := self._from_stored(J)) is not None:
            return out
        out = np.empty((len(self.mean), len(J)), order="F")
        for run in runs:
            out[:, run] = self.rmatmat(self.columns(J[run]))
        return out

    def _from_stored(self, J: Indices) -> Array | None:
        """The same from stored entries only, if columns J are sparse with at least half of the entries zero in each.

        The squared mean of such a column is at most half of its mean square, so subtracting the mean from products
        instead of the column loses almost no digits.
        """
        if self._root is not None or self.raw.is_dense or len(J) == 0:
            return None
        n, chosen = self.stop - self.start, self.raw.restricted(J)
        stored = np.diff(chosen.matrix.indptr)  # type: ignore[attr-defined]
        if chosen.density >= FILLED or 2 * stored.max(initial=0) > n:
            return None
        own = chosen.matrix.astype(np.float64)  # type: ignore[attr-defined]
        own.data *= np.repeat(self.unit * self.factor[J], stored)  # before products: units may be tiny
        out: Array = self.raw.sparse_rmatmat(own)  # type: ignore[attr-defined]
        ones, mean = np.ones((n, 1)), self.mean[J] * self.factor[J]
        sums, rest = self.raw.rmatmat(ones)[:, 0] * self.unit, (own.T @ ones)[:, 0] - n * mean
        if self.unit != 1.0:
            out *= self.unit
        _subtract_outer(out, sums, mean)
        _subtract_outer(out, self.mean, rest)
        if not self._plain:
            out *= self.factor[:, None]
        return out

    def restricted(self, J: Indices) -> StandardizedBlock:
        """The same rows, columns J only."""
        part = copy(self)
        part.raw, part.mean, part.factor = self.raw.restricted(J), self.mean[J], self.factor[J]
        return part

    def picked(self, numbers: Indices) -> StandardizedBlock:
        """Some of the rows, by index within the block, in the same storage."""
        part = copy(self)
        part.raw, part.start, part.stop = self.raw.picked(numbers), 0, len(numbers)
        if self.weights is not None:
            part.weights = self.weights[numbers]
            part._root = np.sqrt(part.weights)[:, None]
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
        """Scale, center and weight raw values of some rows and columns in place."""
        if self.unit != 1.0:
            values *= self.unit
        values -= self.mean[J]
        values *= self.factor[J]
        if self._root is not None:
            values *= self._root[rows]
        return values


def _subtract_outer(out: Array, left: Array, right: Array) -> None:
    """``out -= left right'`` in place, for an array in C or Fortran order: no temporary array, one read of ``out``."""
    if out.size == 0:
        return
    if out.flags.f_contiguous:
        linalg.blas.dger(-1.0, left, right, a=out, overwrite_x=0, overwrite_y=0, overwrite_a=1)
    else:
        linalg.blas.dger(-1.0, right, left, a=out.T, overwrite_x=0, overwrite_y=0, overwrite_a=1)
