"""Trees and their cuts, against SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from sparing.clustering import LINKAGES, cut, tree_of


@pytest.mark.parametrize("linkage", [kind for kind in LINKAGES if kind != "weighted"])
def test_the_same_tree_as_scikit_learn(linkage, rng):
    X = rng.standard_normal((30, 3))
    squared = linkage == "ward"
    tree = tree_of(squareform(pdist(X, "sqeuclidean" if squared else "euclidean")), linkage)
    theirs = AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    np.testing.assert_allclose(np.sort(tree[:, 2]), np.sort(theirs.distances_))
    assert adjusted_rand_score(cut(tree, 4), theirs.labels_) == 1.0


@pytest.mark.parametrize("n_clusters", [1, 2, 5, 19, 20])
def test_cuts_have_that_many_clusters_numbered_as_they_appear(n_clusters, rng):
    tree = tree_of(squareform(pdist(rng.standard_normal((20, 2)))), "average")
    labels = cut(tree, n_clusters)
    assert len(np.unique(labels)) == n_clusters
    _, first = np.unique(labels, return_index=True)
    assert np.all(np.diff(first) > 0)
    assert adjusted_rand_score(labels, fcluster(tree, n_clusters, "maxclust")) == 1.0


def test_ties_still_give_the_number_asked_for():
    tree = tree_of(1.0 - np.eye(6), "complete")
    assert len(np.unique(cut(tree, 3))) == 3
    assert len(np.unique(fcluster(tree, 3, "maxclust"))) == 1  # the control: SciPy's own cut does not


def test_negative_dissimilarities_are_shifted_and_join_the_same_clusters(rng):
    M = squareform(pdist(rng.standard_normal((15, 2))))
    lower = M - 1.5
    np.fill_diagonal(lower, 0.0)
    plain, shifted = tree_of(M, "complete"), tree_of(lower, "complete")
    np.testing.assert_array_equal(plain[:, :2], shifted[:, :2])
    assert is_valid_linkage(shifted)
