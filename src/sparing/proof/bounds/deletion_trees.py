"""Bounds by deleting features: on the loss of any r features, and on the variance of components that read r
features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.gram import DataMatrix
from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds.base import BoundMethod, ContinuedBound, Hypothesis, Kept
from sparing.proof.trees.deletion_tree import CLOSED, TRIED_ROUNDING, DeletionTree, Searched
from sparing.proof_limits import LIMITS, SECONDS
from sparing.results import Bound, Encoder, Indices, Problem, Reference
from sparing.run import Budget, Run
from sparing.task import Task


@dataclass(frozen=True)
class AllSupports(BoundMethod):
    """The least loss of all sets of r features, by trying them all [magdonismail2015, Sec. 1].

    For features that all components share, where sets are few. A set of collinear features counts as much as any other
    could: no rounding makes the bound too high. The witness is the number of sets, all of which are tried again, and
    the largest captured variance.
    """

    name: ClassVar = "all_supports"
    hypothesis: ClassVar = Hypothesis("loss")
    proves: ClassVar = True
    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def _suits(self, task: Task) -> bool:
        """For features that all components share, and few sets of them."""
        few = _n_supports(task.problem) <= LIMITS.tried_supports
        return _is_shared(task.problem) and few and task.n_nonzero < task.gram.n_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all sets."""
        return SECONDS.tried_setup + SECONDS.tried * min(_n_supports(task.problem), LIMITS.tried_supports)

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The least loss, rounded down, and the best set."""
        if not self.applies(task):
            return None
        count, captured, most, best = _tried(task)
        words = f"trying all {count:,} sets"
        reached, value = most <= captured * (1 + TRIED_ROUNDING), _least_loss(task.gram, most)
        return Bound(value, self.name, words, "always", (count, captured), reached, supports=(best,))

    def _again(self, task: Task, witness: Any) -> float:
        """Try all sets again."""
        if not self._suits(task):
            return math.inf
        (listed, _), (count, _, most, _) = witness, _tried(task)
        return _least_loss(task.gram, most) if listed == count else math.inf


def _n_supports(problem: Problem) -> int:
    """Upper limit of the number of supports; rules may leave fewer."""
    required = len(problem.rules.required)
    return comb(problem.n_features - required, max(min(problem.n_nonzero, problem.n_features) - required, 0))


def _tried(task: Task) -> tuple[int, float, float, Indices]:
    """Number of sets that satisfy the rules, largest captured variance, upper bound, and best set.

    Under rules no set may have the requested size, so smaller sets are tried, too.
    """
    problem, rules, d = task.problem, task.rules, task.gram.n_features
    tree, size = (
        DeletionTree.of_view(task.gram, problem.n_components, rules),
        min(problem.n_nonzero, task.gram.n_features),
    )
    others = np.setdiff1d(np.flatnonzero(rules.usable(d)), rules.required)
    count, captured, most, best = 0, 0.0, 0.0, rules.required
    for more in range(size - len(rules.required), -1 if len(rules.required) else 0, -1):
        sets = np.array(list(combinations(others, more)), dtype=np.intp).reshape(comb(len(others), more), more)
        sets = np.column_stack([np.tile(rules.required, (len(sets), 1)), sets])
        sets = sets[rules.permitted(sets)] if len(sets) and rules else sets
        if len(sets):
            at, value, bound = tree.of.best_of(sets)
            count, most = count + len(sets), max(most, bound)
            captured, best = (value, sets[at]) if value > captured else (captured, best)
        if count and not rules.has_limits:
            break
    return count, captured, max(most, captured * (1 + CLOSED)), np.sort(best)


@dataclass
class TreeSearch:
    """A tree, and what a search of it has found so far."""

    tree: DeletionTree
    found: Searched | None = None

    def run(self, problem: Problem, support: Any, nodes: int, budget: Budget) -> Searched:
        """The search until it has so many nodes, with those of earlier calls."""
        size = read_together(problem)
        self.found = self.tree.search(size, support, budget=budget, max_nodes=nodes, earlier=self.found)
        return self.found


@dataclass(frozen=True)
class LossTree(ContinuedBound):
    """No u features can lose less than total - max J(S), the optimum of [magdonismail2015, Sec. 1] bounded from below.

    u is the number of features that all components read together: n_nonzero of shared ones, k n_nonzero at most where
    each component has its own, and then the best u features lose less than any such components. Valid at any time: the
    best open node bounds everything not yet searched.

    Parameters
    ----------
    max_nodes : int, optional
        Nodes to spend, instead of the number that ``effort`` sets.
    """

    max_nodes: int | None = None

    name: ClassVar = "loss_tree"
    hypothesis: ClassVar = Hypothesis("loss")
    proves: ClassVar = True
    scales: ClassVar = True
    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def _suits(self, task: Task) -> bool:
        """Whether the components together leave out some features, of not too many."""
        fewer = read_together(task.problem) < task.gram.n_features or bool(task.rules)
        return fewer and task.gram.n_features <= LIMITS.decomposed_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all nodes."""
        return tree_seconds(task, effort)

    def _begin(self, task: Task) -> TreeSearch:
        """The tree of losses."""
        return TreeSearch(DeletionTree.of_view(task.gram, task.problem.n_components, task.problem.rules))

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The bound and the support it started from, or None if the tree cannot help."""
        view, problem = task.gram, task.problem
        nodes = run.effort.proof.tree_nodes(view.n_features) if self.max_nodes is None else self.max_nodes
        if not self.applies(task) or nodes < 1:
            return None
        found = (kept or Kept()).begun(lambda: self._begin(task)).run(problem, incumbent.support, nodes, run.budget)
        witness, shared = (incumbent.support, found.nodes + 1), _is_shared(problem)
        words = "branch and bound" if shared else f"branch and bound for {read_together(problem)} shared features"
        supports = (found.support,) if shared else ()
        reached = shared and found.proved
        return Bound(_least_loss(view, found.bound), self.name, words, "always", witness, reached, supports=supports)

    def _again(self, task: Task, witness: Any) -> float:
        """The search, run again from the data with the same support and number of nodes."""
        support, nodes = witness
        found = self._begin(task).run(task.problem, support, spared(nodes), Budget())
        return _least_loss(task.gram, found.bound)


@dataclass(frozen=True)
class EigenvalueTree(ContinuedBound):
    """No k components that read u features have more variance than the k largest eigenvalues of the best A_S, |S| = u.

    Eigenvalues of a principal submatrix interlace [golub1996, Theorem 8.1.7], so that the sum of the k largest only
    falls when features are deleted, and the tree of losses searches it. u is at most k n_nonzero. For several
    components, orthogonal or not.

    Parameters
    ----------
    max_nodes : int, optional
        Nodes to spend, instead of the number that ``effort`` sets.
    """

    max_nodes: int | None = None

    name: ClassVar = "eigenvalue_tree"
    hypothesis: ClassVar = Hypothesis("variance", components="several")
    proves: ClassVar = True
    scales: ClassVar = True
    reference: ClassVar = Reference("golub1996", "Theorem 8.1.7, interlacing")

    def _suits(self, task: Task) -> bool:
        """For components that do not read all features together; other bounds are closer for orthogonal ones."""
        problem, view = task.problem, task.gram
        few = read_together(problem) < view.n_features <= LIMITS.decomposed_features
        closer = problem.is_orthogonal and view.n_features <= LIMITS.witness_features
        return view.is_psd and few and not closer

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of all nodes."""
        return tree_seconds(task, effort)

    def _begin(self, task: Task) -> TreeSearch:
        """The tree of eigenvalues."""
        A, problem = task.gram.gram(), task.problem
        return TreeSearch(DeletionTree(np.eye(len(A)), A, problem.n_components, problem.rules))

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The bound and the support it started from."""
        nodes = run.effort.proof.tree_nodes(task.gram.n_features) if self.max_nodes is None else self.max_nodes
        if self.max_nodes is None and task.problem.orthogonal:
            nodes //= 4  # other bounds are closer there [gaps]
        if not self.applies(task) or nodes < 1:
            return None
        found = (
            (kept or Kept()).begun(lambda: self._begin(task)).run(task.problem, incumbent.support, nodes, run.budget)
        )
        words = f"branch and bound for {read_together(task.problem)} features of all components"
        witness = (incumbent.support, found.nodes + 1)
        return Bound(_most_variance(task, found.bound), self.name, words, "always", witness)

    def _again(self, task: Task, witness: Any) -> float:
        """The search, run again from the data with the same support and number of nodes."""
        if not self._suits(task):
            return math.inf
        support, nodes = witness
        found = self._begin(task).run(task.problem, support, spared(nodes), Budget())
        return _most_variance(task, found.bound)


def tree_seconds(task: Task, effort: ProofEffort) -> float:
    """Seconds of all nodes, at most one for each support."""
    d = task.gram.n_features
    nodes = min(effort.tree_nodes(d), comb(d, read_together(task.problem)) // LIMITS.tree_supports + 1)
    each = SECONDS.tree if task.problem.objective == "loss" else SECONDS.white_tree
    return SECONDS.tree_setup + each * nodes * effort.tree_node(d)


def read_together(problem: Problem) -> int:
    """Maximum number of features that all components read."""
    return min(problem.n_nonzero * (1 if _is_shared(problem) else problem.n_components), problem.n_features)


def spared(nodes: int) -> int:
    """Nodes of a check: some more, because the last digits of the data decide among equals which comes first."""
    return nodes + nodes // 10 + 10


def _is_shared(problem: Problem) -> bool:
    """Has all that is used ``n_nonzero`` features? Those of each component may be others."""
    return problem.shared_support or problem.n_components == 1


def _least_loss(view: DataMatrix, captured: float) -> float:
    """Rounded against us."""
    return max(view.total * (1 - 1e-13) - captured, 0.0)


def _most_variance(task: Task, most: float) -> float:
    """Components that repeat one another leave a direction out, of which rounding may have made less than nothing."""
    return rounded_up(most + task.problem.n_components * float(task.gram.psd_slack), task.gram)
