"""Vectors of bounded l1 and l2 norm, in closed form: the best for a linear function, and the nearest to a point."""

from __future__ import annotations

import math

import numpy as np

from sparing.linalg.truncation import TIE
from sparing.results import Array


def l1_l2_maximiser(a: Array, bound: float) -> Array:
    """The x of largest a'x among |x|_2 <= 1 and |x|_1 <= bound: a, shrunk towards zero by one amount, to unit norm.

    Where a itself keeps the bound nothing is shrunk. Where bound^2 or more entries tie for the largest no shrinking
    leaves a vector of unit norm and l1 norm ``bound``: the bound is then spread over them evenly, and where they are
    more than bound^2 the norm is below one.

    Entries of ``a`` that must not enter are zero (for nonnegative weights, negative entries too). For a = 0 every x is
    as good; zero is returned.
    """
    sizes = np.abs(a)
    top = float(sizes.max(initial=0.0))
    if top == 0.0:
        return np.zeros_like(a)
    tied = sizes >= top * (1 - TIE)
    square = bound * bound
    if (n_tied := int(tied.sum())) >= square:
        return np.asarray(np.where(tied, np.sign(a) * (bound / n_tied), 0.0))
    sizes = sizes / top
    drop = _threshold_drop(np.sort(1.0 - sizes), square, n_tied)
    shrunk = np.maximum(sizes - (1.0 - drop), 0.0)
    return np.asarray(np.sign(a) * (shrunk / np.linalg.norm(shrunk)))


def _threshold_drop(drops: Array, square: float, n_tied: int) -> float:
    """How far below the largest entry the threshold lies; 1 is no threshold at all.

    ``drops`` (sorted) says how far each entry lies below the largest, which is 1. With m entries above the threshold,
    s1 the sum and s2 the sum of squares of their drops, (l1 norm / l2 norm)^2 = square has the root
    (s1 + sqrt(square (m s2 - s1^2) / (m - square))) / m. Entries themselves in place of drops give the same root, but
    lose all digits of m s2 - s1^2 where entries nearly tie.
    """
    first = max(n_tied, math.floor(square) + 1)  # fewer entries cannot have that l1 norm
    if first > len(drops):
        return 1.0
    m = np.arange(first, len(drops) + 1)
    s1, s2 = np.cumsum(drops)[first - 1 :], np.cumsum(np.square(drops))[first - 1 :]
    following = np.append(drops[first:], 1.0)  # the threshold can fall to here before entry m + 1 comes in
    enough = np.square(m * following - s1) >= square * (m * following**2 - 2 * following * s1 + s2)
    if not enough.any():
        return 1.0
    at = int(np.argmax(enough))
    spread = max(float(m[at] * s2[at] - s1[at] ** 2), 0.0)
    return min(float(s1[at] + math.sqrt(square * spread / (m[at] - square))) / float(m[at]), float(following[at]))


def l1_l2_projection(y: Array, bound: float) -> Array:
    """The point nearest to y with |x|_2 <= 1 and |x|_1 <= bound."""
    x = y / max(float(np.linalg.norm(y)), 1.0)
    if np.abs(x).sum() <= bound:
        return np.asarray(x)
    x = l1_projection(y, bound)
    return x if np.linalg.norm(x) <= 1.0 else l1_l2_maximiser(y, bound)


def l1_projection(y: Array, bound: float) -> Array:
    """The point nearest to y with |x|_1 <= bound."""
    sizes = np.sort(np.abs(y))[::-1]
    sums = np.cumsum(sizes)
    if sums[-1] <= bound:
        return y
    m = np.arange(1, len(y) + 1)
    last = int(np.flatnonzero(sizes * m > sums - bound)[-1])
    threshold = (sums[last] - bound) / m[last]
    return np.asarray(np.sign(y) * np.maximum(np.abs(y) - threshold, 0.0))
