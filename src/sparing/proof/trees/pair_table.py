"""Pairs of features that can be together in a support that reaches a target, without the matrix of all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.gram import DataMatrix
from sparing.proof.trees.schur_tree import best_shift
from sparing.results import Array, Indices
from sparing.run import Budget

BLOCK = 512
"""Rows of A looked at together."""

MOST_PAIRS = 2**22
"""Pairs kept at most, each in both orders (100 MiB)."""


@dataclass(frozen=True)
class PairTable:
    """Entries A_ij, i != j, of pairs whose larger eigenvalue reaches ``level``; sorted by i, then falling by size.

    ``features`` are the only ones looked at: a sorted array of numbers of the view, to which ``rows`` and ``columns``
    refer by place.
    """

    features: Indices
    own: Array
    level: float
    rows: Indices
    columns: Indices
    entries: Array

    def at(self, level: float, features: Indices) -> PairTable | None:
        """For another level and other features; nothing where they are not in this table."""
        if level < self.level or not np.isin(features, self.features, assume_unique=True).all():
            return None
        place = np.full(len(self.features), -1, dtype=np.intp)
        place[np.searchsorted(self.features, features)] = np.arange(len(features))
        short = level - self.own
        kept = short[self.rows] * short[self.columns] <= np.square(self.entries)
        kept |= (short[self.rows] <= 0) | (short[self.columns] <= 0)
        kept &= (place[self.rows] >= 0) & (place[self.columns] >= 0)
        at = np.flatnonzero(kept)
        rows, columns = place[self.rows[at]], place[self.columns[at]]
        return PairTable(features, self.own[place >= 0], level, rows, columns, self.entries[at])

    def strength(self, size: int) -> Array:
        """What each feature adds at most to the squared Frobenius norm of a block of ``size`` features."""
        return np.square(self.own) + _beside(self.rows, np.square(self.entries), len(self.features), size)

    def partners(self, place: int) -> Indices:
        """Places of the features that may be with the one in this place."""
        ends = np.searchsorted(self.rows, [place, place + 1])
        return self.columns[ends[0] : ends[1]]

    def useful(self, size: int, target: float) -> Indices:
        """Features that may be among ``size`` with lambda_max of at least ``target``, to a fixed point.

        As in :class:`SchurTree`, from lists in place of a matrix; the target is positive.
        """
        rows, columns, squares = self.rows, self.columns, np.square(self.entries)
        alive = np.ones(len(self.features), dtype=bool)
        while True:
            beside = _beside(rows, squares, len(alive), size)
            left = alive & (np.bincount(rows, minlength=len(alive)) >= size - 1)
            if left.sum() < size:
                return self.features[:0]
            for shift in (0.0, best_shift(self.own[left], beside[left], size)):
                strength = np.where(left, np.square(self.own - shift) + beside, 0.0)
                strongest = np.partition(strength, len(left) - size)[len(left) - size :]
                left &= strength + strongest[1:].sum() >= (target - shift) ** 2
            if left.sum() == alive.sum():
                return np.asarray(self.features[alive])
            alive = left
            kept = np.flatnonzero(alive[rows] & alive[columns])
            rows, columns, squares = rows[kept], columns[kept], squares[kept]


def pairs_reaching(inside: DataMatrix, features: Indices, level: float, budget: Budget) -> PairTable | None:
    """All pairs of these features at a level, from blocks of rows of A; nothing where they or the time are too much.

    ``inside`` is the view of these features alone.
    """
    own = inside.gram_diagonal()
    short = level - own
    found, count = [], 0
    for at in range(0, len(features), BLOCK):
        block = np.arange(at, min(at + BLOCK, len(features)))
        G = inside.gram_columns(block)[at:].T  # each pair once: columns from the block on
        reaching = np.multiply.outer(short[block], short[at:]) <= np.square(G)
        reaching |= (short[block] <= 0)[:, None] | (short[at:] <= 0)
        reaching[:, : len(block)] &= ~np.tri(len(block), dtype=bool)
        i, j = np.nonzero(reaching)
        found.append((i + at, j + at, G[i, j]))
        count += len(i)
        if 2 * count > MOST_PAIRS or budget.expired:
            return None
    i, j, entries = (np.concatenate(part) for part in zip(*found, strict=True))
    rows, columns, entries = np.append(i, j), np.append(j, i), np.append(entries, entries)
    order = np.lexsort((-np.abs(entries), rows))
    return PairTable(features, own, level, rows[order], columns[order], entries[order])


def _beside(rows: Indices, squares: Array, count: int, size: int) -> Array:
    """The sum of the ``size - 1`` largest squares of each row, which come first."""
    first = np.arange(len(rows)) - np.searchsorted(rows, np.arange(count))[rows] < size - 1
    return np.asarray(np.bincount(rows[first], squares[first], minlength=count))
