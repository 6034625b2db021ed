"""One sparse direction without negative loadings. One file per algorithm; a new one is registered here."""

from __future__ import annotations

from sparing.solvers.base import Solver
from sparing.solvers.nonnegative.auto import NonnegativeAuto
from sparing.solvers.nonnegative.em import ExpectationMaximization
from sparing.solvers.nonnegative.exact import NonnegativeExact
from sparing.solvers.nonnegative.nspca import Nspca
from sparing.solvers.nonnegative.spannogram import Spannogram
from sparing.solvers.nonnegative.spannogram_net import SpannogramNet

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
