"""Exact column subset selection by branch and bound."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

from sparing import errors
from sparing.methods.selectors.greedy import Greedy
from sparing.proof.trees.deletion_tree import DeletionTree
from sparing.proof_limits import LIMITS
from sparing.results import Reference, Selection
from sparing.run import Run
from sparing.task import Task

DEPENDENT_RESIDUAL = (
    "in what earlier components leave, features depend on one another, and branch and bound needs that they do not"
)


@dataclass(frozen=True)
class Exact:
    """The optimal encoder with r shared features, the problem of [magdonismail2015, Sec. 1], by branch and bound.

    Greedy selection gives the incumbent, and a best-first tree over deletions of columns improves it until it is proved
    optimal. Intended for tens of features; with hundreds it returns the best support found within ``max_nodes`` and
    warns.

    Parameters
    ----------
    max_nodes : int
        Maximum number of nodes. If it is reached, the best support so far is returned with one warning.
    """

    max_nodes: int = 100_000

    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def select(self, task: Task, run: Run) -> Selection:
        """Return the best ``n_columns`` columns for the number of components of the target."""
        view, n_columns = task.gram, task.n_nonzero
        if view.n_features > LIMITS.exact_features:
            raise ValueError(
                f"selector='exact' searches supports of at most {LIMITS.exact_features} features; X has "
                f"{view.n_features}. Use selector='auto', whose certificate bounds how far its choice is from the best "
                "possible."
            )
        found = Greedy().select(task, run)
        if len(found.columns) < n_columns and not task.rules.has_limits:  # these span all that can be spanned
            return found
        tree = DeletionTree.of_view(view, task.target.gram.shape[0], task.rules)
        best = tree.search(n_columns, found.columns, budget=run.budget, max_nodes=self.max_nodes)
        if not best.proved:
            collinear = DEPENDENT_RESIDUAL if view.is_residual else "features are nearly collinear"
            ended = best.nodes >= self.max_nodes or run.budget.expired
            _warn_not_proved(f"the search ended after {best.nodes} nodes" if ended else collinear)
        return Selection(best.support, view.gram_columns(best.support))


def _warn_not_proved(why: str) -> None:
    """Warn that the returned support is the best found but is not proved optimal."""
    message = f"The features returned are the best found, but not proved to be the best possible: {why}."
    warnings.warn(message, errors.SparingWarning, stacklevel=3)
