"""Components with separate supports, improved in turn.

With the other directions fixed, what all capture is what the others capture plus a sparse quotient of the remaining
one. Which quotient depends on the criterion: loss or variance. Moves are the same for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.metric import Metric, NearIdentity, OrthogonalTo, Whole
from sparing.linalg.rounding import first_largest
from sparing.objectives.loadings import best_loadings
from sparing.objectives.residual import WITHIN_OTHERS, UnitObjective, without_scores
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search_limits import SEARCH

ROUNDING_GAIN = 1e-12


KEPT_PRODUCT = 1e-8
"""An inner product below this keeps a constraint."""

IN_FULL = 512
"""Number of features up to which a deflated A is formed once instead of being deflated at each use."""


class Alternation(ABC):
    """Directions (u x k, columns) and the moves that let them capture more together.

    Moves end, wherever they are, when the budget is spent: their result is never worse than their argument.
    """

    def __init__(self, n_features: int, budget: Budget | None) -> None:
        self.n_features, self.budget = n_features, budget or Budget()

    @abstractmethod
    def captured(self, H: Array) -> float:
        """Variance that all directions capture together."""

    @abstractmethod
    def without(self, H: Array) -> RayleighObjective:
        """The quotient of one more direction, given those of H."""

    def refit(self, H: Array, sweeps: int) -> Array:
        """Best loadings for the given supports, by block coordinate ascent."""
        return self._sweep(H, sweeps, None, growth=1e-14)

    def improve(self, H: Array, sweeps: int, sizes: Sequence[int] | None = None, *, growth: float = 1e-9) -> Array:
        """New supports and best loadings, by block coordinate ascent; supports below their size are filled up."""
        return self._sweep(H, sweeps, sizes or np.count_nonzero(H, axis=0).tolist(), growth)

    def _sweep(self, H: Array, sweeps: int, sizes: Sequence[int] | None, growth: float) -> Array:
        for _ in range(sweeps):
            before, H = H, H.copy()
            for j in range(H.shape[1]):
                if self.budget.expired:
                    return H
                support, objective = np.flatnonzero(H[:, j]), self.without(np.delete(H, j, axis=1))
                if sizes is not None and len(support) < sizes[j]:
                    support = objective.grown(sizes[j], support if len(support) else None)
                rho, support, v = objective.improved(support, 0 if sizes is None else SEARCH.alternation_swaps)
                if rho > 0:
                    H = self._replaced(H, j, support, v / np.linalg.norm(v))
            if not self.gains(before, H, growth):
                break
            if sizes is not None and np.array_equal(before != 0, H != 0):  # only loadings are left to find
                H = self._with_best_loadings(H)
        return H

    def _replaced(self, H: Array, j: int, support: Indices, v: Array) -> Array:
        """H with another direction in place j."""
        H[:, j] = 0.0
        H[support, j] = v
        return H

    def _with_best_loadings(self, H: Array) -> Array:
        """Loadings better than those found so far, if there is a quick way to compute them."""
        return H

    def gains(self, before: Array, after: Array, growth: float) -> bool:
        """Do the directions ``after`` capture more, by more than this share?"""
        return self.captured(after) > self.captured(before) * (1 + growth)

    def ordered(self, H: Array) -> Array:
        """The direction that captures most first, then the one that adds most to it, and so on."""
        left, chosen = list(range(H.shape[1])), list[int]()
        while left:
            best = left[first_largest(np.array([self.captured(H[:, [*chosen, j]]) for j in left]))]
            chosen.append(best)
            left.remove(best)
        return H[:, chosen]


class LossAlternation(Alternation):
    """For the information loss: total - captured, in a small core U of features.

    The others leave M = A - ZZ' with Z = A H_o (H_o'A H_o)^-1/2, and B = M^2.

    Parameters
    ----------
    gram, squared : ndarray of shape (u, u)
        A_UU and (A @ A)_UU: no pass over X.
    rows, core : ndarrays of shapes (m, d) and (u,), optional
        R with R'R = A, and U. What directions leave is then taken from R: as a difference of squares it would be
        rounding, and the order of sums would choose features, where one feature is a thousand times larger than others.
    """

    def __init__(
        self,
        gram: Array,
        squared: Array,
        budget: Budget | None = None,
        *,
        rows: Array | None = None,
        core: Indices | None = None,
    ) -> None:
        super().__init__(len(gram), budget)
        self.gram, self.squared = gram, squared
        self._rows, self._core = rows, core

    def captured(self, H: Array) -> float:
        """Variance that the best decoder rebuilds from all scores."""
        rotation = self._whitening(H)
        return float(np.einsum("ij,ij->", rotation, (H.T @ self.squared @ H) @ rotation))

    def gains(self, before: Array, after: Array, growth: float) -> bool:
        """Compare losses computed from the rows, which are precise where variances cancel."""
        if self._rows is None or self._core is None:
            return super().gains(before, after, growth)
        scores = (self._rows[:, self._core] @ H for H in (before, after))
        losses = [float(np.square(without_scores(self._rows, part)).sum()) for part in scores]
        return losses[1] < losses[0] * (1 - max(growth, ROUNDING_GAIN))

    def _whitening(self, H: Array) -> Array:
        """T with (H T)'A(H T) = I; directions that repeat others are left out."""
        if H.shape[1] == 0:
            return np.zeros((0, 0))
        gram = H.T @ self.gram @ H
        scale = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(gram / np.multiply.outer(scale, scale))
        keep = values > WITHIN_OTHERS
        return cast(Array, (vectors[:, keep] / np.sqrt(values[keep])) / scale[:, None])

    def without(self, H: Array) -> RayleighObjective:
        """The quotient of one more direction, given those of H."""
        if self._rows is not None and self._core is not None:
            rest = without_scores(self._rows, self._rows[:, self._core] @ H)
            return UnitObjective(rest, self._core)
        F = H @ self._whitening(H)
        Z, AZ = self.gram @ F, self.squared @ F
        inner = F.T @ AZ
        B = self.squared - AZ @ Z.T - Z @ AZ.T + Z @ inner @ Z.T
        M = self.gram - Z @ Z.T
        return RayleighObjective(view_of_gram((B + B.T) / 2), Whole((M + M.T) / 2))

    def _replaced(self, H: Array, j: int, support: Indices, v: Array) -> Array:
        """H with another direction in place j, unless it captures less.

        Where another direction is a single feature, M is singular on it, and rounding decides what the quotient is.
        """
        trial = super()._replaced(H.copy(), j, support, v)
        return H if self.gains(trial, H, ROUNDING_GAIN) else trial


