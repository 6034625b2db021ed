"""Power iterations with a soft threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparing.results import Component, Reference
from sparing.run import Run
from sparing.search.penalty import penalised_component
from sparing.task import Task


@dataclass(frozen=True)
class GeneralizedPowerL1:
    """w <- what of Aw exceeds a penalty: generalized power with the l1 penalty [journee2010, Algorithm 2].

    Parameters
    ----------
    starts : int
        Features to start from, those of most variance first; the leading eigenvector is always tried as well.
    refit : bool
        Best loadings on the support found. Otherwise those of the iteration, which the penalty has shrunk.
    max_iter : int
        Steps at most, for each penalty.

    Notes
    -----
    **Optimises** the sum of (|a_i'z| - gamma)_+^2 over unit vectors z of the sample space, a_i the columns of X; no
    step lowers it. Features whose |a_i'z| does not exceed gamma are left out.
    **Differs from the paper.** gamma is not given but found so that r features remain: eight values at a time between 0
    and the longest column, in up to seven rounds. Where the count jumps past r at one gamma, the r largest entries of
    the direction just above the jump compete with the direction just below it; where even gamma = 0 leaves fewer than r
    features, those are the answer. The paper starts from the longest column alone, whose path jumps on many data. The
    loadings are refitted. z = Xw is followed through w and A = X'X, so that a covariance suffices; an A that is not
    positive semidefinite is shifted until it is. With a metric the iteration runs on the numerator, and the metric
    enters when loadings are refitted and candidates compared.
    """

    starts: int = 1
    refit: bool = True
    max_iter: int = 100

    reference: ClassVar = Reference("journee2010", "Algorithm 2")

    def solve(self, task: Task, run: Run) -> Component:
        """The best of all starts; ``start`` takes the place of the leading eigenvector."""
        return penalised_component(
            task.gram,
            task.n_nonzero,
            run.rng,
            soft=True,
            n_starts=self.starts,
            max_iter=self.max_iter,
            refit=self.refit,
            metric=task.metric,
            start=task.start,
            budget=run.budget,
        )
