"""The state of a search equals what is computed from scratch, whatever was added."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.objectives.span import Spanning


def captured(X, T, J):
    Q = np.linalg.qr(X[:, J])[0]
    return float(((Q.T @ T) ** 2).sum())


def state_of(X, T, capacity):
    return Spanning(X.T @ T, (X**2).sum(axis=0), capacity)


def check(state, X, T):
    J = state.chosen
    Q = np.linalg.qr(X[:, J])[0]
    left = X - Q @ (Q.T @ X)
    np.testing.assert_allclose(state.captured, captured(X, T, J), rtol=1e-9)
    np.testing.assert_allclose(state.left, (left**2).sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(state.cross, left.T @ T, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), moves=st.lists(st.integers(0, 99), min_size=1, max_size=6))
def test_any_sequence_of_additions(seed, moves):
    rng = np.random.default_rng(seed)
    X, T = rng.standard_normal((20, 8)), rng.standard_normal((20, 2))
    A, state = X.T @ X, state_of(X, T, 8)
    state.extend(np.array([2, 5]), A[:, [2, 5]])
    check(state, X, T)
    for move in moves:
        free = [j for j in range(8) if j not in state.chosen]
        j = free[move % len(free)]
        gain, before = state.gains()[j], state.captured
        state.add(j, A[:, j])
        np.testing.assert_allclose(state.captured, before + gain, atol=1e-9)
        check(state, X, T)
    pool = state.restricted(np.union1d(state.chosen, [0, 3]), 8)
    np.testing.assert_allclose(pool.captured, state.captured)
    np.testing.assert_allclose(sorted(pool.square), sorted(state.square[np.union1d(state.chosen, [0, 3])]))


def test_dependent_columns_are_never_gains(rng):
    X = rng.standard_normal((10, 4))
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.zeros(10)])
    state = state_of(X, rng.standard_normal((10, 2)), 3)
    state.extend(np.array([0, 1]), (X.T @ X)[:, [0, 1]])
    assert state.gains()[4] == 0
    assert state.gains()[5] == 0
    assert state.gains()[2] > 0


def test_columns_that_depend_on_others_are_left_out(rng):
    X = rng.standard_normal((25, 10))
    X[:, 7] = X[:, 3] - X[:, 5]
    A, state = X.T @ X, state_of(X, rng.standard_normal((25, 2)), 5)
    for added in ([3, 5], [7, 9], [1]):
        state.extend(np.array(added), A[:, added])
    assert state.chosen == [3, 5, 9, 1]
