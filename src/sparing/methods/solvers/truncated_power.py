"""Power iterations that keep the r largest entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.objectives.variance import RayleighObjective
from sparing.results import Component, Reference
from sparing.run import Run
from sparing.search.best_component import best_component
from sparing.search.truncated_power import column_starts, leading_directions, truncated_powers
from sparing.task import Task


@dataclass(frozen=True)
class TruncatedPower:
    """x <- the r largest entries of Ax, scaled to unit norm: the truncated power method [yuan2013, Algorithm 1].

    Parameters
    ----------
    starts : int
        Number of features to start from, in order of variance; the leading eigenvector is always a start as well.
    refit : bool
        Best loadings on the support found. Otherwise those of the last step.
    max_iter : int
        Maximum number of steps.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros. For positive semidefinite A no step lowers it. On correlation
    matrices all variances tie, and a single start often ends in a poor optimum.
    **Differs from the paper.** Several starts; the loadings are refitted; r is not reduced gradually. With a metric the
    iteration uses the numerator, and the metric is used to refit loadings and compare starts.
    """

    starts: int = 1
    refit: bool = True
    max_iter: int = 200

    reference: ClassVar = Reference("yuan2013", "Algorithm 1")

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best of all starts."""
        view = task.gram
        leading = leading_directions(view, 1, run.rng) if task.start is None else task.start
        starts = np.column_stack([leading, column_starts(view, self.starts, leading)])
        ends = truncated_powers(view, starts, task.n_nonzero, max_iter=self.max_iter, settled=50, budget=run.budget)
        return best_component(RayleighObjective(view, task.metric), ends, refit=self.refit)
