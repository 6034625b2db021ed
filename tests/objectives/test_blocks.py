"""Several components at once: what is captured, scores that never promise too much, and what is swapped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import linalg

from sparing.objectives.blocks import BlockCapture, Quotients
from sparing.objectives.loadings import leading
from sparing.search_limits import SEARCH

D = 14


def problem(seed, loss, blocks=3, padding=0, d=D):
    """The objective, and B, M of all features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4)) @ rng.standard_normal((4, d)) + 0.5 * rng.standard_normal((30, d))
    X /= np.linalg.norm(X, axis=0) if loss else 1.0
    A = X.T @ X
    B, M = (A @ A, A) if loss else (A, np.eye(d))
    return BlockCapture(B, M if loss else None, blocks, 1e-8 if loss else 0.01, padding=padding), B, M


def drawn(seed, r, blocks=3, count=2):
    rng = np.random.default_rng(seed)
    return np.array([np.concatenate([rng.choice(D, r, replace=False) for _ in range(blocks)]) for _ in range(count)])


def directions(support, loadings, blocks=3, d=D):
    H = np.zeros((d, blocks))
    for b, (J, x) in enumerate(zip(support.reshape(blocks, -1), loadings.reshape(blocks, -1), strict=True)):
        H[J, b] = x
    return H


def captured(objective, B, M, H):
    ridge = objective.ridge * np.diag(np.square(H).sum(axis=0))
    return np.trace(np.linalg.solve(H.T @ M @ H + ridge, H.T @ B @ H))


@pytest.mark.parametrize("loss", [False, True])
def test_values_are_what_the_directions_capture(loss):
    objective, B, M = problem(0, loss)
    supports = drawn(0, 4)
    values, state = objective.fitted(supports)
    for support, value, x in zip(supports, values, state.loadings, strict=True):
        assert value == pytest.approx(captured(objective, B, M, directions(support, x)), rel=1e-9)
    again, _ = objective.fitted(supports, state.loadings)
    assert (again >= values * (1 - 1e-9)).all()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 11), loss=st.booleans())
@example(seed=85396, r=1, loss=True)  # two of the components are copies of each other
@example(seed=904, r=1, loss=True)
def test_no_swap_gains_less_than_its_score(seed, r, loss):
    """With the best loadings of the component that changes, the others as they are."""
    objective, B, M = problem(seed, loss)
    supports = drawn(seed, r)
    values, state = objective.fitted(supports)
    gains = objective.swap_gains(supports, state)
    H, k = directions(supports[0], state.loadings[0]), 3
    for slot in range(3 * r):
        b, own = slot // r, supports[0, slot // r * r : (slot // r + 1) * r]
        assert np.isneginf(gains[0, slot, own]).all()
        others = np.delete(H, b, axis=1)
        C = others.T @ M @ others + objective.ridge * np.eye(k - 1)
        U = others @ np.linalg.inv(np.linalg.cholesky(C)).T
        P = np.eye(D) - U @ U.T @ M
        B_b, M_b = P.T @ B @ P, M - M @ U @ U.T @ M + objective.ridge * np.eye(D)
        rest = captured(objective, B, M, others)
        for j in np.random.default_rng(seed).choice(D, 4, replace=False):
            if np.isfinite(gains[0, slot, j]):
                J = np.where(own == supports[0, slot], j, own)
                best = linalg.eigh(B_b[np.ix_(J, J)], M_b[np.ix_(J, J)], eigvals_only=True)[-1]
                assert gains[0, slot, j] <= rest + best - values[0] + 1e-6 * values[0]


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6), r=st.integers(2, 11), loss=st.booleans())
def test_one_swap_keeps_what_its_score_promises(seed, r, loss):
    objective, _, _ = problem(seed, loss)
    supports = drawn(seed, r, count=1)
    values, state = objective.fitted(supports)
    gains = objective.swap_gains(supports, state)[0]
    slot, j = np.unravel_index(np.argmax(gains), gains.shape)
    swapped = supports.copy()
    swapped[0, slot] = j
    reached, _ = objective.fitted(swapped, objective.kept(state, swapped == supports))
    if r <= 8:  # decompositions; Krylov spaces keep most of it
        assert reached[0] >= values[0] + gains[slot, j] - 1e-6 * values[0]
    sharper = objective.sharper_values(supports, state, np.array([[slot]]), np.array([[j]]))
    assert reached[0] >= sharper[0, 0] - 1e-6 * values[0]


