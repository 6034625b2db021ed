"""Truncation: the largest entries of vectors, and unit columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from sparing.results import Array

TIE = 1e-9
"""Entries within this share of one another count as equal: the first of them is kept, independent of rounding."""


def largest(values: Array, count: int) -> Array:
    """The ``count`` largest entries of each column, the smallest of them last.

    Entries are negated, because a partition near the end of a column with many equal entries, such as zeros, takes
    several times longer than one near its beginning.
    """
    return -np.partition(-values, count - 1, axis=0)[:count]


def keep_largest(V: Array, sizes: int | Sequence[int]) -> Array:
    """Each column of V (d x m) with only its ``size`` largest entries by absolute value, the others zero."""
    d, m = V.shape
    counts = np.minimum(np.broadcast_to(np.asarray(sizes, dtype=np.intp), m), d)
    if m == 0:
        return V.copy()
    if not counts.all():  # columns that may keep nothing become zero
        return np.where(counts > 0, keep_largest(V, np.maximum(counts, 1).tolist()), 0.0)
    size, most, at = np.abs(V), int(counts.max()), np.arange(m)
    level = largest(size, most)[-1] if (counts == most).all() else np.sort(size, axis=0)[d - counts, at]
    kept = size >= level * (1 - TIE)
    if np.count_nonzero(kept) > counts.sum():  # of those that tie, the first ones
        sure = size > level * (1 + TIE)
        tied = kept & ~sure
        kept = sure | (tied & (np.cumsum(tied, axis=0) <= counts - sure.sum(axis=0)))
    return cast(Array, np.where(kept, V, 0.0))


def unit_columns(V: Array) -> Array:
    """Columns scaled to unit norm, without zero columns."""
    lengths = np.linalg.norm(V, axis=0)
    alive = lengths > np.finfo(float).tiny
    return np.asarray(V[:, alive] / lengths[alive])
