"""Variance explained by loadings: four definitions, which agree for principal components only.

Each takes a view and H (d x k, unit columns) and returns one number per component, in the units of A = X'X.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.loss import REPEATED, additional_variance
from sparing.linalg.rounding import EPS
from sparing.results import Array


def information(view: DataMatrix, H: Array) -> Array:
    """Variance that each component adds to the reconstruction by the best decoder [magdonismail2015, Definition 1].

    The total is at most that of the same number of principal components, and depends only on the span of H.
    """
    return additional_variance(view, H.T)


def symmetric(view: DataMatrix, H: Array) -> Array:
    """``q_j'A q_j`` for Q = H (H'H)^-1/2, the orthonormal loadings closest to H; independent of the order.

    The total is tr((H'H)^-1 H'AH), that of every orthonormal basis of the span. Components that repeat one another
    share the variance of one.
    """
    used = np.flatnonzero(H.any(axis=1))  # other rows stay exactly zero
    U, values, Vt = np.linalg.svd(H[used], full_matrices=False)
    kept = values > np.sqrt(REPEATED) * values.max(initial=0.0)
    Q = np.zeros_like(H)
    Q[used] = U[:, kept] @ Vt[kept]
    return _along(view, Q)


def symmetric_total(view: DataMatrix, H: Array) -> float:
    """tr((H'H)^-1 H'AH): the variance within the span of the loadings, independent of their order."""
    return float(symmetric(view, H).sum())


def basis(view: DataMatrix, H: Array) -> Array:
    """``q_j'A q_j`` for the Gram-Schmidt basis of the loadings in the order given [mackey2014, Sec. 14.5].

    The repeated part of a component is removed from its direction, not from its variance. The total is the symmetric
    one.
    """
    Q = np.zeros_like(H)
    for j in range(H.shape[1]):
        rest = H[:, j]
        for _ in range(2):  # twice is enough
            rest = rest - Q @ (Q.T @ rest)
        length = np.linalg.norm(rest)
        if length > np.sqrt(REPEATED):
            Q[:, j] = rest / length
    return _along(view, Q)


def adjusted(view: DataMatrix, H: Array) -> Array:
    """Squared diagonal of R in X H = Q R: each score without the part that earlier scores explain [zou2006, Sec. 3.4].

    Computed from H'AH by elimination, its Cholesky factor if that exists. It depends on the order: the common part of
    correlated scores counts for the first of them.
    """
    left = H.T @ view.gram_matmat(H)
    most = np.square(np.sqrt(np.maximum(view.gram_diagonal(), 0.0)) @ np.abs(H))  # of scores that do not cancel
    least = np.maximum(REPEATED * np.diagonal(left), np.count_nonzero(H, axis=0) * EPS * most)  # less is rounding
    found = np.zeros(H.shape[1])
    for j in range(H.shape[1]):
        if left[j, j] > least[j]:
            found[j] = left[j, j]
            left = left - np.multiply.outer(left[:, j], left[j]) / left[j, j]
    return found


def _along(view: DataMatrix, Q: Array) -> Array:
    """``q_j'A q_j`` for each column; rounding never makes it negative."""
    return np.asarray(np.maximum(np.einsum("ij,ij->j", Q, view.gram_matmat(Q)), 0.0))


DEFINITIONS: dict[str, Callable[[DataMatrix, Array], Array]] = {
    "information": information,
    "symmetric": symmetric,
    "basis": basis,
    "adjusted": adjusted,
}
