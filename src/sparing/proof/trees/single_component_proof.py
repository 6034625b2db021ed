"""What the search for proofs says about one component: as a bound that can be checked again, and for any matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.rounding import EPS, rounded_up
from sparing.objectives.variance import RayleighObjective
from sparing.proof.trees.prover import Proof, Prover
from sparing.proof.trees.refuter import Refuter
from sparing.proof_effort import LIMITS
from sparing.results import Array, Bound
from sparing.run import Budget

REACHED = 1e-7
"""A bound within this share of the best support is reached by it."""


def as_bound(proof: Proof) -> Bound:
    """What was proved, with the steps that prove it."""
    reached = proof.bound - proof.value <= REACHED * abs(proof.value)
    return Bound(proof.bound, "branch_and_bound", "branch and bound", "always", proof.steps, reached)


def refuted_again(view: DataMatrix, n_nonzero: int, steps: Any, *, max_dense: int = LIMITS.dense_features) -> float:
    """The bound again: every target is refuted once more, and one that cannot be counts for nothing."""
    refuter = Refuter(view, max_dense=max_dense)
    for size, target, probing in steps:
        step = int(size), float(target)
        if refuter.refute(*step, max_nodes=LIMITS.recheck_nodes, budget=Budget(), probing=bool(probing)).refuted:
            refuter.learn(*step, probing=bool(probing))
    return rounded_up(refuter.most_of(n_nonzero), view)


def bound_of_one_component(A: Array, size: int) -> float:
    """What no unit x with so many nonzeros exceeds in x'Ax, for any symmetric A, by a search of limited size."""
    values = np.linalg.eigvalsh(A)
    shift = max(-float(values[0]), 0.0)  # the same for all unit x
    view = view_of_gram(A + shift * np.eye(len(A)))
    start = RayleighObjective(view).grown(size)
    proof = Prover(view).prove(size, start, np.random.default_rng(0), max_nodes=LIMITS.single_nodes, budget=Budget())
    rounding = 8 * len(A) * EPS * float(np.abs(values).max())
    return min(proof.bound - shift, float(values[-1])) + rounding
