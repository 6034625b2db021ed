"""Variance captured by k components on a shared support, and all of its swaps at once.

On a support S, with A_SS = LL', capture(S) is the sum of the k largest eigenvalues of G = L^-1 B_SS L^-T. B = A^2 is
the information that an encoder keeps [magdonismail2015, Sec. 2.2]; B = (X'T)(X'T)' is what S spans of a target T, all
of it where k is T's rank.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sparing.results import Array, Indices

RIDGE = 1e-11
"""Added to unit columns: dependent sets stay harmless, and no value rises by it."""

POWER_STEPS = 2
"""Block power steps that sharpen the score of a swap."""

INDEPENDENT = 1e-9
"""Share of a unit column that must be left beside the others, or a swap is no gain but rounding."""


class SharedState(NamedTuple):
    """L^-1, the k leading eigenvalues of G and their eigenvectors (r x k), for each support."""

    inverse: Array
    values: Array
    vectors: Array


class SharedCapture:
    """A working set of features, for the search of r among them that capture most.

    Parameters
    ----------
    gram, weight : ndarray of shape (u, u)
        A and B on the working set.
    rank : int
        Number of components k.
    """

    def __init__(self, gram: Array, weight: Array, rank: int) -> None:
        squares = np.maximum(np.diagonal(gram), 0.0)
        norms = np.where(squares > 0, np.sqrt(squares), np.inf)  # of a column that is nothing, nothing is captured
        outer = np.multiply.outer(norms, norms)
        self.gram = gram / outer + np.diag(np.where(squares > 0, RIDGE, 1.0))
        self.weight, self.rank, self.size = weight / outer, rank, len(gram)

    blocks = 1

    def fitted(self, supports: Indices, before: None = None) -> tuple[Array, SharedState]:
        """Captured variances, and what swaps are scored by."""
        rows, columns = supports[:, :, None], supports[:, None, :]
        inverse = np.linalg.inv(np.linalg.cholesky(self.gram[rows, columns]))
        G = inverse @ self.weight[rows, columns] @ inverse.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh((G + G.transpose(0, 2, 1)) / 2)
        k = min(self.rank, supports.shape[1])
        leading = np.maximum(values[:, -k:], np.finfo(float).tiny)
        return leading.sum(axis=1), SharedState(inverse, leading, vectors[:, :, -k:])

    def kept(self, state: SharedState, same: NDArray[np.bool_]) -> None:
        """Nothing: a support has one value."""

    def swap_gains(self, supports: Indices, state: SharedState, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gains of all swaps."""
        if candidates is None:
            gains = captured_gains(SharedState(*state), self.gram[supports], self.weight[supports])
            taken = np.repeat(supports[:, None, :], supports.shape[1], axis=1)
            np.put_along_axis(gains, taken, -np.inf, axis=2)
            return gains
        rows, columns = supports[:, :, None], candidates[:, None, :]
        gains = captured_gains(SharedState(*state), self.gram[rows, columns], self.weight[rows, columns])
        return np.where((rows == columns).any(axis=1)[:, None, :], -np.inf, gains)

    def sharper_values(self, supports: Indices, state: SharedState, slots: Indices, taken: Indices) -> Array:
        """Lower bounds of the values after some swaps (S, c), sharper than their scores.

        The components of a support, the new feature in the place of the old one, go through block power steps in
        the span of the new support. What any k directions there capture is a lower bound.
        """
        n, count = taken.shape
        directions = SharedState(*state).inverse.transpose(0, 2, 1) @ SharedState(*state).vectors
        trials = np.repeat(supports[:, None, :], count, axis=1)
        trials[np.arange(n)[:, None], np.arange(count), slots] = taken
        alike = np.sign(self.gram[np.take_along_axis(supports, slots, axis=1), taken])
        H = np.repeat(directions[:, None], count, axis=1)
        H[np.arange(n)[:, None], np.arange(count), slots] *= np.where(alike == 0, 1.0, alike)[:, :, None]
        trials, H = trials.reshape(n * count, -1), H.reshape(n * count, *H.shape[2:])
        rows, columns = trials[:, :, None], trials[:, None, :]
        gram, weight = self.gram[rows, columns], self.weight[rows, columns]
        for _ in range(POWER_STEPS):
            H = np.linalg.solve(gram, weight @ H)
            H /= np.maximum(np.abs(H).max(axis=1, keepdims=True), np.finfo(float).tiny)
        below, above = H.transpose(0, 2, 1) @ gram @ H, H.transpose(0, 2, 1) @ weight @ H
        scale = np.einsum("skk->sk", below)[:, :, None]
        below = below + RIDGE * scale * np.eye(H.shape[2])
        return cast(Array, np.einsum("skk->s", np.linalg.solve(below, above)).reshape(n, count))


def captured_gains(state: SharedState, gram: Array, weight: Array) -> Array:
    """Lower bounds of what capture(S) gains by every swap, from A_Sj and B_Sj (S, r, c) of unit columns.

    capture(S) = max over V of tr(V'B^1/2 P_S B^1/2 V) (Ky Fan). With V frozen at the present optimum it is a lower
    bound that is tight at S, and its change under a swap is closed: along is what column j has of the direction y_i
    that only feature i spans, left what it has beyond S.
    """
    inverse, values, vectors = state
    root = np.sqrt(values)[:, :, None]
    turned = vectors.transpose(0, 2, 1) @ inverse  # F'L^-1
    known = inverse @ gram
    left = 1.0 - np.einsum("src,src->sc", known, known)
    independent = left > INDEPENDENT
    lengths = np.sqrt(np.einsum("sij,sij->sj", inverse, inverse))  # roots of (A_SS^-1)_ii
    along = (inverse.transpose(0, 2, 1) @ known) / lengths[:, :, None]
    of_j = (turned @ weight) / root - root * (turned @ gram)
    of_i = root * turned / lengths[:, None, :]
    own = np.einsum("skr,skr->sr", of_i, of_i)[:, :, None]
    squared = np.square(along)
    gained = (
        np.einsum("skc,skc->sc", of_j, of_j)[:, None, :] + 2 * along * (of_i.transpose(0, 2, 1) @ of_j) + squared * own
    )
    beside = np.where(independent, left, 0.0)[:, None, :] + squared
    return np.where(beside > INDEPENDENT, gained / np.maximum(beside, INDEPENDENT) - own, -np.inf)
