"""Lower bound on the loss of any r features: best-first branch and bound on deletions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.gram import DataMatrix
from sparing.proof.trees.deletion_tree import DeletionTree, Searched
from sparing.proof_effort import LIMITS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Budget, Run
from sparing.task import Task

MARGIN = 1e-13


@dataclass(frozen=True)
class LossTree:
    """No r features can lose less than total - max J(S), the optimum of [magdonismail2015, Sec. 1] bounded from below.

    Valid at every moment: the best open node bounds what has not been searched.

    Parameters
    ----------
    max_nodes : int, optional
        Nodes to spend, in place of those of the effort.
    """

    max_nodes: int | None = None

    name: ClassVar = "loss_tree"
    objective: ClassVar = "loss"
    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def applies(self, task: Task) -> bool:
        """Where all components together have a number of features."""
        return _counted_together(task.problem) and task.n_nonzero < task.gram.n_features <= LIMITS.decomposed_features

    def cost(self, task: Task) -> float:
        """Little: its nodes are those of the effort."""
        return 0.05

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound and the support it started from, or nothing where the tree cannot help."""
        view, problem = task.gram, task.problem
        nodes = run.effort.proof.tree_nodes(view.n_features) if self.max_nodes is None else self.max_nodes
        if not self.applies(task) or nodes < 1:
            return None
        found = _searched(view, problem, incumbent.support, nodes, run.budget)
        if found is None:
            return None
        witness = (incumbent.support, found.nodes + 1)
        return Bound(_least_loss(view, found), self.name, "branch and bound", "always", witness)

    def check(self, task: Task, witness: Any) -> float:
        """The search run again from the data, from the same support and with as many nodes."""
        if not _counted_together(task.problem):
            return math.inf
        support, nodes = witness
        found = _searched(task.gram, task.problem, support, nodes, Budget())
        return 0.0 if found is None else _least_loss(task.gram, found)


def _counted_together(problem: Any) -> bool:
    """Is it about losses, and has all that is used ``n_nonzero`` features? Those of each component may be others."""
    return problem.objective == "loss" and bool(problem.shared_support or problem.n_components == 1)


def _searched(view: DataMatrix, problem: Any, support: Any, nodes: int, budget: Budget) -> Searched | None:
    tree = DeletionTree.of(view, problem.n_components)
    if not tree.searchable:
        return None
    return tree.search(problem.n_nonzero, support, budget=budget, max_nodes=nodes)


def _least_loss(view: DataMatrix, found: Searched) -> float:
    """Rounded against us."""
    return max(view.total * (1 - MARGIN) - found.bound, 0.0)
