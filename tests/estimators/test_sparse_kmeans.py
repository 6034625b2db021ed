"""What SparseKMeans promises."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from small_problems import planted_clusters, wide
from sparing.effort import EFFORTS
from sparing.estimators.sparse_kmeans import SparseKMeans

X, y = planted_clusters(1.6)


def model(**parameters):
    return SparseKMeans(**{"n_clusters": 3, "weight_bound": 3.0, "random_state": 0, "effort": "quick", **parameters})


def test_planted_clusters_and_features_are_found():
    fitted = model().fit(X)
    assert adjusted_rand_score(y, fitted.labels_) > 0.9
    assert adjusted_rand_score(y, KMeans(3, n_init=10, random_state=0).fit_predict(X)) < 0.9
    assert set(np.argsort(-fitted.feature_weights_)[:8]) == set(range(8))
    assert fitted.converged_


def test_auto_recovers_the_planted_features():
    fitted = model(weight_bound="auto", n_permutations=5).fit(X)
    assert set(range(8)) <= set(fitted.support_)
    assert adjusted_rand_score(y, fitted.labels_) > 0.9
    assert fitted.weight_bound_ < 0.8 * np.sqrt(120)
    assert fitted.bound_search_.n_permutations == 5
    again = model(weight_bound=fitted.weight_bound_).fit(X)
    np.testing.assert_array_equal(again.feature_weights_, fitted.feature_weights_)


@pytest.mark.parametrize("n_features", [1, 2, 8, 120])
def test_the_number_of_features_is_met_exactly(n_features):
    fitted = model(weight_bound="auto", n_features=n_features).fit(X)
    assert len(fitted.support_) == n_features


@pytest.mark.parametrize("scale", [False, True])
def test_what_is_learned_is_consistent(scale):
    fitted = model(scale=scale).fit(X)
    Z, w = X / fitted.scale_, fitted.feature_weights_
    centers = np.array([Z[fitted.labels_ == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(fitted.cluster_centers_, centers * fitted.scale_, atol=1e-12)
    total = ((Z - Z.mean(axis=0)) ** 2).sum(axis=0)
    within = ((Z - centers[fitted.labels_]) ** 2).sum(axis=0)
    np.testing.assert_allclose(fitted.criterion_, (total - within) @ w)
    np.testing.assert_allclose(fitted.inertia_, within @ w)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    distances = np.sqrt((((Z[:, None] - centers) ** 2) * w).sum(axis=2))
    np.testing.assert_allclose(fitted.transform(X), distances, atol=1e-10)
    np.testing.assert_allclose(fitted.dissimilarity(X), ((Z[:, None] - Z[None]) ** 2) @ w, atol=1e-9)
    assert fitted.labels_[0] == 0  # numbered as they appear


def test_new_samples_read_only_the_features_used_and_do_not_depend_on_the_batch():
    fitted = model(weight_bound="auto", n_features=8).fit(X)
    new, _ = planted_clusters(1.6, seed=1)
    Z = fitted.transform(new)
    np.testing.assert_allclose(np.vstack([fitted.transform(new[:1]), fitted.transform(new[1:])]), Z, atol=1e-12)
    changed = new.copy()
    changed[:, ~fitted.get_support()] += 100.0
    np.testing.assert_array_equal(fitted.transform(changed), Z)
    assert adjusted_rand_score(fitted.predict(new), y) > 0.7
    assert fitted.transform(new.astype(np.float32)).dtype == np.float32


def test_order_unit_and_origin_change_nothing_but_order_and_unit():
    rng = np.random.default_rng(3)
    plain = model().fit(X)
    for size in (1e-100, 1e100):
        scaled = model().fit(X * size)
        np.testing.assert_array_equal(scaled.labels_, plain.labels_)
        np.testing.assert_allclose(scaled.feature_weights_, plain.feature_weights_, atol=1e-9)
        np.testing.assert_allclose(scaled.criterion_ / size**2, plain.criterion_, rtol=1e-9)
        np.testing.assert_allclose(scaled.inertia_ / size**2, plain.inertia_, rtol=1e-9)
        np.testing.assert_allclose(scaled.transform(X * size) / size, plain.transform(X), rtol=1e-9)
    shifted = model().fit(X + 10 * rng.standard_normal(120))
    np.testing.assert_array_equal(shifted.labels_, plain.labels_)
    rows, columns = rng.permutation(45), rng.permutation(120)
    moved = model(n_init=10).fit(X[rows][:, columns])
    assert adjusted_rand_score(moved.labels_, plain.labels_[rows]) == 1.0
    np.testing.assert_allclose(moved.feature_weights_, plain.feature_weights_[columns], atol=1e-9)


def test_same_answer_in_every_storage(tmp_path):
    table = X * (np.random.default_rng(4).random(X.shape) < 0.8)
    mapped = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=table.shape)
    mapped[:] = table
    plain = model(n_init=10).fit(table)
    for other in (sparse.csr_array(table), sparse.csc_matrix(table), np.asfortranarray(table), mapped, table.tolist()):
        assert_same(model(n_init=10).fit(other), other, plain, table)
    padded = wide(table)
    stays_sparse = sparse.csr_array(padded)
    assert_same(model(n_init=3).fit(stays_sparse), stays_sparse, model(n_init=3).fit(padded), padded)


def assert_same(fitted, other, plain, table):
    np.testing.assert_array_equal(fitted.labels_, plain.labels_)
    np.testing.assert_allclose(fitted.feature_weights_, plain.feature_weights_, atol=1e-9)
    np.testing.assert_allclose(fitted.cluster_centers_, plain.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(fitted.transform(other), plain.transform(table), atol=1e-9)


def test_constant_features_get_no_weight():
    padded = np.column_stack([X, np.full(45, 1e6), np.zeros(45)])
    for table in (padded, sparse.csr_array(padded)):
        fitted = model(weight_bound=float(np.sqrt(122))).fit(table)
        assert not fitted.feature_weights_[-2:].any()
        np.testing.assert_array_equal(fitted.predict(table), fitted.labels_)


def test_fewer_different_samples_than_clusters_give_fewer_with_one_warning():
    few = np.repeat(np.random.default_rng(0).standard_normal((2, 4)), 5, axis=0)
    with pytest.warns(UserWarning, match="n_clusters=3 was requested, but the features used separate only 2") as caught:
        fitted = model(weight_bound=1.5).fit(few)
    assert len(caught) == 1
    assert fitted.cluster_centers_.shape == (2, 4)
    np.testing.assert_array_equal(fitted.predict(few), fitted.labels_)


def test_one_cluster_separates_nothing():
    fitted = model(n_clusters=1).fit(X)
    assert not fitted.labels_.any()
    assert not fitted.feature_weights_.any()
    assert fitted.criterion_ == fitted.inertia_ == 0


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 12),
    p=st.integers(1, 9),
    share=st.floats(0, 1),
    integers=st.booleans(),
    scale=st.booleans(),
)
def test_invariants_on_small_and_tied_data(seed, n, p, share, integers, scale):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-1, 2, (n, p)).astype(float) if integers else rng.standard_normal((n, p))
    if np.ptp(Z, axis=0).max() == 0:
        return
    bound = 1 + share * (p**0.5 - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = SparseKMeans(3, weight_bound=bound, n_init=2, scale=scale, random_state=0, effort="quick").fit(Z)
    w = fitted.feature_weights_
    assert w.min() >= 0
    assert np.linalg.norm(w) <= 1 + 1e-12
    assert w.sum() <= bound * (1 + 1e-12)
    distances = fitted.transform(Z)
    own = distances[np.arange(n), fitted.labels_]
    assert np.all(own <= distances.min(axis=1) + 1e-6)
    np.testing.assert_allclose((own**2).sum(), fitted.inertia_, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_clusters": 0}, "n_clusters=0, but X has 45 samples. Pass an integer between 1 and 45"),
        ({"n_clusters": 46}, "n_clusters=46, but X has 45 samples"),
        ({"weight_bound": 0.9}, "weight_bound=0.9 must be a number between 1"),
        ({"n_features": 5}, "were both given"),
        ({"n_init": 0}, "n_init=0 must be at least 1"),
        ({"tol": "small"}, "tol='small' must be a number"),
        ({"scale": 1}, "scale=1 must be True or False"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        model(**parameters).fit(X)


def test_missing_values_get_a_sentence():
    holes = X.copy()
    holes[2, 5] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN .first at row 2, feature 5.*SparseHierarchicalClustering"):
        model().fit(holes)
    with pytest.raises(ValueError, match="contains NaN"):
        model().fit(X).predict(holes)


def test_too_few_turns_give_one_warning():
    hard, _ = planted_clusters(0.0)
    with pytest.warns(UserWarning, match="After 1 iterations samples still changed clusters") as caught:
        fitted = model(max_iter=1, n_init=1).fit(hard)
    assert len(caught) == 1
    assert not fitted.converged_


def test_frames_pipelines_clones_pickles_and_seeds():
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(120)])
    fitted = model().set_output(transform="pandas").fit(frame)
    assert list(fitted.transform(frame).columns) == ["sparsekmeans0", "sparsekmeans1", "sparsekmeans2"]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(frame), fitted.labels_)
    assert clone(fitted).get_params() == fitted.get_params()
    piped = make_pipeline(StandardScaler(), model()).fit(X)
    assert piped.predict(X).shape == (45,)
    np.testing.assert_array_equal(model().fit(X).labels_, fitted.labels_)


def test_more_effort_finds_better_clusters(rng):
    """Noise without clusters has many local optima: more starts end in better ones."""
    X = rng.standard_normal((60, 30))
    found = [SparseKMeans(6, weight_bound=2.0, effort=effort, random_state=0).fit(X) for effort in EFFORTS]
    quick, default, thorough = (each.criterion_ for each in found)
    assert quick < default < thorough
    assert SparseKMeans(6, weight_bound=2.0, n_init=10, random_state=0).fit(X).criterion_ == default
