"""Metrics: information loss and explained variance of loadings from any package."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparing import errors
from sparing.data import Preprocessing, as_matrix, as_view
from sparing.estimators.inputs import check_has_variance
from sparing.estimators.parameters import one_of, preprocessing_from
from sparing.gram import DataMatrix
from sparing.linalg import information_loss_of
from sparing.linalg.variance import DEFINITIONS
from sparing.results import Array


def information_loss(
    components: Any, X: Any, *, center: bool = True, scale: bool = False, precomputed: bool = False
) -> float:
    """Part of X that the best linear decoder cannot rebuild from the scores X H.

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

    Examples
    --------
    >>> from sparing import information_loss
    >>> from sparing.datasets import load_pitprops
    >>> pair = [[1, 1] + [0] * 11, [1, 0, 1] + [0] * 10]
    >>> round(information_loss(pair, load_pitprops().correlation, precomputed=True), 3)  # of 13, the total
    7.738
    """
    view, H = prepared(components, X, preprocessing_from(center, scale, precomputed))
    return information_loss_of(view, H) * view.square_unit


def explained_variance(
    components: Any,
    X: Any,
    *,
    definition: str = "information",
    cumulative: bool = True,
    center: bool = True,
    scale: bool = False,
    precomputed: bool = False,
) -> Array:
    """Share of the variance of X that the first j components explain, for j = 1 .. k.

    By default one minus the information loss of the first j components over the total. It never exceeds the share that
    j principal components explain, however correlated the scores are.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        One row per component; need not be orthogonal, of unit norm or sparse.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    definition : {"information", "symmetric", "basis", "adjusted"}
        Definition of explained variance for components that are not principal components. For principal components all
        four agree.

        - ``information``: variance that the best linear decoder rebuilds from the scores.
        - ``symmetric``: variance along the orthonormal loadings nearest to the given ones; no component comes first.
        - ``basis``: variance along the loadings, each without its projection on those before [mackey2014, Sec. 14.5].
        - ``adjusted``: variance of each score that earlier scores do not explain [zou2006, Sec. 3.4].

        ``symmetric`` and ``basis`` have the same total, that of the span of the loadings, which is at most that of
        ``information``. ``basis`` and ``adjusted`` depend on the order of the components.
    cumulative : bool
        Sums over the first j components, or one number for each of them. For ``symmetric`` these belong to the whole
        set: fewer components would have others.
    center, scale, precomputed : bool
        As in :class:`SparseEncoder`.

    Returns
    -------
    ndarray of shape (n_components,)

    Notes
    -----
    The length of a component does not matter: all are brought to unit norm first. Scores are X @ weights. Factor
    analysis calls weights times the standard deviation of their score *loadings*: for principal components of
    standardised data, the correlations of features and scores.

    Examples
    --------
    >>> from sparing import explained_variance
    >>> from sparing.datasets import load_pitprops
    >>> pair = [[1, 1] + [0] * 11, [1, 0, 1] + [0] * 10]  # the first feature is in both
    >>> C = load_pitprops().correlation
    >>> for definition in ("information", "symmetric", "basis", "adjusted"):
    ...     print(explained_variance(pair, C, definition=definition, precomputed=True).round(3))
    [0.265 0.405]
    [0.129 0.206]
    [0.15  0.206]
    [0.15  0.188]
    """
    definition = one_of("definition", definition, DEFINITIONS)
    view, H = prepared(components, X, preprocessing_from(center, scale, precomputed))
    shares = DEFINITIONS[definition](view, H.T / np.linalg.norm(H, axis=1)) / view.total
    return np.minimum(np.cumsum(shares) if cumulative else shares, 1.0)


def prepared(components: Any, X: Any, preprocessing: Preprocessing) -> tuple[DataMatrix, Array]:
    """A checked view and checked loadings that fit it."""
    view = as_view(X, preprocessing)
    check_has_variance(view, preprocessing.center)
    try:
        H = as_matrix(components)
    except errors.NotFiniteError as flaw:
        raise ValueError(
            f"components contain {errors.nan_or_infinity(flaw.value)} (first in row {flaw.row}, feature "
            f"{flaw.column!r}). A loading is a finite number, and 0 where a feature is not used: correct it, or remove "
            "the component."
        ) from None
    except errors.ShapeError as flaw:
        raise ValueError(
            f"components has shape {flaw.shape}; one row per component and one column per feature are expected. Pass "
            "components.reshape(1, -1) if it is a single component."
        ) from None
    except (ValueError, TypeError):  # messages about X, which do not suit loadings
        known = {name: getattr(components, name, None) for name in ("dtype", "shape")}
        details = "".join(f", {name} {value}" for name, value in known.items() if value is not None)
        raise ValueError(
            f"components ({type(components).__name__}{details}) are not a table of real numbers: one row per component "
            "and one loading in it for each feature are expected. Pass a NumPy array of shape (n_components, "
            "n_features)."
        ) from None
    if H.shape[1] != view.n_features:
        raise errors.bad_components(H.shape, view.n_features)
    lengths = np.abs(H).max(axis=1)
    if (lengths == 0).any():
        index = np.argmin(lengths)
        raise ValueError(f"components[{index}] is all zero, so it encodes nothing. Remove it, or lower its penalty.")
    return view, H / lengths[:, None]
