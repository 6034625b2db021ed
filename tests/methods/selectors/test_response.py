"""Columns chosen for given targets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing import SparseEncoder
from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.methods.selectors import Greedy
from sparing.methods.selectors.response import Response, ResponseTarget
from sparing.run import Run
from sparing.task import Task

UNCENTRED = Preprocessing(center=False)


def chosen(X, Y, r, k=3, by="pca", seed=0):
    view, rng = as_view(X, UNCENTRED), np.random.default_rng(seed)
    target = ResponseTarget(top_spectrum(view, k, rng), view.rmatmat(Y), Y.T @ Y)
    found = Response(by=by).select(Task.of_columns(view, r, target), Run(rng))
    np.testing.assert_allclose(found.gram_columns, view.gram_columns(found.columns), atol=1e-12)
    return sorted(map(int, found.columns))


def aim(X, Y, k, by):
    U = np.linalg.svd(X, full_matrices=False)[0][:, :k]
    return U @ (U.T @ Y) if by == "pca" else Y


def left(X, columns, T):
    Q = np.linalg.qr(X[:, columns])[0]
    return np.linalg.norm(T - Q @ (Q.T @ T))


@pytest.mark.parametrize("by", ["pca", "targets"])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_no_swap_helps_and_the_best_choice_is_often_found(by, n_targets, rng):
    """A local optimum for the aim, which forward selection alone need not reach."""
    found_best = 0
    for _ in range(10):
        X = rng.standard_normal((30, 9)) @ rng.standard_normal((9, 9))
        Y = X @ rng.standard_normal((9, n_targets)) + rng.standard_normal((30, n_targets))
        T, columns = aim(X, Y, 3, by), chosen(X, Y, 3, by=by)
        reached = left(X, columns, T)
        for out, new in itertools.product(columns, set(range(9)) - set(columns)):
            assert left(X, [j for j in columns if j != out] + [new], T) >= reached * (1 - 1e-4)
        best = min(left(X, list(others), T) for others in itertools.combinations(range(9), 3))
        found_best += reached <= best * (1 + 1e-9)
        assert reached < np.median([left(X, list(others), T) for others in itertools.combinations(range(9), 3)])
    assert found_best >= 4


def test_it_looks_at_the_targets_and_greedy_does_not(rng):
    X = rng.standard_normal((60, 20)) * np.r_[np.full(5, 9.0), np.ones(15)]
    y = X[:, [17]] + 0.1 * rng.standard_normal((60, 1))
    assert 17 in chosen(X, y, 2, by="targets")
    assert 17 not in chosen(X, y, 2, by="pca", k=3)  # the leading components know nothing of feature 17
    assert 17 in chosen(X, y, 2, by="pca", k=20)
    view = as_view(X, UNCENTRED)
    assert 17 not in Greedy().select(Task.of_columns(view, 2, top_spectrum(view, 3, rng)), Run(rng)).columns


@pytest.mark.parametrize("by", ["pca", "targets"])
def test_powers_of_two_permutations_and_rotated_targets(by, rng):
    X = rng.standard_normal((40, 12)) @ rng.standard_normal((12, 12))
    Y, order = rng.standard_normal((40, 3)), rng.permutation(12)
    plain = chosen(X, Y, 4, by=by)
    assert chosen(X * 2.0**20, Y * 2.0**-30, 4, by=by) == plain
    assert sorted(int(order[j]) for j in chosen(X[:, order], Y, 4, by=by)) == plain
    assert chosen(X, Y @ np.linalg.qr(rng.standard_normal((3, 3)))[0], 4, by=by) == plain


@pytest.mark.parametrize("by", ["pca", "targets"])
def test_many_targets_are_as_good_as_their_leading_combinations(by, rng):
    X, W = rng.standard_normal((50, 15)), rng.standard_normal((2, 40))
    Y = X[:, [3, 8]] @ W
    assert chosen(X, Y, 2, k=15, by=by) == [3, 8]


@pytest.mark.parametrize("by", ["pca", "targets"])
def test_targets_that_nothing_explains_get_the_features_of_greedy(by, rng):
    X = rng.standard_normal((30, 6))
    Q = np.linalg.qr(X)[0]
    y = rng.standard_normal((30, 1))
    y -= Q @ (Q.T @ y)
    view = as_view(X, UNCENTRED)
    expected = sorted(
        map(
            int,
            Greedy()
            .select(Task.of_columns(view, 3, top_spectrum(view, 3, rng)), Run(np.random.default_rng(0)))
            .columns,
        )
    )
    for nothing in (y, np.zeros((30, 2))):
        assert chosen(X, nothing, 3, by=by) == expected


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 6), k=st.integers(1, 3), by=st.sampled_from(["pca", "targets"]))
def test_distinct_columns_on_tied_data(seed, r, k, by):
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(-1, 2, (9, 7)).astype(float), rng.integers(-1, 2, (9, 2)).astype(float)
    X[0, 0] += 3.0
    found = chosen(X, Y, r, k, by)
    assert 1 <= len(set(found)) == len(found) <= r
    assert all(X[:, found].any(axis=0))


def test_what_cannot_be_done_is_said(rng):
    X = rng.standard_normal((30, 6))
    with pytest.raises(ValueError, match="selector='response' chooses features for given targets y"):
        SparseEncoder(2, n_nonzero=3, selector=Response()).fit(X)
    with pytest.raises(ValueError, match="by='luck' is not known"):
        chosen(X, X[:, :1], 2, by="luck")
    assert hash(Response()) == hash(Response())
    assert str(Response.reference) in Response.__doc__
