"""Sources of rows: one block in memory, or slices of something larger than memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from sparing.data.blocks import ColumnMoments, CscBlock, DenseBlock
from sparing.results import Array, Indices

BLOCK_ENTRIES = 2**21
BLOCK_ROWS = 2048
"""Dense rows are read in blocks of 16 MiB of float64, or of this many rows if they are long."""


class Coding(ABC):
    """How a reader converts its records to numbers: fill values, factors, the counted category of each feature.

    The numbers of a new row must not depend on the other rows of its file. So a fit stores the coding of its rows
    (``coding_``) and applies it to new files. Codings are frozen dataclasses of arrays with one entry per feature, and
    are saved with a model.
    """

    @abstractmethod
    def of(self, J: Indices) -> Self:
        """The coding of the features J."""

    @abstractmethod
    def replaced(self, J: Indices, part: Self) -> Self:
        """The same coding with another one for the features J."""

    @abstractmethod
    def is_for(self, n_features: int) -> bool:
        """Whether it is valid for this number of features, whoever wrote it."""


class RawBlock(Protocol):
    """Consecutive raw rows in some storage."""

    start: int
    stop: int
    is_dense: bool

    @property
    def density(self) -> float:
        """The share of entries that are stored."""

    def matmat(self, V: Array) -> Array:
        """``rows @ V``."""

    def rmatmat(self, U: Array) -> Array:
        """``rows.T @ U``."""

    def columns(self, J: Indices | slice) -> Array:
        """``rows[:, J]``, dense."""

    def dense_rows(self, height: int) -> Iterator[tuple[slice, Array]]:
        """Copies of this many rows at a time, dense."""

    def restricted(self, J: Indices) -> RawBlock:
        """The same rows, columns J only."""

    def picked(self, numbers: Indices) -> RawBlock:
        """Some of the rows, by index within the block, in the same storage."""

    def shifted(self, reference: Array) -> RawBlock:
        """The same rows minus a reference row; for sparse rows it is zero for sparse features."""

    def moments(self, unit: float | Array, weights: Array | None) -> ColumnMoments:
        """Means and centred sums of squares of the columns times ``unit``, one number or one per column."""

    def extent(self) -> tuple[float, tuple[int, int, float] | None]:
        """Largest absolute value; position and value of the first entry that is not finite."""


class Rows(ABC):
    """A source of raw rows that can be read repeatedly; each pass over all of them is counted."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_dense: bool
    is_local: bool = True  # whether work is done in this process
    is_resident: bool = False  # whether all rows are in this process's memory
    is_gone: bool = False  # whether it was a stream, which cannot be read again
    stamp: tuple[int, int] | None = None  # size and time of a file
    feature_names: list[str] | None = None  # if the storage has any
    passes: int = 0  # over all of them so far

    @property
    def n_bytes(self) -> int:
        """Number of bytes read in one pass, if known."""
        if self.stamp is not None and not self.is_dense:
            return self.stamp[0]
        return self.shape[0] * self.shape[1] * self.dtype.itemsize if self.is_dense else 0

    @property
    def imputation(self) -> Array | None:
        """The replacement of missing values of each feature; None if none may be missing."""
        return None

    @abstractmethod
    def blocks(self) -> Iterator[RawBlock]:
        """The rows, in order."""

    @property
    def source(self) -> Any:
        """All rows in memory, as an array or CSC, for the few methods that need them at once."""
        return gathered(self)

    def first(self, look: Callable[[RawBlock], Any]) -> Any:
        """The first result of ``look`` on a block that is not None; later blocks are not read."""
        return next((found for found in map(look, self.blocks()) if found is not None), None)

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Run ``work`` on every block and merge the results in order; here one after the other."""
        return reduce(merge, map(work, self.blocks()))

    def chosen(self, numbers: Indices, imputation: Array | None = None) -> Rows:
        """Some rows, in order: a copy if they are in memory, otherwise selected on every pass.

        ``imputation`` replaces their missing values, if allowed; by default it is computed from these rows.
        """
        numbers = np.unique(numbers)
        if not self.is_resident:
            return ChosenRows(self, numbers)
        part = self.source[numbers]
        chosen: Rows = ArrayRows(part) if self.is_dense else SparseRows(part)
        chosen.feature_names = self.feature_names
        return chosen

    @property
    def coding(self) -> Coding | None:
        """The conversion of raw records to numbers, which may need a first pass; None if they are numbers already."""
        return None

    def with_coding(self, coding: Coding | None) -> Rows:
        """The same records with another coding, that of a fit; numbers are unchanged."""
        return self


def gathered(rows: Rows) -> Any:
    """A copy of all rows, dense or CSC."""
    parts: list[Any] = list(rows.blocks())
    if rows.is_dense:
        return np.concatenate([part.rows for part in parts])
    return sparse.vstack([part.matrix for part in parts], format="csc")


class SparseRows(Rows):
    """A sparse matrix: one block."""

    is_dense = False
    is_resident = True

    def __init__(self, matrix: Any) -> None:
        self.block = CscBlock(matrix)
        self.shape, self.dtype = matrix.shape, matrix.dtype

    @property
    def source(self) -> Any:
        """The matrix as CSC, not copied."""
        return self.block.matrix

    def blocks(self) -> Iterator[RawBlock]:
        """The one block."""
        yield self.block


class ArrayRows(Rows):
    """Anything whose slices are dense rows: an array, a memory map, a data set in a file."""

    is_dense = True

    def __init__(self, source: Any, block_rows: int | None = None) -> None:
        self._source = source
        self.shape, self.dtype = source.shape, source.dtype
        self.is_resident = isinstance(source, np.ndarray) and not isinstance(source, np.memmap)
        several = max(BLOCK_ROWS, BLOCK_ENTRIES // max(self.shape[1], 1))
        self.block_rows = several if block_rows is None else block_rows

    @property
    def source(self) -> Any:
        """The object whose slices are the rows."""
        return self._source

    def blocks(self) -> Iterator[RawBlock]:
        """Slices of ``block_rows`` rows."""
        for start in range(0, self.shape[0], self.block_rows):
            yield DenseBlock(np.asarray(self._source[start : start + self.block_rows]), start)


class InMemoryRows(Rows):
    """Rows in memory, copied if they are elsewhere; reading the copy again does not count as a pass."""

    is_resident = True

    def __init__(self, rows: Rows) -> None:
        self.shape, self.dtype, self.is_dense = rows.shape, rows.dtype, rows.is_dense
        self._copy = rows
        if not rows.is_resident:
            self._copy = ArrayRows(gathered(rows)) if rows.is_dense else SparseRows(gathered(rows))

    @property
    def passes(self) -> int:
        """One pass, for the copy."""
        return 1

    @passes.setter
    def passes(self, count: int) -> None:
        """Passes over the copy are not counted."""

    @property
    def source(self) -> Any:
        """The same as in the copy."""
        return self._copy.source

    def blocks(self) -> Iterator[RawBlock]:
        """The blocks of the copy."""
        return self._copy.blocks()


class DerivedRows(Rows):
    """Other rows, each block of them changed wherever it is."""

    def __init__(
        self, rows: Rows, change: Callable[[RawBlock], RawBlock | None], shape: tuple[int, int] | None = None
    ) -> None:
        self.rows, self._change = rows, change
        self.shape, self.dtype, self.is_dense = shape or rows.shape, rows.dtype, rows.is_dense

    def blocks(self) -> Iterator[RawBlock]:
        """The changed blocks; empty ones are left out."""
        parts = map(self._change, self.rows.blocks())
        return (part for part in parts if part is not None)

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Run on the changed blocks, in the same way as on the rows."""
        return self.rows.run(partial(_on_changed, self._change, work), partial(_merged_present, merge))


