"""Upper bound for components with disjoint supports, by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.linalg.rounding import rounded_up
from sparing.proof.answers import answer_on, worth
from sparing.proof.bounds.base import BoundMethod, Hypothesis, as_floats
from sparing.proof.bounds.deletion_trees import spared
from sparing.proof.trees.disjoint_supports import best_disjoint, countable
from sparing.proof.trees.prover import REACHED
from sparing.proof_limits import SECONDS
from sparing.results import Bound, Encoder, Problem, Reference
from sparing.run import Budget, Run
from sparing.task import Task


@dataclass(frozen=True)
class DisjointSupports(BoundMethod):
    """The sum of lambda_max(A_S) over the best disjoint supports [asteris2015, Sec. 1], by search, or a bound on it.

    Valid at any time: everything not yet searched is at most sum p + the largest lambda_max(A_S) - p(S), for prices p
    >= 0 of the features. Only for components without common features, and for supports that are few enough to list.

    Parameters
    ----------
    max_nodes : int, optional
        Maximum number of nodes of the search, instead of the number that ``effort`` sets.
    """

    max_nodes: int | None = None

    name: ClassVar = "disjoint_supports"
    hypothesis: ClassVar = Hypothesis("variance", disjoint=True)
    proves: ClassVar = True
    reference: ClassVar = Reference("asteris2015", "Sec. 1, disjoint supports")

    def _suits(self, task: Task) -> bool:
        """For few enough supports, features counted for each of them."""
        each = task.problem.is_single or not task.problem.shared_support
        return each and countable(task.gram.n_features, _sizes(task.problem))

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all supports, which are listed."""
        problem, d = task.problem, task.gram.n_features
        return 0.02 + SECONDS.disjoint * comb(d, min(problem.n_nonzero, d)) * problem.n_components

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its prices and supports, for few enough supports."""
        view, problem = task.gram, task.problem
        if not self.applies(task):
            return None
        nodes = run.effort.proof.disjoint_nodes if self.max_nodes is None else self.max_nodes
        start = _start(problem, incumbent)
        found = best_disjoint(view.gram(), _sizes(problem), budget=run.budget, max_nodes=nodes, start=start)
        if found is None:
            return None
        witness, supports = (found.prices, found.supports, found.nodes), tuple(found.supports)
        value, words = rounded_up(found.bound, view), "a search of disjoint supports"
        again = answer_on(task, supports)  # a check knows the supports alone, and copies count once
        signed = not problem.nonnegative
        reached = signed and again is not None and value <= worth(task, again) * (1 + REACHED)
        return Bound(value, self.name, words, "always", witness, reached, supports=supports)

    def _again(self, task: Task, witness: Any) -> float:
        """Repeat the search from the data, with the same prices and number of nodes; the supports only make it
        shorter."""
        prices, supports, nodes = witness
        if (prices := as_floats(prices, task.gram.n_features)) is None:
            return float("inf")
        found = best_disjoint(
            task.gram.gram(),
            _sizes(task.problem),
            budget=Budget(),
            max_nodes=spared(nodes),
            start=supports,
            prices=prices,
        )
        return float("inf") if found is None else rounded_up(found.bound, task.gram)


def _sizes(problem: Problem) -> list[int]:
    return [min(problem.n_nonzero, problem.n_features)] * problem.n_components


def _start(problem: Problem, incumbent: Any) -> list[Any] | None:
    """The supports of the components found so far, if they are disjoint and complete in number."""
    if incumbent is None:
        return None
    used = incumbent.components != 0
    each = used.sum(axis=1)
    fits = len(used) == problem.n_components and each.min() > 0 and each.max() <= problem.n_nonzero
    return [np.flatnonzero(row) for row in used] if fits and used.sum(axis=0).max() <= 1 else None
