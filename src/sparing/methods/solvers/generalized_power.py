"""Generalized power: power iterations with a threshold, and the penalty that leaves a given number of features.

Generalized power methods iterate on a point x of the sample space. With x = Xw / |Xw| the correlations that they
threshold are X'x = Aw / sqrt(w'Aw), so w and A suffice: no rows are needed, and w is the direction sought.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.linalg.truncation import keep_largest
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Component, Reference
from sparing.run import Budget, Run
from sparing.search.best_component import best_component
from sparing.search.truncated_power import leading_directions, psd_shift, unit_vectors
from sparing.search_limits import SEARCH
from sparing.task import Task

CONVERGED = 1e-10
"""Relative growth of the penalised objective below which an iteration stops."""


@dataclass(frozen=True)
class GeneralizedPower:
    """The common part of both penalties; :class:`GeneralizedPowerL0` lists the settings and the differences from the
    paper."""

    starts: int = 1
    refit: bool = True
    max_iter: int = 100

    soft: ClassVar[bool]
    reference: ClassVar[Reference]

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best direction on the paths from all starts; ``start`` replaces the leading eigenvector."""
        view, n_nonzero = task.gram, task.n_nonzero
        objective = RayleighObjective(view, task.metric)
        path = PenaltyPath(view, objective.usable, self.soft, psd_shift(view, run.rng), self.max_iter)
        leading = leading_directions(view, 1, run.rng) if task.start is None else task.start
        longest = np.flatnonzero(keep_largest(path.worth[:, None], self.starts))
        found = np.zeros((view.n_features, 0))
        for x in np.column_stack([unit_vectors(view.n_features, longest), leading]).T:
            found = np.column_stack([found, path.with_count(x, n_nonzero, run.budget)])
            if run.budget.expired:
                break
        if self.refit:
            found = filled_up(view, objective.usable, found, n_nonzero)
        return best_component(objective, found, refit=self.refit)


@dataclass(frozen=True)
class GeneralizedPowerL0(GeneralizedPower):
    """w <- the entries of Aw that exceed a penalty: generalized power with the l0 penalty [journee2010, Algorithm 3].

    Parameters
    ----------
    starts : int
        Features to start from, those of most variance first; the leading eigenvector is always tried as well.
    refit : bool
        Best loadings on the support found. Otherwise those of the iteration, which the penalty does not shrink.
    max_iter : int
        Maximum number of steps, for each penalty.

    Notes
    -----
    **Optimises** the sum of ((a_i'z)^2 - gamma)_+ over unit vectors z of the sample space, a_i the columns of X; no
    step lowers it. Features whose (a_i'z)^2 does not exceed gamma are left out.
    **Differs from the paper.** gamma is not given but found so that r features remain: eight values at a time between 0
    and the largest variance, in up to seven rounds. Where the count jumps past r at one gamma, the r largest entries of
    the direction just above the jump compete with the direction just below it; where even gamma = 0 leaves fewer than r
    features, those are the answer. The paper starts from the longest column only, and its path jumps on many data. The
    loadings are refitted. z = Xw is represented by w and A = X'X, so a covariance is enough; an A that is not positive
    semidefinite is shifted. With a metric the iteration uses the numerator, and the metric is used to refit loadings
    and compare candidates.
    """

    soft: ClassVar[bool] = False
    reference: ClassVar = Reference("journee2010", "Algorithm 3")


@dataclass(frozen=True)
class GeneralizedPowerL1(GeneralizedPower):
    """w <- the part of Aw that exceeds a penalty: generalized power with the l1 penalty [journee2010, Algorithm 2].

    Parameters
    ----------
    starts : int
        Features to start from, those of most variance first; the leading eigenvector is always tried as well.
    refit : bool
        Best loadings on the support found. Otherwise those of the iteration, which the penalty has shrunk.
    max_iter : int
        Maximum number of steps, for each penalty.

    Notes
    -----
    **Optimises** the sum of (|a_i'z| - gamma)_+^2 over unit vectors z of the sample space, a_i the columns of X; no
    step lowers it. Features whose |a_i'z| does not exceed gamma are left out.
    **Differs from the paper.** As in :class:`GeneralizedPowerL0`; gamma is searched between 0 and the length of the
    longest column.
    """

    soft: ClassVar[bool] = True
    reference: ClassVar = Reference("journee2010", "Algorithm 2")


