"""Sparse regression in Gram coordinates: optimality conditions, counts, ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.linalg.lasso import LassoPath, thresholded


def problem(seed, d, ridge=1e-3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((max(3, d // 2 + rng.integers(0, d)), d)) @ (np.eye(d) + 0.5 * rng.standard_normal((d, d)))
    gram = X.T @ X
    a = rng.standard_normal(d)
    return gram + ridge * np.eye(d) * np.trace(gram) / d, gram @ (a / np.linalg.norm(a)), rng


def assert_optimal(gram, target, level, b):
    """Gradient = level times sign on the support, at most the level elsewhere."""
    rest, size = target - gram @ b, np.abs(target).max()
    np.testing.assert_allclose(rest[b != 0], level * np.sign(b[b != 0]), atol=1e-8 * size)
    assert np.abs(rest[b == 0]).max(initial=0.0) <= level + 1e-8 * size


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 25), share=st.floats(0.0, 1.2))
def test_solutions_are_optimal_from_the_start_and_from_one_another(seed, d, share):
    gram, target, rng = problem(seed, d)
    level, path = share * np.abs(target).max(), LassoPath(gram)
    for _ in range(4):
        found = path.penalised(target, level)
        assert_optimal(gram, target, level, found)
        np.testing.assert_allclose(LassoPath(gram).penalised(target, level), found, atol=1e-7 * np.abs(found).max())
        target = target + 0.3 * gram @ rng.standard_normal(d) / np.sqrt(d)


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 25), data=st.data())
def test_counts_are_exact_where_one_feature_more_would_enter(seed, d, data):
    gram, target, _ = problem(seed, d)
    size = data.draw(st.integers(1, d))
    found = LassoPath(gram).counted(target, size)
    assert np.count_nonzero(found) == size
    level = np.abs(target - gram @ found)[found != 0].max()
    assert_optimal(gram, target, level, found)
    if size < d:
        assert np.abs(target - gram @ found)[found == 0].max() == pytest.approx(level, rel=1e-6)
    else:
        np.testing.assert_allclose(gram @ found, target, atol=1e-8 * np.abs(target).max())


def test_of_features_that_tie_the_first_stay(rng):
    X = rng.standard_normal((20, 4))
    X = np.column_stack([X, X[:, :2], -X[:, 2]])
    gram = X.T @ X + 1e-6 * np.eye(7)
    target = X.T @ X[:, 0]
    assert list(np.flatnonzero(LassoPath(gram).counted(target, 1))) == [0]
    for size in range(1, 8):
        assert np.count_nonzero(LassoPath(gram).counted(target, size)) <= size
    assert list(np.flatnonzero(thresholded(np.array([2.0, -3.0, 3.0, 1.0, 3.0]), 0.0, 2))) == [1, 2]
    np.testing.assert_allclose(LassoPath(np.eye(3)).counted(np.ones(3), 2), [1.0, 1.0, 0.0])


def test_no_target_no_solution():
    assert not LassoPath(np.eye(3)).counted(np.zeros(3), 2).any()
    assert not LassoPath(np.eye(3)).penalised(np.zeros(3), 0.1).any()
    assert not thresholded(np.zeros(3), 0.1, 2).any()


def test_a_path_out_of_events_ends_where_it_is():
    gram, target, _ = problem(3, 12)
    level = 1e-6 * np.abs(target).max()
    ended = LassoPath(gram, max_events=1).penalised(target, level)
    assert np.isfinite(ended).all()
    assert not np.allclose(ended, LassoPath(gram).penalised(target, level))


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 30), share=st.floats(0.0, 1.2), data=st.data())
def test_thresholding_is_the_regression_on_orthonormal_columns(seed, d, share, data):
    target = np.random.default_rng(seed).standard_normal(d)
    level, size = share * np.abs(target).max(), data.draw(st.integers(1, d))
    np.testing.assert_allclose(thresholded(target, level, d), LassoPath(np.eye(d)).penalised(target, level), atol=1e-12)
    counted = thresholded(target, 0.0, size)
    assert np.count_nonzero(counted) == size
    np.testing.assert_allclose(counted, LassoPath(np.eye(d)).counted(target, size), atol=1e-12)
