"""A convex relaxation over matrices, cut back to one sparse direction."""

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
from sparing.task import Task

RELAXATION_LIMIT = 1000
"""The most features for which matrices of features by features are iterated on."""

COLUMNS = 20
"""Columns of M that are tried as directions, those of largest diagonal first."""


@dataclass(frozen=True)
class Semidefinite:
    """DSPCA: max tr(AM) over semidefinite M of trace 1 with sum |M_ij| <= r [daspremont2007, Sec. 2].

    Parameters
    ----------
    max_iter : int
        Iterations of the relaxation at most, one eigendecomposition each.
    tolerance : float
        The relaxation ends when its duality gap is below this share of its value.
    refit : bool
        Best loadings on the best of several supports. Otherwise the paper's direction: the r largest entries of the
        leading eigenvector of M, brought to unit norm.

    Notes
    -----
    **Optimises** tr(AM), of which every unit x with r nonzeros gives the feasible point M = xx'. The optimum is global,
    so no start matters, and where M has rank one and r nonzero rows it is the best direction of all. For at most 1000
    features: every step decomposes a matrix of features by features. Beyond, ``solver="auto"`` finds the direction and
    its certificate the bound (branch and bound, the shifted low rank bound), neither of which forms such a matrix.
    ``bounds.SemidefiniteDual`` turns the same iteration into a bound on any direction.
    **Differs from the paper.** Solved by the alternating direction method of [ma2013, Sec. 3] in place of smoothing.
    The leading eigenvector, the diagonal and the largest columns of M are cut to r entries each, and the best is kept.
    With a metric the relaxation concerns the numerator, and the metric enters when supports are refitted and compared.
    """

    max_iter: int = 300
    tolerance: float = 1e-4
    refit: bool = True

    reference: ClassVar = Reference("daspremont2007", "Sec. 2, semidefinite relaxation")

    def solve(self, task: Task, run: Run) -> Component:
        """The best direction that the relaxed solution points to."""
        view, n_nonzero = task.gram, task.n_nonzero
        objective = RayleighObjective(view, task.metric)
        usable = np.flatnonzero(objective.usable)
        if n_nonzero >= len(usable):
            return objective.component(usable)
        if len(usable) > RELAXATION_LIMIT:
            raise ValueError(
                "solver='semidefinite' optimises over matrices of features by features, for at most "
                f"{RELAXATION_LIMIT} features; X has {len(usable)}. Use solver='auto', which needs columns of chosen "
                "features only and whose certificate bounds what it may miss at any number of features; or keep fewer "
                "features first: those of largest variance."
            )
        A = view.restricted(usable).gram()
        M, _ = relaxed(A, n_nonzero, max_iter=self.max_iter, tolerance=self.tolerance, budget=run.budget)
        directions = np.linalg.eigh(M)[1][:, -1:]
        if self.refit:
            strength = np.diagonal(M)
            largest = np.argsort(-strength, kind="stable")[:COLUMNS]
            directions = np.column_stack([directions, strength, M[:, largest]])
        candidates = np.zeros((view.n_features, directions.shape[1]))
        candidates[usable] = keep_largest(directions, n_nonzero)
        return best_component(objective, candidates, refit=self.refit)
