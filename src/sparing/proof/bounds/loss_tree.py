"""What any r features must lose: the deletion tree's best open node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.proof.trees.deletion_tree import TREE_LIMIT, DeletionTree, Searched
from sparing.results import Bound, Encoder, Reference
from sparing.run import Budget, Run
from sparing.task import Task

MARGIN = 1e-13
NODE_WORK = 4e7
"""Default number of nodes times d^3: a second or less whatever the number of features."""


@dataclass(frozen=True)
class LossTree:
    """No r features can lose less than total - max J(S), the optimum of [magdonismail2015, Sec. 1] bounded from below.

    Valid at every moment: the best open node bounds what has not been searched.

    Parameters
    ----------
    max_nodes : int, optional
        Nodes to spend; by default a number that takes about a second at most. A time limit replaces it.
    """

    max_nodes: int | None = None

    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound and the support it started from, or nothing where the tree cannot help."""
        view, problem = task.gram, task.problem
        if not _counted_together(problem) or view.n_features > TREE_LIMIT or problem.n_nonzero >= view.n_features:
            return None
        nodes = usual_nodes(view.n_features) if self.max_nodes is None else self.max_nodes
        nodes = nodes if run.budget.deadline is None else 10**9
        found = _searched(view, problem, incumbent.support, nodes, run.budget)
        if found is None:
            return None
        witness = (incumbent.support, found.nodes + 1)
        return Bound(_least_loss(view, found), "branch and bound", "always", recompute, witness)


def usual_nodes(n_features: int) -> int:
    """Nodes to spend where neither they nor a time limit are given."""
    return int(np.clip(NODE_WORK / n_features**3, 20, 2000))


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


def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The search run again from the data, from the same support and with as many nodes."""
    if not _counted_together(problem):
        return math.inf
    support, nodes = witness
    found = _searched(view, problem, support, nodes, Budget())
    return 0.0 if found is None else _least_loss(view, found)
