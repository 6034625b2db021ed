"""Solvers for one sparse nonnegative direction, one file per algorithm. Register a new one here."""

from __future__ import annotations

from sparing.methods.base import Solver
from sparing.methods.solvers.nonnegative.auto import NonnegativeAuto
from sparing.methods.solvers.nonnegative.em import ExpectationMaximization
from sparing.methods.solvers.nonnegative.exact import NonnegativeExact
from sparing.methods.solvers.nonnegative.nspca import Nspca
from sparing.methods.solvers.nonnegative.spannogram import Spannogram
from sparing.methods.solvers.nonnegative.spannogram_net import SpannogramNet

NONNEGATIVE_SOLVERS: dict[str, type[Solver]] = {
    "auto": NonnegativeAuto,
    "em": ExpectationMaximization,
    "exact": NonnegativeExact,
    "nspca": Nspca,
    "spannogram": Spannogram,
    "spannogram_net": SpannogramNet,
}

__all__ = [
    "NONNEGATIVE_SOLVERS",
    "ExpectationMaximization",
    "NonnegativeAuto",
    "NonnegativeExact",
    "Nspca",
    "Spannogram",
    "SpannogramNet",
]
