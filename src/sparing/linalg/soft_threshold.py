"""Soft thresholding: maximisers and projections on l1 and l2 balls, in closed form."""

from __future__ import annotations

import math

import numpy as np

from sparing.linalg.truncation import TIE
from sparing.results import Array


def l1_l2_maximiser(a: Array, bound: float) -> Array:
    """Maximise a'x over |x|_2 <= 1 and |x|_1 <= bound: soft thresholding of a, scaled to unit norm.

    If a itself satisfies the bound, nothing is shrunk. If bound^2 or more entries tie for the largest, no threshold
    gives unit norm and l1 norm ``bound``. The bound is then divided equally among them; with more than bound^2 of them
    the norm is below 1.

    Set entries of ``a`` that must not enter to zero (for nonnegative weights, negative entries too). For a = 0 zero is
    returned.
    """
    sizes = np.abs(a)
    top = float(sizes.max(initial=0.0))
    if top == 0.0:
        return np.zeros_like(a)
    tied = sizes >= top * (1 - TIE)
    square = bound * bound
    if abs(square - round(square)) <= 1e-12 * square:  # the square of a root
        square = float(round(square))
    if (n_tied := int(tied.sum())) >= square:
        return np.asarray(np.where(tied, np.sign(a) * (bound / n_tied), 0.0))
    exponent = -int(np.frexp(top)[1])  # a power of two changes no digit and keeps squares in range
    drops = np.ldexp(top - sizes, exponent)
    kept = np.maximum(_threshold_drop(np.sort(drops), math.ldexp(top, exponent), square, n_tied) - drops, 0.0)
    return np.asarray(np.sign(a) * (kept / np.linalg.norm(kept)))


def bound_for_nonzeros(a: Array, wanted: int) -> float:
    """A bound with which :func:`l1_l2_maximiser` keeps ``wanted`` entries of a >= 0, or fewer if entries tie."""
    sizes = np.sort(a)[::-1]
    following = np.append(sizes[1:], 0.0)
    ends = np.flatnonzero(sizes - following > TIE * sizes[0])  # a threshold fits below these entries
    if wanted >= int(np.count_nonzero(sizes)) or not (ends < wanted).any():
        return math.sqrt(len(a)) if wanted >= int(np.count_nonzero(sizes)) else 1.0
    last = ends[ends < wanted][-1]
    kept = sizes[: last + 1] - (sizes[last] + following[last]) / 2
    return max(float(kept.sum() / np.linalg.norm(kept)), 1.0)


def _threshold_drop(drops: Array, top: float, square: float, n_tied: int) -> float:
    """Distance of the threshold below the largest entry, ``top``; a distance of ``top`` means no threshold.

    ``drops`` (sorted) are the distances of the entries below the largest. With m entries above the threshold, s1 the
    sum and s2 the sum of squares of their drops, (l1 norm / l2 norm)^2 = square has the root (s1 + sqrt(square (m s2 -
    s1^2) / (m - square))) / m. The entries instead of drops would give the same root but lose all digits of m s2 - s1^2
    if entries nearly tie.
    """
    first = max(n_tied, math.floor(square) + 1)  # fewer entries cannot have that l1 norm
    if first > len(drops):
        return top
    m = np.arange(first, len(drops) + 1)
    s1, s2 = np.cumsum(drops)[first - 1 :], np.cumsum(np.square(drops))[first - 1 :]
    following = np.append(drops[first:], top)  # the threshold can decrease to here before entry m + 1 enters
    enough = np.square(m * following - s1) >= square * (m * following**2 - 2 * following * s1 + s2)
    if not enough.any():
        return top
    at = int(np.argmax(enough))
    spread = max(float(m[at] * s2[at] - s1[at] ** 2), 0.0)
    return min(float(s1[at] + math.sqrt(square * spread / (m[at] - square))) / float(m[at]), float(following[at]))


def l1_l2_projection(y: Array, bound: float) -> Array:
    """The point closest to y with |x|_2 <= 1 and |x|_1 <= bound."""
    x = y / max(float(np.linalg.norm(y)), 1.0)
    if np.abs(x).sum() <= bound:
        return np.asarray(x)
    x = l1_projection(y, bound)
    return x if np.linalg.norm(x) <= 1.0 else l1_l2_maximiser(y, bound)


def l1_projection(y: Array, bound: float) -> Array:
    """The point closest to y with |x|_1 <= bound."""
    sizes = np.sort(np.abs(y))[::-1]
    sums = np.cumsum(sizes)
    if sums[-1] <= bound:
        return y
    m = np.arange(1, len(y) + 1)
    last = int(np.flatnonzero(sizes * m > sums - bound)[-1])
    threshold = (sums[last] - bound) / m[last]
    return np.asarray(np.sign(y) * np.maximum(np.abs(y) - threshold, 0.0))
