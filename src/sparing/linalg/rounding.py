"""Floating-point rounding: machine epsilon, and upper bounds that allow for it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix

EPS = float(np.finfo(float).eps)

TINY = 1e-300
"""A divisor in place of zero, so that a quotient stays finite."""

NOTHING = 1e-12
"""A direction with less than this share of the variance counts as explaining nothing."""

BETTER = 1e-9
"""Relative improvement that a later answer needs, so that rounding does not decide between equal answers."""

NEARLY_COLLINEAR = 1e-9
"""Columns whose unit-norm Gram matrix has a smaller eigenvalue count as collinear: rounding errors would exceed any
gap."""


def whitening_margin(size: int, squares: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Bound on the error of eigenvalues of L^-1 B L^-T, as a share of the largest; |L^-1|^2 is given."""
    return np.asarray(16 * size * EPS * (1.0 + size * np.minimum(squares, 1 / NEARLY_COLLINEAR)))


def rounded_up(value: float, view: DataMatrix) -> float:
    """A variance rounded up by more than the rounding errors.

    A sum of d terms has a relative error of at most d eps. Centring leaves an error E in X, and |XP|_F <= |(X + E)P|_F
    + |E|_F for every projection P.
    """
    if math.isinf(value):
        return value
    noise = view.rounding_error
    return value + abs(value) * 8 * view.n_features * EPS + (2 * math.sqrt(abs(value)) + noise) * noise
