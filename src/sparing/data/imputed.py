"""Rows whose missing values are replaced by the means of their features, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from sparing.data.blocks import RawBlock, Rows
from sparing.data.csc import CscBlock
from sparing.data.dense import DenseBlock
from sparing.results import Array

STRIP = 256
"""Features that are looked at together."""


class Imputed(Rows):
    """Any rows with NaN as a missing value.

    Parameters
    ----------
    rows : Rows
    means : ndarray of shape (d,), optional
        What takes the place of missing values; learned in one reading where it is not given. A feature without any
        value counts as zero.
    weights : ndarray of shape (n,), optional
        Weight of each row in the means.
    """

    def __init__(self, rows: Rows, means: Array | None = None, weights: Array | None = None) -> None:
        super().__init__()
        self.rows = rows
        self.shape, self.dtype, self.is_dense = rows.shape, rows.dtype, rows.is_dense
        self.means = self._learned(weights) if means is None else means

    def blocks(self) -> Iterator[RawBlock]:
        """The blocks of the rows, each without what is missing."""
        for block in self.rows.blocks():
            yield cast(RawBlock, self._filled(block))

    def _filled(self, block: Any) -> Any:
        values = block.rows if block.is_dense else block.matrix.data
        if values.dtype.kind != "f":
            return block
        missing = np.isnan(values)
        if not missing.any():
            return block
        if block.is_dense:
            return DenseBlock(np.where(missing, self.means.astype(values.dtype), values), block.start)
        matrix = block.matrix.copy()
        columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
        matrix.data[missing] = self.means[columns[missing]]
        return CscBlock(matrix, block.start)

    def _learned(self, weights: Array | None) -> Array:
        """Weighted means of what is there; where a mean overflows, the door says so later."""
        d = self.shape[1]
        sums, there = np.zeros(d), np.zeros(d)
        self.passes += 1
        for block in cast(Iterator[Any], self.rows.blocks()):
            w = np.ones(block.stop - block.start) if weights is None else weights[block.start : block.stop]
            with np.errstate(over="ignore", invalid="ignore"):
                if block.is_dense:
                    for first in range(0, d, STRIP):
                        part = slice(first, min(first + STRIP, d))
                        strip = block.columns(part)
                        missing = np.isnan(strip)
                        sums[part] += w @ np.where(missing, 0.0, strip)
                        there[part] += w @ ~missing
                else:
                    matrix = block.matrix.astype(np.float64)
                    gaps = matrix.copy()
                    gaps.data = np.isnan(matrix.data).astype(np.float64)
                    matrix.data = np.nan_to_num(matrix.data, nan=0.0, posinf=np.inf, neginf=-np.inf)
                    sums += matrix.T @ w
                    there += w.sum() - gaps.T @ w
        return np.divide(sums, there, out=np.zeros(d), where=there > 0)
