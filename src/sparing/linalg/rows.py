"""Row-wise bounds on principal submatrices of r rows and columns: row sums and row squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from sparing.gram import DataMatrix
from sparing.results import Array, Indices

ROWS_AT_ONCE = 256


def strongest(rows: Array, own: Indices, size: int, *, nonnegative: bool = False) -> tuple[Array, Array]:
    """A_ii and the ``size - 1`` largest other |A_ij| of each row, for the rows ``own`` (m x d) of A.

    For x >= 0 a negative A_ij adds nothing to x'Ax: with ``nonnegative`` it counts as zero.
    """
    at = np.arange(len(rows))
    beside = np.maximum(rows, 0.0) if nonnegative else np.abs(rows)
    beside[at, own] = 0.0
    d, others = rows.shape[1], size - 1
    if others < d:
        beside = np.partition(beside, d - 1 - others, axis=1)[:, d - others :]
    return rows[at, own], beside


def sums(rows: Array, own: Indices, size: int, *, nonnegative: bool = False) -> Array:
    """A_ii + the ``size - 1`` largest |A_ij|: if all rows of a block have at most t, no eigenvalue exceeds t."""
    diagonal, beside = strongest(rows, own, size, nonnegative=nonnegative)
    return cast(Array, diagonal + beside.sum(axis=1))


def squares(rows: Array, own: Indices, size: int, *, nonnegative: bool = False) -> Array:
    """A_ii^2 + the ``size - 1`` largest A_ij^2: the most that row i adds to the squared Frobenius norm of a block."""
    diagonal, beside = strongest(rows, own, size, nonnegative=nonnegative)
    return cast(Array, np.square(diagonal) + np.square(beside).sum(axis=1))


def by_rows(view: DataMatrix, measure: Callable[[Array, Indices], Array]) -> Array:
    """``measure(rows, own)`` for all rows of A, block by block."""
    blocks = (np.arange(at, min(at + ROWS_AT_ONCE, view.n_features)) for at in range(0, view.n_features, ROWS_AT_ONCE))
    return np.concatenate([measure(view.gram_columns(own).T, own) for own in blocks])


def sum_of_largest(values: Array, count: int) -> float:
    """Sum of the ``count`` largest entries."""
    count = min(count, len(values))
    return float(np.partition(values, len(values) - count)[len(values) - count :].sum()) if count else 0.0
