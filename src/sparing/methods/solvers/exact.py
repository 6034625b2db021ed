"""Exact sparse PCA of one component by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sparing.methods.solvers.auto import Auto
from sparing.methods.solvers.base import check_counts, check_incumbent
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
        Where the search starts; a good one is most of the work.
    max_nodes : int
        Maximum number of nodes, some minutes; large ones are counted several times.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros. Where nodes or time run out, or the user interrupts, the best
    direction so far is returned with a bound on all others. Thousands of features are reduced by proofs for fewer
    nonzeros first. With a metric (generalized deflation) it is the answer of ``incumbent``: nothing is searched.
    **Differs from the paper.** Nodes are Schur complements at a target that is to be refuted, so that features are
    eliminated at every node; Frobenius norms are taken about their best centre; sizes are proved in turn.
    """

    incumbent: Any = field(default_factory=Auto)
    max_nodes: int = 200_000

    reference: ClassVar = Reference("berk2019", "Algorithm 1")

    def __post_init__(self) -> None:
        check_counts(max_nodes=self.max_nodes)
        check_incumbent(self.incumbent)

    def solve(self, task: Task, run: Run) -> Component:
        """The best direction, or the best found with what none exceeds in its ``bound``."""
        view = task.gram
        found: Component = self.incumbent.solve(task, run.share(0.2))
        if task.metric is not None or run.budget.expired:
            return found
        prover = Prover(view)
        size = min(task.n_nonzero, view.n_features)
        proof = prover.prove(size, found.support, run.rng, max_nodes=self.max_nodes, budget=run.budget)
        best = RayleighObjective(view).component(proof.support) if proof.value > found.variance else found
        return replace(best, bound=as_bound(proof) if np.isfinite(proof.bound) else None)
