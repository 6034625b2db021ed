"""Products with D are those of D itself, whatever the difference, the storage and what is missing."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from sparing.clustering import Complement, ElementwiseDissimilarity, SquaredDifferences, absolute_difference
from sparing.clustering.dissimilarity import Dissimilarity
from sparing.data import as_rows
from sparing.data.values import read_table


def read(X, **settings):
    """The table of X; what is sparse stays sparse."""
    return read_table(as_rows(X), dense_entries=0, **settings)


def root_difference(a, b):
    return np.abs(a - b) ** 0.5


KINDS = {
    "squared": (SquaredDifferences, lambda a, b: (a - b) ** 2),
    "absolute": (partial(ElementwiseDissimilarity, function=absolute_difference), lambda a, b: np.abs(a - b)),
    "own": (partial(ElementwiseDissimilarity, function=root_difference), root_difference),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def explicit(X, difference):
    """D, ordered pairs by features, as sparcl has it: 0 where a value is missing, pairs scaled up."""
    d = difference(X[:, None, :], X[None, :, :])
    known = ~np.isnan(d)
    d = np.where(known, d, 0.0) * (X.shape[1] / known.sum(axis=2))[:, :, None]
    return d.reshape(-1, X.shape[1])


def data(rng, missing, n=14, p=9):
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.6) + 0.0
    if missing:
        X[rng.random((n, p)) < 0.15] = np.nan
    return X


def products(kind, X, storage=np.asarray):
    make, difference = KINDS[kind]
    D = make(read(storage(X), missing=True, plain=kind == "own"))
    return D, explicit(X, difference)


def symmetric(rng, n):
    U = rng.standard_normal((n, n))
    U += U.T
    np.fill_diagonal(U, 0.0)
    return U


@kinds
@pytest.mark.parametrize("missing", [False, True], ids=["all known", "missing"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"])
def test_products_are_those_of_the_explicit_matrix(kind, missing, storage, rng):
    X = data(rng, missing)
    D, full = products(kind, X, storage)
    n, p = X.shape
    w = np.maximum(rng.standard_normal(p), 0.0)
    unit = D.in_units_of_x
    M = D.weighted(w)
    np.testing.assert_allclose(M * unit, (full @ w).reshape(n, n), atol=1e-12)
    np.testing.assert_array_equal(M, M.T)
    assert M.min() >= 0
    assert not M.diagonal().any()
    U = symmetric(rng, n)
    np.testing.assert_allclose(D.per_feature(U) * unit, full.T @ U.ravel(), atol=1e-11)
    np.testing.assert_allclose(D.normal(w) * unit**2, full.T @ (full @ w), rtol=1e-10, atol=1e-10)
    if not missing:
        np.testing.assert_allclose(D.sizes() * unit, np.linalg.norm(full, axis=0), rtol=1e-9)


@kinds
def test_a_wrong_factor_would_be_seen(kind, rng):
    """<Dw, u> = <w, D'u>: half of D'u, as unordered pairs would have it, is not."""
    X = data(rng, missing=True)
    D, _ = products(kind, X)
    w, U = rng.random(X.shape[1]), symmetric(rng, len(X))
    assert np.vdot(D.weighted(w), U) == pytest.approx(D.per_feature(U) @ w, rel=1e-10)
    assert np.vdot(D.weighted(w), U) != pytest.approx(D.per_feature(U) @ w / 2, rel=1e-3)


@kinds
@pytest.mark.parametrize("missing", [False, True])
def test_some_features_alone_and_small_blocks(kind, missing, rng):
    X = data(rng, missing)
    D, full = products(kind, X)
    J = np.array([1, 4, 5, 8])
    part, w, U = D.restricted(J), rng.random(4), symmetric(rng, len(X))
    np.testing.assert_allclose(part.weighted(w) * D.in_units_of_x, (full[:, J] @ w).reshape(len(X), -1), atol=1e-12)
    np.testing.assert_allclose(part.per_feature(U), D.per_feature(U)[J], atol=1e-12)
    np.testing.assert_allclose(part.normal(w) * D.in_units_of_x**2, full[:, J].T @ (full[:, J] @ w), rtol=1e-10)
    table, v = read(X, missing=True, plain=kind == "own", block_entries=30), rng.random(9)
    again = KINDS[kind][0](table, **({} if kind == "squared" else {"block_entries": 50}))
    np.testing.assert_allclose(again.weighted(v), D.weighted(v), atol=1e-12)
    np.testing.assert_allclose(again.per_feature(U), D.per_feature(U), atol=1e-12)


@pytest.mark.parametrize("shape", [(30, 20), (6, 200)], ids=["by D'D", "by products"])
def test_the_closed_form_of_the_normal_matrix(shape, rng):
    X = rng.standard_normal(shape) + 100.0
    D = SquaredDifferences(read(X))
    assert D.is_quick == (shape == (30, 20))
    for w in (rng.random(shape[1]), np.eye(shape[1])[3]):
        np.testing.assert_allclose(D.normal(w), Dissimilarity.normal(D, w), rtol=1e-10)


def test_a_large_mean_loses_no_digits(rng):
    X = np.round(rng.standard_normal((10, 5)), 3)
    w = rng.random(5)
    D, far = (SquaredDifferences(read(X + shift)) for shift in (0.0, 2.0**30))
    np.testing.assert_allclose(
        far.weighted(w) * far.in_units_of_x, D.weighted(w) * D.in_units_of_x, rtol=1e-5, atol=1e-5
    )


@kinds
def test_the_complement_is_orthogonal_to_the_first(kind, rng):
    X = data(rng, missing=False)
    D, full = products(kind, X)
    p = X.shape[1]
    first = D.weighted(rng.random(p))
    rest = Complement(D, first)
    u1 = first.ravel() / np.linalg.norm(first)
    left = (full - np.outer(u1, u1 @ full)) / D.in_units_of_x
    w = rng.random(p)
    np.testing.assert_allclose(rest.weighted(w).ravel(), left @ w, atol=1e-12)
    np.testing.assert_allclose(rest.normal(w), left.T @ (left @ w), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rest.per_feature(rest.weighted(w)), left.T @ (left @ w), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rest.sizes(), np.linalg.norm(left, axis=0), rtol=1e-7, atol=1e-7)
    assert abs(np.vdot(rest.weighted(w), first)) < 1e-10
    J = np.array([0, 3, 7])
    np.testing.assert_allclose(rest.restricted(J).normal(w[J]), left[:, J].T @ (left[:, J] @ w[J]), rtol=1e-9)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda a, b: np.abs(a - b).sum(), r"shape \(\) for shapes"),
        (lambda a, b: a - b, r"other numbers for \(a, b\) than for \(b, a\)"),
        (lambda a, b: -np.abs(a - b), "NaN, infinity or negative numbers"),
        (lambda a, b: np.full(np.broadcast(a, b).shape, "x"), "values of type <U1"),
    ],
)
def test_functions_that_are_no_dissimilarity_get_a_sentence(function, sentence, rng):
    table = read(data(rng, missing=False), plain=True)
    with pytest.raises(ValueError, match=sentence):
        ElementwiseDissimilarity(table, function).weighted(np.ones(9))


@kinds
def test_samples_without_a_common_feature_are_as_far_apart_as_others_on_average(kind, rng):
    X = data(rng, missing=False)
    X[0, :5] = X[3, 5:] = np.nan
    D = KINDS[kind][0](read(X, missing=True, plain=kind == "own"))
    with np.errstate(divide="ignore", invalid="ignore"):
        full = explicit(X, KINDS[kind][1])
    n, p = X.shape
    pair = np.isnan(full).any(axis=1)
    assert pair.sum() == 2
    full[pair] = 0.0
    full[pair] = full.sum(axis=0) / (n * (n - 1) - 2)
    w, U = rng.random(p), symmetric(rng, n)
    np.testing.assert_allclose(D.weighted(w) * D.in_units_of_x, (full @ w).reshape(n, n), atol=1e-12)
    np.testing.assert_allclose(D.per_feature(U) * D.in_units_of_x, full.T @ U.ravel(), atol=1e-11)


def test_nothing_in_common_at_all_gets_a_sentence():
    with pytest.raises(ValueError, match="No two samples have a feature for which both values are known"):
        SquaredDifferences(read(np.array([[1.0, np.nan], [np.nan, 2.0]]), missing=True))


@kinds
@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_memory_stays_far_below_pairs_by_features(kind, storage, rng):
    n, p = 150, 600
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.1)
    table = read(storage(X))
    D = KINDS[kind][0](table)
    tracemalloc.start()
    D.normal(np.where(np.arange(p) < 50, 0.1, 0.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (n * n * p) / 8
    assert peak < 20e6
