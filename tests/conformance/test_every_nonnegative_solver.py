"""The laws of every nonnegative solver."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import datasets

from laws import Unformed, assert_cites, assert_one_verb
from small_problems import nonnegative_optimum
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DataMatrix, DenseGram, LowRankUpdate
from sparing.linalg.metric import NearIdentity
from sparing.methods.solvers import NONNEGATIVE_SOLVERS
from sparing.run import Budget, Run
from sparing.task import Task

solvers = pytest.mark.parametrize("solver", NONNEGATIVE_SOLVERS.values(), ids=NONNEGATIVE_SOLVERS.keys())

DRAWN = {"em", "nspca", "spannogram_net"}
"""Solvers whose starts are drawn: the same seed on features in another order is another start."""

DETERMINISTIC = {name: solver for name, solver in NONNEGATIVE_SOLVERS.items() if name not in DRAWN}
deterministic = pytest.mark.parametrize("solver", DETERMINISTIC.values(), ids=DETERMINISTIC.keys())


def solve(solver, view, r, *, seed=0, budget=None, **given):
    if not isinstance(view, DataMatrix):
        view = DenseGram(np.asarray(view, dtype=float))
    config = solver() if isinstance(solver, type) else solver
    return config.solve(Task.of_component(view, r, **given), Run(np.random.default_rng(seed), budget or Budget()))


def assert_lawful(found, A, r, M=None):
    """At most r features, sorted, positive, of unit norm, and the variance is that of the loadings."""
    assert 1 <= len(found.support) <= r
    assert np.all(np.diff(found.support) > 0)
    assert np.all(found.loadings > 0)
    x = found.vector(len(A))
    assert np.linalg.norm(x) == pytest.approx(1.0, rel=1e-12)
    expected = x @ A @ x / (1.0 if M is None else x @ M @ x)
    assert found.variance == pytest.approx(expected, rel=1e-8, abs=1e-12 * np.abs(A).max())


def covariance(rng, n=40, d=12):
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return np.cov(X, rowvar=False)


@solvers
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 7), integers=st.booleans(), refit=st.booleans())
def test_lawful_and_never_above_the_optimum(solver, seed, r, integers, refit):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (9, 7)).astype(float) if integers else rng.standard_normal((9, 7))
    X[0, 0] += 2.0
    A = X.T @ X
    has_refit = "refit" in {field.name for field in dataclasses.fields(solver)}
    found = solve(solver(refit=refit) if has_refit else solver, A, r)
    assert_lawful(found, A, r)
    assert found.variance <= nonnegative_optimum(A, r) * (1 + 1e-9)
    assert np.all(np.diagonal(A)[found.support] > 0)


@solvers
@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 6), m=st.integers(1, 2), weight=st.sampled_from([-1.0, -0.5, 9.0]))
def test_metrics_enter_the_quotient(solver, seed, r, m, weight):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 6))
    A, W = X.T @ X, np.linalg.qr(rng.standard_normal((6, m)))[0]
    metric = NearIdentity(W, np.full(m, weight))
    if weight == -1.0:  # as generalized deflation has it: what of A lies outside the span of W
        outside = np.eye(6) - W @ W.T
        A = outside @ A @ outside
    assert_lawful(solve(solver, A, r, metric=metric), A, r, metric.block(np.arange(6)))


@solvers
def test_powers_of_two(solver, rng):
    X = rng.standard_normal((40, 12)) @ rng.standard_normal((12, 12))
    plain, large = (solve(solver, as_view(Z), 5) for Z in (X, X * 2.0**30))
    np.testing.assert_array_equal(large.support, plain.support)
    np.testing.assert_allclose(large.loadings, plain.loadings, rtol=1e-12)


@deterministic
def test_permutations(solver, rng):
    A, order = covariance(rng), rng.permutation(12)
    for r in (1, 4, 7):
        plain, moved = solve(solver, A, r), solve(solver, A[np.ix_(order, order)], r)
        assert {int(order[j]) for j in moved.support} == set(plain.support.tolist())
        assert moved.variance == pytest.approx(plain.variance, rel=1e-9)


def test_signs_of_features_matter(rng):
    """A feature that only opposes the others is of no use until it is turned around."""
    A = np.array([[2.0, 1.0, -0.9], [1.0, 2.0, -0.9], [-0.9, -0.9, 1.0]])
    rotation = np.array([1.0, 1.0, -1.0])
    for solver in NONNEGATIVE_SOLVERS.values():
        assert solve(solver, A, 3).support.tolist() == [0, 1]
        assert solve(solver, rotation[:, None] * A * rotation, 3).support.tolist() == [0, 1, 2]


@solvers
def test_a_seed_gives_one_answer(solver, rng):
    A = covariance(rng)
    first, again = solve(solver, A, 5, seed=3), solve(solver, A, 5, seed=3)
    np.testing.assert_array_equal(first.vector(12), again.vector(12))


@solvers
@pytest.mark.parametrize("r", [1, 2, 5])
def test_ties(solver, r):
    """Any r features are best for equal correlations, any single one for none at all or where all oppose each other."""
    assert solve(solver, np.eye(6), r).variance == pytest.approx(1.0)
    for rho in (0.5, 1e-3):
        A = np.full((6, 6), rho) + (1 - rho) * np.eye(6)
        found = solve(solver, A, r)
        assert_lawful(found, A, r)
        assert found.variance == pytest.approx(1 + (r - 1) * rho)
    opposed = 1.2 * np.eye(6) - 0.2
    assert solve(solver, opposed, r).variance == pytest.approx(1.0)
    blocks = np.kron(np.eye(3), [[1.0, 0.5], [0.5, 1.0]])
    assert_lawful(solve(solver, blocks, r), blocks, r)


@solvers
@pytest.mark.parametrize("r", [1, 3, 8])
def test_zero_and_repeated_columns(solver, rng, r):
    X = rng.standard_normal((20, 8))
    X[:, 1], X[:, 4] = 0.0, 3.0
    X[:, 5] = X[:, 6] = X[:, 2]
    view = as_view(X)
    found = solve(solver, view, r)
    assert_lawful(found, view.gram(), r)
    assert not {1, 4} & set(found.support.tolist())


@solvers
@pytest.mark.parametrize("r", [1, 3, 8])
def test_rank_one_data_keep_the_largest_entries_of_one_sign(solver, rng, r):
    v = rng.standard_normal(8)
    best = max(np.sort(np.maximum(w, 0) ** 2)[-r:].sum() for w in (v, -v))
    assert solve(solver, np.outer(v, v), r).variance == pytest.approx(best)


@solvers
def test_same_answer_in_every_storage(solver, rng):
    X = np.abs(rng.standard_normal((50, 15))) * (rng.random((50, 15)) < 0.5) * (1 + 2 * rng.random(15))
    X[:, :4] += 2 * X[:, 4:5]
    centred = X - X.mean(axis=0)
    views = [as_view(Z) for Z in (X, sparse.csc_array(X), np.asfortranarray(X))]
    views.append(as_view(centred.T @ centred, Preprocessing(precomputed=True)))
    plain, *others = (solve(solver, view, 5) for view in views)
    for view, other in zip(views[1:], others, strict=True):
        np.testing.assert_array_equal(other.support, plain.support)
        np.testing.assert_allclose(other.loadings, plain.loadings, atol=1e-6)
        assert other.variance * view.square_unit == pytest.approx(plain.variance * views[0].square_unit, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in NONNEGATIVE_SOLVERS if name != "spannogram"])
def test_nothing_of_the_size_of_the_covariance_is_formed(name, rng):
    A = covariance(rng, 80, 1100)
    assert_lawful(solve(NONNEGATIVE_SOLVERS[name], Unformed(A, most=600), 6), A, 6)


@solvers
@pytest.mark.parametrize("r", [1, 3, 10])
def test_matrices_that_no_data_have(solver, rng, r):
    """Hotelling's deflation of a direction that is no eigenvector leaves negative eigenvalues."""
    A, w = covariance(rng, d=10), np.eye(10, 1)
    A = A / np.trace(A)
    adjusted = LowRankUpdate(DenseGram(A), w, np.array([[-3 * A[0, 0]]]), is_psd=False)
    lower = A - 3 * A[0, 0] * w @ w.T
    found = solve(solver, adjusted, r)
    assert_lawful(found, lower, r)
    assert found.variance <= nonnegative_optimum(lower, r) * (1 + 1e-9)


