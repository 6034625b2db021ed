"""A block of rows in compressed sparse columns; it is never made dense as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from sparing.data.jobs import ColumnMoments
from sparing.results import Array, Indices

STRIP_NONZEROS = 2**16
"""Nonzeros widened to float64 at a time."""


class CscBlock:
    """Raw rows as CSC: columns are slices, and the transpose is CSR, so both products run at full speed."""

    is_dense = False

    def __init__(self, matrix: Any, start: int = 0) -> None:
        self.matrix = canonical_csc(matrix)
        self.start, self.stop = start, start + matrix.shape[0]

    def _strips(self) -> Iterator[tuple[slice, Any]]:
        """Runs of columns that share the storage of the whole, widened to float64."""
        n, d = self.matrix.shape
        indptr = self.matrix.indptr
        first = 0
        while first < d:
            last = int(np.searchsorted(indptr, indptr[first] + STRIP_NONZEROS, side="right")) - 1
            last = min(max(last, first + 1), d)
            run = slice(indptr[first], indptr[last])
            data = self.matrix.data[run].astype(np.float64, copy=False)
            pointers = indptr[first : last + 1] - indptr[first]
            yield (
                slice(first, last),
                sparse.csc_array((data, self.matrix.indices[run], pointers), shape=(n, last - first)),
            )
            first = last

    def matmat(self, V: Array) -> Array:
        """``rows @ V``."""
        if self.matrix.dtype == np.float64:
            return np.asarray(self.matrix @ V)
        out = np.zeros((self.matrix.shape[0], V.shape[1]))
        for part, strip in self._strips():
            out += strip @ V[part]
        return out

    def rmatmat(self, U: Array) -> Array:
        """``rows.T @ U``."""
        if self.matrix.dtype == np.float64:
            return np.asarray(self.matrix.T @ U)
        out = np.empty((self.matrix.shape[1], U.shape[1]))
        for part, strip in self._strips():
            out[part] = strip.T @ U
        return out

    def columns(self, J: Indices | slice) -> Array:
        """``rows[:, J]``, dense float64: for few columns."""
        return np.asarray(self.matrix[:, J].toarray(), dtype=np.float64)

    def restricted(self, J: Indices) -> CscBlock:
        """The same rows, columns J alone."""
        return CscBlock(self.matrix[:, J], self.start)

    def shifted(self, reference: Array) -> CscBlock:
        """Sparse rows would not stay sparse."""
        raise AssertionError("sparse rows are never shifted")

    def moments(self, unit: float, weights: Array | None) -> ColumnMoments:
        """Means, and sums over stored entries of (x - m)^2 plus the zeros' share m^2: nothing cancels."""
        n, d = self.matrix.shape
        weight = float(n if weights is None else weights.sum())
        mean, deviation = np.zeros(d), np.zeros(d)
        if weight == 0:
            return ColumnMoments(0.0, mean, deviation)
        for part, strip in self._strips():
            data = strip.data * unit
            w = np.ones(len(data)) if weights is None else weights[strip.indices]
            column = np.repeat(np.arange(strip.shape[1]), np.diff(strip.indptr))
            stored, width = np.bincount(column, w, strip.shape[1]), strip.shape[1]
            full = np.diff(strip.indptr) == n  # weights need not add up exactly
            absent = np.where(full, 0.0, np.maximum(weight - stored, 0.0))
            m = np.bincount(column, w * data, width) / weight
            m += (np.bincount(column, w * (data - m[column]), width) - absent * m) / weight  # sums in a row lose digits
            centred = np.bincount(column, w * (data - m[column]) ** 2, width)
            mean[part], deviation[part] = m, centred + absent * m**2
        return ColumnMoments(weight, mean, deviation)

    def extent(self) -> tuple[float, tuple[int, int, float] | None]:
        """Largest absolute finite value, and place and value of the first entry that is not finite."""
        finite = np.isfinite(self.matrix.data)
        peak = float(np.abs(self.matrix.data, where=finite, out=np.zeros_like(self.matrix.data)).max(initial=0.0))
        if finite.all():
            return peak, None
        flaws = np.flatnonzero(~finite)
        places = [
            (int(self.matrix.indices[i]), int(np.searchsorted(self.matrix.indptr, i, side="right")) - 1, i)
            for i in flaws
        ]
        row, column, i = min(places)
        return peak, (row, column, float(self.matrix.data[i]))


def canonical_csc(matrix: Any) -> Any:
    """CSC without duplicate entries, float32 or float64; shares memory with the input where it can."""
    if matrix.format == "csr" and matrix.indices.dtype == np.int64 and max(*matrix.shape, matrix.nnz) < 2**31:
        indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        matrix = sparse.csr_array((matrix.data, indices, indptr), shape=matrix.shape)
    csc = matrix.tocsc()
    if not csc.has_canonical_format:
        csc = csc.copy()
        csc.sum_duplicates()
    exact_in_float32 = csc.dtype.kind in "iub" and csc.dtype.itemsize <= 2
    wanted = np.float32 if exact_in_float32 or csc.dtype == np.float16 else np.float64
    return csc if csc.dtype in (np.float32, np.float64) else csc.astype(wanted)
