"""Power iterations with a threshold, and the penalty that leaves a wanted number of features.

Generalized power methods iterate on a point x of the sample space. With x = Xw / |Xw| the correlations that they
threshold are X'x = Aw / sqrt(w'Aw), so w and A suffice: no rows are needed, and w is the direction sought.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.linalg.metric import Metric
from sparing.linalg.truncation import keep_largest
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Component
from sparing.run import Budget
from sparing.search.best_component import best_component
from sparing.search.truncated_power import leading_directions

PENALTIES = 8
"""Penalties that are tried at once: one product with A serves them all."""

ROUNDS = 7
"""Each divides the range of the penalty by PENALTIES + 1; seven leave two parts in ten million."""

CONVERGED = 1e-10
"""Growth of the penalised objective, as a share of it, that ends an iteration."""


@dataclass(frozen=True)
class PenaltyPath:
    """Where w <- threshold(Aw / sqrt(w'Aw)) ends, for any penalty.

    ``soft`` subtracts the penalty from what exceeds it (the l1 penalty), otherwise what exceeds it stays (the l0
    penalty, whose gamma is the square of the level used here). ``shift`` is added to the diagonal of A.
    """

    view: DataMatrix
    usable: NDArray[np.bool_]
    soft: bool
    shift: float = 0.0
    max_iter: int = 100

    @property
    def worth(self) -> Array:
        """Squared column norms; zero for features that are of no use."""
        return np.where(self.usable, np.maximum(self.view.gram_diagonal() + self.shift, 0.0), 0.0)

    def with_count(self, start: Array, n_nonzero: int, budget: Budget) -> Array:
        """Directions (columns) with exactly ``n_nonzero`` nonzeros, found by dividing the range of the penalty.

        Where the count jumps past ``n_nonzero`` at one penalty: the largest entries of the direction just above it,
        and the direction just below it. Where it is never reached: the densest direction there is.
        """
        low, high = 0.0, float(np.sqrt(self.worth.max(initial=0.0)))  # beyond the longest column nothing is left
        above = below = np.zeros(self.view.n_features)
        for place in range(ROUNDS):
            steps = np.arange(PENALTIES) / PENALTIES if place == 0 else np.arange(1, PENALTIES + 1) / (PENALTIES + 1)
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
        sizes = np.abs(above) + (low if self.soft else 0.0) * (above != 0)  # what ties is equal before it is shrunk
        return np.column_stack([np.where(keep_largest(sizes[:, None], n_nonzero)[:, 0] > 0, above, 0.0), below])

    def ends(self, start: Array, levels: Array, budget: Budget) -> Array:
        """Where the iteration from ``start`` ends for each level, d x len(levels); zero where nothing exceeds it."""
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


def penalised_component(
    view: DataMatrix,
    n_nonzero: int,
    rng: np.random.Generator,
    *,
    soft: bool,
    n_starts: int,
    max_iter: int,
    refit: bool,
    metric: Metric | None,
    start: Array | None,
    budget: Budget,
) -> Component:
    """The best direction with at most ``n_nonzero`` features on the paths from all starts."""
    objective = RayleighObjective(view, metric)
    path = PenaltyPath(view, objective.usable, soft, psd_shift(view, rng), max_iter)
    leading = leading_directions(view, 1, rng) if start is None else start
    starts = np.column_stack([unit_vectors(keep_largest(path.worth[:, None], n_starts)), leading])
    found = np.zeros((view.n_features, 0))
    for x in starts.T:
        found = np.column_stack([found, path.with_count(x, n_nonzero, budget)])
        if budget.expired:
            break
    if refit:
        found = filled_up(view, objective.usable, found, n_nonzero)
    return best_component(objective, found, refit=refit)


def filled_up(view: DataMatrix, usable: NDArray[np.bool_], W: Array, n_nonzero: int) -> Array:
    """Directions with n_nonzero features where a jump of the count left fewer: those that pull most come in."""
    pull = np.abs(view.gram_matmat(W))
    free = (W == 0) & usable[:, None] & (pull > 0)
    missing = np.maximum(n_nonzero - np.count_nonzero(W, axis=0), 0) * W.any(axis=0)
    coming = keep_largest(np.where(free, pull, 0.0), missing.tolist()) > 0
    return np.where(coming, np.finfo(float).eps * np.abs(W).max(axis=0, initial=0.0), W)


def unit_vectors(V: Array) -> Array:
    """The unit vector of every feature that V uses, as columns."""
    used = np.flatnonzero(V.any(axis=1))
    vectors = np.zeros((len(V), len(used)))
    vectors[used, np.arange(len(used))] = 1.0
    return vectors


def psd_shift(view: DataMatrix, rng: np.random.Generator) -> float:
    """What to add to the diagonal of A so that power steps do not lower x'Ax: roughly |A|, nothing where A is psd."""
    if view.is_psd:
        return 0.0
    leading = leading_directions(view, 3, rng)
    return float(np.linalg.norm(view.gram_matmat(leading), axis=0).max())
