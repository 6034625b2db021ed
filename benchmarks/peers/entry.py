"""What is run beside what: one entry is one package's way to a few features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TUNING_STEPS = 16
"""Fits that a search for penalties may take."""


@dataclass(frozen=True)
class Entry:
    """A method of a package.

    ``fit(X, k, r, penalty)`` returns loadings, one row per component, or the chosen columns where all components share
    them. ``tune(X, k, r)`` finds the penalty where a method takes no number of features.
    """

    package: str
    name: str
    fit: Callable[[Any, int, int, Any], Array]
    tune: Callable[[Any, int, int], Any] | None = None
    shared: bool = False
    reads_sparse: bool = False

    def __str__(self) -> str:
        return f"{self.package} {self.name}"

    @property
    def ours(self) -> bool:
        """Whether it is this library's."""
        return self.package == "sparing"


def cut(components: Array, r: int) -> Array:
    """The r largest entries of each component, nothing else."""
    components = np.array(components, dtype=float)
    small = np.argsort(-np.abs(components), axis=1, kind="stable")[:, r:]
    np.put_along_axis(components, small, 0.0, axis=1)
    return components


def largest_penalty(counts: Callable[[float], Array], most: float, r: int) -> float:
    """The largest penalty found that leaves every component r features or more, below one that leaves none.

    Thirds first, then bisection of the logarithm.
    """
    low, high = 0.0, most
    for _ in range(TUNING_STEPS):
        middle = np.sqrt(low * high) if low > 0 else high / 3
        found = counts(middle)
        low, high = (middle, high) if found.min() >= r else (low, middle)
        if (found == r).all():
            break
    return float(low)
