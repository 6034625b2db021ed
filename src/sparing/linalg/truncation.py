"""Truncation: the largest entries of vectors, and unit columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from sparing.results import Array

TIE = 1e-9
"""Entries within this share of one another count as equal: the first of them is kept, not what rounding prefers."""


def largest(values: Array, count: int) -> Array:
    """The ``count`` largest entries of each column, the least of them last.

    Negated, because a partition near the end of a column of many equal entries, as zeros are, takes several times as
    long as one near its beginning.
    """
    return -np.partition(-values, count - 1, axis=0)[:count]


def keep_largest(V: Array, sizes: int | Sequence[int]) -> Array:
    """Each column of V (d x m) with only its ``size`` largest entries by absolute value, the others zero."""
    d, m = V.shape
    counts = np.minimum(np.broadcast_to(np.asarray(sizes, dtype=np.intp), m), d)
    size = np.abs(V)
    if (counts == 0).any():  # nothing of a column that may keep nothing
        return np.where(counts > 0, keep_largest(V, np.maximum(counts, 1).tolist()), 0.0)
    if len(set(counts.tolist())) == 1:
        level = largest(size, int(counts[0]))[-1]
    else:
        level = np.sort(size, axis=0)[d - counts, np.arange(m)]
    sure = size > level * (1 + TIE)
    tied = ~sure & (size >= level * (1 - TIE))
    kept = sure | (tied & (np.cumsum(tied, axis=0) <= counts - sure.sum(axis=0)))
    return cast(Array, np.where(kept, V, 0.0))


def unit_columns(V: Array) -> Array:
    """Columns of unit norm, without those that vanish."""
    lengths = np.linalg.norm(V, axis=0)
    alive = lengths > np.finfo(float).tiny
    return np.asarray(V[:, alive] / lengths[alive])
