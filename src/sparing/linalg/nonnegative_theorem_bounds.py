"""Theorems about nonnegative components as functions: what a low rank promises before it is searched."""

from __future__ import annotations

import numpy as np

from sparing.results import Array


def approximation_factor(values: Array, n_features: int, n_nonzero: int, rank: int, *, shifted: bool = False) -> float:
    """The share of the optimum that the best x >= 0 for the ``rank`` leading eigenpairs keeps at least.

    max(k / 2n, 1 / (1 + 2 (n/k) l_{d+1} / l_1)) for k nonzeros of n features [asteris2014, Theorem 1]: the leading
    eigenvector alone has k / 2n of l_1 in the k largest entries of one sign, and the eigenpairs left out add at most
    l_{d+1}. With no positive eigenvalue left out nothing is lost.

    Parameters
    ----------
    values : ndarray of shape (k,)
        The leading eigenvalues of A in falling order: ``rank`` + 1 of them, or all that are positive.
    shifted : bool
        For the best x with these eigenvalues lowered by s = l_{d+1}. With O what it reaches there, OPT <= O + s, and
        its share P of the leading eigenvectors is at least O / (l_1 - s), so that x'Ax >= O + s P = O l_1 / (l_1 - s).
        With O >= (k/2n) (l_1 - s) this makes 1 / (1 + (2n/k - 1) s / l_1), never less than the theorem's.
    """
    share = n_nonzero / (2 * n_features)
    following = float(values[rank]) if len(values) > rank else 0.0
    if following <= 0:
        return 1.0
    if shifted:
        return 1 / (1 + (1 / share - 1) * following / float(values[0]))
    return max(share, 1 / (1 + following / (share * float(values[0]))))


def rank_needed(values: Array, n_features: int, n_nonzero: int, accuracy: float) -> int | None:
    """The least rank that loses no more than the share ``accuracy``, whatever A is besides its eigenvalues ``values``.

    This is what makes the search polynomial for every spectrum that falls to zero (the paper's PTAS), where
    n_nonzero / n_features is fixed. None where the values given do not fall far enough.
    """
    falling = np.maximum(values[1:], 0.0) / float(values[0]) if len(values) and values[0] > 0 else np.zeros(0)
    enough = np.flatnonzero(1 / (1 + 2 * n_features / n_nonzero * falling) >= 1 - accuracy)
    return int(enough[0]) + 1 if len(enough) else None
