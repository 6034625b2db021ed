"""Sign conventions and tie-breaking, so that a seed gives the same answer for every storage."""

from __future__ import annotations

import numpy as np

from sparing.results import Array


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
