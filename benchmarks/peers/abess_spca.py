"""abess: best-subset selection by splicing, one component after the other; takes exact counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from abess.decomposition import SparsePCA
from entry import Array, Entry

RIDGE = 1e-10
"""Added to singular covariances, relative to their mean variance."""


def fit(X: Array, k: int, r: int, penalty: Any = None) -> Array:
    n, d = X.shape
    sizes = np.zeros((r, k))
    sizes[r - 1] = 1  # this size and no other, for each component
    model = SparsePCA(support_size=sizes)
    if n > d:
        model.fit(X, number=k)
    else:  # all loadings would be 1: its way from X fails with more features than rows
        covariance = np.cov(X.T)
        covariance = (covariance + covariance.T) / 2
        covariance[np.diag_indices(d)] += RIDGE * np.trace(covariance) / d
        model.fit(Sigma=covariance, number=k)
    return model.coef_.reshape(d, k).T


ENTRIES = [Entry("abess", "SparsePCA", fit)]
