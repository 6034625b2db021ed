"""The driver: scores that never promise too much, local optima, and the optima of small problems."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.objectives.shared import SharedCapture
from sparing.run import QUICK, Budget, Run
from sparing.search.descent import Descent
from sparing.search.iterated import iterated_search, search_all


def problem(seed, n=30, d=10, k=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((n, d))
    return SharedCapture(X.T @ X, (X.T @ X) @ (X.T @ X), k), X


def exact(objective, supports):
    return objective.fitted(np.asarray(supports))[0]


def test_values_are_what_the_best_encoder_captures():
    objective, X = problem(0)
    Q = np.linalg.qr(X[:, [1, 4, 7]])[0]
    captured = np.square(np.linalg.svd(Q.T @ X, compute_uv=False)[:2]).sum()
    np.testing.assert_allclose(exact(objective, [[1, 4, 7]]), captured)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), r=st.integers(2, 5), k=st.integers(1, 3))
def test_no_swap_gains_less_than_its_score(seed, r, k):
    objective, _ = problem(seed, k=k)
    supports = np.array([np.random.default_rng(seed).choice(10, r, replace=False)])
    value, state = objective.fitted(supports)
    gains = objective.swap_gains(supports, state)[0]
    assert np.isneginf(gains[:, supports[0]]).all()
    for slot, j in zip(*np.nonzero(np.isfinite(gains)), strict=True):
        swapped = supports.copy()
        swapped[0, slot] = j
        assert gains[slot, j] <= exact(objective, swapped)[0] - value[0] + 1e-9 * value[0]


def test_shortlists_score_as_all_candidates_do():
    objective, _ = problem(1)
    supports, candidates = np.array([[0, 3, 5], [2, 3, 8]]), np.array([[1, 5, 9], [0, 4, 6]])
    _, state = objective.fitted(supports)
    every, some = objective.swap_gains(supports, state), objective.swap_gains(supports, state, candidates)
    np.testing.assert_allclose(some, np.take_along_axis(every, candidates[:, None, :], axis=2))


@pytest.mark.parametrize("seed", range(5))
def test_descents_end_where_no_swap_gains(seed):
    objective, _ = problem(seed)
    starts = np.array([np.random.default_rng(s).choice(10, 4, replace=False) for s in range(6)])
    descent = Descent(objective, starts, shortlist=10, refined=24)
    descent.run(Budget())
    assert (descent.values >= exact(objective, starts) * (1 - 1e-12)).all()
    np.testing.assert_allclose(descent.values, exact(objective, descent.supports))
    for support, value in zip(descent.supports, descent.values, strict=True):
        others = np.setdiff1d(np.arange(10), support)
        swaps = [np.append(np.delete(support, i), j) for i in range(4) for j in others]
        assert exact(objective, swaps).max() <= value * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_of_small_problems_is_found(seed):
    objective, _ = problem(seed, d=12)
    best = exact(objective, list(combinations(range(12), 4))).max()
    rng = np.random.default_rng(seed)
    starts = np.array([rng.choice(12, 4, replace=False) for _ in range(4)])
    supports, values = iterated_search(objective, starts, Run(rng, effort=replace(QUICK, unseen=0.0)), descents=64)
    assert values[0] == pytest.approx(best)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(values, exact(objective, supports))


def test_features_outside_of_the_working_set_come_in():
    objective, X = problem(3, d=40)
    A, B = X.T @ X, (X.T @ X) @ (X.T @ X)

    def outside(supports):
        _, state = objective.fitted(supports)
        return objective.swap_gains(supports, state).max(axis=1)

    rng = np.random.default_rng(0)
    poor = np.argsort(np.diagonal(A))[:4][None]  # the features of least variance
    effort = Run(rng, effort=QUICK)
    found = search_all(lambda U: SharedCapture(A[np.ix_(U, U)], B[np.ix_(U, U)], 2), outside, poor, effort, descents=32)
    whole, _ = iterated_search(objective, poor, effort, descents=64)
    assert exact(objective, found[:1]) >= exact(objective, whole[:1]) * (1 - 1e-3)
    assert not set(found[0]) & set(poor[0])


def test_no_time_is_no_error():
    objective, _ = problem(0)
    late = Run(np.random.default_rng(0), Budget(deadline=0.0))
    supports, _ = iterated_search(objective, np.array([[0, 1, 2]]), late, descents=64)
    np.testing.assert_array_equal(supports, [[0, 1, 2]])
