"""A search through all supports: what it has refuted, none reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix
from sparing.results import Bound, Reference
from sparing.search.best_of_one import as_bound
from sparing.search.prover import Prover


@dataclass(frozen=True)
class BranchAndBound:
    """Refuted targets above the best support known, on Schur complements [berk2019, Algorithm 1]; one component.

    The same search as ``solvers.Exact``. What refutes a target, and how, is in ``search/schur_tree.py``; how thousands
    of features become few, in ``search/refuter.py``. The witness is the list of targets: a recheck refutes them again.

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
