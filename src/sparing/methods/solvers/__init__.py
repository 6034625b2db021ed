"""Solvers for one sparse direction of large variance, one file per algorithm. Register a new one here and nowhere
else."""

from __future__ import annotations

from sparing.methods.base import Solver
from sparing.methods.solvers.auto import Auto
from sparing.methods.solvers.exact import Exact
from sparing.methods.solvers.generalized_power import GeneralizedPowerL0, GeneralizedPowerL1
from sparing.methods.solvers.greedy import Greedy
from sparing.methods.solvers.max_component import MaxComponent
from sparing.methods.solvers.nonnegative import (
    NONNEGATIVE_SOLVERS,
    ExpectationMaximization,
    NonnegativeAuto,
    NonnegativeExact,
    Nspca,
    Spannogram,
    SpannogramNet,
)
from sparing.methods.solvers.rounding import Rounding
from sparing.methods.solvers.semidefinite import Semidefinite
from sparing.methods.solvers.truncated_power import TruncatedPower

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
    "NONNEGATIVE_SOLVERS",
    "SOLVERS",
    "Auto",
    "Exact",
    "ExpectationMaximization",
    "GeneralizedPowerL0",
    "GeneralizedPowerL1",
    "Greedy",
    "MaxComponent",
    "NonnegativeAuto",
    "NonnegativeExact",
    "Nspca",
    "Rounding",
    "Semidefinite",
    "Solver",
    "Spannogram",
    "SpannogramNet",
    "TruncatedPower",
]
