"""Blocks of raw rows, dense or CSC: products, moments and parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import sparse

from sparing.results import Array, Indices

WIDENED_ENTRIES = 2**17
"""Number of entries converted to float64 at a time (1 MiB), so that a strip stays in the cache."""

GATHER_COST = 8
"""A product gathers at most one in this many columns, because gathering an entry takes as long as reading several."""


@dataclass(frozen=True)
class ColumnMoments:
    """Total weight, column means and sums of squared deviations from them."""

    weight: float
    mean: Array
    deviation: Array


class DenseBlock:
    """Raw rows; other types than float64 are converted in strips of columns, never as a whole."""

    def __init__(self, rows: Any, start: int = 0) -> None:
        self.rows = rows
        self.start, self.stop = start, start + len(rows)

    is_dense = True
    density = 1.0

    @property
    def _width(self) -> int:
        """Number of columns of a strip."""
        return max(64, WIDENED_ENTRIES // max(len(self.rows), 1))

    def _strips(self) -> Iterator[tuple[slice, Array]]:
        d = self.rows.shape[1]
        for first in range(0, d, self._width):
            part = slice(first, min(first + self._width, d))
            yield part, self.rows[:, part].astype(np.float64, copy=False)

    def matmat(self, V: Array) -> Array:
        """``rows @ V``; with few columns BLAS is fastest for the product of transposes.

        Sparse directions need few columns of the rows, and only these are read.
        """
        used, out = np.flatnonzero(V.any(axis=1)), np.zeros((len(self.rows), V.shape[1]))
        if GATHER_COST * len(used) < len(V):
            for J in np.split(used, range(self._width, len(used), self._width)):
                out += (V[J].T @ self.columns(J).T).T
            return out
        if self.rows.dtype == np.float64:
            return cast(Array, (V.T @ self.rows.T).T)
        for part, strip in self._strips():
            out += (V[part].T @ strip.T).T
        return out

    def rmatmat(self, U: Array) -> Array:
        """``rows.T @ U``."""
        if self.rows.dtype == np.float64:
            return cast(Array, (U.T @ self.rows).T)
        out = np.empty((self.rows.shape[1], U.shape[1]))
        for part, strip in self._strips():
            out[part] = (U.T @ strip).T
        return out

    def columns(self, J: Indices | slice) -> Array:
        """``rows[:, J]`` as float64, a copy."""
        if isinstance(J, slice):
            return cast(Array, self.rows[:, J].astype(np.float64))
        if self.rows.flags.f_contiguous:
            return cast(Array, self.rows.T[J].T.astype(np.float64, copy=False))
        return np.take(self.rows, J, axis=1).astype(np.float64, copy=False)

    def dense_rows(self, height: int) -> Iterator[tuple[slice, Array]]:
        """Copies of this many rows at a time, as float64."""
        for start in range(0, len(self.rows), height):
            rows = slice(start, min(start + height, len(self.rows)))
            yield rows, self.rows[rows].astype(np.float64)

    def restricted(self, J: Indices) -> DenseBlock:
        """The same rows, columns J only."""
        return DenseBlock(self.columns(J), self.start)

    def picked(self, numbers: Indices) -> DenseBlock:
        """Some of the rows."""
        return DenseBlock(self.rows[numbers])

    def shifted(self, reference: Array) -> DenseBlock:
        """The same rows minus a reference row."""
        return DenseBlock(self.rows - reference, self.start)

    def moments(self, unit: float | Array, weights: Array | None) -> ColumnMoments:
        """Means and centred sums of squares by the corrected two-pass formula."""
        n, d = self.rows.shape
        w = np.ones(n) if weights is None else weights
        weight = float(w.sum())
        mean, deviation = np.zeros(d), np.zeros(d)
        if weight == 0:
            return ColumnMoments(0.0, mean, deviation)
        for part, strip in self._strips():
            here = unit[part] if isinstance(unit, np.ndarray) else unit
            scaled = strip * here if np.any(here != 1.0) else strip
            mean[part] = w @ scaled / weight
            centred = scaled - mean[part]
            rest = w @ centred / weight
            mean[part] += rest
            np.square(centred, out=centred)
            deviation[part] = np.maximum(w @ centred - weight * rest**2, 0.0)
        return ColumnMoments(weight, mean, deviation)

    def extent(self) -> tuple[float, tuple[int, int, float] | None]:
        """Largest absolute finite value, and position and value of the first entry that is not finite."""
        peak, flaw = 0.0, None
        for part, strip in self._strips():
            finite = np.isfinite(strip)
            if not finite.all():
                row, column = (int(i) for i in np.argwhere(~finite)[0])
                here = (row, part.start + column, float(strip[row, column]))
                flaw = here if flaw is None or here[:2] < flaw[:2] else flaw
            peak = max(peak, float(np.abs(strip, where=finite, out=np.zeros_like(strip)).max(initial=0.0)))
        return peak, flaw


STRIP_NONZEROS = 2**16
"""Number of nonzeros converted to float64 at a time."""

CACHED_SCORES = 2**21
"""Maximum size of an array with one row per sample that sparse products access at random (16 MiB): a larger one does
not stay in the cache."""

SPARSE_PRODUCT = 2**22
"""Maximum number of entries of a sparse product computed at a time: 48 MiB in sparse format if none is zero."""

CACHE_LINE = 8
"""Minimum number of columns multiplied together: the number that one access to memory fetches."""


class CscBlock:
    """Raw rows as CSC: columns are slices, and the transpose is CSR, so both products run at full speed."""

    is_dense = False

    def __init__(self, matrix: Any, start: int = 0) -> None:
        self.matrix = canonical_csc(matrix)
        self.start, self.stop = start, start + matrix.shape[0]

    def strips(self, nonzeros: int = STRIP_NONZEROS) -> Iterator[tuple[slice, Any]]:
        """Strips of columns that share the storage of the block, converted to float64, with few nonzeros each."""
        n, d = self.matrix.shape
        indptr = self.matrix.indptr
        first = 0
        while first < d:
            last = int(np.searchsorted(indptr, indptr[first] + nonzeros, side="right")) - 1
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
        if self._at_once(V.shape[1]):
            return np.asarray(self.matrix @ np.ascontiguousarray(V))
        out = np.zeros((self.matrix.shape[0], V.shape[1]))
        for run in self._cached_runs(V.shape[1]):
            some = np.ascontiguousarray(V[:, run])
            for part, strip in self._wide():
                out[:, run] += strip @ some[part]
        return out

    def rmatmat(self, U: Array) -> Array:
        """``rows.T @ U``."""
        if self._at_once(U.shape[1]):
            return np.asarray(self._transposed @ np.ascontiguousarray(U))
        out = np.empty((self.matrix.shape[1], U.shape[1]))
        for run in self._cached_runs(U.shape[1]):
            some = np.ascontiguousarray(U[:, run])
            for part, strip in self._wide():
                out[part, run] = strip.T @ some
        return out

    def sparse_rmatmat(self, U: Any) -> Array:
        """``rows.T @ U`` for a sparse U as CSC, dense: only rows with an entry in U are read."""
        d, width = self.matrix.shape[1], U.shape[1]
        out = np.empty((d, width), order="F")
        step = max(CACHE_LINE, SPARSE_PRODUCT // max(d, 1))
        for first in range(0, width, step):
            some = U[:, first : first + step].tocsr()
            for part, strip in self._wide():
                out[part, first : first + step] = (strip.T @ some).toarray()
        return out

    @cached_property
    def _transposed(self) -> Any:
        return self.matrix.T

    @property
    def _cached_width(self) -> int:
        """Number of columns of a product that stay in the cache for all samples."""
        lines = CACHED_SCORES // (CACHE_LINE * max(int(self.matrix.shape[0]), 1))
        return CACHE_LINE * max(lines, 1)

    def _cached_runs(self, width: int) -> Iterator[slice]:
        """Blocks of this many columns."""
        step = self._cached_width
        for first in range(0, width, step):
            yield slice(first, min(first + step, width))

    def _at_once(self, width: int) -> bool:
        """Whether SciPy can compute a product with this many columns at once, without copies."""
        return self.matrix.dtype == np.float64 and width <= self._cached_width

    def _wide(self) -> Iterator[tuple[slice, Any]]:
        """The whole in float64, or strips of it, each with more nonzeros than the entries of its product."""
        if self.matrix.dtype == np.float64:
            yield slice(None), self.matrix
        else:
            yield from self.strips(max(STRIP_NONZEROS, 4 * self.matrix.shape[0]))

    def columns(self, J: Indices | slice) -> Array:
        """``rows[:, J]``, dense float64: for few columns."""
        n, d = self.matrix.shape
        chosen = np.arange(d)[J] if isinstance(J, slice) else J
        first = self.matrix.indptr[chosen]
        lengths = self.matrix.indptr[chosen + 1] - first
        before = np.cumsum(lengths) - lengths
        stored = np.arange(lengths.sum()) + np.repeat(first - before, lengths)
        out = np.zeros((n, len(chosen)))
        out[self.matrix.indices[stored], np.repeat(np.arange(len(chosen)), lengths)] = self.matrix.data[stored]
        return out

    @property
    def density(self) -> float:
        """The share of entries that are stored."""
        n, d = self.matrix.shape
        return float(self.matrix.nnz / max(n * d, 1))

    def dense_rows(self, height: int) -> Iterator[tuple[slice, Array]]:
        """This many rows at a time, dense float64: for few columns."""
        by_rows, (n, d) = self.matrix.tocsr(), self.matrix.shape
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            ends = by_rows.indptr[start : rows.stop + 1]
            stored, out = slice(ends[0], ends[-1]), np.zeros((rows.stop - start, d))
            out[np.repeat(np.arange(len(out)), np.diff(ends)), by_rows.indices[stored]] = by_rows.data[stored]
            yield rows, out

    def restricted(self, J: Indices) -> CscBlock:
        """The same rows, columns J only."""
        return CscBlock(self.matrix[:, J], self.start)

    def picked(self, numbers: Indices) -> CscBlock:
        """Some of the rows."""
        return CscBlock(self.matrix[numbers])

    def shifted(self, reference: Array) -> CscBlock:
        """The same rows minus a reference row, for features with almost no zeros; other features stay sparse."""
        n = self.matrix.shape[0]
        columns = np.flatnonzero(reference)
        pointers = np.concatenate([[0], np.cumsum(np.where(reference != 0, n, 0))])
        parts = np.repeat(reference[columns], n), np.tile(np.arange(n), len(columns)), pointers
        return CscBlock(self.matrix - sparse.csc_array(parts, shape=self.matrix.shape), self.start)

    def moments(self, unit: float | Array, weights: Array | None) -> ColumnMoments:
        """Means, and sums of (x - m)^2 over stored entries plus m^2 for each zero, without cancellation."""
        n, d = self.matrix.shape
        weight = float(n if weights is None else weights.sum())
        mean, deviation = np.zeros(d), np.zeros(d)
        if weight == 0:
            return ColumnMoments(0.0, mean, deviation)
        for part, strip in self.strips():
            lengths = np.diff(strip.indptr)
            data = strip.data * (np.repeat(unit[part], lengths) if isinstance(unit, np.ndarray) else unit)
            w = None if weights is None else weights[strip.indices]
            stored = lengths if w is None else _sums(w, strip.indptr)
            absent = np.where(lengths == n, 0.0, np.maximum(weight - stored, 0.0))  # sums of weights are not exact
            m = _sums(data if w is None else w * data, strip.indptr) / weight
            rest = data - np.repeat(m, lengths)
            more = (_sums(rest if w is None else w * rest, strip.indptr) - absent * m) / weight  # sums lose digits
            m, rest = m + more, rest - np.repeat(more, lengths)
            squares = _sums(rest**2 if w is None else w * rest**2, strip.indptr)
            mean[part], deviation[part] = m, squares + absent * m**2
        return ColumnMoments(weight, mean, deviation)

    def extent(self) -> tuple[float, tuple[int, int, float] | None]:
        """Largest absolute finite value, and position and value of the first entry that is not finite."""
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


def _sums(values: Array, indptr: Indices) -> Array:
    """Sums over the stored entries of each column."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def canonical_csc(matrix: Any) -> Any:
    """CSC without duplicate entries, float32 or float64; shares memory with the input if possible."""
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
