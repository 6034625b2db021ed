"""Branch and bound over supports: bounds on the variance of one component."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.proof.bounds.base import BoundMethod, ContinuedBound, Hypothesis, Kept, eigen_seconds
from sparing.proof.trees.nonnegative_proof import prove_nonnegative, raised_and_refuted_again
from sparing.proof.trees.prover import Prover, as_bound, refuted_again
from sparing.proof_limits import LIMITS, SECONDS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


def nodes_seconds(n_features: int, effort: ProofEffort) -> float:
    """Seconds of all nodes of a search through supports; with few features it ends earlier."""
    nodes = min(effort.nodes, SECONDS.nodes * n_features**2)
    return nodes * (SECONDS.node + SECONDS.wide_node * n_features)


@dataclass(frozen=True)
class BranchAndBound(ContinuedBound):
    """Refuted targets above the best support known, on Schur complements [berk2019, Algorithm 1]; one component.

    The same search as ``solvers.Exact``. ``proof/trees/schur_tree.py`` refutes a target, ``proof/trees/refuter.py``
    first reduces thousands of features to few. The witness is the list of targets: a recheck refutes them again.

    Parameters
    ----------
    max_nodes : int, optional
        Maximum number of nodes, instead of the number that ``effort`` sets; large ones are counted several times.
    """

    max_nodes: int | None = None

    name: ClassVar = "branch_and_bound"
    hypothesis: ClassVar = Hypothesis("variance", components="one")
    proves: ClassVar = True
    scales: ClassVar = True
    reference: ClassVar = Reference("berk2019", "Algorithm 1")

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all nodes; if loadings are nonnegative, other bounds come first.

        With many features all smaller sizes come first, each with a search of its own that lists pairs.
        """
        view, direct = task.gram, LIMITS.direct_features
        if task.problem.nonnegative or (view.n_features > direct and not (view.has_gram or view.rows_in_memory)):
            return math.inf
        if view.n_features <= direct:
            return nodes_seconds(view.n_features, effort)
        own = nodes_seconds(LIMITS.witness_features, effort) + SECONDS.pair * effort.pair_work
        return own * (1 + (task.n_nonzero / SECONDS.many_sizes) ** 3)

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The bound with its refuted targets, for one component; it holds for x >= 0, but need not be reached there."""
        if not self.applies(task):
            return None
        size = min(task.n_nonzero, task.gram.n_features)
        effort = run.effort.proof
        nodes = effort.part(effort.nodes) if self.max_nodes is None else self.max_nodes
        prover = (kept or Kept()).begun(lambda: Prover(task.gram, pair_work=0.0))
        prover.allow(effort.share * effort.pair_work)
        proof = prover.prove(size, incumbent.support, run.rng, max_nodes=nodes, budget=run.budget)
        if not np.isfinite(proof.bound):
            return None
        bound = as_bound(proof)
        return replace(bound, reached=False) if task.problem.nonnegative else bound

    def _again(self, task: Task, witness: Any) -> float:
        """Refute every target again; a target that cannot be refuted is dropped."""
        return refuted_again(task.gram, task.n_nonzero, witness)


@dataclass(frozen=True)
class NonnegativeBranchAndBound(BoundMethod):
    """x'Ax <= x'(A + N)x for x >= 0 and every N >= 0: branch and bound [berk2019, Algorithm 1] on A + N, x of any sign.

    One component. N is taken from ``DoublyNonnegativeDual``: the optimum of A + N never exceeds that bound, and is the
    nonnegative optimum on most data. The witness is N and the list of refuted targets, as in ``BranchAndBound``.

    Parameters
    ----------
    max_nodes, max_iter : int, optional
        Maximum number of nodes, large ones counted several times, and iterations at most for N, instead of the number
        that ``effort`` sets. With 0 iterations, or with more than 500 features, negative off-diagonal entries are set
        to 0 instead.
    """

    max_nodes: int | None = None
    max_iter: int | None = None

    name: ClassVar = "nonnegative_branch_and_bound"
    hypothesis: ClassVar = Hypothesis("variance", components="one", nonnegative=True)
    proves: ClassVar = True
    scales: ClassVar = True
    reference: ClassVar = Reference("berk2019", "Algorithm 1, on A with entries raised")

    def _suits(self, task: Task) -> bool:
        """For not too many features."""
        return task.gram.n_features <= LIMITS.decomposed_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all nodes, and of the steps to N."""
        d = task.gram.n_features
        return nodes_seconds(d, effort) + effort.raising_steps(d) * eigen_seconds(d)

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

    def _again(self, task: Task, witness: Any) -> float:
        """The targets refuted once more, on the same matrix."""
        return raised_and_refuted_again(task.gram, task.n_nonzero, witness)
