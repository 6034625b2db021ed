"""Floating-point rounding: machine epsilon, and upper bounds that allow for it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix

EPS = float(np.finfo(float).eps)

TINY = 1e-300
"""A divisor that stands in for zero: the quotient stays finite."""

NOTHING = 1e-12
"""A direction with less than this share of the variance explains nothing."""

BETTER = 1e-9
"""Share by which an answer must be better than one that was found first: rounding does not choose between them."""

NEARLY_COLLINEAR = 1e-9
"""Columns whose unit-norm Gram matrix has a smaller eigenvalue count as collinear: rounding would exceed any gap."""


def whitening_margin(size: int, squares: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """By how much eigenvalues of L^-1 B L^-T are wrong at most, as a share of the largest; |L^-1|^2 is given."""
    return np.asarray(16 * size * EPS * (1.0 + size * np.minimum(squares, 1 / NEARLY_COLLINEAR)))


def rounded_up(value: float, view: DataMatrix) -> float:
    """A variance that no rounding can have understated.

    A sum of d terms is off by at most d eps of it. Centring leaves an error E in X, and |XP|_F <= |(X + E)P|_F + |E|_F
    for every projection P.
    """
    if math.isinf(value):
        return value
    noise = view.rounding_error
    return value + abs(value) * 8 * view.n_features * EPS + (2 * math.sqrt(abs(value)) + noise) * noise
