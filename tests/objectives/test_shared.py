"""Variance captured on a shared support: values, scores of swaps and starts, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.objectives.shared import CapturedVariance, SharedCapture, SharedState, added_gains, greedy_supports


def captured(X, J, k):
    Q = np.linalg.qr(X[:, J])[0]
    return float((np.linalg.svd(Q.T @ X, compute_uv=False)[:k] ** 2).sum())


def objective_of(X, k):
    A = X.T @ X
    return SharedCapture(A, A @ A, k)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 3))
def test_values_are_those_of_the_best_encoder_in_any_units(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 7)) * 10.0 ** rng.integers(-3, 4, 7)
    sets = np.array([rng.choice(7, 4, replace=False) for _ in range(3)])
    wanted = [captured(X, J, k) for J in sets]
    np.testing.assert_allclose(objective_of(X, k).fitted(sets)[0], wanted, rtol=1e-7)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 5), k=st.integers(1, 4))
def test_sharper_values_are_never_above_the_value(seed, r, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 9)) + 0.3 * rng.standard_normal((20, 9))
    objective, supports = objective_of(X, k), rng.permutation(9)[None, :r]
    value, state = objective.fitted(supports)
    slots, taken = np.array([[0, r - 1, r // 2]]), np.array([np.setdiff1d(np.arange(9), supports)[:3]])
    bounds = objective.sharper_values(supports, state, slots, taken)[0]
    swapped = np.repeat(supports, 3, axis=0)
    swapped[np.arange(3), slots[0]] = taken[0]
    exact = objective.fitted(swapped)[0]
    assert (bounds <= exact * (1 + 1e-9)).all()
    assert bounds.max() >= 0.3 * value[0]  # a control: they could all be zero


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 3))
def test_what_is_outside_scores_as_inside_a_working_set(seed, k):
    rng = np.random.default_rng(seed)
    view = as_view(rng.standard_normal((20, 4)) @ rng.standard_normal((4, 12)) + rng.standard_normal((20, 12)))
    problem = CapturedVariance(view, top_spectrum(view, k, rng))
    supports = np.array([rng.choice(12, 4, replace=False) for _ in range(2)])
    everything = problem.on(np.arange(12))
    wanted = everything.swap_gains(supports, everything.fitted(supports)[1]).max(axis=1)
    np.testing.assert_allclose(problem.outside(supports, 12), wanted, rtol=1e-6, atol=1e-9 * view.total**2)
    np.testing.assert_allclose(problem.outside(supports[::-1], 12), wanted[::-1], rtol=1e-6, atol=1e-9 * view.total**2)


def test_without_work_for_products_features_outside_score_by_what_they_span(rng):
    view = as_view(rng.standard_normal((20, 4)) @ rng.standard_normal((4, 12)) + rng.standard_normal((20, 12)))
    spectrum, supports = top_spectrum(view, 2, rng), np.array([[0, 3, 5], [2, 4, 9]])
    by_span = CapturedVariance(view, spectrum, by_loss=False)
    once = CapturedVariance(view, spectrum, work=1e-9)
    by_loss = once.outside(supports, 12)  # what is left of the work is for this one
    assert not np.allclose(by_loss, by_span.outside(supports, 12), rtol=1e-3)  # control
    np.testing.assert_array_equal(once.outside(supports, 12), by_span.outside(supports, 12))
    inside = CapturedVariance(view, spectrum).on(np.arange(12))
    np.testing.assert_array_equal(once.on(np.arange(12)).weight, inside.weight)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), r=st.integers(2, 5), k=st.integers(1, 3))
def test_no_swap_scores_above_the_addition_of_its_feature_which_gains_at_least_its_score(seed, r, k):
    rng = np.random.default_rng(seed)
    objective = objective_of(
        rng.standard_normal((20, 3)) @ rng.standard_normal((3, 9)) + rng.standard_normal((20, 9)), k
    )
    support = rng.permutation(9)[:r]
    value, state = objective.fitted(support[None])
    one = SharedState(*(part[0] for part in state))
    added = added_gains(one, objective.gram[support], one.turned @ objective.weight[support], np.ones(9))
    swapped = objective.swap_gains(support[None], state)[0].max(axis=0)
    others = np.setdiff1d(np.arange(9), support)
    assert (swapped[others] <= added[others] * (1 + 1e-9) + 1e-9 * value).all()
    larger = objective.fitted(np.array([[*support, j] for j in others]))[0]
    assert (added[others] <= (larger - value) * (1 + 1e-9) + 1e-9 * value).all()


def test_greedy_starts_are_forward_selection_for_each_weight(rng):
    X = rng.standard_normal((30, 10)) @ rng.standard_normal((10, 10))
    T = np.linalg.svd(X, full_matrices=False)[0][:, :2] * [3.0, 1.0]
    weights = np.array([[1.0, 0.0], [0.0, 1.0]])
    allowed = np.ones((2, 10), dtype=bool)
    allowed[1, 4:] = False
    found = greedy_supports(X.T @ X, X.T @ T, weights, allowed, 3)
    for chosen, weight, free in zip(found, weights, allowed, strict=True):
        taken = []
        for _ in range(3):
            spanned = [
                np.square(np.linalg.qr(X[:, [*taken, j]])[0].T @ (T * weight)).sum() if free[j] else -1.0
                for j in range(10)
            ]
            taken.append(int(np.argmax(spanned)))
        assert chosen.tolist() == taken


def test_dependent_columns_capture_what_they_have_without_rounding(rng):
    X = rng.standard_normal((12, 6))
    X[:, 5] = X[:, 0] - X[:, 1]
    A = X.T @ X
    noisy = A + 1e-10 * np.eye(6)  # singular on 0, 1, 5 but for what looks like one more direction
    weight = A @ A + 1e-6 * np.diag(np.arange(6.0))
    careful = SharedCapture(noisy, weight, 3, np.full(6, 1e-4))
    dependent, independent = careful.fitted(np.array([[0, 1, 5], [0, 1, 2]]))[0]
    pair = careful.fitted(np.array([[0, 1]]))[0][0]
    assert dependent <= pair * (1 + 1e-2)
    assert independent > pair * 1.1
    carelessly = SharedCapture(noisy, weight, 3).fitted(np.array([[0, 1, 5]]))[0][0]
    assert carelessly > 10 * pair  # the control: rounding would be a direction of its own


@pytest.mark.parametrize("slack", [1e-9, 1e-3])
def test_matrices_that_are_not_quite_definite_have_values(rng, slack):
    X = rng.standard_normal((4, 6))
    A = X.T @ X - slack * np.eye(6)
    values, _ = SharedCapture(A, A @ A, 2).fitted(np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]))
    assert np.isfinite(values).all()
    assert (values > 0).all()


def test_one_feature_more_or_fewer(rng):
    X = rng.standard_normal((30, 8)) @ rng.standard_normal((8, 8))
    objective, support = objective_of(X, 2), np.array([1, 3, 6])
    more, fewer = objective.extended(support), objective.pruned(support)
    assert set(more) > set(support) > set(fewer)
    wanted = max(captured(X, np.delete(support, i), 2) for i in range(3))
    assert captured(X, fewer, 2) == pytest.approx(wanted)
    assert captured(X, more, 2) > captured(X, support, 2)


def test_centred_and_scaled_rows_give_the_same_problem_as_their_gram_matrix(rng):
    X = rng.standard_normal((25, 9)) @ rng.standard_normal((9, 9)) + 5
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    view = as_view(X, Preprocessing(scale=True))
    problem = CapturedVariance(view, top_spectrum(view, 2, rng))
    value = problem.on(np.arange(9)).fitted(np.array([[2, 5, 7]]))[0][0]
    assert value * view.square_unit == pytest.approx(captured(Z, [2, 5, 7], 2), rel=1e-8)
