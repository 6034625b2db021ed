"""A search through all supports for x >= 0: what it has refuted, none reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.proof.hypotheses import valid_for
from sparing.proof.trees.nonnegative_proof import prove_nonnegative, raised_and_refuted_again
from sparing.proof_effort import LIMITS
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
    max_nodes, max_iter : int, optional
        Nodes at most, large ones counted several times, and iterations at most for N, in place of those of the effort.
        With 0 iterations, or with more than 500 features, negative entries beside the diagonal are set
        to 0 instead.
    """

    max_nodes: int | None = None
    max_iter: int | None = None

    name: ClassVar = "nonnegative_branch_and_bound"
    objective: ClassVar = "variance"
    scales: ClassVar = True
    reference: ClassVar = Reference("berk2019", "Algorithm 1, on A with entries raised")

    def applies(self, task: Task) -> bool:
        """For one nonnegative component and not too many features."""
        return (
            task.problem.is_single and task.problem.nonnegative and task.gram.n_features <= LIMITS.decomposed_features
        )

    def cost(self, task: Task) -> float:
        """Half a second for 500 nodes of 1000 features."""
        return 0.5 * (task.gram.n_features / LIMITS.decomposed_features) ** 2

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with N and its refuted targets, for one nonnegative component and not too many features."""
        if not self.applies(task):
            return None
        unknown = np.full(len(incumbent.support), -1.0)
        return prove_nonnegative(
            task.gram,
            task.n_nonzero,
            incumbent.support,
            incumbent.loadings[0] if len(incumbent.loadings) == 1 else unknown,
            run.rng,
            max_nodes=run.effort.proof.part(run.effort.proof.nodes) if self.max_nodes is None else self.max_nodes,
            max_iter=run.effort.proof.raising_steps(task.gram.n_features) if self.max_iter is None else self.max_iter,
            budget=run.budget,
        ).bound

    @valid_for(one=True, nonnegative=True)
    def check(self, task: Task, witness: Any) -> float:
        """The targets refuted once more, on the same matrix."""
        return raised_and_refuted_again(task.gram, task.n_nonzero, witness)
