"""Odd data, functions and settings: an answer that is right, or a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from small_problems import wide
from sparing.clustering import SquaredDifferences, alternate, uniform
from sparing.data import as_rows
from sparing.data.values import read_table
from sparing.errors import SparingWarning
from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering
from sparing.estimators.sparse_kmeans import SparseKMeans
from sparing.run import Budget

BOTH = pytest.mark.parametrize("kind", [SparseHierarchicalClustering, SparseKMeans])
BIG = 10**400


@pytest.fixture
def X(rng):
    X = rng.standard_normal((20, 6))
    X[:10, :2] += 5.0
    return X


def own(function, X, **parameters):
    return SparseHierarchicalClustering(2, **{"weight_bound": 1.5, "difference": function, **parameters}).fit(X)


def ratio(a, b):
    """Made for positive numbers."""
    return np.abs(np.log(a) - np.log(b))


@BOTH
@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array])
def test_scaled_features_of_very_different_size(kind, storage, X):
    sizes = np.array([1.0, 1e-170, 1e100, 1e-100, 1.0, 1e30])
    settings = {"scale": True, "weight_bound": 1.5, "effort": "quick", "random_state": 0}
    made = wide if storage is sparse.csc_array else np.asarray
    wanted = kind(2, **settings).fit(made(X))
    found = kind(2, **settings).fit(storage(made(X * sizes)))
    np.testing.assert_allclose(found.feature_weights_, wanted.feature_weights_, atol=1e-6)
    np.testing.assert_array_equal(found.labels_, wanted.labels_)


@pytest.mark.parametrize(
    "model",
    [
        SparseKMeans(3, weight_bound=2.0, scale=True, n_init=2, random_state=0, effort="quick"),
        SparseHierarchicalClustering(3, weight_bound=2.0, scale=True, difference="absolute", effort="quick"),
    ],
)
def test_rounding_does_not_choose_where_to_start(model):
    """Scaled features have equal variances: in another unit these differ in their last digits."""
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((15, 30))
        wanted = clone(model).fit(X)
        found = clone(model).fit(X * 3.0)
        assert found.criterion_ == pytest.approx(wanted.criterion_, rel=1e-9)


@BOTH
def test_rounding_is_not_scaled_up_to_a_feature(kind, X):
    noise = np.where(np.arange(20) % 2, 0.1 + 0.2, 0.3)
    settings = {"scale": True, "weight_bound": 2.0, "random_state": 0}
    fitted = kind(2, **settings).fit(np.c_[X, noise])
    assert 6 not in fitted.support_
    assert fitted.scale_[6] == 1.0
    real = kind(2, **settings).fit(np.c_[X, 0.3 + 1e-9 * (np.arange(20) < 10)])  # the control
    assert real.scale_[6] < 1e-8


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_flaws_are_named(storage, value, X):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.iloc[7, 3] = value
    what = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"contains {what} .first at row 7, feature 'd'.*SparseHierarchicalClust"):
        SparseKMeans(2).fit(frame)
    table = storage(frame.to_numpy())
    if np.isnan(value):
        assert np.isfinite(
            SparseHierarchicalClustering(2, weight_bound=2.0, effort="quick").fit(table).distances_
        ).all()
    else:
        with pytest.raises(ValueError, match=r"infinity .first at row 7, feature 3.*by the features that both"):
            SparseHierarchicalClustering(2).fit(table)


@BOTH
@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array])
def test_constant_data_get_a_sentence(kind, storage):
    with pytest.raises(ValueError, match="every feature is constant"):
        kind(2).fit(storage(np.ones((5, 3))))


@BOTH
@pytest.mark.parametrize("name", ["weight_bound", "tol"])
def test_integers_beyond_all_floats(kind, name, X):
    with pytest.raises(ValueError, match=f"{name}=1000"):
        kind(2, **{name: BIG}).fit(X)


@pytest.mark.parametrize("name", ["linkage", "difference"])
def test_an_array_is_no_name(name, X):
    with pytest.raises(ValueError, match="is not known"):
        SparseHierarchicalClustering(2, **{name: np.array(["ward", "squared"])}).fit(X)


def test_a_function_made_for_positive_numbers_sees_no_zero(X):
    P = np.abs(X) + 0.1
    P[:, 3] = 5.0
    holes = P.copy()
    holes[4, 0] = holes[7, 5] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 3 not in own(ratio, P).support_
        fitted = own(ratio, holes)
    by_hand = SparseHierarchicalClustering(2, weight_bound=1.5, difference="absolute").fit(np.log(holes))
    np.testing.assert_allclose(fitted.feature_weights_, by_hand.feature_weights_, atol=1e-6)
    np.testing.assert_allclose(fitted.dissimilarity(holes), by_hand.dissimilarity(np.log(holes)), rtol=1e-6)


def test_a_constant_feature_has_no_weight_even_where_equal_values_differ(X):
    X[:, 0] = 5.0
    assert own(lambda a, b: np.abs(a - b) + 1.0, X, weight_bound=2.4).feature_weights_[0] == 0.0


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda a, b: np.squeeze(np.abs(a - b)), "shape"),
        (lambda a, b: np.abs(a - b) * 1e200, "numbers above 1e"),
        (lambda a, b: 0.0 * np.abs(a - b), "returned 0, or numbers whose squares vanish"),
        (lambda a, b: np.abs(a - b) * 1e-200, "returned 0, or numbers whose squares vanish"),
        (lambda a, b: np.maximum(a - b, 0.0), "other numbers for"),
    ],
)
def test_functions_that_are_no_dissimilarity(function, what, X):
    X[:, 0] = 5.0  # a constant feature shows nothing
    with pytest.raises(ValueError, match=f"function passed as difference.*{what}"):
        own(function, X)


def test_a_function_may_return_a_list_and_not_write_to_its_arguments(X):
    wanted = own(lambda a, b: np.abs(a - b), X)
    listed = own(lambda a, b: np.abs(a - b).tolist(), X)
    np.testing.assert_array_equal(listed.feature_weights_, wanted.feature_weights_)
    with pytest.raises(ValueError, match="read-only"):
        own(lambda a, b: np.abs(np.multiply(a, 2.0, out=a) - b), X)


@pytest.mark.parametrize("far", [1e4, 1e7, 1e9])
def test_an_outlier_does_not_make_others_equal(far, rng):
    X, y = rng.standard_normal((60, 10)), np.repeat([0, 1, 2], [30, 29, 1])
    X[:30, :4] += 6.0
    X[59, :4] = far
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = SparseKMeans(3, weight_bound=2.0, random_state=0).fit(X)
    assert adjusted_rand_score(y, fitted.labels_) == 1.0
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_allclose(fitted.cluster_centers_[0], X[:30].mean(axis=0), rtol=1e-6)


def test_new_samples_near_zero_have_a_cluster(X):
    fitted = SparseKMeans(2, weight_bound=1.5, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.predict(np.full((1, 6), 1e-200)), fitted.predict(np.zeros((1, 6))))
    with pytest.raises(ValueError, match="Change the unit"):
        fitted.predict(np.full((1, 6), 1e200))


def test_one_new_sample_with_a_missing_value(X):
    fitted = SparseHierarchicalClustering(2, weight_bound=1.5).fit(X)
    X[0, 0] = np.nan
    np.testing.assert_array_equal(fitted.dissimilarity(X[:1]), [[0.0]])


def test_without_a_tolerance_rounding_ends_the_alternation():
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((20, 6))
        X[:10, :2] += 5.0
        fitted = SparseHierarchicalClustering(2, weight_bound=1.5, tol=0).fit(X)
        assert fitted.converged_


@BOTH
def test_after_a_fit_that_failed_a_model_is_not_fitted(kind, X):
    model = kind(2, weight_bound=99.0)
    with pytest.raises(ValueError, match="weight_bound=99"):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.dissimilarity(X)
    if kind is SparseKMeans:
        with pytest.raises(NotFittedError):
            model.predict(X)


def test_there_is_a_first_turn_however_short_the_time(X):
    budget = Budget()
    budget.interrupt()
    D = SquaredDifferences(read_table(as_rows(X)))
    found = alternate(D, 1.0, uniform(6, 1.0), tol=1e-6, max_iter=100, budget=budget)
    assert found.n_used == 1
    assert np.isfinite(found.change)
    with pytest.warns(SparingWarning, match="a larger time_limit lets them converge"):
        fitted = SparseHierarchicalClustering(2, n_features=3, time_limit=1e-9).fit(X)
    assert len(fitted.support_) == 3


@BOTH
def test_auto_may_use_both_of_two_features(kind, rng):
    y = np.arange(60) % 4
    X = rng.standard_normal((60, 2)) * 0.5 + 6.0 * np.c_[y % 2, y // 2]
    fitted = kind(4, n_permutations=3, random_state=0).fit(X)
    assert adjusted_rand_score(y, fitted.labels_) == 1.0
