"""The same data turned: its columns are the data points, so that what chooses columns can choose rows."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing import errors
from sparing.data.csc import CscBlock
from sparing.data.dense import DenseBlock
from sparing.data.jobs import Stacked
from sparing.data.standardized import GATHER_RATIO, StandardizedBlock, StandardizedRows
from sparing.gram.base import GRAM_LIMIT, DataMatrix
from sparing.gram.columns import ColumnBlock
from sparing.gram.dense import DenseGram
from sparing.results import Array, Indices

STRIP_ENTRIES = 2**18
"""Entries of centred and scaled rows that are dense at a time (2 MiB)."""

FEW_SAMPLES, SMALL_PRODUCT = 1024, 2e9
"""For at most so many samples and n^2 d at most so large XX' is formed once; its columns would be asked for singly."""

CANCELLED = 1e-4
"""Squares of sparse rows below this share of the mean's own square have lost digits and are added up again."""


class Transposed(DataMatrix):
    """``X'`` around a view of X that has rows; X' is never formed, and XX' only for few samples.

    Feature i of this view is sample i of the base: ``gram_matmat`` is X(X'U), ``gram_columns`` X X[I]'. Where the base
    holds XX' or X'X in memory they serve here as Gram matrix and row Gram matrix.
    """

    has_rows = True

    def __init__(self, base: DataMatrix) -> None:
        if not base.has_rows or base.n_samples is None:
            raise errors.needs_rows("Choosing data points", base.n_features)
        self.base = base
        self.n_features, self.n_samples = base.n_samples, base.n_features
        self.square_unit = base.square_unit
        self._squares: Array | None = None
        self._gram: Array | None = None

    @property
    def passes(self) -> int:
        """Those of the base."""
        return self.base.passes

    @property
    def has_gram(self) -> bool:
        """Does the base hold XX', or is it small?"""
        n, d = self.n_features, self.n_samples or 0
        return self.base.squares_cheaply or (n <= FEW_SAMPLES and n * n * d <= SMALL_PRODUCT)

    def gram(self) -> Array:
        """``XX'``, for few samples."""
        if self.n_features > GRAM_LIMIT:
            raise errors.gram_too_large(self.n_features, GRAM_LIMIT)
        if self._gram is None:
            self._gram = self.base.row_gram()
        return self._gram

    def gram_matmat(self, V: Array) -> Array:
        """``X @ (X.T @ V)``."""
        return self.gram() @ V if self.has_gram else self.base.matmat(self.base.rmatmat(V))

    def gram_columns(self, J: ArrayLike) -> Array:
        """``X @ X[J].T``."""
        J = np.asarray(J, dtype=np.intp)
        return self.gram()[:, J] if self.has_gram else self.base.matmat(self.columns(J))

    def gram_diagonal(self) -> Array:
        """Squared lengths of the samples, read once and kept."""
        if self._squares is None:
            if isinstance(self.base, StandardizedRows):
                self._squares = cast(Array, self.base.one_pass(RowSquares(self.base))[0])
            else:
                self._squares = np.zeros(self.n_features)
                for strip in _strips(self.n_samples or 0, self.n_features):
                    self._squares += np.square(self.base.columns(np.arange(strip.start, strip.stop))).sum(axis=1)
        return self._squares

    @property
    def squares_cheaply(self) -> bool:
        """With X'X in memory (XX')^2 on the samples J is X[J] X'X X[J]'."""
        return self.base.has_gram

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(XX' @ XX')[J, J]``."""
        if not self.squares_cheaply:
            return super().gram_squared(J, gram_columns)
        C = self.columns(J)
        return C.T @ self.base.gram_matmat(C)

    def restricted(self, J: Indices) -> DataMatrix:
        """The samples J: as themselves where they are not much longer than many, else as their Gram matrix."""
        if self.has_gram:
            return DenseGram(self.gram()[np.ix_(J, J)])
        if (self.n_samples or 0) <= GATHER_RATIO * len(J):
            return ColumnBlock(self.columns(J))
        gram = np.zeros((len(J), len(J)))
        for strip in self._rows_by_strips(J):
            gram += strip @ strip.T
        return DenseGram(gram)

    def matmat(self, V: Array) -> Array:
        """``X.T @ V``."""
        return self.base.rmatmat(V)

    def rmatmat(self, U: Array) -> Array:
        """``X @ U``."""
        return self.base.matmat(U)

    def columns(self, J: ArrayLike) -> Array:
        """``X[J].T``, dense."""
        J = np.asarray(J, dtype=np.intp)
        return np.concatenate([strip.T for strip in self._rows_by_strips(J)])

    def row_gram(self) -> Array:
        """``X.T @ X``, for few features."""
        return self.base.gram()

    def _rows_by_strips(self, J: Indices) -> Iterator[Array]:
        """Centred and scaled rows J in the order given, some columns at a time."""
        if not isinstance(self.base, StandardizedRows):
            width = max(1, STRIP_ENTRIES // self.n_features)  # unit vectors that are dense at a time
            runs = [J[first : first + width] for first in range(0, len(J), width)]
            yield np.concatenate([self.base.rmatmat(_unit_vectors(self.n_features, run)).T for run in runs])
            return
        distinct, place = np.unique(J, return_inverse=True)
        parts = self.base.one_pass(PickedRows(distinct))[0]
        for strip in _strips(self.n_samples or 0, len(J)):
            yield np.concatenate([part.columns(strip) for part in parts])[place]


@dataclass(frozen=True, eq=False)
class PickedRows:
    """A few rows, given by sorted numbers, in the storage of the whole."""

    numbers: Indices

    def map(self, block: StandardizedBlock) -> list[StandardizedBlock]:
        """Those that lie in the block."""
        first, last = np.searchsorted(self.numbers, [block.start, block.stop])
        return [_picked(block, self.numbers[first:last] - block.start)] if last > first else []

    def merge(self, first: list[StandardizedBlock], second: list[StandardizedBlock]) -> list[StandardizedBlock]:
        """In the order of the rows."""
        return first + second

    def finish(self, result: list[StandardizedBlock]) -> list[StandardizedBlock]:
        """Nothing is left to do."""
        return result


@dataclass(frozen=True, eq=False)
class RowSquares(Stacked):
    """Squared lengths of centred and scaled rows."""

    affine: StandardizedRows

    def map(self, block: StandardizedBlock) -> list[Array]:
        """Of one block."""
        if isinstance(block.raw, CscBlock):
            return [self._of_stored(block, block.raw)]
        squares = np.zeros(block.stop - block.start)
        for strip in _strips(self.affine.n_features, len(squares)):
            C = block.columns(strip)
            squares += np.einsum("ij,ij->i", C, C)
        return [squares]

    def _of_stored(self, block: StandardizedBlock, raw: CscBlock) -> Array:
        """From stored entries: each replaces what a zero would have added, the mean's square."""
        affine, n = self.affine, block.stop - block.start
        of_zeros = block.mean * affine.factor
        squares = np.full(n, of_zeros @ of_zeros)
        for part, strip in raw._strips():
            column = np.repeat(np.arange(part.start, part.stop), np.diff(strip.indptr))
            centred = affine.factor[column] * affine.unit * strip.data - of_zeros[column]
            squares += np.bincount(strip.indices, np.square(centred) - np.square(of_zeros[column]), n)
        doubtful = np.flatnonzero(squares < CANCELLED * (of_zeros @ of_zeros))
        if block.weights is not None:
            squares *= block.weights
        for run in _strips(len(doubtful), affine.n_features):
            picked = _picked(block, doubtful[run])
            squares[doubtful[run]] = np.square(picked.columns(slice(None))).sum(axis=1)
        return squares


def _picked(block: StandardizedBlock, rows: Indices) -> StandardizedBlock:
    """A block of some of its rows, in the same storage."""
    part, raw = copy(block), block.raw
    if isinstance(raw, CscBlock):
        part.raw = CscBlock(raw.matrix[rows])
    else:
        assert isinstance(raw, DenseBlock), "rows are stored densely or as sparse columns"
        part.raw = DenseBlock(raw.rows[rows])
    part.start, part.stop = 0, len(rows)
    if block.weights is not None:
        part.weights = block.weights[rows]
        part._root = np.sqrt(part.weights)[:, None]
    return part


def _strips(size: int, length: int) -> Iterator[slice]:
    """Runs of ``size`` things of which each takes ``length`` dense entries."""
    width = max(1, STRIP_ENTRIES // max(length, 1))
    for first in range(0, size, width):
        yield slice(first, min(first + width, size))


def _unit_vectors(size: int, places: Indices) -> Array:
    unit = np.zeros((size, len(places)))
    unit[places, np.arange(len(places))] = 1.0
    return unit
