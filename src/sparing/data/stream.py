"""Streaming data: a view of the sketch of rows that are read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.jobs import Job, Moments, mapped, merged_pair
from sparing.data.rows import RawBlock, Rows
from sparing.data.sketch import Condensed, column_squares, sketch_of
from sparing.data.standardized import StandardizedRows
from sparing.data.standardized_block import Standardization
from sparing.gram.base import DataMatrix, RowSketch
from sparing.gram.dense import view_of_gram
from sparing.results import Array, Indices
from sparing.search_limits import SEARCH


class Stream:
    """Moments and leading directions of all rows so far, of constant size.

    Parameters
    ----------
    rows : Rows
        The first rows, which determine the expected sizes of values.
    scale : bool
        Whether features will be divided by their deviations.
    length : int
        Number of directions to store.
    """

    def __init__(self, rows: Rows, *, scale: bool, length: int = SEARCH.stream_directions) -> None:
        reference = sketch_of(rows, length, 0, scale=scale).reference
        self.job = Condensed(length, reference, double=True)
        self.n_samples, self.is_weighted = 0, False
        self._kept: list[Any] | None = None

    def extended(self, rows: Rows, weights: Array | None) -> Stream:
        """A new stream with more rows, read once; this one stays unchanged, even if reading fails."""
        jobs: list[Job] = [Moments(self.job.unit), self.job]
        d = rows.shape[1]
        placement = Standardization(1.0, np.zeros(d), np.ones(d), None, weights)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            fresh = rows.run(partial(mapped, jobs, placement), partial(merged_pair, jobs))
        if not np.isfinite(fresh[0].deviation).all():
            StandardizedRows(rows)  # raises an error that names the invalid entry
            raise errors.out_of_scale(float(np.abs(fresh[0].mean).max()) / self.job.unit)
        longer = copy(self)
        longer.n_samples, longer.is_weighted = self.n_samples + rows.shape[0], self.is_weighted or weights is not None
        longer._kept = fresh if self._kept is None else merged_pair(jobs, deepcopy(self._kept), fresh)
        return longer

    def views(self, *, center: bool, scale: bool) -> tuple[DataMatrix, DataMatrix, RowSketch]:
        """Views of the exact means, scales and norms, and of the stored directions; and these directions themselves."""
        weights = np.empty(0) if self.is_weighted else None  # those of the rows are not stored
        rows = ExhaustedStream((self.n_samples, len(self.job.reference)), deepcopy(self._kept))
        exact = StandardizedRows(rows, center=center, scale=scale, weights=weights, sketch=self.job)
        sketch = exact.take_sketch()
        extra = np.maximum(exact.gram_diagonal() - column_squares(sketch.rows), 0.0)
        view = SketchedGram([sketch.rows], extra, square_unit=exact.square_unit, noise=self._noise(exact))
        return exact, view, sketch

    def _noise(self, exact: StandardizedRows) -> float:
        """Rounding errors of the means of batches."""
        assert self._kept is not None
        offset = np.linalg.norm(exact.unit_mean * exact.factor)
        return 8 * float(np.finfo(float).eps * np.sqrt(self._kept[0].weight) * offset)


class ExhaustedStream(Rows):
    """Rows of which only the results of one pass are stored."""

    is_dense = is_gone = True

    def __init__(self, shape: tuple[int, int], kept: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(np.float64)
        self._kept = kept

    def blocks(self) -> Iterator[RawBlock]:
        """Raise an error: the rows are not stored."""
        raise _stream_gone_error()

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """The result of the first pass; a second one is an error."""
        if self._kept is None:
            raise _stream_gone_error()
        kept, self._kept = self._kept, None
        return kept


def _stream_gone_error() -> ValueError:
    """The error for a second pass over a stream."""
    return ValueError("Rows passed to partial_fit are not stored, so they cannot be read again. Use fit with all rows.")


def view_of_sketch(parts: list[Any], extra: Array) -> DataMatrix:
    """The view ``B'B + diag(extra)`` of rows B, in parts, that represent those of X."""
    return SketchedGram(parts, extra)


class SketchedGram(DataMatrix):
    """``B'B + diag(extra)`` for rows B of any type, given in parts of (m x d): a sketch of X that fits in memory."""

    def __init__(self, parts: list[Any], extra: Array, *, square_unit: float = 1.0, noise: float = 0.0) -> None:
        self.square_unit, self._noise = square_unit, noise
        self.parts = [DenseBlock(part) for part in parts]
        self._extra = extra
        self.n_features = len(extra)
        self.n_samples = sum(len(part) for part in parts)
        self._diagonal = extra.copy()
        for part in parts:
            self._diagonal += column_squares(part)

    @property
    def rounding_error(self) -> float:
        """The error that the source of the rows reports."""
        return self._noise

    def gram_matmat(self, V: Array) -> Array:
        """``(B'B + diag(extra)) V``."""
        out = self._extra[:, None] * V
        for part in self.parts:
            out += part.rmatmat(part.matmat(V))
        return out

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J."""
        J = np.asarray(J, dtype=np.intp)
        out = np.zeros((self.n_features, len(J)))
        for part in self.parts:
            out += part.rmatmat(part.columns(J))
        out[J, np.arange(len(J))] += self._extra[J]
        return out

    def gram_diagonal(self) -> Array:
        """The diagonal."""
        return self._diagonal

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        C = np.concatenate([part.columns(J) for part in self.parts])
        gram = C.T @ C
        gram[np.diag_indices(len(J))] += self._extra[J]
        return view_of_gram(gram)
