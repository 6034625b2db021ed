"""A search through all supports: what it has refuted, none reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.proof.trees.prover import Prover
from sparing.proof.trees.single_component_proof import as_bound
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
    max_nodes : int
        Nodes at most; large ones are counted several times.
    """

    max_nodes: int = 1000

    reference: ClassVar = Reference("berk2019", "Algorithm 1")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its refuted targets, for one component; it holds for x >= 0, but need not be reached there."""
        problem = task.problem
        if problem.n_components != 1:
            return None
        prover = Prover(task.gram)
        proof = prover.prove(
            min(problem.n_nonzero, task.gram.n_features),
            incumbent.support,
            run.rng,
            max_nodes=self.max_nodes,
            budget=run.budget,
        )
        if not np.isfinite(proof.bound):
            return None
        bound = as_bound(proof)
        return replace(bound, reached=False) if problem.nonnegative else bound
