"""Swaps and kicks that lower the information loss itself, inside a small core of columns.

On columns S of a core U the encoder of least loss captures J(S), the sum of the k largest eigenvalues of
G = R^-T (A^2)_SS R^-1 with A_SS = R'R. Only A_UU and (A^2)_UU are needed: no pass over X per trial.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Self, TypeVar, cast

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.arrow import smallest_of_arrow
from sparing.linalg.signs import first_largest
from sparing.results import Array, Indices

SLOTS = 16
"""Chosen columns tried for removal at a time, those that matter least first."""

VERIFIED = 3
"""Most promising swaps that are evaluated exactly before a search gives up."""

LEADING = 3
"""Eigenvectors of G kept for estimates, as a multiple of the number of components."""

RIDGE, INDEPENDENT, GROWTH = 1e-11, 1e-9, 1e-10

RIDGES = (0.0, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)
"""Larger ones, for columns that depend on one another, or are what rounding left of columns that were much larger."""

CLIMBING = 4
"""Swaps at most after each column more."""

DOUBTFUL = 1e4
"""Sets with a pivot below so many times their doubt are looked at by eigenvalues: no eigenvalue is that far below."""

ENUMERATED = 4096
"""Sets that are all tried, where there are no more."""

Result = TypeVar("Result")


class SharedLoss:
    """A core of columns, for the search of r among them that capture most.

    Parameters
    ----------
    gram, squared : ndarray of shape (u, u)
        A_UU and (A^2)_UU. Columns are brought to unit norm; a tiny ridge keeps dependent sets harmless and can only
        lower J.
    rank : int
        Number of components k.
    doubt : ndarray of shape (u,), optional
        Shares of their squares below which directions of columns are taken for rounding: sets that are dependent but
        for rounding then capture what is left without such directions, and not what rounding makes of them.
    """

    def __init__(self, gram: Array, squared: Array, rank: int, doubt: Array | None = None) -> None:
        squares = np.maximum(np.diagonal(gram), 0.0)
        norms = np.where(squares > 0, np.sqrt(squares), np.inf)  # of a column that is nothing, nothing is captured
        outer = np.multiply.outer(norms, norms)
        self.gram = gram / outer + np.diag(np.where(squares > 0, RIDGE, 1.0))
        self.squared = squared / outer
        self.rank = rank
        self.doubt = doubt

    @classmethod
    def of(cls, view: DataMatrix, core: Indices, rank: int, doubt: Array | None = None) -> Self:
        """A core of columns of a view."""
        Z = view.gram_columns(core)
        return cls(Z[core], view.gram_squared(core, Z), rank, doubt)

    def captured(self, sets: Indices) -> Array:
        """J of many sets of equal size at once, one per row."""
        if self.doubt is not None:
            return self._without_doubt(sets, self.doubt[sets].max(axis=1))
        return _steadily(lambda gram: captured_by(gram, self.squared, self.rank, sets), self.gram)

    def _without_doubt(self, sets: Indices, doubt: Array) -> Array:
        """J of sets, each without the directions whose square is below its doubt."""
        rows, columns = sets[:, :, None], sets[:, None, :]
        blocks = self.gram[rows, columns]
        try:
            root = np.linalg.cholesky(blocks)
            inverse = np.linalg.inv(root)
            pivots = np.square(np.diagonal(root, axis1=1, axis2=2)).min(axis=1)
            careful = np.flatnonzero(pivots <= DOUBTFUL * doubt)
        except np.linalg.LinAlgError:
            inverse, careful = np.empty_like(blocks), np.arange(len(sets))
        if len(careful):
            values, vectors = np.linalg.eigh(blocks[careful])
            sure = values > doubt[careful, None]
            lengths = np.sqrt(np.where(sure, values, np.inf))
            inverse[careful] = vectors.transpose(0, 2, 1) / lengths[:, :, None]
        G = inverse @ self.squared[rows, columns] @ inverse.transpose(0, 2, 1)
        return cast(Array, np.linalg.eigvalsh(G)[:, -self.rank :].sum(axis=1))

    def _one(self, chosen: Indices) -> float:
        return float(self.captured(chosen[None])[0])

    def swapped(self, chosen: Indices, max_swaps: int, least: float = 0.0) -> Indices:
        """The most promising swap, again and again while J really grows, by more than ``least``."""
        captured = self._one(chosen)
        for _ in range(max_swaps):
            wanted = captured * (1 + GROWTH) + least
            trials = self._promising_swaps(chosen, wanted)
            if len(trials) == 0:
                break
            values = self.captured(trials)
            if values.max() <= wanted:
                break
            chosen, captured = trials[first_largest(values)], float(values.max())
        return chosen

    def settled(self, chosen: Indices) -> Indices:
        """Swapped until no single swap whatever helps: where none is promising, all are evaluated."""
        for _ in range(len(self.gram)):
            chosen = self.swapped(chosen, len(self.gram))
            trials = self._all_swaps(chosen)
            values = self.captured(trials)
            if values.max(initial=0.0) <= self._one(chosen) * (1 + GROWTH):
                break
            chosen = trials[first_largest(values)]
        return chosen

    def _all_swaps(self, chosen: Indices) -> Indices:
        """All sets one swap away."""
        others, size = np.setdiff1d(np.arange(len(self.gram)), chosen), len(chosen)
        kept = np.array([np.delete(chosen, slot) for slot in range(size)], dtype=np.intp)
        return np.column_stack([np.repeat(kept, len(others), axis=0), np.tile(others, size)])

    def best_of_all(self, size: int) -> Indices | None:
        """The set of this size that captures most, by trying all; None where they are too many."""
        if comb(len(self.gram), size) > ENUMERATED:
            return None
        sets = np.array(list(combinations(range(len(self.gram)), size)), dtype=np.intp)
        return cast(Indices, sets[first_largest(self.captured(sets))])

    def climbed(self, size: int) -> Indices:
        """A set of this size by one column more at a time, and a few swaps after each."""
        chosen = np.empty(0, dtype=np.intp)
        for _ in range(size):
            chosen = self.swapped(self.extended(chosen), CLIMBING)
        return chosen

    def extended(self, chosen: Indices) -> Indices:
        """One column more, the one that adds most."""
        others = np.setdiff1d(np.arange(len(self.gram)), chosen)
        sets = np.column_stack([np.tile(chosen, (len(others), 1)), others])
        return cast(Indices, sets[first_largest(self.captured(sets))])

    def pruned(self, chosen: Indices) -> Indices:
        """All but the column that is missed least."""
        sets = np.array([np.delete(chosen, slot) for slot in range(len(chosen))])
        return cast(Indices, sets[first_largest(self.captured(sets))])

    def perturbed(self, chosen: Indices, extra: int, max_swaps: int) -> Indices:
        """A few best columns more, then pruned back to the least missed, then swapped; ``chosen`` if that is better."""
        size, trial = len(chosen), chosen
        for _ in range(min(extra, len(self.gram) - size)):
            trial = self.extended(trial)
        while len(trial) > size:
            trial = self.pruned(trial)
        trial = self.swapped(trial, max_swaps)
        return trial if self._one(trial) > self._one(chosen) * (1 + GROWTH) else chosen

    def _promising_swaps(self, chosen: Indices, wanted: float) -> Indices:
        """Sets one swap away whose J is estimated, from below, to exceed what is wanted; best first.

        Dropping slot s leaves the directions of the span orthogonal to y_s. Within the leading eigenvectors F of G the
        best k of them, and what candidate j adds to the columns that stay, form an arrow matrix; J is at least its
        trace less its smallest eigenvalue. All slots and candidates are done together.
        """
        others = np.setdiff1d(np.arange(len(self.gram)), chosen)
        if len(others) == 0:
            return np.empty((0, len(chosen)), dtype=np.intp)
        inside = self.gram[np.ix_(chosen, chosen)]
        inverse = np.linalg.inv(_steadily(np.linalg.cholesky, inside))
        G = inverse @ self.squared[np.ix_(chosen, chosen)] @ inverse.T
        values, F = linalg.eigh(G, check_finite=False)
        values, F = values[-LEADING * self.rank :], F[:, -LEADING * self.rank :]
        duals = inverse / np.linalg.norm(inverse, axis=0)  # y_s: what only chosen column s provides
        worth = np.square(duals.T @ F[:, -self.rank :]).sum(axis=1)
        slots = np.argsort(worth, kind="stable")[:SLOTS]
        Y = duals[:, slots]

        inside = inverse @ self.gram[np.ix_(chosen, others)]  # Q'x_j
        images = inverse @ self.squared[np.ix_(chosen, others)]  # Q'X X'x_j
        left = np.diagonal(self.gram)[others] - np.square(inside).sum(axis=0)
        usable = left > INDEPENDENT
        along, image_along, GY = Y.T @ inside, Y.T @ images, G @ Y
        rho = np.where(usable, left + np.square(along), 1.0)
        overlap = np.einsum("ij,ij->j", inside, images) - along * image_along
        energy = np.einsum("ij,ij->j", inside, G @ inside) - 2 * along * (GY.T @ inside)
        energy += np.square(along) * np.einsum("ij,ij->j", Y, GY)[:, None]
        corner = (np.diagonal(self.squared)[others] - 2 * overlap + energy) / rho

        y = F.T @ Y  # slots in the coordinates of F, shape (m, s)
        length = np.sqrt(np.maximum(np.square(y).sum(axis=0), np.finfo(float).tiny))
        off = np.eye(len(y)) - (y / length).T[:, :, None] * (y / length).T[:, None, :]
        top, rotation = (part[..., -self.rank :] for part in np.linalg.eigh(off * values @ off))
        rest = (F.T @ images - values[:, None] * (F.T @ inside))[None] + (values[:, None] * y).T[:, :, None] * along[
            :, None
        ]
        side = np.matmul(rotation.transpose(0, 2, 1), rest) / np.sqrt(rho)[:, None]
        estimates = top.sum(axis=1)[:, None] + corner - smallest_of_arrow(top, side, corner)
        estimates[:, ~usable] = -np.inf
        sets = []
        for flat in np.argsort(-estimates, axis=None)[:VERIFIED]:
            i, j = np.unravel_index(int(flat), estimates.shape)
            if estimates[i, j] > wanted:
                sets.append(np.append(np.delete(chosen, slots[i]), others[j]))
        return np.array(sets, dtype=np.intp).reshape(-1, len(chosen))


def _steadily(compute: Callable[[Array], Result], gram: Array) -> Result:
    """What is computed from a Gram matrix with the least ridge that lets it; a ridge can only lower J."""
    for ridge in RIDGES[:-1]:
        try:
            return compute(gram + ridge * np.eye(len(gram)) if ridge else gram)
        except np.linalg.LinAlgError:
            continue
    return compute(gram + RIDGES[-1] * np.eye(len(gram)))


def captured_by(gram: Array, squared: Array, rank: int, sets: Indices) -> Array:
    """J(S) from A and A @ A for many sets of equal size at once, one per row."""
    rows, columns = sets[:, :, None], sets[:, None, :]
    inverse = np.linalg.inv(np.linalg.cholesky(gram[rows, columns]))
    G = inverse @ squared[rows, columns] @ inverse.transpose(0, 2, 1)
    return cast(Array, np.linalg.eigvalsh(G)[:, -rank:].sum(axis=1))
