"""Bounds on variance, against brute force: nothing feasible passes them, and one made too small is caught."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from scipy import linalg, sparse

from laws import checked
from small_problems import GAMED, covariance, optimum
from sparing import certify
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.proof.bounds import LargestDiagonals, LeadingVariance, RowSquares, RowSums, SemidefiniteDual
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy")
ONE = (LargestDiagonals(), RowSums(), RowSquares(), SemidefiniteDual(max_iter=20))
"""For one component; LeadingVariance joins them where there is a spectrum."""
PCA = LeadingVariance()


def bounds(view, problem, algorithms=ONE):
    """Name and bound of everything that applies."""
    rng = np.random.default_rng(0)
    task = Task(view, problem)
    if view.is_psd:
        task, algorithms = replace(task, target=top_spectrum(view, problem.n_components, rng)), (*algorithms, PCA)
    found = {type(a).__name__: a.bound(task, None, Run(rng)) for a in algorithms}
    return {name: bound for name, bound in found.items() if bound is not None}


@pytest.mark.parametrize("kind", KINDS)
def test_no_direction_passes_any_bound(kind):
    """All supports of 120 small matrices at every r; a bound for one feature less is passed, so the test can fail."""
    rng = np.random.default_rng(KINDS.index(kind))
    too_small = dict.fromkeys(["LargestDiagonals", "RowSums", "RowSquares", "SemidefiniteDual"], 0)
    for _ in range(20):
        d = int(rng.integers(2, 9))
        A = covariance(kind, rng, d)
        view, before = DenseGram(A), {}
        for r in range(1, d + 1):
            best = optimum(A, r)
            found = bounds(view, Problem(1, r, d, "variance"))
            assert len(found) == 5
            for name, bound in found.items():
                assert bound.value >= best, (name, r)
                if name in before and name in too_small:
                    too_small[name] += before[name] < best
            before = {name: bound.value for name, bound in found.items()}
    assert kind in ("tied", "rank_deficient") or min(too_small.values()) > 0


def test_no_direction_passes_where_the_matrix_is_indefinite(rng):
    for _ in range(60):
        d = int(rng.integers(2, 7))
        A = rng.standard_normal((d, d))
        A = A + A.T
        view = DenseGram(A, is_psd=False)
        for r in range(1, d + 1):
            found = bounds(view, Problem(1, r, d, "variance"))
            assert set(found) == {"LargestDiagonals", "RowSums", "RowSquares", "SemidefiniteDual"}
            assert min(bound.value for bound in found.values()) >= optimum(A, r)
    spectrum = top_spectrum(DenseGram(np.eye(3)), 1, rng)
    assert PCA.bound(Task(view, Problem(1, 1, d, "variance"), spectrum), None, Run(rng)) is None


def symmetric_variance(A, H):
    """tr((H'H)^-1 H'AH)."""
    Q, R, _ = linalg.qr(H, mode="economic", pivoting=True)
    Q = Q[:, np.abs(np.diagonal(R)) > 1e-7 * abs(R[0, 0])]
    return float(np.trace(Q.T @ A @ Q))


def best_beside(A, u, S):
    """The direction on S that adds most to a unit vector u: the top of (PAP, P) for P = I - uu', P kept away from 0."""
    P = np.eye(len(A)) - np.outer(u, u)
    block = np.ix_(S, S)
    _, vectors = linalg.eigh((P @ A @ P)[block], P[block] + 1e-6 * np.eye(len(S)))
    h = np.zeros(len(A))
    h[list(S)] = vectors[:, -1]
    return h / np.linalg.norm(h)


def reached_by_pairs(A, r, rng, starts=2, turns=4):
    """The largest symmetric variance of two components on any two supports that alternation finds: a lower bound."""
    reached = 0.0
    for S, T in combinations_with_replacement(list(combinations(range(len(A)), r)), 2):
        for _ in range(starts):
            h = np.zeros(len(A))
            h[list(S)] = rng.standard_normal(r)
            h /= np.linalg.norm(h)
            for _ in range(turns):
                other = best_beside(A, h, T)
                reached = max(reached, symmetric_variance(A, np.column_stack([h, other])))
                h, S, T = other, T, S
    return reached


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_components_pass_the_bounds_for_several(kind):
    rng = np.random.default_rng(10 + KINDS.index(kind))
    for _ in range(3):
        d = int(rng.integers(3, 6))
        A = covariance(kind, rng, d)
        view = DenseGram(A)
        for r in range(1, d):
            found = bounds(view, Problem(2, r, d, "variance", shared_support=False))
            assert set(found) == {"LargestDiagonals", "LeadingVariance"}
            shared = bounds(view, Problem(2, r, d, "variance"))
            reached = reached_by_pairs(A, r, rng)
            for name in found:
                assert found[name].value >= reached, (name, r)
                assert shared[name].value >= optimum(A, r, k=2), (name, r)


def test_two_components_can_have_more_than_twice_the_best_one(rng):
    """Control: twice the best single component is no bound, because near-copies buy each other features."""
    reached = reached_by_pairs(GAMED, 3, rng, starts=4, turns=12)
    np.testing.assert_allclose(reached, 27.217, atol=1e-3)
    np.testing.assert_allclose(2 * optimum(GAMED, 3), 24.849, atol=1e-3)
    for bound in bounds(DenseGram(GAMED), Problem(2, 3, 5, "variance", shared_support=False)).values():
        assert bound.value >= reached


def test_gershgorin_that_skips_rows_is_no_bound():
    """Control: rows of features that are fixed already count too. This once was wrong in published code for years."""
    A = np.eye(3)
    A[0, 1:] = A[1:, 0] = 0.7
    skipping = max(A[i, i] + np.delete(np.abs(A[i]), i).sum() for i in (1, 2))
    np.testing.assert_allclose(skipping, 1.7)
    np.testing.assert_allclose(optimum(A, 3), 1.98995, atol=1e-5)
    assert skipping < optimum(A, 3)
    for bound in bounds(DenseGram(A), Problem(1, 3, 3, "variance")).values():
        assert bound.value >= optimum(A, 3)


def test_a_power_iteration_is_no_bound(rng):
    """Control: Rayleigh quotients come from below; the bound from the same spectrum does not."""
    X = rng.standard_normal((300, 250))
    view = as_view(X)
    spectrum = top_spectrum(view, 1, rng, tolerance=1e-2)
    assert not spectrum.exact
    top = float(np.linalg.eigvalsh(view.gram())[-1])
    problem = Problem(1, 9, 250, "variance")
    bound = PCA.bound(Task(view, problem, spectrum), None, Run(rng))
    assert bound.strength == "numerical"
    assert spectrum.values[0] < top <= bound.value
    assert top <= checked(bound, view, problem) <= bound.value


def test_diagonals_lie_between_their_two_extremes(rng):
    """mu = 0 gives the largest variances, mu = lambda_1 gives k lambda_1; the best mu is at least as good as both."""
    better = 0
    for _ in range(20):
        A = np.cov(rng.standard_normal((12, 8)), rowvar=False)
        problem = Problem(2, 2, 8, "variance", shared_support=False)
        bound = LargestDiagonals().bound(Task(DenseGram(A), problem), None, Run(rng))
        plain = min(np.sort(np.diag(A))[-4:].sum(), 2 * np.linalg.eigvalsh(A)[-1])
        assert bound.value <= plain * (1 + 1e-9)
        better += bound.value < 0.99 * plain
        for mu in (0.0, 0.3, 1.0):  # any mu proves something
            assert LargestDiagonals().check(Task(DenseGram(A), problem), mu) >= bound.value * (1 - 1e-6)
    assert better >= 10


def test_pitprops():
    """Every bound holds for every number of features, and the dual is within 3.5% of each optimum."""
    A = load_pitprops().correlation
    for r in range(1, 14):
        best = optimum(A, r)
        found = bounds(DenseGram(A), Problem(1, r, 13, "variance"), (*ONE[:3], SemidefiniteDual()))
        assert min(bound.value for bound in found.values()) >= best
        assert found["SemidefiniteDual"].value <= 1.035 * best
        assert found["SemidefiniteDual"].value <= (1 + 1e-4) * found["LeadingVariance"].value
    assert found["LeadingVariance"].value <= best * (1 + 1e-9)


def test_checked_again_from_data_and_witness_in_every_storage(rng):
    X = rng.standard_normal((30, 9)) * (rng.random((30, 9)) < 0.6) + 5.0
    problem = Problem(1, 3, 9, "variance")
    values = []
    for view in (as_view(X), as_view(sparse.csr_array(X)), as_view(X * 2.0**20)):
        found = bounds(view, problem)
        for bound in found.values():
            again = pickle.loads(pickle.dumps(bound))
            np.testing.assert_allclose(checked(again, view, problem), bound.value, rtol=1e-12)
        values.append([bound.value * view.square_unit for bound in found.values()])
        assert min(values[-1]) >= optimum(view.gram(), 3) * view.square_unit
    np.testing.assert_allclose(values[1], values[0], rtol=1e-9)
    np.testing.assert_allclose(values[2], np.array(values[0]) * 2.0**40, rtol=1e-9)


def test_an_expired_budget_gives_weaker_bounds_not_wrong_ones(rng):
    A = np.cov(rng.standard_normal((12, 8)), rowvar=False)
    for algorithm in ONE:
        bound = algorithm.bound(Task(DenseGram(A), Problem(1, 3, 8, "variance")), None, Run(rng, Budget(deadline=0.0)))
        assert bound.value >= optimum(A, 3)


def test_what_is_too_large_is_left_to_others(rng):
    """No bound forms a matrix of features by features where they are many; variances alone still bound."""
    view = as_view(rng.standard_normal((6, 3001)), Preprocessing(center=False))
    problem = Problem(1, 4, 3001, "variance")
    assert set(bounds(view, problem)) == {"LargestDiagonals", "LeadingVariance"}
    bound = LargestDiagonals().bound(Task(view, problem), None, Run(rng))
    np.testing.assert_allclose(bound.value, np.sort(view.gram_diagonal())[-4:].sum(), rtol=1e-9)
    indefinite = DenseGram(np.eye(1001), is_psd=False)
    assert LargestDiagonals().bound(Task(indefinite, replace(problem, n_features=1001)), None, Run(rng)) is None


def test_fewer_eigenvalues_than_components_explain_everything(rng):
    A = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    spectrum = top_spectrum(DenseGram(A), 2, rng)
    assert spectrum.rank == 1
    bound = PCA.bound(Task(DenseGram(A), Problem(2, 2, 3, "variance"), spectrum), None, Run(rng))
    np.testing.assert_allclose(bound.value, 14.0)
    assert bound.value >= np.linalg.eigvalsh(A)[-2:].sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [20, 40, 400])
def test_matrices_that_are_positive_semidefinite_only_up_to_rounding(dtype, d):
    """Their trace is smaller than their largest eigenvalue: total less tail would be no bound."""
    eps = 0.9 * max(1e-8, d * float(np.finfo(dtype).eps) if dtype == np.float32 else 0.0)
    A = -eps * np.eye(d)
    A[0, 0] = 1.0
    A = A.astype(dtype)
    assert np.trace(A.astype(float)) < 1
    for foreign in (np.eye(1, d, 1) + 0.5 * np.eye(1, d), np.eye(2, d, 3) + np.eye(2, d, 4)):
        certificate = certify(foreign, A, objective="variance", precomputed=True, random_state=0)
        assert certificate.bound >= 1.0
        assert all(part.bound >= 1.0 for part in certificate.parts)