def _on_changed(change: Callable[[RawBlock], RawBlock | None], work: Callable[[RawBlock], Any], block: RawBlock) -> Any:
    part = change(block)
    return None if part is None else work(part)


def _merged_present(merge: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return merge(first, second)


class ChosenColumns(DerivedRows):
    """The columns J of other rows, in the order of J.

    Parameters
    ----------
    rows : Rows
    J : array of int
    feature_names : sequence of str, optional
        Names of the chosen columns.
    """

    def __init__(self, rows: Rows, J: Indices, feature_names: Sequence[str] | None = None) -> None:
        self.J = np.asarray(J, dtype=np.intp)
        super().__init__(rows, partial(_restricted, self.J), (rows.shape[0], len(self.J)))
        self.feature_names = None if feature_names is None else list(feature_names)

    @property
    def coding(self) -> Coding | None:
        """The coding of the chosen columns."""
        whole = self.rows.coding
        return None if whole is None else whole.of(self.J)

    def with_coding(self, coding: Coding | None) -> ChosenColumns:
        """The chosen columns with another coding."""
        if coding is None or (whole := self.rows.coding) is None:
            return self
        return ChosenColumns(self.rows.with_coding(whole.replaced(self.J, coding)), self.J, self.feature_names)

    @property
    def source(self) -> Any:
        """The columns in memory, for the few methods that need them at once."""
        return self.rows.source[:, self.J]


class ChosenRows(DerivedRows):
    """Some of other rows, in order: the samples of one fold.

    Parameters
    ----------
    rows : Rows
    numbers : array of int
        Sorted, each once.
    """

    def __init__(self, rows: Rows, numbers: Indices) -> None:
        self.numbers = np.asarray(numbers, dtype=np.intp)
        super().__init__(rows, partial(_picked, self.numbers), (len(self.numbers), rows.shape[1]))
        self.is_local, self.feature_names = rows.is_local, rows.feature_names

    def first(self, look: Callable[[RawBlock], Any]) -> Any:
        """The first result of ``look`` on a changed block that is not None."""
        return self.rows.first(partial(_on_changed, self._change, look))

    @property
    def coding(self) -> Coding | None:
        """The coding of the rows."""
        return self.rows.coding

    def with_coding(self, coding: Coding | None) -> ChosenRows:
        """The chosen rows with another coding."""
        return ChosenRows(self.rows.with_coding(coding), self.numbers)


def _picked(numbers: Indices, raw: RawBlock) -> RawBlock | None:
    """The chosen rows of a block, numbered among the chosen rows."""
    first, last = np.searchsorted(numbers, [raw.start, raw.stop])
    if first == last:
        return None
    part = raw.picked(numbers[first:last] - raw.start)
    part.start, part.stop = int(first), int(last)
    return part


def _restricted(J: Indices, raw: RawBlock) -> RawBlock:
    return raw.restricted(J)
