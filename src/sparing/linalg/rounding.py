"""Floating-point rounding: upper bounds allow for it, and it decides neither signs nor ties."""

from __future__ import annotations

import math

import numpy as np

from sparing.gram import DataMatrix
from sparing.results import Array

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


def whitening_margin(size: int, squares: Array | float) -> Array:
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


def orientations(columns: Array) -> Array:
    """Signs (+1 or -1) that make the largest entry of each column positive.

    Entries within a millionth of the largest count as equal and the first of them decides, so that rounding cannot
    change a sign.
    """
    size = np.abs(columns)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    signs = np.sign(columns[first, np.arange(columns.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def first_largest(values: Array) -> int:
    """Index of the first entry within a billionth of the largest, so that rounding does not decide between equal
    ones."""
    largest = values.max()
    return int(np.argmax(values >= largest - 1e-9 * abs(largest)))
