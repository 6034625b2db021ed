"""The verb of this folder."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix
from sparing.linalg.metric import Metric
from sparing.results import Array, Component


class Solver(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def solve(
        self,
        view: DataMatrix,
        n_nonzero: int,
        rng: np.random.Generator,
        *,
        metric: Metric | None = None,
        start: Array | None = None,
        budget: Budget,
    ) -> Component:
        """A unit direction with at most ``n_nonzero`` features and large x'Ax, or x'Ax / x'Mx with a metric M.

        ``start`` (d x m) holds directions worth starting from; those that have no use for them ignore it.
        """
