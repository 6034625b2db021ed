"""scikit-learn's SparsePCA and MiniBatchSparsePCA.

Neither takes a number of features: `alpha` is the largest found that leaves every component as many as asked for, and
what is too many is cut.
"""

from __future__ import annotations

import numpy as np
from entry import Array, Entry, cut, largest_penalty
from sklearn.decomposition import MiniBatchSparsePCA, SparsePCA


def entry(model: type) -> Entry:
    """One of the two, with its defaults."""

    def loadings(X: Array, k: int, alpha: float) -> Array:
        return model(k, alpha=alpha, random_state=0).fit(X).components_

    def tune(X: Array, k: int, r: int) -> float:
        most = np.linalg.norm(X - X.mean(axis=0), axis=0).max()  # no correlation with a unit score is larger
        return largest_penalty(lambda alpha: np.count_nonzero(loadings(X, k, alpha), axis=1), float(most), r)

    return Entry("scikit-learn", model.__name__, lambda X, k, r, alpha: cut(loadings(X, k, alpha), r), tune)


ENTRIES = [entry(SparsePCA), entry(MiniBatchSparsePCA)]
