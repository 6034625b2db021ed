"""A second clustering that shares nothing with the first."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering


def test_a_complementary_clustering_is_orthogonal_and_finds_the_other_grouping():
    rng = np.random.default_rng(6)
    first, second = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    Z = rng.standard_normal((60, 40)) * 0.5
    Z[:, :6] += 3 * first[:, None]
    Z[:, 6:10] += 2.5 * second[:, None]
    fitted = SparseHierarchicalClustering(
        2, weight_bound=2.4, linkage="average", complementary=True, effort="quick"
    ).fit(Z)
    other = fitted.complementary_
    assert adjusted_rand_score(fitted.labels_, first) > 0.9
    assert adjusted_rand_score(other.labels_, second) > 0.8
    assert set(np.argsort(-other.feature_weights_)[:4]) == {6, 7, 8, 9}
    u1, D2 = fitted.dissimilarity(Z), other.dissimilarity(Z)
    u1 = u1 / np.linalg.norm(u1)
    u2 = D2 - np.vdot(u1, D2) * u1
    np.testing.assert_allclose(other.criterion_, np.linalg.norm(u2), rtol=1e-9)
    off = u2[~np.eye(60, dtype=bool)]
    np.testing.assert_allclose(other.distances_[-1] <= off.max() - off.min() + 1e-9, True)
    counted = SparseHierarchicalClustering(2, n_features=4, complementary=True, effort="quick").fit(Z).complementary_
    assert len(counted.support_) == 4
    assert not hasattr(fitted.set_params(complementary=False).fit(Z), "complementary_")


def test_nothing_complementary_gets_a_sentence():
    X = np.random.default_rng(0).standard_normal((20, 1))
    with pytest.raises(ValueError, match="nothing is left for a second clustering"):
        SparseHierarchicalClustering(2, weight_bound=1.0, complementary=True).fit(X)
