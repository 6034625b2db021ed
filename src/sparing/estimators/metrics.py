"""Losses and variances of anybody's loadings."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparing import errors
from sparing.data import DataMatrix, Preparation, as_matrix, as_view
from sparing.estimators._input import with_variance
from sparing.linalg import additional_variance, information_loss_of
from sparing.results import Array


def information_loss(
    components: Any, X: Any, *, center: bool = True, scale: bool = False, precomputed: bool = False
) -> float:
    """What the best linear decoder cannot rebuild of X from the scores X H.

    Definition 1 of [magdonismail2015, Sec. 1]: the minimum over G of ||X - X H G||^2, for loadings from any package.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        One row per component; need not be orthogonal, of unit norm or sparse.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    center, scale, precomputed : bool
        As in :class:`SparseEncoder`.

    Returns
    -------
    float
        A sum of squares in the units of X; never below PCA's.
    """
    view, H = _prepared(components, X, Preparation(center, scale, precomputed))
    return information_loss_of(view, H) * view.square_unit


def explained_variance(
    components: Any, X: Any, *, center: bool = True, scale: bool = False, precomputed: bool = False
) -> Array:
    """Share of the variance of X that the first j components explain, for j = 1 .. k.

    One minus the information loss of the first j components over the total: cumulative, never above what as many
    principal components explain, whatever the correlations among the scores.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
    X : array-like or sparse matrix of shape (n_samples, n_features)
    center, scale, precomputed : bool
        As in :class:`SparseEncoder`.

    Returns
    -------
    ndarray of shape (n_components,)
    """
    view, H = _prepared(components, X, Preparation(center, scale, precomputed))
    return np.minimum(np.cumsum(additional_variance(view, H)) / view.total, 1.0)


def _prepared(components: Any, X: Any, preparation: Preparation) -> tuple[DataMatrix, Array]:
    """A checked view and checked loadings that fit it."""
    view = as_view(X, preparation)
    with_variance(view, preparation.center)
    try:
        H = as_matrix(components)
    except (ValueError, TypeError) as problem:
        raise errors.bad_components_values(problem) from problem
    if H.shape[1] != view.n_features:
        raise errors.bad_components(H.shape, view.n_features)
    lengths = np.abs(H).max(axis=1)
    if (lengths == 0).any():
        raise errors.zero_component(int(np.argmin(lengths)))
    return view, H / lengths[:, None]
