"""Where rows come from: one in-memory block, or slices of something too large to hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from sparing.data.blocks import ColumnMoments, CscBlock, DenseBlock
from sparing.data.coding import Coding
from sparing.results import Array, Indices

BLOCK_ENTRIES = 2**21
BLOCK_ROWS = 2048
"""Dense rows are taken in blocks of 16 MiB of float64, or of this many rows where they are long."""


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
        """Copies of so many rows at a time, dense."""

    def restricted(self, J: Indices) -> RawBlock:
        """The same rows, columns J alone."""

    def picked(self, numbers: Indices) -> RawBlock:
        """Some of the rows, counted from the first of the block, in the same storage."""

    def shifted(self, reference: Array) -> RawBlock:
        """The same rows less a reference row; of sparse rows one that is zero for features that are."""

    def moments(self, unit: float | Array, weights: Array | None) -> ColumnMoments:
        """Means and centred sums of squares of the columns times ``unit``, or times a unit for each of them."""

    def extent(self) -> tuple[float, tuple[int, int, float] | None]:
        """Largest absolute value; place and value of the first entry that is not finite."""


class Rows(ABC):
    """A source of raw rows that can be read again and again; each reading of all of them is counted."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_dense: bool
    is_local: bool = True  # is work done in this process?
    is_resident: bool = False  # are all rows in this process's memory?
    is_gone: bool = False  # was it a stream, which cannot be read again?
    stamp: tuple[int, int] | None = None  # size and time of a file
    feature_names: list[str] | None = None  # where the storage has any

    def __init__(self) -> None:
        self.passes = 0

    @property
    def n_bytes(self) -> int:
        """How much there is to read in one pass, as far as that is known."""
        if self.stamp is not None and not self.is_dense:
            return self.stamp[0]
        return self.shape[0] * self.shape[1] * self.dtype.itemsize if self.is_dense else 0

    @property
    def imputation(self) -> Array | None:
        """What stands for missing values of each feature; None where none may be missing."""
        return None

    @abstractmethod
    def blocks(self) -> Iterator[RawBlock]:
        """The rows, in order."""

    @property
    def source(self) -> Any:
        """All rows in memory, an array or CSC as they are stored, for the few methods that need them at once."""
        return gathered(self)

    def first(self, look: Callable[[RawBlock], Any]) -> Any:
        """What ``look`` finds in the first block where that is not None; the blocks after it are not read."""
        return next((found for found in map(look, self.blocks()) if found is not None), None)

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """``work`` on every block, and the results merged in order: here one after the other."""
        return reduce(merge, map(work, self.blocks()))

    def chosen(self, numbers: Indices, imputation: Array | None = None) -> Rows:
        """Some rows, in their order: a copy where they are in memory, else picked whenever they are read.

        ``imputation`` stands for what is missing of them, where that may be; else it is learned of them.
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
        """How raw records become numbers, which may take a first reading; None where they are numbers already."""
        return None

    def with_coding(self, coding: Coding | None) -> Rows:
        """The same records read by another coding, that of a fit, where there is one; numbers are what they are."""
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
        super().__init__()
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
    """Anything that gives dense rows when sliced: an array, a memory map, a data set in a file."""

    is_dense = True

    def __init__(self, source: Any, block_rows: int | None = None) -> None:
        super().__init__()
        self._source = source
        self.shape, self.dtype = source.shape, source.dtype
        self.is_resident = isinstance(source, np.ndarray) and not isinstance(source, np.memmap)
        several = max(BLOCK_ROWS, BLOCK_ENTRIES // max(self.shape[1], 1))
        self.block_rows = several if block_rows is None else block_rows

    @property
    def source(self) -> Any:
        """What the rows are sliced from, as it was given."""
        return self._source

    def blocks(self) -> Iterator[RawBlock]:
        """Slices of ``block_rows`` rows."""
        for start in range(0, self.shape[0], self.block_rows):
            yield DenseBlock(np.asarray(self._source[start : start + self.block_rows]), start)


class InMemoryRows(Rows):
    """Rows in memory, copied as they are stored where they are elsewhere; reading these again is no pass."""

    is_resident = True

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.shape, self.dtype, self.is_dense = rows.shape, rows.dtype, rows.is_dense
        self._copy = rows
        if not rows.is_resident:
            self._copy = ArrayRows(gathered(rows)) if rows.is_dense else SparseRows(gathered(rows))

    @property
    def passes(self) -> int:
        """One, for the copy."""
        return 1

    @passes.setter
    def passes(self, count: int) -> None:
        """Readings of the copy are not counted."""

    @property
    def source(self) -> Any:
        """That of the copy."""
        return self._copy.source

    def blocks(self) -> Iterator[RawBlock]:
        """Those of the copy."""
        return self._copy.blocks()


class ChosenColumns(Rows):
    """The columns J of other rows, in the order of J.

    Parameters
    ----------
    rows : Rows
    J : array of int
    feature_names : sequence of str, optional
        Of the columns chosen.
    """

    def __init__(self, rows: Rows, J: Indices, feature_names: Sequence[str] | None = None) -> None:
        super().__init__()
        self.rows, self.J = rows, np.asarray(J, dtype=np.intp)
        self.shape, self.dtype, self.is_dense = (rows.shape[0], len(self.J)), rows.dtype, rows.is_dense
        self.feature_names = None if feature_names is None else list(feature_names)

    def blocks(self) -> Iterator[RawBlock]:
        """The blocks of the rows, each with these columns alone."""
        return (raw.restricted(self.J) for raw in self.rows.blocks())

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """As the rows run it, wherever they are."""
        return self.rows.run(partial(_on_chosen, self.J, work), merge)

    @property
    def coding(self) -> Coding | None:
        """That of the columns chosen."""
        whole = self.rows.coding
        return None if whole is None else whole.of(self.J)

    def with_coding(self, coding: Coding | None) -> ChosenColumns:
        """The columns chosen by another coding."""
        if coding is None or (whole := self.rows.coding) is None:
            return self
        return ChosenColumns(self.rows.with_coding(whole.replaced(self.J, coding)), self.J, self.feature_names)

    @property
    def source(self) -> Any:
        """The columns in memory, for the few methods that need them at once."""
        return self.rows.source[:, self.J]


class ChosenRows(Rows):
    """Some of other rows, in their order: the samples of one fold.

    Parameters
    ----------
    rows : Rows
    numbers : array of int
        Sorted, each once.
    """

    def __init__(self, rows: Rows, numbers: Indices) -> None:
        super().__init__()
        self.rows, self.numbers = rows, np.asarray(numbers, dtype=np.intp)
        self.shape, self.dtype = (len(self.numbers), rows.shape[1]), rows.dtype
        self.is_dense, self.is_local, self.feature_names = rows.is_dense, rows.is_local, rows.feature_names

    def blocks(self) -> Iterator[RawBlock]:
        """What is chosen of the blocks of the rows."""
        parts = (_picked(self.numbers, raw) for raw in self.rows.blocks())
        return (part for part in parts if part is not None)

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """As the rows run it, wherever they are; of some blocks nothing may be chosen."""
        return self.rows.run(partial(_on_picked, self.numbers, work), partial(_merged_present, merge))

    def first(self, look: Callable[[RawBlock], Any]) -> Any:
        """As the rows do it."""
        return self.rows.first(partial(_on_picked, self.numbers, look))

    @property
    def coding(self) -> Coding | None:
        """That of the rows."""
        return self.rows.coding

    def with_coding(self, coding: Coding | None) -> ChosenRows:
        """The chosen rows by another coding."""
        return ChosenRows(self.rows.with_coding(coding), self.numbers)


def _picked(numbers: Indices, raw: RawBlock) -> RawBlock | None:
    """The chosen rows of a block, numbered as they are among those chosen."""
    first, last = np.searchsorted(numbers, [raw.start, raw.stop])
    if first == last:
        return None
    part = raw.picked(numbers[first:last] - raw.start)
    part.start, part.stop = int(first), int(last)
    return part


def _on_picked(numbers: Indices, work: Callable[[RawBlock], Any], block: RawBlock) -> Any:
    part = _picked(numbers, block)
    return None if part is None else work(part)


def _merged_present(merge: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return merge(first, second)


def _on_chosen(J: Indices, work: Callable[[RawBlock], Any], block: RawBlock) -> Any:
    return work(block.restricted(J))
