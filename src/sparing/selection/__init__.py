"""Which columns? One file per algorithm; a new one is registered here and nowhere else."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix
from sparing.results import Array, Selection
from sparing.selection.adaptive import Adaptive
from sparing.selection.dual_set import DualSet
from sparing.selection.exact import Exact
from sparing.selection.greedy import Greedy
from sparing.selection.leverage import Leverage
from sparing.selection.pivoted_qr import PivotedQR
from sparing.selection.uniform import Uniform


class Target(Protocol):
    """What chosen columns should span: T (n x k) through its products. A ``Spectrum`` is one."""

    @property
    def basis(self) -> Array:
        """Orthonormal V (d x k) with T = X V."""

    @property
    def cross(self) -> Array:
        """X'T, shape (d, k)."""

    @property
    def gram(self) -> Array:
        """T'T, shape (k, k)."""


class Selector(Protocol):
    """The verb of this folder."""

    def select(
        self, view: DataMatrix, n_columns: int, target: Target, rng: np.random.Generator, *, budget: Budget
    ) -> Selection:
        """At most ``n_columns`` columns; fewer only where no further column would add anything."""


SELECTORS: dict[str, type[Selector]] = {
    "greedy": Greedy,
    "dual_set": DualSet,
    "exact": Exact,
    "adaptive": Adaptive,
    "leverage": Leverage,
    "pivoted_qr": PivotedQR,
    "uniform": Uniform,
}

__all__ = [
    "SELECTORS",
    "Adaptive",
    "DualSet",
    "Exact",
    "Greedy",
    "Leverage",
    "PivotedQR",
    "Selector",
    "Target",
    "Uniform",
]
