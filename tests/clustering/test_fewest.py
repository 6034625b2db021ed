"""The fewest features that give the same clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from sparing.clustering import fewest_agreeing
from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering
from sparing.estimators.sparse_kmeans import SparseKMeans
from sparing.run import Budget
from sparing.search_limits import SEARCH

BOTH = pytest.mark.parametrize("kind", [SparseHierarchicalClustering, SparseKMeans])


def redundant(seed=0, n=40, p=300):
    """Two clusters, seen in a few features and, ever more faintly, in a long tail that says nothing else."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    shifts = 5.0 / np.sqrt(1.0 + np.arange(p) / 10)
    return rng.standard_normal((n, p)) + np.outer(y, shifts), y


def fit(kind, X, **parameters):
    settings = {"n_clusters": 2, "random_state": 0, "n_permutations": 3, "effort": "quick", **parameters}
    return kind(**settings).fit(X)


GRID = np.array([1.2, 2.0, 3.0, 5.0, 8.0])


def search(changes_at, chosen=5.0, budget=None):
    """Clusters that are right from one bound on; every fit is just its bound."""
    solved = []

    def solve(bound):
        solved.append(bound)
        return bound

    def labels(bound):
        return np.arange(12) % 2 if bound >= changes_at else np.arange(12) // 6

    found = fewest_agreeing(GRID, list(GRID), (chosen, chosen), solve, labels, budget or Budget())
    return (*found, solved)


@pytest.mark.parametrize("changes_at", [1.0, 1.1, 1.9, 2.0, 2.5, 4.9, 5.0])
def test_the_smallest_bound_is_found_and_refined(changes_at):
    bound, fitted, agreements, solved = search(changes_at)
    assert fitted == bound
    assert changes_at <= bound <= max(changes_at * 1.06, 1.0)
    np.testing.assert_array_equal(agreements >= SEARCH.same_clusters, changes_at <= GRID)
    assert len(solved) <= 6  # fits of the path are not made again


def test_an_expired_budget_keeps_what_was_chosen():
    budget = Budget()
    budget.interrupt()
    assert search(1.5, budget=budget)[:2] == (5.0, 5.0)


def test_a_quick_fit_that_agrees_by_luck_is_not_believed():
    bounds = np.array([2.0, 3.0])
    right, wrong = np.arange(12) % 2, np.arange(12) // 6
    bound, found, _ = fewest_agreeing(
        bounds, [right, right], (3.0, right), lambda c: right if c >= 2.9 else wrong, lambda fit: fit, Budget()
    )
    assert 2.9 <= bound <= 3.0
    assert found is right


@BOTH
def test_few_features_where_many_say_the_same(kind):
    X, y = redundant()
    auto, fewest = fit(kind, X), fit(kind, X, weight_bound="fewest")
    assert adjusted_rand_score(auto.labels_, fewest.labels_) >= SEARCH.same_clusters
    assert adjusted_rand_score(y, fewest.labels_) >= SEARCH.same_clusters
    assert len(auto.support_) > 100
    assert len(fewest.support_) <= 10
    assert set(fewest.support_) <= set(range(30))
    assert fewest.weight_bound_ < auto.weight_bound_ == fewest.bound_search_.bound
    assert fewest.bound_search_.agreements.shape == fewest.bound_search_.bounds.shape
    assert auto.bound_search_.agreements is None
    again = fit(kind, X, weight_bound=fewest.weight_bound_)
    np.testing.assert_array_equal(again.labels_, fewest.labels_)
    np.testing.assert_array_equal(again.support_, fewest.support_)


@BOTH
def test_many_features_where_no_few_suffice(kind):
    """The control: every feature says a little of its own."""
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 100)) + 1.3 * y[:, None]
    auto, fewest = fit(kind, X), fit(kind, X, weight_bound="fewest")
    assert adjusted_rand_score(auto.labels_, fewest.labels_) >= SEARCH.same_clusters
    assert len(fewest.support_) > 10


@BOTH
def test_what_fewest_needs(kind):
    X, _ = redundant(n=20, p=10)
    with pytest.raises(ValueError, match="n_clusters of at least 2"):
        fit(kind, X, weight_bound="fewest", n_clusters=1)
    with pytest.raises(ValueError, match="were both given"):
        fit(kind, X, weight_bound="fewest", n_features=3)
    with pytest.raises(ValueError, match="'auto' to choose it by permutations, or 'fewest'"):
        fit(kind, X, weight_bound="Fewest")
    assert clone(kind(weight_bound="fewest")).weight_bound == "fewest"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit(kind, X, weight_bound="fewest", time_limit=1e-9)
    assert len(said) == 1
    assert "0 of 3 permutations; the bound in the middle" in str(said[0].message)


def test_a_height_is_no_number_of_clusters():
    X, _ = redundant(n=20, p=10)
    with pytest.raises(ValueError, match="needs their number, but n_clusters=None"):
        fit(SparseHierarchicalClustering, X, weight_bound="fewest", n_clusters=None, distance_threshold=2.0)


def test_with_a_complementary_clustering():
    X, _ = redundant()
    X[:20, 200:206] += 4.0
    fitted = fit(SparseHierarchicalClustering, X, weight_bound="fewest", complementary=True)
    assert fitted.complementary_.weight_bound_ == fitted.weight_bound_
