"""Clusters and weights improve in turn, and each is the best for the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import ndtri
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from sparing import SparseKMeans
from sparing.clustering import best_clusters, cluster_path, means_of, uniform
from sparing.clustering.kmeans import WeightedSamples, alternate_clusters, between, lloyd, seeded, single_clusters
from sparing.data import as_rows
from sparing.data.values import read_table
from sparing.linalg.soft_threshold import l1_l2_maximiser
from sparing.run import Budget

SETTINGS = {"tol": 1e-9, "max_iter": 100, "budget": Budget()}


def read(X, **settings):
    """The table of X; what is sparse stays sparse."""
    return read_table(as_rows(X), dense_entries=0, **settings)


def planted(rng, n=45, p=80, informative=8, shift=2.0):
    y = np.arange(n) % 3
    X = rng.standard_normal((n, p))
    X[:, :informative] += shift * (y - 1.0)[:, None]
    return X, y


def within(Z, labels, k):
    return sum(((Z[labels == c] - Z[labels == c].mean(axis=0)) ** 2).sum() for c in range(k) if (labels == c).any())


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_sums_of_squares_between_clusters_are_what_is_not_within(storage, rng):
    X = rng.standard_normal((20, 7)) * (rng.random((20, 7)) < 0.6)
    labels = rng.integers(0, 3, 20)
    table = read(storage(X))
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    inside = [within(X[:, [j]], labels, 3) for j in range(7)]
    np.testing.assert_allclose(between(table, labels, 3) / table.unit**2, total - inside, atol=1e-12)


def unweighted(Z):
    return WeightedSamples(Z, np.ones(Z.shape[1]))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_used", [3, 6])
def test_weighted_distances_are_those_of_features_times_roots_of_weights(storage, n_used, rng):
    X, w = rng.standard_normal((9, 8)), np.zeros(8)
    w[:n_used] = rng.random(n_used)
    samples = WeightedSamples.of(read(storage(X)), w)
    assert (samples.values.shape[1] == 8) == (n_used == 6)  # many are not copied
    scores, _ = samples.scores(np.vstack([samples.sample(i) for i in range(9)]))
    Z = read(storage(X)).columns(slice(None)) * np.sqrt(w)
    np.testing.assert_allclose(samples.norms()[:, None] + scores, ((Z[:, None] - Z) ** 2).sum(axis=2), atol=1e-12)


def test_lloyd_never_raises_the_loss_and_is_as_good_as_scikit_learn(rng):
    X, _ = planted(rng, shift=1.0)
    Z = X[:, :6]
    samples = unweighted(Z)
    ends = []
    for _ in range(60):
        labels = seeded(samples, 3, rng)
        after = lloyd(samples, labels, 3)
        assert within(Z, after, 3) <= within(Z, labels, 3) + 1e-9
        np.testing.assert_array_equal(lloyd(samples, after, 3), after)
        means, _ = means_of(Z, after, 3)
        np.testing.assert_array_equal(np.argmin(((Z[:, None] - means) ** 2).sum(axis=2), axis=1), after)
        ends.append(within(Z, after, 3))
    assert min(ends) <= KMeans(3, n_init=20, random_state=0).fit(Z).inertia_ * 1.001


def test_empty_clusters_are_filled_and_equal_samples_are_no_trouble(rng):
    Z = rng.standard_normal((12, 2))
    assert len(np.unique(lloyd(unweighted(Z), np.zeros(12, dtype=np.intp), 4))) == 4
    same = unweighted(np.repeat(rng.standard_normal((2, 2)), 5, axis=0))
    assert len(np.unique(lloyd(same, seeded(same, 3, rng), 3))) == 2


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 15),
    p=st.integers(1, 12),
    k=st.integers(2, 3),
    share=st.floats(0, 1),
    integers=st.booleans(),
)
def test_constraints_and_a_criterion_that_never_falls(seed, n, p, k, share, integers):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, p)).astype(float) if integers else rng.standard_normal((n, p))
    table, bound = read(X), 1 + share * (math.sqrt(p) - 1)
    start = rng.integers(0, k, n)
    one = alternate_clusters(table, k, bound, start, **SETTINGS)
    assert np.all(np.diff(one.criteria) > 0)
    assert one.converged
    found = best_clusters(table, k, bound, rng, n_init=2, known=[start], **SETTINGS)
    assert found.criterion >= one.criterion * (1 - 1e-8)
    w = found.weights
    assert w.min() >= 0
    assert np.linalg.norm(w) <= 1 + 1e-12
    assert w.sum() <= bound * (1 + 1e-12)
    a = between(table, found.labels, k)
    assert found.criterion == pytest.approx(a @ w, abs=1e-12)
    np.testing.assert_allclose(w, l1_l2_maximiser(a, bound), atol=1e-12)
    again = lloyd(WeightedSamples.of(table, w), found.labels, k)
    assert l1_l2_maximiser(between(table, again, k), bound) @ between(table, again, k) <= found.criterion * (1 + 1e-8)


def test_planted_clusters_are_found_where_dense_k_means_fails(rng):
    X, y = planted(rng, p=300, shift=1.3)
    table = read(X)
    found = best_clusters(table, 3, 3.0, rng, n_init=6, **SETTINGS)
    dense = KMeans(3, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels) > 0.85
    assert adjusted_rand_score(y, dense.labels_) < 0.6
    assert set(np.argsort(-found.weights)[:8]) == set(range(8))


def test_sparse_storage_gives_the_same_clusters(rng):
    X, _ = planted(rng)
    X *= rng.random(X.shape) < 0.8
    results = [
        best_clusters(read(kind(X)), 3, 3.0, np.random.default_rng(0), n_init=6, **SETTINGS)
        for kind in (np.asarray, sparse.csc_array)
    ]
    np.testing.assert_allclose(results[0].weights, results[1].weights, atol=1e-9)
    assert adjusted_rand_score(results[0].labels, results[1].labels) == 1.0


def test_a_path_rises_with_the_bound_and_is_about_as_good_as_single_fits(rng):
    table = read(planted(rng, shift=0.0)[0])
    bounds = np.array([1.3, 2.5, 5.0, 8.0])
    path = cluster_path(table, 3, bounds, rng, **SETTINGS)
    criteria = [fit.criterion for fit in path]
    assert criteria == sorted(criteria)
    single = [best_clusters(table, 3, bound, rng, n_init=10, **SETTINGS).criterion for bound in bounds]
    assert np.all(np.array(criteria) > 0.9 * np.array(single))


def test_an_expired_budget_returns_what_there_is(rng):
    budget = Budget()
    budget.interrupt()
    table = read(planted(rng)[0])
    found = best_clusters(table, 3, 3.0, rng, n_init=5, tol=0.0, max_iter=100, budget=budget)
    assert not found.converged
    assert found.criterion > 0
    assert found.weights.shape == uniform(80, 3.0).shape


# --- starts ---------------------------------------------------------------------------------------------------------


def normals_of_r(seed, count):
    """``set.seed(seed); rnorm(count)`` of R: its scrambled seed, Mersenne Twister, and inversion of two uniforms."""
    state = [seed]
    for _ in range(50 + 625):
        state.append((69069 * state[-1] + 1) % 2**32)
    twister = np.random.MT19937()
    twister.state = {**twister.state, "state": {"key": np.array(state[-624:], dtype=np.uint32), "pos": 624}}
    u = twister.random_raw(2 * count) * 2.3283064365386963e-10
    return ndtri((np.floor(2**27 * u[0::2]) + u[1::2]) / 2**27)


def example_of_sparcl():
    """That of R's sparcl: ``set.seed(11); x <- matrix(rnorm(50*70), ncol=70); x[1:25,1:20] <- .. + 1; scale(x)``."""
    X = normals_of_r(11, 50 * 70).reshape(70, 50).T
    np.testing.assert_allclose(X[:3, 0], [-0.5910311, 0.02659437, -1.5165531], atol=1e-7)  # as R prints it
    X[:25, :20] += 1
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def criterion_of_sparcl(X, k, bound):
    """What R's sparcl does: k-means in all features, 20 starts, then at most 15 turns with 20 starts each."""
    table, w = read(X), np.full(X.shape[1], X.shape[1] ** -0.5)
    for _ in range(15):
        before = w
        labels = KMeans(k, n_init=20, random_state=0).fit(X * np.sqrt(w)).labels_
        a = between(table, labels, k) / table.unit**2
        w = l1_l2_maximiser(a, bound)
        if np.abs(w - before).sum() <= 1e-4 * np.abs(before).sum():
            break
    return a @ w


