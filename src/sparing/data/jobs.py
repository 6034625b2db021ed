"""Map-reduce jobs: computations in one pass over the rows.

A job maps one block of rows to a small result and merges results in the order of the rows, so it runs unchanged on an
array, a file or the chunks of a cluster. Jobs passed to ``one_pass`` together share one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from sparing.data.blocks import ColumnMoments, CscBlock
from sparing.data.rows import RawBlock
from sparing.data.standardized_block import Standardization, StandardizedBlock
from sparing.gram.base import runs
from sparing.results import Array, Indices


class Job(Protocol):
    """``map`` each block, ``merge`` neighbours, ``finish`` once."""

    def map(self, block: StandardizedBlock) -> Any:
        """The result for one block of rows."""

    def merge(self, first: Any, second: Any) -> Any:
        """The result for two neighbouring runs of rows."""

    def finish(self, result: Any) -> Any:
        """The result for all rows."""


class Summed:
    """Jobs whose block results add up."""

    def merge(self, first: Array, second: Array) -> Array:
        """Add."""
        first += second
        return first

    def finish(self, result: Array) -> Array:
        """Return the result as is."""
        return result


class Stacked:
    """Jobs whose block results are rows of the whole result; they are concatenated once, at the end."""

    def merge(self, first: list[Array], second: list[Array]) -> list[Array]:
        """Append."""
        return first + second

    def finish(self, result: list[Array]) -> Array:
        """Stack."""
        return result[0] if len(result) == 1 else np.concatenate(result)


@dataclass(frozen=True, eq=False)
class Product(Stacked):
    """``X @ V``."""

    V: Array

    def map(self, block: StandardizedBlock) -> list[Array]:
        """The rows of the product."""
        return [block.matmat(self.V)]


@dataclass(frozen=True, eq=False)
class Columns(Stacked):
    """``X[:, J]``."""

    J: Indices | slice

    def map(self, block: StandardizedBlock) -> list[Array]:
        """Rows of the columns."""
        return [block.columns(self.J)]


@dataclass(frozen=True, eq=False)
class TransposedProduct(Summed):
    """``X.T @ U``."""

    U: Array

    def map(self, block: StandardizedBlock) -> Array:
        """The contribution of the block's rows."""
        return block.rmatmat(self.U[block.start : block.stop])


@dataclass(frozen=True, eq=False)
class GramProduct(Summed):
    """``X.T @ (X @ V)``: two products in one pass."""

    V: Array

    def map(self, block: StandardizedBlock) -> Array:
        """The contribution of the block's rows."""
        return block.rmatmat(block.matmat(self.V))


@dataclass(frozen=True, eq=False)
class GramColumns(Summed):
    """``X.T @ X[:, J]``."""

    J: Indices

    def map(self, block: StandardizedBlock) -> Array:
        """The contribution of the block's rows."""
        return block.gram_columns(self.J)


@dataclass(frozen=True, eq=False)
class GramBlock(Summed):
    """``X[:, J].T @ X[:, J]``; all columns if J is None."""

    J: Indices | None = None

    def map(self, block: StandardizedBlock) -> Array:
        """The contribution of the block's rows."""
        return block.gram_block(self.J)


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and centred sums of squares of the raw columns times ``unit``, merged without cancellation.

    ``unit`` is one number, or one for each column.
    """

    unit: float | Array = 1.0

    def map(self, block: StandardizedBlock) -> ColumnMoments:
        """The result of one block."""
        return block.raw.moments(self.unit, block.weights)

    def merge(self, first: ColumnMoments, second: ColumnMoments) -> ColumnMoments:
        """Chan, Golub and LeVeque's update: it uses the difference of the means, never that of their squares."""
        weight = first.weight + second.weight
        if weight == 0:
            return first
        shift = second.mean - first.mean
        share = second.weight / weight
        return ColumnMoments(
            weight,
            first.mean + share * shift,
            first.deviation + second.deviation + first.weight * share * shift**2,
        )

    def finish(self, result: ColumnMoments) -> ColumnMoments:
        """Return the result as is."""
        return result


@dataclass(frozen=True)
class Extent:
    """The largest absolute value, and the first entry that is not finite."""

    def map(self, block: StandardizedBlock) -> tuple[float, tuple[int, int, float] | None]:
        """The result of one block."""
        peak, flaw = block.raw.extent()
        return peak, None if flaw is None else (flaw[0] + block.start, flaw[1], flaw[2])

    def merge(self, first: Any, second: Any) -> Any:
        """The larger peak, and the earlier non-finite entry."""
        return max(first[0], second[0]), first[1] or second[1]

    def finish(self, result: Any) -> Any:
        """Return the result as is."""
        return result


CANCELLED = 1e-4
"""Squared norms of sparse rows below this share of the squared mean have lost digits and are computed again."""


@dataclass(frozen=True, eq=False)
class PickedRows:
    """A few rows, given by sorted indices, in the storage of the data."""

    numbers: Indices

    def map(self, block: StandardizedBlock) -> list[StandardizedBlock]:
        """The picked rows in the block."""
        first, last = np.searchsorted(self.numbers, [block.start, block.stop])
        return [block.picked(self.numbers[first:last] - block.start)] if last > first else []

    def merge(self, first: list[StandardizedBlock], second: list[StandardizedBlock]) -> list[StandardizedBlock]:
        """Append the results in the order of the rows."""
        return first + second

    def finish(self, result: list[StandardizedBlock]) -> list[StandardizedBlock]:
        """Return the result as is."""
        return result


@dataclass(frozen=True, eq=False)
class RowSquares(Stacked):
    """Squared norms of centred and scaled rows."""

    def map(self, block: StandardizedBlock) -> list[Array]:
        """The result of one block."""
        if not block.raw.is_dense:
            return [_squares_of_stored(block)]
        squares = np.zeros(block.stop - block.start)
        for run in runs(len(block.mean), len(squares)):
            C = block.columns(run)
            squares += np.einsum("ij,ij->i", C, C)
        return [squares]


def _squares_of_stored(block: StandardizedBlock) -> Array:
    """From stored entries: each replaces the squared mean, the contribution of a zero."""
    n, of_zeros = block.stop - block.start, block.mean * block.factor
    squares = np.full(n, of_zeros @ of_zeros)
    for part, strip in cast("CscBlock", block.raw).strips():
        column = np.repeat(np.arange(part.start, part.stop), np.diff(strip.indptr))
        centred = block.factor[column] * block.unit * strip.data - of_zeros[column]
        squares += np.bincount(strip.indices, np.square(centred) - np.square(of_zeros[column]), n)
    doubtful = np.flatnonzero(squares < CANCELLED * (of_zeros @ of_zeros))
    if block.weights is not None:
        squares *= block.weights
    for run in runs(len(doubtful), len(of_zeros)):
        picked = block.picked(doubtful[run])
        squares[doubtful[run]] = np.square(picked.columns(slice(None))).sum(axis=1)
    return squares


def mapped(jobs: Sequence[Job], placement: Standardization, raw: RawBlock) -> list[Any]:
    """The results of all jobs for one block of raw rows."""
    block = StandardizedBlock(raw, placement)
    return [job.map(block) for job in jobs]


def merged_pair(jobs: Sequence[Job], first: list[Any], second: list[Any]) -> list[Any]:
    """The results of two neighbouring runs of rows; the first may be overwritten."""
    return [job.merge(a, b) for job, a, b in zip(jobs, first, second, strict=True)]
