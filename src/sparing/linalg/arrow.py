"""Eigenvalues of bordered diagonal (arrowhead) matrices: adding or deleting a feature, for many at once.

Bordering a diagonal matrix with one row gives an arrow [[diag(v), b], [b', c]]; its eigenvalues, and those left when a
coordinate is deleted, are roots of sums of simple fractions.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.rounding import EPS, TINY
from sparing.results import Array, Indices


def largest_of_arrow(v: Array, b: Array, c: Array) -> Array:
    """Largest eigenvalue of [[diag(v), b], [b', c]], from below, for stacks v (s, k), b (s, k, m) and c (s, m).

    It is the root of c - x + sum b_i^2 / (x - v_i) above all v. The fraction of the largest v is kept, and the sum of
    the others, which is convex in x, is replaced by its tangent. The root of that quadratic never exceeds the true one,
    and convergence is quadratic. The start is the best two-by-two block.
    """
    squares, poles = np.square(b), v[:, :, None]
    x: Array = _larger_root(poles, c[:, None], squares).max(axis=1)
    at = (np.arange(len(v)), np.argmax(v, axis=1))
    pole, weight = v[at][:, None], squares[at]
    squares[at] = 0.0
    for _ in range(40):  # more than any arrow needed
        inverse = 1.0 / np.maximum(x[:, None] - poles, TINY**0.25)  # a gap of zero has weight zero or is rounding
        fractions = squares * inverse
        rest, fall = fractions.sum(axis=1), (fractions * inverse).sum(axis=1)
        slope = 1.0 + fall
        after = np.maximum(_larger_root(pole, (c + rest + fall * x) / slope, weight / slope), x)
        settled = after - x <= 2 * EPS * np.abs(after)
        x = after
        if settled.all():
            break
    return x


def contenders(v: Array, b: Array, c: Array) -> NDArray[np.bool_]:
    """Mask of the arrows of a stack, v (k,), b (k, m) and c (m,), that may have the largest eigenvalue, or nearly so.

    The best two-by-two block bounds the largest from below; evaluating c - x + sum b_i^2 / (x - v_i) there decides.
    """
    squares = np.square(b)
    level = float(_larger_root(v[:, None], c, squares).max())
    level -= 1e-8 * abs(level)  # far more than rounding errors
    if level <= v.max():
        return np.ones(len(c), dtype=bool)
    return np.asarray(c - level + (1.0 / (level - v)) @ squares >= 0)


def _larger_root(p: Array, q: Array, square: Array) -> Array:
    """Larger root of (x - p)(x - q) = square."""
    half = (p - q) / 2
    return cast(Array, np.maximum(p, q) + square / np.maximum(np.abs(half) + np.sqrt(np.square(half) + square), TINY))


def least_missed(values: Array, rows: Array, count: int) -> Indices:
    """The ``count`` coordinates whose removal lowers the largest eigenvalue least; the last of equal ones.

    The matrix has descending ``values`` in a basis T with the given ``rows`` (s x m), its eigenvectors if T is
    orthogonal. The eigenvalue without coordinate j is the root of sum_i t_ji^2 / (values_i - x) between the two largest
    values; the sum is negative below its root, so one level x, the same for all j, is adjusted until ``count`` roots
    are above it.
    """
    squares = np.square(rows)
    low, high = (float(values[1]), float(values[0])) if len(values) > 1 else (0.0, 0.0)
    above = np.arange(len(rows))
    while high - low > 1e-10 * max(abs(high), abs(low)):
        level = (low + high) / 2
        beyond = np.flatnonzero(squares @ (1.0 / (values - level)) <= 0)
        if len(beyond) >= count:
            low, above = level, beyond
        else:
            high = level
    return above[len(above) - count :]
