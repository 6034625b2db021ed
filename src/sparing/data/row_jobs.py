"""Jobs about the rows themselves: some of them, and the lengths of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from sparing.data.csc import CscBlock
from sparing.data.jobs import Stacked
from sparing.gram.base import runs
from sparing.results import Array, Indices

if TYPE_CHECKING:
    from sparing.data.standardized_block import StandardizedBlock

CANCELLED = 1e-4
"""Squares of sparse rows below this share of the mean's own square have lost digits and are added up again."""


@dataclass(frozen=True, eq=False)
class PickedRows:
    """A few rows, given by sorted numbers, in the storage of the whole."""

    numbers: Indices

    def map(self, block: StandardizedBlock) -> list[StandardizedBlock]:
        """Those that lie in the block."""
        first, last = np.searchsorted(self.numbers, [block.start, block.stop])
        return [block.picked(self.numbers[first:last] - block.start)] if last > first else []

    def merge(self, first: list[StandardizedBlock], second: list[StandardizedBlock]) -> list[StandardizedBlock]:
        """In the order of the rows."""
        return first + second

    def finish(self, result: list[StandardizedBlock]) -> list[StandardizedBlock]:
        """Nothing is left to do."""
        return result


@dataclass(frozen=True, eq=False)
class RowSquares(Stacked):
    """Squared lengths of centred and scaled rows."""

    def map(self, block: StandardizedBlock) -> list[Array]:
        """Of one block."""
        if not block.raw.is_dense:
            return [_squares_of_stored(block)]
        squares = np.zeros(block.stop - block.start)
        for run in runs(len(block.mean), len(squares)):
            C = block.columns(run)
            squares += np.einsum("ij,ij->i", C, C)
        return [squares]


def _squares_of_stored(block: StandardizedBlock) -> Array:
    """From stored entries: each replaces what a zero would have added, the mean's square."""
    n, of_zeros = block.stop - block.start, block.mean * block.factor
    squares = np.full(n, of_zeros @ of_zeros)
    for part, strip in cast(CscBlock, block.raw).strips():
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
