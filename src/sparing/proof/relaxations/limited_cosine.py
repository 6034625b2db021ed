"""The search for the matrix W in the bound of components with limited cosines."""

from __future__ import annotations

from math import comb

import numpy as np
from scipy.optimize import minimize

from sparing.proof.relaxations.fantope import (
    PartSearch,
    cutting_directions,
    simple_directions,
    smoothed_sum,
    supports_of_size,
    symmetric_variables,
)
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget


def unions(n_features: int, most: int) -> Indices:
    """All sets of features that components may read together, one per row; all features where these are too many."""
    if most >= n_features or comb(n_features, most) > LIMITS.tried_supports:
        return np.arange(n_features)[None]
    return supports_of_size(n_features, most)


def union_values(A: Array, W: Array, sets: Indices, rank: int, rest: float) -> Array:
    """The ``rank`` largest eigenvalues of W and ``rest`` times the largest of A - W, within each set of features."""
    rows, columns = sets[:, :, None], sets[:, None, :]
    leading = np.linalg.eigvalsh(W[rows, columns])[:, sets.shape[1] - rank :].sum(axis=1)
    return np.asarray(leading + rest * np.linalg.eigvalsh((A - W)[rows, columns])[:, -1])


class LimitedPartSearch(PartSearch):
    """Makes the largest of :func:`union_values` plus ``own`` lambda^(size)(A - W) small; ``rest`` is rank - own."""

    def __init__(self, A: Array, rank: int, size: int, own: float, sets: Indices, start: Array) -> None:
        super().__init__(A, start)
        self.rank, self.size, self.own, self.sets = rank, size, own, sets
        self.known = simple_directions(len(A), size)

    def _look(self, budget: Budget) -> float:
        rest, most = self.A - self.W, LIMITS.enumerated_supports
        largest, self.found = cutting_directions(rest, self.size, self.known, budget, most)
        self.values = union_values(self.A, self.W, self.sets, self.rank, self.rank - self.own)
        return float(self.values.max()) + self.own * largest

    def _moved(self, width: float, weight: float) -> Array:
        self.known = self._joined(self.known, self.found, width)
        active = self.sets[np.argsort(-self.values, kind="stable")[: SCHEDULES.active_unions]]
        return _smoothly(self.A, self.W, self.known, active, self.rank, self.own, width, weight)


def _smoothly(
    A: Array, start: Array, X: Array, sets: Indices, rank: int, own: float, width: float, weight: float
) -> Array:
    """W after some steps towards the minimum of the smoothed function over directions and sets that are known."""
    full, entries_of = symmetric_variables(len(A))
    rest = rank - own
    of_sets = _of_all if sets.shape[1] == len(A) else _of_unions

    def function(entries: Array) -> tuple[float, Array]:
        W = full(entries)
        value, slope = of_sets(A, W, sets, rank, rest, width)
        variances = np.einsum("ij,ij->i", X @ (A - W), X)
        shares = np.exp((variances - variances.max()) / width)
        value += own * (float(variances.max()) + width * float(np.log(shares.sum())))
        slope = slope - own * ((X.T * (shares / shares.sum())) @ X)
        away = W - start
        return value + weight * float(np.vdot(away, away)), entries_of(slope + 2 * weight * away)

    upper, steps = start[np.triu_indices(len(A))], SCHEDULES.limited_steps
    return full(minimize(function, upper, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x)


def _of_all(A: Array, W: Array, sets: Indices, rank: int, rest: float, width: float) -> tuple[float, Array]:
    """The smoothed value of all features together, and its gradient in W."""
    value, slope = smoothed_sum(W, rank, width)
    largest, against = smoothed_sum(A - W, 1, width)
    return value + rest * largest, slope - rest * against


def _of_unions(A: Array, W: Array, sets: Indices, rank: int, rest: float, width: float) -> tuple[float, Array]:
    """The smoothed maximum over sets of features, and its gradient in W."""
    rows, columns = sets[:, :, None], sets[:, None, :]
    values, vectors = np.linalg.eigh(np.concatenate([W[rows, columns], (A - W)[rows, columns]]))
    n, at = len(sets), sets.shape[1] - rank
    each = values[:n, at:].sum(axis=1) + rest * values[n:, -1]
    shares = np.exp((each - each.max()) / width)
    weights = (shares / shares.sum())[:, None, None]
    U, v = vectors[:n, :, at:], vectors[n:, :, -1:]
    slope = np.zeros_like(W)
    np.add.at(slope, (rows, columns), weights * (U @ U.transpose(0, 2, 1) - rest * (v @ v.transpose(0, 2, 1))))
    return float(each.max()) + width * float(np.log(shares.sum())), slope
