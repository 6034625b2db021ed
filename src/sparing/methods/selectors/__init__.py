"""Which columns? One file per algorithm; a new one is registered here and nowhere else."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sparing.gram import DataMatrix
from sparing.methods.selectors.adaptive import Adaptive
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.exact import Exact
from sparing.methods.selectors.greedy import Greedy
from sparing.methods.selectors.leverage import Leverage
from sparing.methods.selectors.pivoted_qr import PivotedQR
from sparing.methods.selectors.uniform import Uniform
from sparing.results import Array, Selection
from sparing.run import Budget


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