class VarianceAlternation(Alternation):
    """For the symmetric variance tr((H'H + ridge I)^-1 H'AH) of unit directions.

    The others leave B = (I - UU')A(I - UU') and M = (1 + guard)I - UU' with U = H_o (H_o'H_o + ridge I)^-1/2. Without
    a guard the criterion can be gamed: near-copies of a direction buy it more features.
    """

    def __init__(self, view: DataMatrix, ridge: float = 0.0, budget: Budget | None = None) -> None:
        super().__init__(view.n_features, budget)
        self.view, self.ridge = view, ridge

    def captured(self, H: Array) -> float:
        """The guarded symmetric variance."""
        U = H @ self._whitening(H)
        return float(np.einsum("ij,ij->", U, self.view.gram_matmat(U)))

    def _whitening(self, H: Array) -> Array:
        """T with T T' = (H'H + ridge I)^-1; without a guard, directions that repeat others are left out."""
        values, vectors = np.linalg.eigh(H.T @ H + self.ridge * np.eye(H.shape[1]))
        keep = values > WITHIN_OTHERS
        return cast(Array, vectors[:, keep] / np.sqrt(values[keep]))

    def refit(self, H: Array, sweeps: int) -> Array:
        """Best loadings for the given supports, all at once: coordinate ascent would take much longer."""
        used, lengths = np.flatnonzero(H.any(axis=1)), np.linalg.norm(H, axis=0)
        if H.shape[1] < 2 or self.ridge == 0 or lengths.min() <= 0:
            return super().refit(H, sweeps)
        found = best_loadings(self.view.restricted(used).gram(), H[used], self.ridge, sweeps, self.budget)
        out = np.zeros_like(H)
        out[used] = found
        return out if self.captured(out) >= self.captured(H) else H

    def _with_best_loadings(self, H: Array) -> Array:
        return (
            self.refit(H, SEARCH.refits)
            if self.ridge > 0 and self.view.has_gram and self.n_features > SEARCH.verified_all
            else H
        )

    def without(self, H: Array) -> RayleighObjective:
        """The quotient of one more direction, given those of H."""
        if H.shape[1] == 0:
            return RayleighObjective(self.view)
        U = H @ self._whitening(H)
        return RayleighObjective(off(self.view, U), NearIdentity(U, -np.ones(U.shape[1]), 1.0 + self.ridge))


def keeps(metric: Metric | None, x: Array) -> bool:
    """Is a unit direction orthogonal to all that its metric forbids?"""
    return not isinstance(metric, OrthogonalTo) or bool(np.abs(x @ metric.W).max(initial=0.0) <= KEPT_PRODUCT)


def off(view: DataMatrix, U: Array) -> DataMatrix:
    """``(I - UU')A(I - UU')``, for any U (d x m); in full where A is in memory and small."""
    AU = view.gram_matmat(U)
    m = U.shape[1]
    if view.has_gram and view.n_features <= IN_FULL:
        half = U @ (AU - U @ (U.T @ AU) / 2).T
        half += half.T
        return view_of_gram(view.gram() - half, is_psd=view.is_psd, psd_slack=view.psd_slack)
    C = np.block([[U.T @ AU, -np.eye(m)], [-np.eye(m), np.zeros((m, m))]])
    return view.updated(np.column_stack([U, AU]), C, is_psd=view.is_psd)
