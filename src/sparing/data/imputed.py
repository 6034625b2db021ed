"""Rows whose missing values are replaced by the means of their features, block by block."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from scipy import sparse

from sparing.data.blocks import CscBlock, DenseBlock
from sparing.data.rows import DerivedRows, RawBlock, Rows
from sparing.results import Array, Indices

STRIP = 256
"""Number of features processed together."""


class Imputed(DerivedRows):
    """Any rows with NaN as a missing value.

    Parameters
    ----------
    rows : Rows
    means : ndarray of shape (d,), optional
        Replacements of missing values; by default means, computed in one pass. A feature without any value counts as
        zero.
    weights : ndarray of shape (n,), optional
        Weight of each row in the means.
    """

    def __init__(self, rows: Rows, means: Array | None = None, weights: Array | None = None) -> None:
        self.rows = rows
        self.means = self._learned(weights) if means is None else means
        super().__init__(rows, partial(_filled, self.means))

    @property
    def passes(self) -> int:
        """Number of passes over the rows."""
        return self.rows.passes

    @passes.setter
    def passes(self, count: int) -> None:
        self.rows.passes = count

    @property
    def imputation(self) -> Array:
        """The means."""
        return self.means

    def chosen(self, numbers: Indices, imputation: Array | None = None) -> Imputed:
        """Some of the rows, with these means or their own."""
        return Imputed(self.rows.chosen(numbers), imputation)

    def missing(self) -> Any:
        """1 for missing values, otherwise 0, in memory in the storage of the rows: an array or CSC."""
        self.passes += 1
        parts = self.rows.run(_gaps, list.__add__)
        return np.concatenate(parts) if self.is_dense else sparse.vstack(parts, format="csc")

    def _learned(self, weights: Array | None) -> Array:
        """Weighted means of the available values; 0 for features with infinities, which are reported on reading."""
        self.passes += 1
        sums, there = self.rows.run(partial(_present, weights), _added)
        return np.asarray(np.divide(sums, there, out=np.zeros(len(sums)), where=(there > 0) & np.isfinite(sums)))


def _filled(means: Array, raw: RawBlock) -> RawBlock:
    """The block with means instead of NaN; the block itself if there are none."""
    block = cast(Any, raw)
    values = block.rows if raw.is_dense else block.matrix.data
    if values.dtype.kind != "f":
        return raw
    missing = np.isnan(values)
    if not missing.any():
        return raw
    if raw.is_dense:
        return DenseBlock(np.where(missing, means.astype(values.dtype), values), raw.start)
    matrix = block.matrix.copy()
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    matrix.data[missing] = means[columns[missing]]
    return CscBlock(matrix, raw.start)


def _gaps(raw: RawBlock) -> list[Any]:
    """1 for missing values of the block, otherwise 0."""
    block = cast(Any, raw)
    if raw.is_dense:
        return [np.isnan(block.rows).astype(np.float64)]
    stored = block.matrix
    there = np.isnan(stored.data).astype(np.float64)
    gaps = sparse.csc_array((there, stored.indices.copy(), stored.indptr.copy()), shape=stored.shape)
    gaps.eliminate_zeros()
    return [gaps]


def _added(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    return first[0] + second[0], first[1] + second[1]


def _present(weights: Array | None, raw: RawBlock) -> tuple[Array, Array]:
    """Weighted sums of the available values, and the weights of their rows."""
    block = cast(Any, raw)
    w = np.ones(raw.stop - raw.start) if weights is None else weights[raw.start : raw.stop]
    with np.errstate(over="ignore", invalid="ignore"):
        if not raw.is_dense:
            matrix = block.matrix.astype(np.float64)
            (gaps,) = _gaps(raw)
            matrix.data = np.where(np.isnan(matrix.data), 0.0, matrix.data)
            return matrix.T @ w, w.sum() - gaps.T @ w
        d = block.rows.shape[1]
        sums, there = np.zeros(d), np.zeros(d)
        for first in range(0, d, STRIP):
            part = slice(first, min(first + STRIP, d))
            strip = raw.columns(part)
            missing = np.isnan(strip)
            sums[part] = w @ np.where(missing, 0.0, strip)
            there[part] = w @ ~missing
        return sums, there
