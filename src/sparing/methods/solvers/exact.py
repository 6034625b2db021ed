"""Exact sparse PCA of one component by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sparing.methods.base import check_counts, check_incumbent
from sparing.methods.solvers.auto import Auto
from sparing.objectives.variance import RayleighObjective
from sparing.proof.trees.prover import Prover, as_bound
from sparing.results import Component, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Exact:
    """Branch and bound on Schur complements [berk2019, Algorithm 1], from the answer of another solver.

    Parameters
    ----------
    incumbent : Solver
        Solver of the starting point; a good start saves most of the work.
    max_nodes : int
        Maximum number of nodes, a few minutes by default; large nodes count several times.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros. If nodes or time run out, or the user interrupts, the best direction
    so far is returned with a bound on all others. Proofs for fewer nonzeros first eliminate most of thousands of
    features. With a metric (generalized deflation) nothing is searched and the answer of ``incumbent`` is returned.
    **Differs from the paper.** Nodes are Schur complements at a target value to refute, so features are eliminated at
    every node. Frobenius norms use the best centre. Sizes are proved one by one.
    """

    incumbent: Any = field(default_factory=Auto)
    max_nodes: int = 200_000

    reference: ClassVar = Reference("berk2019", "Algorithm 1")

    def __post_init__(self) -> None:
        check_counts(max_nodes=self.max_nodes)
        check_incumbent(self.incumbent)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best direction, or the best found with an upper bound on all directions in ``bound``."""
        view = task.gram
        found: Component = self.incumbent.solve(task, run.share(0.2))
        if task.metric is not None or run.budget.expired:
            return found
        prover = Prover(view)
        size = min(task.n_nonzero, view.n_features)
        proof = prover.prove(size, found.support, run.rng, max_nodes=self.max_nodes, budget=run.budget)
        best = RayleighObjective(view).component(proof.support) if proof.value > found.variance else found
        return replace(best, bound=as_bound(proof) if np.isfinite(proof.bound) else None)
