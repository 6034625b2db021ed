"""The semidefinite relaxation: projections that are nearest, values that bracket, a gap that closes."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import optimum
from sparing.datasets import load_pitprops
from sparing.proof.relaxations.semidefinite import dual_value, into_l1_ball, made_feasible, on_spectraplex, relaxed
from sparing.run import Budget


def symmetric(rng, d):
    W = rng.standard_normal((d, d))
    return (W + W.T) / 2


def solve(A, r, max_iter=500, tolerance=1e-5, budget=None):
    return relaxed(A, r, max_iter=max_iter, tolerance=tolerance, budget=budget or Budget())


def check_feasible(M, r):
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    np.testing.assert_allclose(np.trace(M), 1.0)
    assert np.linalg.eigvalsh(M)[0] >= -1e-12
    assert np.abs(M).sum() <= r * (1 + 1e-12)


@pytest.mark.parametrize("guess", [1, 3, 40])
def test_projections_are_nearest(guess, rng):
    """No feasible point lies on the far side of the plane through the projection."""
    for d in (5, 40):
        W = symmetric(rng, d)
        M, rank = on_spectraplex(W, guess)
        np.testing.assert_allclose(np.trace(M), 1.0)
        assert np.linalg.matrix_rank(M, tol=1e-9) == rank
        Z = into_l1_ball(W, 3.0)
        np.testing.assert_allclose(np.abs(Z).sum(), 3.0)
        for _ in range(20):
            G = rng.standard_normal((d, 2))
            assert np.vdot(W - M, G @ G.T / np.vdot(G, G) - M) <= 1e-9
            other = rng.standard_normal((d, d)) * (rng.random((d, d)) < 0.2)
            assert np.vdot(W - Z, 3.0 * other / np.abs(other).sum() - Z) <= 1e-9
    small = symmetric(rng, 4) * 0.01
    assert into_l1_ball(small, 3.0) is small


def test_made_feasible_keeps_trace_and_sign(rng):
    G = rng.standard_normal((6, 3))
    M = G @ G.T / np.vdot(G, G)
    for r in (1, 2, 4):
        check_feasible(made_feasible(M, r), r)
    np.testing.assert_allclose(made_feasible(M, 36), M)


@pytest.mark.parametrize("max_iter", [1, 7, 50])
def test_values_bracket_the_optimum_however_few_the_iterations(max_iter, rng):
    for _ in range(20):
        A = np.cov(rng.standard_normal((10, 7)), rowvar=False)
        for r in (1, 3, 7):
            M, Y = solve(A, r, max_iter=max_iter)
            check_feasible(M, r)
            np.testing.assert_array_equal(Y, Y.T)
            bound = dual_value(A, Y, r)
            assert np.vdot(A, M) <= bound
            assert optimum(A, r) <= bound


def test_every_symmetric_matrix_bounds_and_none_better_than_the_relaxation(rng):
    A = np.cov(rng.standard_normal((10, 6)), rowvar=False)
    M, Y = solve(A, 2, max_iter=2000, tolerance=1e-7)
    for _ in range(200):
        other = Y + rng.standard_normal() * symmetric(rng, 6)
        assert dual_value(A, other, 2) >= max(optimum(A, 2), np.vdot(A, M))


def test_pitprops_gap_closes_for_every_number_of_features():
    A = load_pitprops().correlation
    for r in range(1, 14):
        M, Y = solve(A, r)
        reached, possible = np.vdot(A, M), dual_value(A, Y, r)
        assert optimum(A, r) <= possible
        assert possible - reached <= 1.001e-5 * possible
    np.testing.assert_allclose(dual_value(A, solve(A, 5)[1], 5), 3.45810, atol=2e-5)


def test_ends_of_the_range(rng):
    """One feature: the largest variance. All of them: the largest eigenvalue."""
    A = np.cov(rng.standard_normal((20, 6)), rowvar=False)
    np.testing.assert_allclose(dual_value(A, solve(A, 1)[1], 1), np.diag(A).max(), rtol=2e-5)
    np.testing.assert_allclose(dual_value(A, solve(A, 6)[1], 6), np.linalg.eigvalsh(A)[-1], rtol=2e-5)


def test_indefinite_matrices_units_and_an_expired_budget(rng):
    A = symmetric(rng, 7)
    M, Y = solve(A, 3)
    assert np.vdot(A, M) <= dual_value(A, Y, 3) <= np.vdot(A, M) * (1 + 1e-4)
    assert optimum(A, 3) <= dual_value(A, Y, 3)
    scaled = solve(A * 2.0**40, 3)
    np.testing.assert_array_equal(scaled[0], M)
    np.testing.assert_array_equal(scaled[1], Y * 2.0**40)
    M, Y = solve(A, 3, budget=Budget(deadline=0.0))
    check_feasible(M, 3)
    assert optimum(A, 3) <= dual_value(A, Y, 3)
    M, Y = solve(np.zeros((4, 4)), 2)
    check_feasible(M, 2)
    assert dual_value(np.zeros((4, 4)), Y, 2) == 0.0


def test_agrees_with_a_solver_for_conic_programs(rng):
    cvxpy = pytest.importorskip("cvxpy", reason="an independent check, for those who have cvxpy")
    for r in (2, 4):
        A = np.cov(rng.standard_normal((12, 8)), rowvar=False)
        X = cvxpy.Variable((8, 8), PSD=True)
        problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(A @ X)), [cvxpy.trace(X) == 1, cvxpy.sum(cvxpy.abs(X)) <= r])
        wanted = problem.solve()
        np.testing.assert_allclose(dual_value(A, solve(A, r)[1], r), wanted, rtol=1e-4)
