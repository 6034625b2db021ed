"""Data on which no few features can do well."""

from __future__ import annotations

import numpy as np

from sparing import errors
from sparing.results import Array


def make_hard_columns(n_components: int = 1, n_columns: int = 50, alpha: float = 0.1) -> Array:
    """The matrix behind the lower bound on sparsity [magdonismail2015, Theorem 9].

    Its features come in ``n_components`` groups of ``n_columns``, each on samples of its own: feature i of a group is
    e_1 + alpha e_{i+1}. All features of a group share a direction, but each carries noise that only the others can
    average out. With k = n_components, encoders with k components that read r features in total lose at least
    1 + k/r - delta times what PCA loses, where delta vanishes as ``n_columns`` grows and ``alpha`` falls.

    Parameters
    ----------
    n_components : int
        Number of groups.
    n_columns : int
        Features in each group.
    alpha : float
        Size of what each feature has for itself.

    Returns
    -------
    ndarray of shape (n_components * (n_columns + 1), n_components * n_columns)
        To be used as it is, ``center=False``.

    Notes
    -----
    For one group of m features, projection on the span of any r of them leaves (m - r)/(m - 1) (1 + 1/(r + alpha^2))
    times PCA's loss; the best single component that reads them loses 1 + (m - r)/(m - 1)/(r + alpha^2) times as much.

    Examples
    --------
    >>> from sparing.datasets import make_hard_columns
    >>> make_hard_columns(1, 3, alpha=0.5)
    array([[1. , 1. , 1. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ],
           [0. , 0. , 0.5]])
    """
    for name, value in {"n_components": n_components, "n_columns": n_columns}.items():
        if type(value) is bool or not hasattr(value, "__index__"):
            raise errors.not_an_integer(name, value)
        if value < 1:
            raise errors.not_positive(name, value)
    if not (isinstance(alpha, (int, float, np.number)) and 0 < alpha < np.inf):
        raise errors.not_a_positive_number("alpha", alpha)
    group = np.vstack([np.ones(n_columns), alpha * np.eye(n_columns)])
    return np.asarray(np.kron(np.eye(n_components), group), dtype=np.float64)
