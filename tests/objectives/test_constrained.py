"""Constrained components: the constraint is kept, no score of a swap is above what it brings, turns never fall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.objectives.constrained import ConstrainedBlocks

FEATURES = 10


def problem(seed, k, r, **settings):
    """An objective and a row of random slots."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, FEATURES)) @ rng.standard_normal((FEATURES, FEATURES))
    A = X.T @ X
    objective = ConstrainedBlocks(A, k, np.linalg.eigvalsh(A)[-1], **settings)
    return A, objective, np.concatenate([rng.choice(FEATURES, r, replace=False) for _ in range(k)])[None]


def directions(supports, state, k):
    H = np.zeros((FEATURES, k))
    np.put_along_axis(H, supports[0].reshape(k, -1).T, state.loadings[0].reshape(k, -1).T, axis=0)
    return H


def broken(A, H, uncorrelated):
    products = H.T @ (A @ H if uncorrelated else H)
    return np.abs(products - np.diag(np.diagonal(products))).max() / np.diagonal(products).max()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), r=st.integers(2, 6), uncorrelated=st.booleans())
def test_the_constraint_is_kept_and_the_value_is_the_sum_of_variances(seed, k, r, uncorrelated):
    A, objective, supports = problem(seed, k, r, uncorrelated=uncorrelated)
    before = np.random.default_rng(seed).standard_normal(supports.shape)  # keeps nothing
    values, state = objective.fitted(supports, before)
    H = directions(supports, state, k)
    assert broken(A, H, uncorrelated) < 1e-9
    np.testing.assert_allclose(values[0], np.trace(H.T @ A @ H), rtol=1e-9)
    lengths = np.linalg.norm(H, axis=0)
    assert (np.isclose(lengths, 1) | (lengths == 0)).all()  # nothing where the constraint leaves no direction
    higher, _ = objective.fitted(supports, state.loadings)
    assert higher[0] >= values[0] * (1 - 1e-9)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), r=st.integers(2, 6), uncorrelated=st.booleans())
def test_no_swap_is_scored_above_what_it_brings(seed, k, r, uncorrelated):
    _, objective, supports = problem(seed, k, r, uncorrelated=uncorrelated)
    values, state = objective.fitted(supports, None, sweeps=3)
    gains = objective.swap_gains(supports, state)[0]
    slots, taken = np.nonzero(gains > -np.inf)
    exact = objective.sharper_values(supports, state, slots[None], taken[None])[0] - values[0]
    assert (gains[slots, taken] <= exact + 1e-7 * values[0]).all()


def test_scores_without_the_constraint_promise_more_than_swaps_bring():
    """The control: charges allow swaps that break the constraint, and then the exact value is below the score."""
    above = 0
    for seed in range(10):
        _, objective, supports = problem(seed, 3, 4)
        values, state = objective.fitted(supports, None, sweeps=3)
        _, free, _ = problem(seed, 3, 4, charge=1e-3)
        gains = free.swap_gains(supports, state)[0]
        slots, taken = np.nonzero(gains > 0)
        exact = objective.sharper_values(supports, state, slots[None], taken[None])[0] - values[0]
        above += int((gains[slots, taken] > exact + 1e-6 * values[0]).sum())
    assert above > 20


@pytest.mark.parametrize("uncorrelated", [False, True])
def test_rising_charges_break_the_constraint_less_and_less(uncorrelated):
    left = []
    for charge in (0.0, 1.0, 100.0):
        A, objective, supports = problem(1, 3, 6, uncorrelated=uncorrelated, charge=charge)
        _, state = objective.fitted(supports, None, sweeps=50)
        left.append(broken(A, directions(supports, state, 3), uncorrelated))
    assert left[0] > 0.05
    assert left[0] > left[1] > left[2]
    assert left[2] < 0.02
