"""Vectors of bounded l1 and l2 norm: constraints kept, and nothing feasible is better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize

from sparing.linalg.soft_threshold import l1_l2_maximiser, l1_l2_projection, l1_projection

sizes = st.floats(0.05, 4.0)
vectors = arrays(float, st.integers(1, 12), elements=st.floats(-8, 8).map(lambda value: round(value, 3)))


def solver(objective, gradient, d, bound):
    """The best of a smooth solver for max over x = p - q, p and q nonnegative, within both norms."""

    def x(z):
        return z[:d] - z[d:]

    norms = [
        {"type": "ineq", "fun": lambda z: bound - z.sum(), "jac": lambda z: -np.ones(2 * d)},
        {"type": "ineq", "fun": lambda z: 1 - x(z) @ x(z), "jac": lambda z: np.concatenate([-2 * x(z), 2 * x(z)])},
    ]
    found = optimize.minimize(
        lambda z: -objective(x(z)),
        np.full(2 * d, 1e-3),
        jac=lambda z: -np.concatenate([gradient(x(z)), -gradient(x(z))]),
        bounds=[(0, None)] * (2 * d),
        constraints=norms,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return -found.fun


def dual(a, bound):
    """min over t of bound t + |soft threshold of a by t|_2: a convex function of one number, above every a'x."""

    def at(t):
        return bound * t + np.linalg.norm(np.maximum(np.abs(a) - t, 0.0))

    top = np.abs(a).max()
    inside = optimize.minimize_scalar(at, bounds=(0.0, top), method="bounded", options={"xatol": 1e-12}).x
    return min(at(inside), at(0.0), at(top))  # a bounded search never reaches the ends themselves


def assert_feasible(x, bound):
    assert np.linalg.norm(x) <= 1 + 1e-12
    assert np.abs(x).sum() <= bound * (1 + 1e-9)


@settings(deadline=None, max_examples=100)
@given(a=vectors, bound=sizes)
@example(a=np.full(3, 0.002), bound=0.05)
def test_maximiser_is_feasible_and_reaches_the_dual(a, bound):
    x = l1_l2_maximiser(a, bound)
    assert_feasible(x, bound)
    assert np.all(x * a >= 0)
    if a.any():
        assert a @ x == pytest.approx(dual(a, bound), rel=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_maximiser_against_a_convex_solver(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 8))
    a, bound = rng.standard_normal(d), float(rng.uniform(0.5, np.sqrt(d) + 0.3))
    assert a @ l1_l2_maximiser(a, bound) == pytest.approx(solver(lambda x: a @ x, lambda x: a, d, bound), rel=1e-5)


@pytest.mark.parametrize("spread", [1e-3, 1e-6, 1e-8])
def test_maximiser_keeps_its_digits_where_entries_nearly_tie(rng, spread):
    a = 1 + spread * rng.standard_normal(40)
    x = l1_l2_maximiser(a, 3.0)
    assert np.abs(x).sum() == pytest.approx(3.0, rel=1e-9)
    assert np.linalg.norm(x) == pytest.approx(1.0, rel=1e-12)
    assert set(np.flatnonzero(x)) == set(np.argsort(-a)[: np.count_nonzero(x)])


def test_maximiser_spreads_over_ties():
    """Five entries tie for the largest: no threshold leaves l1 norm sqrt(3) and unit norm."""
    a = np.array([2.0, -2.0, 2.0, 1.0, 2.0, 2.0, 0.5])
    x = l1_l2_maximiser(a, np.sqrt(3))
    np.testing.assert_allclose(x, np.sqrt(3) / 5 * np.array([1, -1, 1, 0, 1, 1, 0]))
    two = l1_l2_maximiser(np.array([2.0, 2.0, 1.0]), np.sqrt(2))
    np.testing.assert_allclose(two, [np.sqrt(0.5), np.sqrt(0.5), 0.0])


def test_maximiser_without_need_of_a_threshold(rng):
    a = rng.standard_normal(6)
    np.testing.assert_allclose(l1_l2_maximiser(a, 10.0), a / np.linalg.norm(a))
    np.testing.assert_array_equal(l1_l2_maximiser(np.zeros(3), 1.0), np.zeros(3))
    np.testing.assert_allclose(l1_l2_maximiser(a, 1.0), np.sign(a) * (np.abs(a) == np.abs(a).max()), atol=1e-12)
    np.testing.assert_allclose(l1_l2_maximiser(1e-200 * a, 1.5), l1_l2_maximiser(a, 1.5))


@settings(deadline=None, max_examples=100)
@given(y=vectors, z=vectors, bound=sizes)
def test_projection_is_feasible_and_nearest(y, z, bound):
    """Nearest: the way from x to y has no part along the way to any other feasible point."""
    x = l1_l2_projection(y, bound)
    assert_feasible(x, bound)
    other = l1_l2_maximiser(np.resize(z, y.shape), bound)
    for point in (other, np.zeros_like(y), l1_l2_maximiser(y, bound)):
        assert (y - x) @ (point - x) <= 1e-7 * (1 + np.abs(y).max())
    np.testing.assert_allclose(l1_l2_projection(x, bound), x, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_projection_against_a_convex_solver(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    y, bound = rng.standard_normal(d) * rng.choice([0.3, 1.0, 3.0]), float(rng.uniform(0.4, 2.0))
    x = l1_l2_projection(y, bound)
    best = solver(lambda v: -0.5 * (v - y) @ (v - y), lambda v: y - v, d, bound)
    assert 0.5 * (x - y) @ (x - y) == pytest.approx(-best, rel=1e-4, abs=1e-7)


def test_l1_projection():
    np.testing.assert_allclose(l1_projection(np.array([3.0, -1.0, 0.5]), 2.0), [2.0, 0.0, 0.0])
    np.testing.assert_allclose(l1_projection(np.array([1.0, -1.0]), 1.0), [0.5, -0.5])
    np.testing.assert_array_equal(l1_projection(np.array([0.1, 0.2]), 1.0), [0.1, 0.2])
