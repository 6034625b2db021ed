"""Truncated power iterations from many starts at once: one product with A serves them all."""

from __future__ import annotations

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix
from sparing.linalg.truncation import keep_largest
from sparing.results import Array

SUBSPACE_STEPS = 5


def truncated_powers(
    view: DataMatrix, starts: Array, n_nonzero: int, *, max_iter: int, settled: int, budget: Budget
) -> Array:
    """Unit columns (d x m) after x <- keep the r largest of Ax, again and again.

    Stops when no support has changed for ``settled`` steps. For positive semidefinite A no step lowers x'Ax; otherwise
    A is shifted by its largest variance.
    """
    shift = 0.0 if view.is_psd else float(np.abs(view.gram_diagonal()).max())
    X = unit_columns(keep_largest(starts, n_nonzero))
    unchanged = 0
    for _ in range(max_iter):
        Y = view.gram_matmat(X) + shift * X
        after = unit_columns(keep_largest(Y, n_nonzero))
        unchanged = unchanged + 1 if np.array_equal(after != 0, X != 0) else 0
        X = after
        if unchanged >= settled or budget.expired:
            break
    return X


def unit_columns(V: Array) -> Array:
    """Columns of unit norm, without those that vanish."""
    lengths = np.linalg.norm(V, axis=0)
    alive = lengths > np.finfo(float).tiny
    return np.asarray(V[:, alive] / lengths[alive])


def column_starts(view: DataMatrix, n_nonzero: int, n_starts: int) -> Array:
    """Unit vectors of the features from which a truncated step goes furthest, or of most variance where d is large."""
    worth = view.gram_diagonal()
    if view.has_gram:
        squares = np.square(view.gram())
        top = np.partition(squares, len(worth) - n_nonzero, axis=0)[len(worth) - n_nonzero :]
        worth = np.sqrt(top.sum(axis=0))
    chosen = np.argsort(-worth, kind="stable")[:n_starts]
    starts = np.zeros((view.n_features, len(chosen)))
    starts[chosen, np.arange(len(chosen))] = 1.0
    return starts


def leading_directions(view: DataMatrix, rank: int, rng: np.random.Generator) -> Array:
    """Roughly the leading eigenvectors of A, good enough to start from."""
    V = rng.standard_normal((view.n_features, min(rank, view.n_features)))
    for _ in range(SUBSPACE_STEPS):
        V = np.linalg.qr(view.gram_matmat(V))[0]
    _, turn = np.linalg.eigh(V.T @ view.gram_matmat(V))
    return np.asarray(V @ turn[:, ::-1])
