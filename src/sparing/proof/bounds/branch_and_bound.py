"""A search through all supports: what it has refuted, none reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.proof.trees.prover import Prover
from sparing.proof.trees.single_component_proof import as_bound
from sparing.results import Bound, Reference
from sparing.run import Budget


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

    def bound(
        self, view: DataMatrix, problem: Any, incumbent: Any, rng: np.random.Generator, *, budget: Budget
    ) -> Bound | None:
        """The bound with its refuted targets, for one component; it holds for x >= 0, but need not be reached there."""
        if problem.n_components != 1:
            return None
        prover = Prover(view)
        proof = prover.prove(
            min(problem.n_nonzero, view.n_features), incumbent.support, rng, max_nodes=self.max_nodes, budget=budget
        )
        if not np.isfinite(proof.bound):
            return None
        bound = as_bound(proof)
        return replace(bound, reached=False) if problem.nonnegative else bound
