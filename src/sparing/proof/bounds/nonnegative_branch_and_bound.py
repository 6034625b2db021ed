"""A search through all supports for x >= 0: what it has refuted, none reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.proof.trees.nonnegative_proof import SEARCHED, prove_nonnegative
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class NonnegativeBranchAndBound:
    """x'Ax <= x'(A + N)x for x >= 0 and every N >= 0: branch and bound [berk2019, Algorithm 1] on A + N, x of any sign.

    One component. N is taken from ``DoublyNonnegativeDual``: the optimum of A + N never exceeds that bound, and is the
    nonnegative optimum on most data. The witness is N and the list of refuted targets, as in ``BranchAndBound``.

    Parameters
    ----------
    max_nodes : int
        Nodes at most; large ones are counted several times.
    max_iter : int
        Iterations at most for N. With 0, or with more than 500 features, negative entries beside the diagonal are set
        to 0 instead.
    """

    max_nodes: int = 1000
    max_iter: int = 100

    reference: ClassVar = Reference("berk2019", "Algorithm 1, on A with entries raised")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with N and its refuted targets, for one nonnegative component and not too many features."""
        problem = task.problem
        if problem.n_components != 1 or not problem.nonnegative or task.gram.n_features > SEARCHED:
            return None
        return prove_nonnegative(
            task.gram,
            problem.n_nonzero,
            incumbent.support,
            incumbent.loadings[0] if len(incumbent.loadings) == 1 else np.full(len(incumbent.support), -1.0),
            run.rng,
            max_nodes=self.max_nodes,
            max_iter=self.max_iter,
            budget=run.budget,
        ).bound
