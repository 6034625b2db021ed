"""The relaxation on the Fantope: nearest projections, values that bracket, one component as before, a better split."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import optimum
from sparing.datasets import load_pitprops
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.relaxations.fantope import (
    SharedPartSearch,
    leading_sum,
    on_fantope,
    projection_value,
    relaxed_projection,
    split,
    top_of_all,
)
from sparing.proof.relaxations.semidefinite import dual_value, on_spectraplex, relaxed
from sparing.proof_limits import LIMITS
from sparing.run import Budget


@pytest.fixture(autouse=True)
def one_thread():
    """As in every fit: many small products are slower on several threads."""
    with single_threaded_blas():
        yield


def symmetric(rng, d):
    W = rng.standard_normal((d, d))
    return (W + W.T) / 2


def solve(A, k, radius, max_iter=500, tolerance=1e-5, budget=None):
    return relaxed_projection(A, k, radius, max_iter=max_iter, tolerance=tolerance, budget=budget or Budget())


def check_feasible(M, k, radius):
    values = np.linalg.eigvalsh(M)
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    np.testing.assert_allclose(np.trace(M), k)
    assert values[0] >= -1e-12
    assert values[-1] <= 1 + 1e-12
    assert np.abs(M).sum() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("guess", [1, 4, 40])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_projections_are_nearest(guess, scale, rng):
    """No feasible point lies on the far side of the plane through the projection."""
    for d, k in ((5, 1), (5, 2), (5, 5), (40, 3)):
        W = scale * symmetric(rng, d)
        M, held = on_fantope(W, k, guess)
        check_feasible(M, k, np.inf)
        assert held >= k
        for _ in range(20):
            Q = np.linalg.qr(rng.standard_normal((d, k)))[0]
            assert np.vdot(W - M, Q @ Q.T - M) <= 1e-9 * max(scale, 1.0)
    W = np.diag([3.0, 3.0, 3.0, 0.0])  # ties share what is left
    np.testing.assert_allclose(on_fantope(W, 2, 1)[0], np.diag([2 / 3, 2 / 3, 2 / 3, 0.0]), atol=1e-12)


def test_one_component_is_the_relaxation_of_one(rng):
    for d in (4, 9):
        W = symmetric(rng, d)
        np.testing.assert_allclose(on_fantope(W, 1, 3)[0], on_spectraplex(W, 3)[0], atol=1e-12)
    A = load_pitprops().correlation
    for r in (1, 3, 5, 10, 13):
        M, Y = solve(A, 1, r, max_iter=200, tolerance=1e-4)
        before, dual = relaxed(A, r, max_iter=200, tolerance=1e-4, budget=Budget())
        np.testing.assert_allclose(np.vdot(A, M), np.vdot(A, before), rtol=1e-9)
        np.testing.assert_allclose(projection_value(A, Y, 1, r), dual_value(A, dual, r), rtol=1e-9)


@pytest.mark.parametrize("max_iter", [1, 7, 50])
def test_values_bracket_however_few_the_iterations(max_iter, rng):
    for _ in range(15):
        A = np.cov(rng.standard_normal((10, 7)), rowvar=False)
        for k, r in ((2, 1), (2, 3), (3, 2), (3, 7)):
            M, Y = solve(A, k, k * r, max_iter=max_iter)
            check_feasible(M, k, k * r)
            np.testing.assert_array_equal(Y, Y.T)
            assert np.vdot(A, M) <= projection_value(A, Y, k, k * r) <= leading_sum(A, k) * (1 + 1e-12)


def test_the_gap_closes(rng):
    A = load_pitprops().correlation
    for k, r in ((2, 2), (2, 4), (3, 1), (3, 3), (6, 2)):
        M, Y = solve(A, k, k * r, max_iter=2000)
        assert projection_value(A, Y, k, k * r) - np.vdot(A, M) <= 1.001e-5 * projection_value(A, Y, k, k * r)
    np.testing.assert_allclose(projection_value(A, Y := solve(A, 3, 3)[1], 3, 3), 3.0, rtol=2e-5)
    np.testing.assert_array_equal(Y, Y.T)


def test_indefinite_matrices_units_and_an_expired_budget(rng):
    A = symmetric(rng, 7)
    M, Y = solve(A, 2, 6)
    scaled = solve(A * 2.0**40, 2, 6)
    np.testing.assert_array_equal(scaled[0], M)
    np.testing.assert_array_equal(scaled[1], Y * 2.0**40)
    M, Y = solve(A, 2, 6, budget=Budget(deadline=0.0))
    check_feasible(M, 2, 6)
    assert np.vdot(A, M) <= projection_value(A, Y, 2, 6)
    M, Y = solve(np.zeros((4, 4)), 2, 4)
    check_feasible(M, 2, 4)
    assert projection_value(np.zeros((4, 4)), Y, 2, 4) == 0.0


def test_a_split_says_the_same_as_its_dual(rng):
    """tr W + k lambda_max(A - W - Y) is the sum of the k largest eigenvalues of A - Y."""
    for k in (1, 2, 4):
        A, Y = symmetric(rng, 8), symmetric(rng, 8)
        W = split(A, Y, k)
        assert np.linalg.eigvalsh(W)[0] >= -1e-12
        np.testing.assert_allclose(
            np.trace(W) + k * np.linalg.eigvalsh(A - W - Y)[-1], np.linalg.eigvalsh(A - Y)[-k:].sum()
        )


def test_all_supports_where_they_are_few(rng):
    A = symmetric(rng, 8)
    for r in range(1, 9):
        np.testing.assert_allclose(top_of_all(A, r), optimum(A, r), rtol=1e-11)
        assert top_of_all(A, r) >= optimum(A, r)
    assert top_of_all(np.eye(60), 12) is None
    assert top_of_all(np.eye(60), 60) >= 1.0


@pytest.mark.parametrize("listed", [True, False])
def test_the_search_for_a_split_improves_on_its_start(listed, rng):
    """Judged by all supports, also where the search itself sees only some of them."""
    enumerated = LIMITS.enumerated_supports if listed else 10
    better = 0
    for _ in range(3):
        A = np.cov(rng.standard_normal((14, 8)), rowvar=False)
        for sizes in ([3, 3], [2, 4]):
            start = split(A, np.zeros((8, 8)), 2)
            W = SharedPartSearch(A, sizes, start, enumerated=enumerated).run(10, Budget())
            np.testing.assert_array_equal(W, W.T)
            values = [leading_sum(V, 2) + sum(optimum(A - V, t) for t in sizes) for V in (start, W)]
            better += values[1] < 0.999 * values[0]
            assert values[1] <= values[0] * (1 + (0.001 if listed else 0.05))  # found from some supports, true of all
    assert better >= 4
    assert SharedPartSearch(A, [2, 2], start).run(5, Budget(deadline=0.0)) is start
    np.testing.assert_array_equal(SharedPartSearch(np.zeros((4, 4)), [2, 2], np.zeros((4, 4))).run(5, Budget()), 0)


def test_agrees_with_a_solver_for_conic_programs(rng):
    cvxpy = pytest.importorskip("cvxpy", reason="an independent check, for those who have cvxpy")
    A = np.cov(rng.standard_normal((12, 8)), rowvar=False)
    for k, r in ((2, 2), (3, 2)):
        X = cvxpy.Variable((8, 8), PSD=True)
        kept = [cvxpy.trace(X) == k, np.eye(8) - X >> 0, cvxpy.sum(cvxpy.abs(X)) <= k * r]
        wanted = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(A @ X)), kept).solve()
        np.testing.assert_allclose(projection_value(A, solve(A, k, k * r)[1], k, k * r), wanted, rtol=1e-4)
