"""How much variance a set of loadings explains: four definitions, alike for principal components and for no others.

Each takes a view and H (d x k, unit columns) and gives one number per component, in the units of A = X'X.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.loss import REPEATED, additional_variance
from sparing.linalg.rounding import EPS
from sparing.results import Array


def information(view: DataMatrix, H: Array) -> Array:
    """What each component adds to what the best decoder rebuilds from the scores [magdonismail2015, Definition 1].

    The total is never above that of as many principal components, and depends on the span of H alone.
    """
    return additional_variance(view, H.T)


def symmetric(view: DataMatrix, H: Array) -> Array:
    """``q_j'A q_j`` for Q = H (H'H)^-1/2, the orthonormal loadings nearest to H; no component comes first.

    The total is tr((H'H)^-1 H'AH), that of every orthonormal basis of the span. Components that repeat one another
    share what one of them has.
    """
    used = np.flatnonzero(H.any(axis=1))  # elsewhere zeros stay zeros, without rounding
    U, values, Vt = np.linalg.svd(H[used], full_matrices=False)
    kept = values > np.sqrt(REPEATED) * values.max(initial=0.0)
    Q = np.zeros_like(H)
    Q[used] = U[:, kept] @ Vt[kept]
    return _along(view, Q)


def symmetric_total(view: DataMatrix, H: Array) -> float:
    """tr((H'H)^-1 H'AH): the variance within the span of the loadings, whatever their order."""
    return float(symmetric(view, H).sum())


def basis(view: DataMatrix, H: Array) -> Array:
    """``q_j'A q_j`` for the Gram-Schmidt basis of the loadings in the order given [mackey2014, Sec. 14.5].

    What a component repeats is left out of its direction, not of its variance. The total is the symmetric one.
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
    """Squared diagonal of R in X H = Q R: each score without what earlier scores say of it [zou2006, Sec. 3.4].

    From H'AH by elimination, which is its Cholesky factor where that exists. It depends on the order: what correlated
    scores share counts for the earlier of them alone.
    """
    left = H.T @ view.gram_matmat(H)
    most = np.square(np.sqrt(np.maximum(view.gram_diagonal(), 0.0)) @ np.abs(H))  # of the features, if they agreed
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
