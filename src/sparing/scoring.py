"""Scorers for scikit-learn's hyperparameter searches, by the features that are not read."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparing.estimators.base import ViewEstimator
from sparing.estimators.validation.cross_validated import new_view, residuals, share_kept
from sparing.estimators.validation.folds import named_rows

__all__ = ["unread_variance"]


def unread_variance(estimator: Any, X: Any, y: Any = None) -> float:
    """Share of the variance, in new samples, of the features that a fitted model does not read but predicts.

    For ``GridSearchCV(..., scoring=unread_variance)``. The method ``score`` of the estimators counts every feature: a
    feature that is read enters its own prediction, so more features and components always score higher and a search
    picks the largest numbers of its grid. Features that are not read do not have this bias.

    Parameters
    ----------
    estimator : a fitted encoder, selector of columns or sparse PCA of sparing, or a pipeline that ends in one
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        New samples.
    y : ignored

    Returns
    -------
    float
        At most 1; 0 is the score of the means of the training samples.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sparing import SparseEncoder
    >>> from sparing.scoring import unread_variance
    >>> grid = {"n_components": [1, 2, 3]}
    >>> encoder = SparseEncoder(n_nonzero=4, scale=True, effort="quick", certify=False)
    >>> GridSearchCV(encoder, grid, scoring=unread_variance).fit(load_wine().data).best_params_
    {'n_components': 3}
    """
    model = estimator
    if isinstance(estimator, Pipeline):
        model = estimator[-1]
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
    if not isinstance(model, ViewEstimator) or not hasattr(type(model), "_linear"):
        raise TypeError(
            f"unread_variance was given a {type(model).__name__}; it needs an encoder, a ColumnSelector or a sparse "
            "PCA of sparing. Use the score method of a regressor."
        )
    check_is_fitted(model)
    view, used = new_view(model, named_rows(X)), model.support_
    loadings, decoder = model._linear
    left = residuals(view, view.columns(used) @ loadings.T, decoder)
    return share_kept(view, left, np.delete(np.arange(view.n_features), used))
