"""DSPCA, a semidefinite relaxation, truncated to one sparse direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.linalg.truncation import keep_largest
from sparing.objectives.variance import RayleighObjective
from sparing.proof.relaxations.semidefinite import relaxed
from sparing.results import Component, Reference
from sparing.run import Run
from sparing.search.best_component import best_component
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class Semidefinite:
    """DSPCA: max tr(AM) over semidefinite M of trace 1 with sum |M_ij| <= r [daspremont2007, Sec. 2].

    Parameters
    ----------
    max_iter : int
        Maximum number of iterations of the relaxation, with one eigendecomposition each.
    tolerance : float
        The relaxation stops if its duality gap is below this share of its value.
    refit : bool
        Best loadings on the best of several supports. Otherwise the paper's direction: the r largest entries of the
        leading eigenvector of M, scaled to unit norm.

    Notes
    -----
    **Optimises** tr(AM); every unit x with r nonzeros gives the feasible point M = xx'. The optimum is global and
    independent of the start. If M has rank one and r nonzero rows, it is the best direction. At most 1000 features,
    because every step decomposes a d x d matrix. For more features use ``solver="auto"``: neither it nor the bounds of
    its certificate (branch and bound, shifted low rank) form such a matrix.
    ``sparing.proof.bounds.SemidefiniteDual`` turns the same iteration into a bound on any direction.
    **Differs from the paper.** Solved by the alternating direction method of [ma2013, Sec. 3] instead of smoothing. The
    leading eigenvector, the diagonal and the largest columns of M are truncated to r entries each, and the best is
    kept. With a metric the relaxation uses the numerator, and the metric is used to refit and compare supports.
    """

    max_iter: int = 300
    tolerance: float = 1e-4
    refit: bool = True

    reference: ClassVar = Reference("daspremont2007", "Sec. 2, semidefinite relaxation")

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best direction derived from the relaxed solution."""
        view, n_nonzero = task.gram, task.n_nonzero
        objective = RayleighObjective(view, task.metric)
        usable = np.flatnonzero(objective.usable)
        if n_nonzero >= len(usable):
            return objective.component(usable)
        if len(usable) > SEARCH.relaxed_features:
            raise ValueError(
                "solver='semidefinite' optimises over n_features x n_features matrices, for at most "
                f"{SEARCH.relaxed_features} features; X has {len(usable)}. Use solver='auto', which needs only columns "
                "of chosen features and whose certificate bounds any number of features, or first select the features "
                "with the largest variance."
            )
        A = view.restricted(usable).gram()
        M, _ = relaxed(A, n_nonzero, max_iter=self.max_iter, tolerance=self.tolerance, budget=run.budget)
        directions = np.linalg.eigh(M)[1][:, -1:]
        if self.refit:
            strength = np.diagonal(M)
            largest = np.argsort(-strength, kind="stable")[: SEARCH.relaxed_columns]
            directions = np.column_stack([directions, strength, M[:, largest]])
        candidates = np.zeros((view.n_features, directions.shape[1]))
        candidates[usable] = keep_largest(directions, n_nonzero)
        return best_component(objective, candidates, refit=self.refit)
