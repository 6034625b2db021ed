"""What SparseHierarchicalClustering promises."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import dendrogram
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from small_problems import planted_clusters, wide
from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering

X, y = planted_clusters(2.0)


def model(**parameters):
    settings = {"n_clusters": 3, "weight_bound": 3.0, "effort": "quick", "random_state": 0, **parameters}
    return SparseHierarchicalClustering(**settings)


def test_planted_clusters_and_features_are_found_where_dense_clustering_fails():
    fitted = model().fit(X)
    assert adjusted_rand_score(y, fitted.labels_) > 0.9
    assert adjusted_rand_score(y, AgglomerativeClustering(3, linkage="complete").fit_predict(X)) < 0.8
    assert set(np.argsort(-fitted.feature_weights_)[:8]) == set(range(8))
    assert fitted.converged_


def test_auto_recovers_the_planted_features():
    fitted = model(weight_bound="auto", effort="default").fit(X)
    search = fitted.bound_search_
    assert set(range(8)) <= set(fitted.support_)
    assert len(fitted.support_) < 60
    assert adjusted_rand_score(y, fitted.labels_) > 0.9
    assert fitted.weight_bound_ in search.bounds
    assert search.n_permutations == 10
    again = model(weight_bound=fitted.weight_bound_, effort="default").fit(X)
    np.testing.assert_array_equal(again.feature_weights_, fitted.feature_weights_)
    assert not hasattr(again, "bound_search_")


@pytest.mark.parametrize("n_features", [1, 2, 8, 30, 119, 120])
def test_the_number_of_features_is_met_exactly(n_features):
    fitted = model(weight_bound="auto", n_features=n_features).fit(X)
    assert len(fitted.support_) == n_features == fitted.get_support().sum()
    assert fitted.feature_weights_.sum() <= fitted.weight_bound_ * (1 + 1e-12)


def test_features_that_tie_enter_together_with_one_warning():
    doubled = np.repeat(planted_clusters(2.0, p=10)[0], 2, axis=1)
    with pytest.warns(UserWarning, match="n_features=3 was requested, but no bound gives exactly") as caught:
        fitted = model(weight_bound="auto", n_features=3).fit(doubled)
    assert len(caught) == 1
    assert len(fitted.support_) == 2


@pytest.mark.parametrize("linkage", ["complete", "average", "single", "weighted", "ward"])
def test_the_tree_follows_the_conventions_of_scikit_learn(linkage):
    fitted = model(linkage=linkage).fit(X)
    M = fitted.dissimilarity(X)
    distances = np.sqrt(M) if linkage == "ward" else M
    if linkage not in ("weighted", "ward"):
        theirs = AgglomerativeClustering(3, metric="precomputed", linkage=linkage, compute_distances=True)
        theirs.fit(distances)
        np.testing.assert_allclose(np.sort(fitted.distances_), np.sort(theirs.distances_), rtol=1e-9)
        assert adjusted_rand_score(fitted.labels_, theirs.labels_) == 1.0
    if linkage == "ward":
        theirs = AgglomerativeClustering(3, compute_distances=True).fit(X * np.sqrt(fitted.feature_weights_))
        np.testing.assert_allclose(np.sort(fitted.distances_), np.sort(theirs.distances_), rtol=1e-6)
    assert fitted.children_.shape == (44, 2)
    assert fitted.n_leaves_ == 45
    assert fitted.n_connected_components_ == 1
    # scikit-learn's example "plot_dendrogram"
    counts = np.zeros(len(fitted.children_))
    for i, merge in enumerate(fitted.children_):
        counts[i] = sum(1 if child < fitted.n_leaves_ else counts[child - fitted.n_leaves_] for child in merge)
    drawn = dendrogram(np.column_stack([fitted.children_, fitted.distances_, counts]).astype(float), no_plot=True)
    assert sorted(drawn["leaves"]) == list(range(45))
    np.testing.assert_array_equal(fitted.linkage_matrix_[:, 3], counts)


def test_a_threshold_cuts_where_it_says():
    whole = model().fit(X)
    for height in (whole.distances_[-3], whole.distances_[-1] * 1.01, 0.0):
        fitted = model(n_clusters=None, distance_threshold=float(height)).fit(X)
        assert fitted.n_clusters_ == (whole.distances_ >= height).sum() + 1 == len(np.unique(fitted.labels_))


def test_the_dissimilarity_is_the_weighted_sum_and_does_not_depend_on_the_batch():
    fitted = model(scale=True).fit(X)
    Z = X / X.std(axis=0, ddof=1)
    expected = ((Z[:, None] - Z[None]) ** 2) @ fitted.feature_weights_
    M = fitted.dissimilarity(X)
    np.testing.assert_allclose(M, expected, atol=1e-10)
    np.testing.assert_allclose(fitted.criterion_, np.linalg.norm(M), rtol=1e-10)
    np.testing.assert_allclose(fitted.dissimilarity(X[5:9]), M[5:9, 5:9], atol=1e-10)
    assert fitted.dissimilarity(X[:1]).shape == (1, 1)
    squareform(M)  # symmetric, zero diagonal


@pytest.mark.parametrize("difference", ["squared", "absolute", lambda a, b: np.abs(a - b)])
def test_order_unit_and_origin_change_nothing_but_order_and_unit(difference):
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(45), rng.permutation(120)
    plain = model(difference=difference).fit(X)
    moved = model(difference=difference).fit(X[rows][:, columns])
    np.testing.assert_allclose(moved.feature_weights_, plain.feature_weights_[columns], atol=1e-5)
    assert adjusted_rand_score(moved.labels_, plain.labels_[rows]) == 1.0
    for size in (1e-100, 1e100):
        power = 2 if difference == "squared" else 1
        scaled = model(difference=difference).fit(X * size)
        np.testing.assert_allclose(scaled.feature_weights_, plain.feature_weights_, atol=1e-5)
        np.testing.assert_allclose(scaled.distances_ / size**power, plain.distances_, rtol=1e-5)
        np.testing.assert_allclose(scaled.criterion_ / size**power, plain.criterion_, rtol=1e-9)
    shifted = model(difference=difference).fit(X + rng.standard_normal(120) * 10)
    np.testing.assert_allclose(shifted.feature_weights_, plain.feature_weights_, atol=1e-5)


@pytest.mark.parametrize(
    ("difference", "missing", "scale"), [("squared", False, False), ("squared", True, True), ("absolute", True, False)]
)
def test_same_answer_in_every_storage(difference, missing, scale, tmp_path):
    rng = np.random.default_rng(4)
    table = (X * (rng.random(X.shape) < 0.7))[:, :20]
    if missing:
        table[rng.random(table.shape) < 0.03] = np.nan
    settings = {"difference": difference, "scale": scale}
    plain = model(**settings).fit(table)
    mapped = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=table.shape)
    mapped[:] = table
    names = [f"f{j}" for j in range(20)]
    for other in (
        sparse.csr_array(table),
        np.asfortranarray(table),
        mapped,
        pd.DataFrame(table, columns=names),
        pl.DataFrame({name: table[:, j] for j, name in enumerate(names)}),
    ):
        assert_same(model(**settings).fit(other), other, plain, table)
    if difference == "squared" and missing:  # products of sparse values with weights and gaps; the rest is the same
        padded = wide(table)
        stays_sparse = sparse.csr_array(padded)
        assert_same(model(**settings).fit(stays_sparse), stays_sparse, model(**settings).fit(padded), padded)


def assert_same(fitted, other, plain, table):
    np.testing.assert_allclose(fitted.feature_weights_, plain.feature_weights_, atol=1e-6)
    np.testing.assert_allclose(fitted.dissimilarity(other), plain.dissimilarity(table), rtol=1e-4)
    np.testing.assert_array_equal(fitted.labels_, plain.labels_)


def test_missing_values_cost_little_and_pandas_na_is_one():
    rng = np.random.default_rng(5)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.1] = np.nan
    fitted = model().fit(holes)
    assert adjusted_rand_score(y, fitted.labels_) > 0.8
    frame = pd.DataFrame(holes).astype("Float64")
    frame.columns = frame.columns.astype(str)
    np.testing.assert_array_equal(model().fit(frame).labels_, fitted.labels_)


def test_constant_features_get_no_weight():
    padded = np.column_stack([X, np.full(45, 1e6), np.zeros(45), np.full(45, 0.1)])
    for table in (padded, sparse.csr_array(padded)):
        fitted = model(weight_bound=float(np.sqrt(123))).fit(table)
        assert not fitted.feature_weights_[-3:].any()
        assert len(fitted.support_) == 120


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    p=st.integers(1, 9),
    share=st.floats(0, 1),
    integers=st.booleans(),
    linkage=st.sampled_from(["complete", "average", "single", "weighted", "ward"]),
)
def test_invariants_on_small_and_tied_data(seed, n, p, share, integers, linkage):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-1, 2, (n, p)).astype(float) if integers else rng.standard_normal((n, p))
    if np.ptp(Z, axis=0).max() == 0:
        return
    bound, k = 1 + share * (p**0.5 - 1), int(rng.integers(1, n + 1))
    fitted = SparseHierarchicalClustering(k, weight_bound=bound, linkage=linkage, effort="quick").fit(Z)
    w = fitted.feature_weights_
    assert w.min() >= 0
    assert np.linalg.norm(w) <= 1 + 1e-12
    assert w.sum() <= bound * (1 + 1e-12)
    assert len(np.unique(fitted.labels_)) == k
    assert np.all(np.diff(fitted.distances_) >= -1e-9 * max(fitted.distances_.max(), 1e-300))
    assert (w > 0).sum() == len(fitted.support_) >= 1


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_clusters": 0}, "n_clusters=0, but X has 45 samples. Pass an integer between 1 and 45"),
        ({"n_clusters": 46}, "n_clusters=46, but X has 45 samples"),
        ({"n_clusters": 2.0}, "n_clusters=2.0, but X has 45"),
        ({"n_clusters": None}, "exactly one of them must be given"),
        ({"distance_threshold": 1.0}, "exactly one of them must be given"),
        ({"n_clusters": None, "distance_threshold": -1.0}, "distance_threshold=-1.0 must be a number of at least 0"),
        ({"weight_bound": 0.9}, r"weight_bound=0.9 must be a number between 1 .one feature. and sqrt.n_features. = 10"),
        ({"weight_bound": 11.0}, "weight_bound=11.0 must be"),
        ({"weight_bound": True}, "weight_bound=True must be"),
        ({"weight_bound": "best"}, "weight_bound='best' must be"),
        ({"n_features": 5}, "were both given"),
        ({"weight_bound": "auto", "n_features": 121}, "n_features=121, but X has 120 features that are not constant"),
        ({"weight_bound": "auto", "n_features": 0.5}, "n_features=0.5, but X has 120"),
        ({"linkage": "centroid"}, "linkage='centroid' is not known"),
        ({"difference": "cosine"}, "difference='cosine' is not known"),
        ({"difference": "absolute", "linkage": "ward"}, "linkage='ward' joins clusters by their centroids"),
        ({"complementary": 1}, "complementary=1 must be True or False"),
        ({"scale": "yes"}, "scale='yes' must be True or False"),
        ({"tol": -1}, "tol=-1 must be a number of at least 0"),
        ({"max_iter": 0}, "max_iter=0 must be at least 1"),
        ({"n_permutations": 0}, "n_permutations=0 must be at least 1"),
        ({"time_limit": 0}, "time_limit=0 must be a positive"),
        ({"random_state": "a"}, "random_state='a' is neither"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        model(**parameters).fit(X)


def test_bad_data_get_a_sentence():
    with pytest.raises(ValueError, match="every feature is constant"):
        model().fit(np.ones((5, 9)))
    with pytest.raises(ValueError, match="n_samples=1"):
        model().fit(X[:1])
    broken = pd.DataFrame(X, columns=[f"gene {j}" for j in range(120)])
    broken.iloc[3, 7] = np.inf
    with pytest.raises(ValueError, match=r"contains infinity .first at row 3, feature 'gene 7'"):
        model().fit(broken)


def test_too_few_turns_or_too_little_time_give_one_warning():
    with pytest.warns(UserWarning, match="After 2 iterations the feature weights still changed") as caught:
        fitted = model(max_iter=2).fit(X)
    assert len(caught) == 1
    assert not fitted.converged_
    with pytest.warns(UserWarning, match="time_limit ended the search for weight_bound after") as caught:
        fitted = model(weight_bound="auto", time_limit=1e-9).fit(X)
    assert len(caught) == 1
    assert len(fitted.labels_) == 45


def test_names_clones_pickles_seeds_and_progress(capsys):
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(120)])
    fitted = model(weight_bound="auto", n_permutations=2, verbose=True).fit(frame)
    assert "[sparing] weight_bound: permutation 2 of 2" in capsys.readouterr().out
    assert list(fitted.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.dissimilarity(frame.rename(columns={"gene 0": "other"}))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.dissimilarity(frame), fitted.dissimilarity(frame))
    assert clone(fitted).get_params() == fitted.get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = model(weight_bound="auto", n_permutations=2).fit(X)
    np.testing.assert_array_equal(other.feature_weights_, fitted.feature_weights_)