def test_default_starts_are_not_below_the_r_package_nor_below_many_starts():
    """On its own example, for bounds of its documentation and tighter ones, and on wine."""
    without = []
    for X, k, bounds in (
        (example_of_sparcl(), 2, (1.2, 1.5, 3.0, 6.0)),
        (scale(load_wine().data), 3, (1.2, 2.0)),
    ):
        table = read(X).around_medians()
        for bound in bounds:
            found = SparseKMeans(k, weight_bound=bound).fit(X).criterion_
            assert found >= criterion_of_sparcl(X, k, bound) * (1 - 1e-6)
            many = best_clusters(table, k, bound, np.random.default_rng(1), n_init=40, **SETTINGS).criterion
            assert found >= 0.999 * many / table.unit**2
            without.append(SparseKMeans(k, weight_bound=bound, n_init=10).fit(X).criterion_ / found)
    assert min(without) < 0.995  # control: ten starts by k-means alone


def test_single_features_divide_as_k_means_in_them_does(rng):
    X = rng.standard_normal((60, 9))
    X[:30, 4] += 6
    table = read(sparse.csr_array(X))
    labels = single_clusters(table, 2, 3)
    assert adjusted_rand_score(labels[0], np.arange(60) < 30) == 1.0  # the feature with two groups comes first
    exact = KMeans(2, n_init=5, random_state=0).fit(X[:, [4]]).labels_
    assert between(table, labels[0], 2)[4] == pytest.approx(between(table, exact, 2)[4])


def medoids(D, k, rng, starts=20):
    """Labels by k-medoids on dissimilarities: assign to the nearest, take the most central; best of several starts."""
    best, cost = np.zeros(len(D), dtype=int), np.inf
    for _ in range(starts):
        centers = rng.choice(len(D), k, replace=False)
        for _ in range(20):
            labels = np.argmin(D[:, centers], axis=1)
            groups = [np.flatnonzero(labels == c) for c in range(k)]
            centers = [group[np.argmin(D[np.ix_(group, group)].sum(axis=0))] for group in groups]
        if D[:, centers].min(axis=1).sum() < cost:
            best, cost = np.argmin(D[:, centers], axis=1), D[:, centers].min(axis=1).sum()
    return best


def test_weighted_dissimilarities_make_k_medoids_sparse(rng):
    """What docs/clustering.md does with a maintained implementation."""
    X, y = planted(rng, p=300, shift=1.3)
    D = SparseKMeans(3, n_features=10, effort="quick").fit(X).dissimilarity(X)
    assert adjusted_rand_score(y, medoids(D, 3, rng)) > 0.8
    assert adjusted_rand_score(y, medoids(cdist(X, X, "sqeuclidean"), 3, rng)) < 0.5  # control: all features
