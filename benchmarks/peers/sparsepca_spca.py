"""sparsepca: alternating manifold proximal gradient.

It takes penalties, and those that leave few features leave poor components, or none. So the penalty, one for all
components as in the package's own example, is the one of ten whose loadings lose least when cut to the number of
features. Its own `normalize` centres rows instead of columns: the data come centred, and divided by their largest
singular value, since its tolerance is in units of the data.
"""

from __future__ import annotations

import numpy as np
from entry import Array, Entry, cut
from sparsepca import spca

from sparing import information_loss

RIDGE = 1.0
"""`lambda2` of the package's own example."""

PENALTIES = 2.0 / 3.0 ** np.arange(1, 11)
"""From one that leaves nothing."""


def scaled(X: Array) -> Array:
    X = X - X.mean(axis=0)
    smaller = X @ X.T if len(X) < X.shape[1] else X.T @ X
    X /= np.sqrt(np.linalg.eigvalsh(smaller)[-1])
    return X


def fit(X: Array, k: int, r: int, penalty: float) -> Array:
    found = spca(scaled(X), np.full((k, 1), penalty), RIDGE, k=k, normalize=False)
    return cut(np.real(found["loadings"]).T, r)


def tune(X: Array, k: int, r: int) -> float:
    losses = {}
    for penalty in PENALTIES:
        loadings = fit(X, k, r, penalty)
        if loadings.any(axis=1).all():
            losses[float(penalty)] = information_loss(loadings, X)
    return min(losses, key=losses.__getitem__)


ENTRIES = [Entry("sparsepca", "spca", fit, tune)]
