"""One sparse direction of large variance. One file per algorithm; a new one is registered here and nowhere else."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix
from sparing.linalg.metric import Metric
from sparing.results import Array, Component
from sparing.solvers.auto import Auto
from sparing.solvers.exact import Exact
from sparing.solvers.generalized_power_l0 import GeneralizedPowerL0
from sparing.solvers.generalized_power_l1 import GeneralizedPowerL1
from sparing.solvers.greedy import Greedy
from sparing.solvers.max_component import MaxComponent
from sparing.solvers.rounding import Rounding
from sparing.solvers.semidefinite import Semidefinite
from sparing.solvers.truncated_power import TruncatedPower


class Solver(Protocol):
    """The verb of this folder."""

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


SOLVERS: dict[str, type[Solver]] = {
    "auto": Auto,
    "exact": Exact,
    "generalized_power_l0": GeneralizedPowerL0,
    "generalized_power_l1": GeneralizedPowerL1,
    "greedy": Greedy,
    "max_component": MaxComponent,
    "rounding": Rounding,
    "semidefinite": Semidefinite,
    "truncated_power": TruncatedPower,
}

__all__ = [
    "SOLVERS",
    "Auto",
    "Exact",
    "GeneralizedPowerL0",
    "GeneralizedPowerL1",
    "Greedy",
    "MaxComponent",
    "Rounding",
    "Semidefinite",
    "Solver",
    "TruncatedPower",
]
