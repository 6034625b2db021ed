"""A block of rows in a dense array of any real type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from sparing.data.jobs import ColumnMoments
from sparing.results import Array, Indices

STRIP_ENTRIES = 2**19
"""Entries widened to float64 at a time: 4 MiB, so that a strip stays in cache while it is used."""


class DenseBlock:
    """Raw rows; types other than float64 are widened in strips of columns, never whole."""

    def __init__(self, rows: Any, start: int = 0) -> None:
        self.rows = rows
        self.start, self.stop = start, start + len(rows)

    is_dense = True
    density = 1.0

    def _strips(self) -> Iterator[tuple[slice, Array]]:
        n, d = self.rows.shape
        width = max(64, STRIP_ENTRIES // max(n, 1))
        for first in range(0, d, width):
            part = slice(first, min(first + width, d))
            yield part, self.rows[:, part].astype(np.float64, copy=False)

    def matmat(self, V: Array) -> Array:
        """``rows @ V``; the product of transposes is what BLAS does fastest with few columns."""
        if self.rows.dtype == np.float64:
            return cast(Array, (V.T @ self.rows.T).T)
        out = np.zeros((len(self.rows), V.shape[1]))
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
        """Copies of so many rows at a time, as float64."""
        for start in range(0, len(self.rows), height):
            rows = slice(start, min(start + height, len(self.rows)))
            yield rows, self.rows[rows].astype(np.float64)

    def restricted(self, J: Indices) -> DenseBlock:
        """The same rows, columns J alone."""
        return DenseBlock(self.columns(J), self.start)

    def picked(self, numbers: Indices) -> DenseBlock:
        """Some of the rows."""
        return DenseBlock(self.rows[numbers])

    def shifted(self, reference: Array) -> DenseBlock:
        """The same rows less a reference row."""
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
        """Largest absolute finite value, and place and value of the first entry that is not finite."""
        peak, flaw = 0.0, None
        for part, strip in self._strips():
            finite = np.isfinite(strip)
            if not finite.all():
                row, column = (int(i) for i in np.argwhere(~finite)[0])
                here = (row, part.start + column, float(strip[row, column]))
                flaw = here if flaw is None or here[:2] < flaw[:2] else flaw
            peak = max(peak, float(np.abs(strip, where=finite, out=np.zeros_like(strip)).max(initial=0.0)))
        return peak, flaw
