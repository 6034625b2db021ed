"""The laws of every solver, of loadings of any sign and of nonnegative ones."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn import datasets

from laws import Unformed, assert_cites, assert_one_verb
from small_problems import nonnegative_optimum, solved_by
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram, LowRankUpdate
from sparing.linalg.metric import NearIdentity
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, SOLVERS
from sparing.run import Budget

NONNEGATIVE = tuple(NONNEGATIVE_SOLVERS.values())
ALL = {**SOLVERS, **{f"nonnegative {name}": solver for name, solver in NONNEGATIVE_SOLVERS.items()}}

DRAWN = {"rounding", "nonnegative em", "nonnegative nspca", "nonnegative spannogram_net"}
"""Solvers whose draws belong to places: the same seed on features in another order is another choice."""

WHOLE = {"exact", "semidefinite", "nonnegative spannogram"}
"""Solvers that say how many features they take, because they work on A as a whole."""


def each(names):
    return pytest.mark.parametrize("solver", [ALL[name] for name in names], ids=list(names))


solvers = each(ALL)
light = each([name for name in ALL if name not in WHOLE])
deterministic = each([name for name in ALL if name not in DRAWN])


def solve(solver, view, r, **given):
    return solved_by(solver() if isinstance(solver, type) else solver, view, r, **given)


def assert_lawful(solver, found, A, r, M=None):
    """At most r features, sorted, unit norm, the sign of the solver, and the variance is that of the loadings."""
    assert 1 <= len(found.support) <= r
    assert np.all(np.diff(found.support) > 0)
    assert np.all(found.loadings > 0 if solver in NONNEGATIVE else found.loadings != 0)
    x = found.vector(len(A))
    assert np.linalg.norm(x) == pytest.approx(1.0, rel=1e-12)
    expected = x @ A @ x / (1.0 if M is None else x @ M @ x)
    rounding = 1e-8 if solver in NONNEGATIVE else 1e-9
    assert found.variance == pytest.approx(expected, rel=rounding, abs=1e-12 * np.abs(A).max())


def optimum(solver, A, r, M=None):
    """By brute force."""
    if solver in NONNEGATIVE:
        return nonnegative_optimum(A, r)
    M = np.eye(len(A)) if M is None else M
    blocks = (np.ix_(S, S) for S in map(list, combinations(range(len(A)), r)))
    return max(float(linalg.eigh(A[S], M[S], eigvals_only=True)[-1]) for S in blocks)


def covariance(rng, n=40, d=12):
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return np.cov(X, rowvar=False)


@solvers
@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 7), integers=st.booleans(), refit=st.booleans())
def test_lawful_and_never_above_the_optimum(solver, seed, r, integers, refit):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (9, 7)).astype(float) if integers else rng.standard_normal((9, 7))
    X[0, 0] += 2.0
    A = X.T @ X
    has_refit = "refit" in {field.name for field in dataclasses.fields(solver)}
    found = solve(solver(refit=refit) if has_refit else solver, A, r)
    assert_lawful(solver, found, A, r)
    assert found.variance <= optimum(solver, A, r) * (1 + 1e-9)
    assert found.variance <= np.linalg.eigvalsh(A)[-1] * (1 + 1e-9)
    assert np.all(np.diagonal(A)[found.support] > 0)
    if not integers and solver not in NONNEGATIVE:
        assert len(found.support) == r


@solvers
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 6), m=st.integers(1, 2), weight=st.sampled_from([-1.0, -0.5, 9.0]))
def test_metrics_enter_the_quotient(solver, seed, r, m, weight):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 6))
    A, W = X.T @ X, np.linalg.qr(rng.standard_normal((6, m)))[0]
    metric = NearIdentity(W, np.full(m, weight))
    if weight == -1.0:  # as generalized deflation has it: what of A lies outside the span of W
        outside = np.eye(6) - W @ W.T
        A = outside @ A @ outside
    M = metric.block(np.arange(6))
    found = solve(solver, A, r, metric=metric)
    assert_lawful(solver, found, A, r, M)
    if weight != -1.0 and solver not in NONNEGATIVE:  # M is singular otherwise, and brute force would divide by it
        assert found.variance <= optimum(solver, A, r, M) * (1 + 1e-9)


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


@each([name for name in SOLVERS if name not in DRAWN])
def test_signs_of_features_turn_the_loadings_alone(solver, rng):
    A, signs = covariance(rng), rng.choice([-1.0, 1.0], 12)
    plain, turned = solve(solver, A, 4), solve(solver, signs[:, None] * A * signs, 4)
    np.testing.assert_array_equal(turned.support, plain.support)
    np.testing.assert_allclose(np.abs(turned.loadings), np.abs(plain.loadings), rtol=1e-6)


@each([name for name in ALL if name not in SOLVERS])
def test_signs_of_features_matter_to_nonnegative_loadings(solver):
    """A feature that only opposes the others is of no use until it is turned around."""
    A = np.array([[2.0, 1.0, -0.9], [1.0, 2.0, -0.9], [-0.9, -0.9, 1.0]])
    rotation = np.array([1.0, 1.0, -1.0])
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
    """Any r features are best for equal correlations, any single one for none at all, and where all oppose each other
    and may not."""
    assert solve(solver, np.eye(6), r).variance == pytest.approx(1.0)
    for rho in (0.5, 1e-3):
        A = np.full((6, 6), rho) + (1 - rho) * np.eye(6)
        found = solve(solver, A, r)
        assert_lawful(solver, found, A, r)
        assert found.variance == pytest.approx(1 + (r - 1) * rho)
    if solver in NONNEGATIVE:
        assert solve(solver, 1.2 * np.eye(6) - 0.2, r).variance == pytest.approx(1.0)
    blocks = np.kron(np.eye(3), [[1.0, 0.5], [0.5, 1.0]])
    assert_lawful(solver, solve(solver, blocks, r), blocks, r)


@solvers
@pytest.mark.parametrize("r", [1, 3, 6, 8])
def test_zero_and_repeated_columns(solver, rng, r):
    X = rng.standard_normal((20, 8))
    X[:, 1], X[:, 4] = 0.0, 3.0
    X[:, 5] = X[:, 6] = X[:, 2]
    view = as_view(X)
    found = solve(solver, view, r)
    assert_lawful(solver, found, view.gram(), r)
    assert not {1, 4} & set(found.support.tolist())


@solvers
@pytest.mark.parametrize("r", [1, 3, 8])
def test_rank_one_data_keep_the_largest_entries(solver, rng, r):
    """Of one sign, where loadings have but one."""
    v = rng.standard_normal(8)
    found = solve(solver, np.outer(v, v), r)
    entries = [np.maximum(v, 0), np.maximum(-v, 0)] if solver in NONNEGATIVE else [v]
    assert found.variance == pytest.approx(max(np.sort(part**2)[-r:].sum() for part in entries))
    assert solver in NONNEGATIVE or len(found.support) == r


@each(SOLVERS)
def test_all_features_are_a_principal_component(solver, rng):
    A = covariance(rng)
    found = solve(solver, A, 12)
    assert found.variance == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-9)
    assert len(found.support) == 12
    single = solve(solver, A, 1)
    assert single.loadings.tolist() == [1.0]
    assert single.variance == pytest.approx(A[single.support[0], single.support[0]])


@solvers
def test_same_answer_in_every_storage(solver, rng):
    d = 15 if solver in NONNEGATIVE or solver.__name__.lower() in WHOLE else 60
    drawn = rng.standard_normal((50, d))
    X = (np.abs(drawn) if solver in NONNEGATIVE else drawn) * (rng.random((50, d)) < 0.5) * (1 + 2 * rng.random(d))
    X[:, :4] += 2 * X[:, 4:5]
    centred = X - X.mean(axis=0)
    views = [as_view(Z) for Z in (X, sparse.csc_array(X), np.asfortranarray(X))]
    views.append(as_view(centred.T @ centred, Preprocessing(precomputed=True)))
    plain, *others = (solve(solver, view, 5) for view in views)
    for view, other in zip(views[1:], others, strict=True):
        np.testing.assert_array_equal(other.support, plain.support)
        np.testing.assert_allclose(other.loadings, plain.loadings, atol=1e-6)
        assert other.variance * view.square_unit == pytest.approx(plain.variance * views[0].square_unit, rel=1e-9)


@light
def test_nothing_of_the_size_of_the_covariance_is_formed(solver, rng):
    A = covariance(rng, 80, 1100)
    found = solve(solver, Unformed(A, most=600 if solver in NONNEGATIVE else 300), 6)
    assert_lawful(solver, found, A, 6)
    assert solver in NONNEGATIVE or len(found.support) == 6


@solvers
@pytest.mark.parametrize("r", [1, 3, 10])
def test_matrices_that_no_data_have(solver, rng, r):
    """Hotelling's deflation of a direction that is no eigenvector leaves negative eigenvalues."""
    A, w = covariance(rng, d=10), np.eye(10, 1)
    A = A / np.trace(A)
    adjusted = LowRankUpdate(DenseGram(A), w, np.array([[-3 * A[0, 0]]]), is_psd=False)
    lower = A - 3 * A[0, 0] * w @ w.T
    found = solve(solver, adjusted, r)
    assert_lawful(solver, found, lower, r)
    best = nonnegative_optimum(lower, r) if solver in NONNEGATIVE else np.linalg.eigvalsh(lower)[-1]
    assert found.variance <= best * (1 + 1e-9)


@solvers
def test_an_expired_budget_still_has_an_answer(solver, rng):
    A = covariance(rng)
    assert_lawful(solver, solve(solver, A, 4, budget=Budget(deadline=0.0)), A, 4)


@solvers
def test_starts_are_taken(solver, rng):
    A = covariance(rng)
    assert_lawful(solver, solve(solver, A, 4, start=rng.standard_normal((12, 2))), A, 4)
    assert_lawful(solver, solve(solver, A, 4, start=-np.eye(12, 1)), A, 4)


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
    for sizes, auto, others in (
        ((2, 3, 5, 8), "auto", [name for name in SOLVERS if name not in WHOLE]),
        ((2, 8), "nonnegative auto", sorted(DRAWN - {"rounding"})),
    ):
        for r in sizes:
            best = solve(ALL[auto], view, r).variance
            for name in others:
                assert solve(ALL[name], view, r).variance <= best * (1 + 1e-9), (name, r)


@solvers
def test_cites_its_paper_in_code_and_in_prose(solver):
    assert_cites(solver)


@solvers
def test_has_one_verb_and_frozen_settings(solver):
    assert_one_verb(solver, "solve")
