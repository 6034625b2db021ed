"""Theorems as functions: what an algorithm promises before it has run."""

from __future__ import annotations

import math

import numpy as np

from sparing import errors
from sparing.results import Array


def dual_set_factor(n_components: int, n_columns: int) -> float:
    """Loss over PCA's loss that dual set selection never exceeds, for r > k [magdonismail2015, Theorem 6(i)]."""
    if n_columns <= n_components:
        return math.inf
    return 1.0 + 1.0 / (1.0 - math.sqrt(n_components / n_columns)) ** 2


def doubly_sparse_factor(n_components: int, n_columns: int, n_rows: int) -> float:
    """Loss over PCA's loss that dual set selection of columns and rows never exceeds, for more of both than k.

    What the columns keep is B = X_{C,k}, and B'(X - B) = 0, so projecting B on the span of the rows costs
    ||B - B P_R||^2 <= ||X - X P_R||^2 more: the sum of both factors [magdonismail2015, Theorem 6, comment 5].
    """
    return dual_set_factor(n_components, n_columns) + dual_set_factor(n_components, n_rows)


def theorem_11_schedule(n_components: int, epsilon: float, *, uniform: bool = False) -> list[int]:
    """Features for each component in turn, r_j = 5 + ceil(5 j / epsilon) [magdonismail2015, Theorem 11].

    ``uniform`` gives every component the first one's count, 5 + ceil(5 / epsilon), as comment 2 there means (printed:
    5 + 5 k / epsilon).
    """
    _checked_epsilon(epsilon)
    return [5 + math.ceil(5 * (1 if uniform else j) / epsilon) for j in range(1, n_components + 1)]


def theorem_11_bound(values: Array, total: float, epsilon: float, *, uniform: bool = False) -> Array:
    """What the first 1, 2, .. k iterative components lose at most, in expectation [magdonismail2015, Theorem 11].

    Parameters
    ----------
    values : ndarray of shape (k,)
        The k largest eigenvalues of X'X, in falling order.
    total : float
        ||X||^2.
    epsilon : float
        That of :func:`theorem_11_schedule`.
    uniform : bool
        For the schedule that gives every component the same count (comment 2).

    Returns
    -------
    ndarray of shape (k,)
        (e l)^epsilon ||X - X_l||^2 + epsilon l^(1 + epsilon) ||X_l - X_1||^2 for l = 1 .. k; with ``uniform``,
        (1 + epsilon)^l ||X - X_l||^2 + epsilon/2 (1 + epsilon)^(l - 1) l ||X_l - X_1||^2.
    """
    _checked_epsilon(epsilon)
    count = np.arange(1, len(values) + 1)
    after_first = np.cumsum(values) - values[0]
    left = np.maximum(total - np.cumsum(values), 0.0)
    if uniform:
        growth = (1 + epsilon) ** count
        return np.asarray(growth * left + epsilon / 2 * growth / (1 + epsilon) * count * after_first)
    return np.asarray((math.e * count) ** epsilon * left + epsilon * count ** (1 + epsilon) * after_first)


def _checked_epsilon(epsilon: float) -> None:
    if not epsilon > 0:
        raise errors.not_a_positive_number("epsilon", epsilon)


def best_split(n_components: int, n_columns: int) -> int:
    """How many of r > k + 1 columns the dual set should choose, so that ``adaptive_factor`` is smallest."""
    k, r = n_components, n_columns
    return min(range(k + 1, r), key=lambda first: dual_set_factor(k, first) / (r - first))


PROJECTED = 7 / 6
"""What the random projection of adaptive sampling may leave, in expectation, over what PCA leaves."""


def adaptive_factor(n_components: int, n_columns: int, accuracy: float = 1.0) -> float:
    """Expected loss over PCA's loss that adaptive sampling after a dual set never exceeds, for r > k.

    1 + (k/s) a (1 + 1/(1 - sqrt(k/r1))^2) for the best split r = r1 + s [magdonismail2015, Theorem 6(ii)], where
    ||X - XVV'||^2 = a ||X - X_k||^2 for the V used; or the dual set's own promise for r1 columns where that is smaller.
    """
    k, r = n_components, n_columns
    if r <= k + 1:
        return dual_set_factor(k, r) * accuracy
    first = best_split(k, r)
    constant = accuracy * dual_set_factor(k, first)
    return min(1.0 + k / (r - first) * constant, constant)