@solvers
def test_an_expired_budget_still_has_an_answer(solver, rng):
    A = covariance(rng)
    assert_lawful(solve(solver, A, 4, budget=Budget(deadline=0.0)), A, 4)


@solvers
def test_starts_are_taken(solver, rng):
    A = covariance(rng)
    assert_lawful(solve(solver, A, 4, start=rng.standard_normal((12, 2))), A, 4)
    assert_lawful(solve(solver, A, 4, start=-np.eye(12, 1)), A, 4)


PROBLEMS = {
    "wine": (lambda: datasets.load_wine().data, {"scale": True}),
    "breast_cancer": (lambda: datasets.load_breast_cancer().data, {"scale": True}),
    "pitprops": (lambda: load_pitprops().correlation, {"precomputed": True}),
    "digits": (lambda: datasets.load_digits().data, {}),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_auto_is_at_least_as_good_as_any_other(problem):
    load, preprocessing = PROBLEMS[problem]
    view = DenseGram(as_view(load(), Preprocessing(**preprocessing)).gram())
    for r in (2, 8):
        best = solve(NONNEGATIVE_SOLVERS["auto"], view, r).variance
        for name in ("em", "nspca", "spannogram_net"):
            assert solve(NONNEGATIVE_SOLVERS[name], view, r).variance <= best * (1 + 1e-9), (name, r)


@solvers
def test_cites_its_paper_in_code_and_in_prose(solver):
    assert_cites(solver)


@solvers
def test_has_one_verb_and_frozen_settings(solver):
    assert_one_verb(solver, "solve")
