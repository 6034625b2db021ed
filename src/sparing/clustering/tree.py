"""Trees of merged clusters from dissimilarities, in the conventions of SciPy and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from sparing.results import Array, Indices

LINKAGES = ("average", "complete", "single", "ward", "weighted")
"""Those that never join clusters below their parts, so that a height cuts the tree."""


def tree_of(M: Array, linkage: Any) -> Array:
    """SciPy's linkage matrix of a symmetric M; ``ward`` takes M for squared Euclidean distances."""
    condensed = squareform(M, checks=False)
    lowest = min(float(condensed.min()), 0.0)  # of a complementary clustering; a shift changes heights and no merge
    if linkage == "ward":
        condensed = np.sqrt(condensed - lowest)
        lowest = 0.0
    return np.asarray(scipy_linkage(condensed - lowest, method=linkage))


def cut(tree: Array, n_clusters: int) -> Indices:
    """Labels of the samples before the last ``n_clusters`` - 1 merges, in order of first appearance."""
    n = len(tree) + 1
    merges = np.arange(n - n_clusters)
    children = tree[merges, :2].astype(np.intp)
    parents = np.repeat(n + merges, 2)
    edges = sparse.coo_array((np.ones(len(parents)), (children.ravel(), parents)), shape=(2 * n, 2 * n))
    _, groups = connected_components(edges, directed=False)
    _, first, labels = np.unique(groups[:n], return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[labels], dtype=np.intp)
