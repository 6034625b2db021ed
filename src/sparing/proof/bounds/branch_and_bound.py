"""A search through all supports: what it has refuted, none reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparing.proof.hypotheses import valid_for
from sparing.proof.trees.prover import Prover
from sparing.proof.trees.single_component_proof import as_bound, refuted_again
from sparing.proof_effort import LIMITS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class BranchAndBound:
    """Refuted targets above the best support known, on Schur complements [berk2019, Algorithm 1]; one component.

    The same search as ``solvers.Exact``. ``proof/trees/schur_tree.py`` refutes a target, ``proof/trees/refuter.py``
    first reduces thousands of features to few. The witness is the list of targets: a recheck refutes them again.

    Parameters
    ----------
    max_nodes : int, optional
        Nodes at most, in place of those of the effort; large ones are counted several times.
    """

    max_nodes: int | None = None

    name: ClassVar = "branch_and_bound"
    objective: ClassVar = "variance"
    scales: ClassVar = True
    reference: ClassVar = Reference("berk2019", "Algorithm 1")

    def applies(self, task: Task) -> bool:
        """For one component."""
        return task.problem.is_single

    def cost(self, task: Task) -> float:
        """Half a second for 500 nodes of 1000 features; others come first where loadings are nonnegative.

        With more features all smaller sizes come first, each with a search of its own that reads columns.
        """
        view, direct = task.gram, LIMITS.direct_features
        if task.problem.nonnegative or (view.n_features > direct and not (view.has_gram or view.rows_in_memory)):
            return math.inf
        if view.n_features <= direct:
            return 0.5 * (view.n_features / 1000) ** 2
        return 0.35 + 5.0 * (task.n_nonzero / 50) ** 3

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its refuted targets, for one component; it holds for x >= 0, but need not be reached there."""
        if not self.applies(task):
            return None
        size = min(task.n_nonzero, task.gram.n_features)
        effort = run.effort.proof
        nodes = effort.part(effort.nodes) if self.max_nodes is None else self.max_nodes
        proof = Prover(task.gram, pair_work=effort.pair_work).prove(
            size, incumbent.support, run.rng, max_nodes=nodes, budget=run.budget
        )
        if not np.isfinite(proof.bound):
            return None
        bound = as_bound(proof)
        return replace(bound, reached=False) if task.problem.nonnegative else bound

    @valid_for(one=True)
    def check(self, task: Task, witness: Any) -> float:
        """Every target is refuted once more, and one that cannot be counts for nothing."""
        return refuted_again(task.gram, task.n_nonzero, witness)
