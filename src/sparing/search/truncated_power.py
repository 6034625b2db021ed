"""Truncated power iterations from many starts at once: one product with A serves them all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.linalg.truncation import keep_largest, largest, unit_columns
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search_limits import SEARCH


def truncated_powers(
    view: DataMatrix,
    starts: Array,
    n_nonzero: int,
    *,
    max_iter: int,
    settled: int,
    budget: Budget,
    allowed: NDArray[np.bool_] | None = None,
    growth: float = 0.0,
    nonnegative: bool = False,
    work: float = np.inf,
    least: int = 1,
) -> Array:
    """Unit columns (d x m) after repeated steps x <- r largest entries of Ax; columns that vanish are left out.

    ``allowed`` (d x 1) limits the features; with ``nonnegative`` only positive entries are kept. A column is done when
    its support has not changed for ``settled`` steps, or x'Ax has not grown by more than this share. For positive
    semidefinite A no step lowers x'Ax; otherwise A is shifted by its largest variance. Where the multiplications of
    ``work`` do not suffice for all, only the best go on, ``least`` at least, until they are spent.
    """
    shift = 0.0 if view.is_psd else float(np.abs(view.gram_diagonal()).max())
    X = unit_columns(keep_largest(np.maximum(starts, 0.0) if nonnegative else starts, n_nonzero))
    going = np.arange(X.shape[1])
    unchanged, reached = np.zeros(len(going), dtype=np.intp), np.zeros(len(going))
    for _ in range(max_iter):
        now = X[:, going]
        Y = view.gram_matmat(now) + shift * now
        before, reached = reached, np.einsum("ij,ij->j", now, Y)
        grown = (reached > before * (1 + growth)) | (growth <= 0)
        kept = np.maximum(Y, 0.0) if nonnegative else Y
        after = keep_largest(kept if allowed is None else np.where(allowed, kept, 0.0), n_nonzero)
        lengths = np.linalg.norm(after, axis=0)
        after = after / np.where(lengths > np.finfo(float).tiny, lengths, np.inf)
        unchanged = np.where(((after != 0) == (now != 0)).all(axis=0), unchanged + 1, 0)
        X[:, going] = np.where(grown, after, now)
        still = grown & (unchanged < settled) & after.any(axis=0)
        going, unchanged, reached = going[still], unchanged[still], reached[still]
        work -= now.shape[1] * view.product_work
        affordable = work / (SEARCH.raced_steps * view.product_work)
        if affordable < len(going):
            best = np.sort(np.argsort(-reached, kind="stable")[: max(least, int(affordable))])
            going, unchanged, reached = going[best], unchanged[best], reached[best]
        if len(going) == 0 or budget.expired or work <= 0:
            break
    return X[:, X.any(axis=0)]


def column_starts(view: DataMatrix, n_starts: int, leading: Array) -> Array:
    """Unit vectors of features to start from: of most variance, and largest in each leading direction, by turns."""
    ranked = [distinct_ranks(view.gram_diagonal()), *(distinct_ranks(np.abs(v)) for v in leading.T)]
    chosen = np.argsort(np.min(ranked, axis=0), kind="stable")[:n_starts]
    return unit_vectors(view.n_features, chosen)


def furthest_starts(gram: Array, n_nonzero: int, n_starts: int) -> Array:
    """Unit vectors of the features from which a truncated step goes furthest."""
    chosen = np.argsort(distinct_ranks(furthest_scores(gram, n_nonzero)), kind="stable")[:n_starts]
    return unit_vectors(len(gram), chosen)


def furthest_scores(columns: Array, n_nonzero: int) -> Array:
    """How far a truncated step goes from each feature, given its Gram column: the r largest squares of it."""
    return np.asarray(largest(np.square(columns), n_nonzero).sum(axis=0))


def pool_of(view: DataMatrix, size: int, leading: Array) -> Indices:
    """Features to start separate searches from: those with the largest variance or large entries in a leading
    direction."""
    ranked = [distinct_ranks(view.gram_diagonal()), *(distinct_ranks(np.abs(v)) for v in leading.T)]
    return np.sort(np.argsort(np.min(ranked, axis=0), kind="stable")[:size]).astype(np.intp)


def distinct_ranks(scores: Array) -> Array:
    """0 for the largest score, 1 for the next; ties, up to a billionth, go to the first."""
    level = np.abs(scores).max(initial=0.0)
    order = np.argsort(-np.round(scores / level, 9) if level > 0 else scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(len(scores))
    return ranks


def leading_directions(view: DataMatrix, rank: int, rng: np.random.Generator) -> Array:
    """Roughly the leading eigenvectors of A, good enough to start from."""
    V = rng.standard_normal((view.n_features, min(rank, view.n_features)))
    for _ in range(SEARCH.subspace_steps):
        V = np.linalg.qr(view.gram_matmat(V))[0]
    _, rotation = np.linalg.eigh(V.T @ view.gram_matmat(V))
    return np.asarray(V @ rotation[:, ::-1])


def psd_shift(view: DataMatrix, rng: np.random.Generator) -> float:
    """The shift of the diagonal of A with which power steps do not decrease x'Ax: roughly |A|, or 0 if A is psd."""
    if view.is_psd:
        return 0.0
    leading = leading_directions(view, 3, rng)
    return float(np.linalg.norm(view.gram_matmat(leading), axis=0).max())


def unit_vectors(n_features: int, J: Indices) -> Array:
    """The unit vectors of the features J, as columns."""
    vectors = np.zeros((n_features, len(J)))
    vectors[J, np.arange(len(J))] = 1.0
    return vectors