@pytest.mark.parametrize("loss", [False, True])
def test_shortlists_score_as_all_candidates_do(loss):
    objective, _, _ = problem(1, loss)
    supports = drawn(1, 3)
    candidates = np.random.default_rng(0).integers(D, size=(2, 3, 5))
    _, state = objective.fitted(supports)
    every = objective.swap_gains(supports, state).reshape(2, 3, 3, D)
    some = objective.swap_gains(supports, state, candidates).reshape(2, 3, 3, 5)
    np.testing.assert_allclose(some, np.take_along_axis(every, candidates[:, :, None, :], axis=3))


def test_padding_fills_up_and_is_never_swapped():
    objective, B, M = problem(2, False, blocks=2, padding=2)
    supports = np.array([[0, 1, 2, 3, 5, 1, D, D + 1]])
    values, state = objective.fitted(supports)
    H = directions(supports[0], state.loadings[0], blocks=2, d=D + 2)
    assert not H[D:].any()
    assert values[0] == pytest.approx(captured(objective, B, M, H[:D]))
    gains = objective.swap_gains(supports, state)
    assert np.isneginf(gains[0, 6:]).all()
    assert np.isneginf(gains[0, :, D:]).all()
    places, _ = objective.renewed(supports, state, np.random.default_rng(0))
    assert set(places[0, 4:] >= D) == {False, True}


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_one_feature_more_gains_at_least_its_score(seed):
    objective, B, M = problem(seed, False)
    supports = drawn(seed, 3, count=1)
    _, state = objective.fitted(supports)
    gains = Quotients(supports, state, objective.diagonal, 3, objective.ridge).entering()[0]
    H = directions(supports[0], state.loadings[0])
    now = captured(objective, B, M, H)
    for b in range(3):
        assert np.isneginf(gains[b, supports[0, 3 * b : 3 * b + 3]]).all()
        j = int(np.argmax(gains[b]))
        entering = np.outer(np.eye(D)[j], np.eye(3)[b])

        def reached(angle, H=H, entering=entering):
            return captured(objective, B, M, H + np.tan(angle) * entering)

        angles = np.linspace(-1.55, 1.55, 201)
        around = max(angles, key=reached) + np.linspace(-0.02, 0.02, 41)
        assert gains[b, j] == pytest.approx(max(map(reached, around)) - now, rel=1e-2)


def test_long_supports_need_no_matrix_for_each_component(rng):
    """Quotients by products with the parts of B_b and M_b are those of the matrices themselves."""
    d, k, r = 100, 3, SEARCH.quotient_formed + 6
    objective, _, _ = problem(5, loss=False, blocks=k, d=d)
    supports = np.array([np.concatenate([rng.choice(d, r, replace=False) for _ in range(k)]) for _ in range(2)])
    _, state = objective.fitted(supports)
    beside = Quotients(supports, state, objective.diagonal, k, objective.ridge)
    s, b = np.arange(2), np.array([0, 2])
    places, near = beside.places[s, b], rng.standard_normal((2, r))
    Z, Y = (part[s[:, None], places] for part in (beside.Z, beside.Y))
    parts = places, objective.weight[places[:, :, None], places[:, None, :]], Z, Y, beside.Q[s, b], beside.QWQ[s, b]
    B, M = objective.quotient(*parts)
    values, v = objective.best(*parts, near)
    np.testing.assert_allclose(values, leading(B, M, near, False)[0], rtol=1e-9)
    quotients = np.einsum("si,sij,sj->s", v, B, v) / np.einsum("si,sij,sj->s", v, M, v)
    np.testing.assert_allclose(values, quotients, rtol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_a_direction_that_leaves_less_than_nothing_stays_a_direction(scale):
    """An exhausted Krylov space has vectors of zeros: their quotient of 0 is above that of every direction here."""
    many = 1 + SEARCH.quotient_entries // 12**2  # fewer are decomposed
    start, ones = np.repeat(scale * np.eye(12)[:1], many, axis=0), np.stack([np.eye(12)] * many)
    values, v = leading(-ones, ones, start, False)
    np.testing.assert_allclose(v, start)
    np.testing.assert_allclose(values, -scale, atol=1e-12)


def test_a_matrix_without_variance_leaves_the_direction_where_it_is():
    """The space that grows from it has one direction: the others must not win with nothing."""
    size = SEARCH.quotient_decomposed + 1
    many = 1 + SEARCH.quotient_entries // size**2  # fewer are decomposed
    near, ones = np.eye(size)[np.arange(many) % size], np.stack([np.eye(size)] * many)
    for A in (0.0 * ones, -1e-20 * ones):
        values, v = leading(A, ones, near, whiten=False)
        np.testing.assert_allclose(np.abs(v), near)
        np.testing.assert_allclose(values, 0.0, atol=1e-15)