@dataclass(frozen=True)
class PenaltyPath:
    """Fixed points of w <- threshold(Aw / sqrt(w'Aw)) for any penalty.

    ``soft`` subtracts the penalty from larger entries (l1); otherwise larger entries are kept (l0, whose gamma is the
    square of the level used here). ``shift`` is added to the diagonal of A.
    """

    view: DataMatrix
    usable: NDArray[np.bool_]
    soft: bool
    shift: float = 0.0
    max_iter: int = 100

    @property
    def worth(self) -> Array:
        """Squared column norms; zero for features that cannot be used."""
        return np.where(self.usable, np.maximum(self.view.gram_diagonal() + self.shift, 0.0), 0.0)

    def with_count(self, start: Array, n_nonzero: int, budget: Budget) -> Array:
        """Directions (columns) with exactly ``n_nonzero`` nonzeros, by subdividing the range of the penalty.

        If the count jumps past ``n_nonzero`` at one penalty: the largest entries of the direction just above it, and
        the direction just below it. If the count is never reached: the densest direction found.
        """
        low, high = 0.0, float(np.sqrt(self.worth.max(initial=0.0)))  # above the longest column all entries are zero
        above = below = np.zeros(self.view.n_features)
        together = SEARCH.power_penalties
        for place in range(SEARCH.power_rounds):
            steps = np.arange(together) / together if place == 0 else np.arange(1, together + 1) / (together + 1)
            levels = low + (high - low) * steps
            W = self.ends(start, levels, budget)
            counts = np.count_nonzero(W, axis=0)
            if (exact := counts == n_nonzero).any():
                return np.asarray(W[:, exact])
            over = np.flatnonzero(counts > n_nonzero)
            if place == 0 and len(over) == 0:
                return W[:, [int(np.argmax(counts))]]
            after = int(over[-1]) + 1 if len(over) else 0  # from here on counts are too small
            if after > 0:
                low, above = float(levels[after - 1]), W[:, after - 1]
            if after < len(levels):
                high, below = float(levels[after]), W[:, after]
            if budget.expired:
                break
        sizes = np.abs(above) + (low if self.soft else 0.0) * (above != 0)  # ties are equal before shrinking
        return np.column_stack([np.where(keep_largest(sizes[:, None], n_nonzero)[:, 0] > 0, above, 0.0), below])

    def ends(self, start: Array, levels: Array, budget: Budget) -> Array:
        """The limit of the iteration from ``start`` for each level, d x len(levels); zero if no entry exceeds the
        level."""
        W = np.repeat(np.where(self.usable, start, 0.0)[:, None], len(levels), axis=1)
        value, running = np.zeros(len(levels)), np.arange(len(levels))
        for _ in range(self.max_iter):
            before = W[:, running]
            images = self.view.gram_matmat(before) + self.shift * before
            squares = np.einsum("ij,ij->j", before, images)
            lengths = np.sqrt(np.where(squares > 0, squares, np.inf))  # a direction without variance ends as zero
            correlations = np.where(self.usable[:, None], images / lengths, 0.0)
            excess = np.maximum(np.abs(correlations) - levels[running], 0.0)
            after = np.sign(correlations) * excess if self.soft else np.where(excess > 0, correlations, 0.0)
            reached = np.square(after).sum(axis=0)
            if not self.soft:
                reached -= np.square(levels[running]) * np.count_nonzero(after, axis=0)
            same = ((after != 0) == (before != 0)).all(axis=0)
            done = (reached == 0) | (same & (reached <= value[running] * (1 + CONVERGED)))
            W[:, running], value[running] = after, reached
            running = running[~done]
            if len(running) == 0 or budget.expired:
                break
        return W


def filled_up(view: DataMatrix, usable: NDArray[np.bool_], W: Array, n_nonzero: int) -> Array:
    """Directions filled up to n_nonzero features after a jump of the count, by the features of largest gradient."""
    pull = np.abs(view.gram_matmat(W))
    free = (W == 0) & usable[:, None] & (pull > 0)
    missing = np.maximum(n_nonzero - np.count_nonzero(W, axis=0), 0) * W.any(axis=0)
    coming = keep_largest(np.where(free, pull, 0.0), missing.tolist()) > 0
    return np.where(coming, np.finfo(float).eps * np.abs(W).max(axis=0, initial=0.0), W)
