"""Floating-point rounding: machine epsilon, and upper bounds that allow for it."""

from __future__ import annotations

import math

import numpy as np

from sparing.gram import DataMatrix

EPS = float(np.finfo(float).eps)

TINY = 1e-300
"""A divisor that stands in for zero: the quotient stays finite."""


def rounded_up(value: float, view: DataMatrix) -> float:
    """A variance that no rounding can have understated.

    A sum of d terms is off by at most d eps of it. Centring leaves an error E in X, and |XP|_F <= |(X + E)P|_F + |E|_F
    for every projection P.
    """
    if math.isinf(value):
        return value
    noise = view.rounding_error
    return value + abs(value) * 8 * view.n_features * EPS + (2 * math.sqrt(abs(value)) + noise) * noise
