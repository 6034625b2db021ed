"""Bounds for several components: nothing feasible passes them, orthogonal or nearly collinear, and controls do."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from laws import checked
from small_problems import GAMED, covariance
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds.orthogonal_dual import OrthogonalDual, nonzeros
from sparing.proof.bounds.semidefinite_dual import SemidefiniteDual
from sparing.proof.bounds.shared_part import SharedPart, best_single, most_absolute, sizes_in_turn, split_value
from sparing.proof.relaxations.fantope import leading_sum, projection_value
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block")
QUICK = {"max_iter": 20, "rounds": 1}


@pytest.fixture(autouse=True)
def one_thread():
    """As in every fit: many small products are slower on several threads."""
    with single_threaded_blas():
        yield


def several(k, r, d, *, orthogonal=False, total=False):
    return Problem(k, r, d, "variance", shared_support=total, orthogonal=orthogonal)


def variance(A, H):
    """tr((H'H)^-1 H'AH), without directions that are lost to rounding."""
    U, s, _ = np.linalg.svd(H, full_matrices=False)
    U = U[:, s > 1e-6 * s[0]]
    return float(np.vdot(U, A @ U))


def best_beside(A, H, supports, orthogonal):
    """The best direction on any of these supports beside those of H; near-copies of them are allowed and count."""
    Q = np.linalg.svd(H, full_matrices=False)[0]
    rows, columns = supports[:, :, None], supports[:, None, :]
    if orthogonal:
        QS = Q[supports]
        off = np.eye(supports.shape[1]) - QS @ np.linalg.pinv(QS, rcond=1e-9)
        values, vectors = np.linalg.eigh(off @ A[rows, columns] @ off)
        at = int(np.argmax(values[:, -1]))
        if values[at, -1] <= 1e-9 * np.trace(A):
            return None
        x = vectors[at, :, -1]
    else:
        P = np.eye(len(A)) - Q @ Q.T
        rotation = np.linalg.inv(np.linalg.cholesky(P[rows, columns] + 1e-7 * np.eye(supports.shape[1])))
        values, vectors = np.linalg.eigh(rotation @ (P @ A @ P)[rows, columns] @ rotation.transpose(0, 2, 1))
        at = int(np.argmax(values[:, -1]))
        x = rotation[at].T @ vectors[at, :, -1]
    h = np.zeros(len(A))
    h[supports[at]] = x / np.linalg.norm(x)
    return h


def reached(A, sizes, rng, *, orthogonal=False, starts=4, sweeps=4):
    """The largest symmetric variance that alternation finds, each turn over all supports: a lower bound on the best."""
    d, best = len(A), 0.0
    listed = {r: np.array(list(combinations(range(d), r))) for r in set(sizes)}
    for _ in range(starts):
        H = np.zeros((d, 1))
        H[rng.choice(d, sizes[0], replace=False), 0] = rng.standard_normal(sizes[0])
        H /= np.linalg.norm(H)
        for rotation in range(1, len(sizes) * sweeps):
            j = rotation % len(sizes)
            others = H if H.shape[1] < len(sizes) else np.delete(H, j, axis=1)
            h = best_beside(A, others, listed[sizes[j]], orthogonal)
            if h is None:
                break
            H = np.column_stack([H, h]) if others is H else np.insert(others, j, h, axis=1)
            if H.shape[1] == len(sizes):
                best = max(best, variance(A, H))
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_no_components_pass_their_bounds(kind):
    """180 problems with the same number of features each; for one feature less the bound is passed."""
    rng = np.random.default_rng(KINDS.index(kind))
    less = {OrthogonalDual: 0, SharedPart: 0}
    for _ in range(3):
        d = int(rng.integers(3, 7))
        A = covariance(kind, rng, d)
        view = DenseGram(A)
        for k in (2, 3):
            before = {}
            for r in range(1, 4):
                for algorithm, orthogonal in ((OrthogonalDual, True), (SharedPart, False)):
                    best = reached(A, [r] * k, rng, orthogonal=orthogonal, starts=2)
                    problem = several(k, r, d, orthogonal=orthogonal)
                    bound = algorithm(**QUICK).bound(Task(view, problem), None, Run(rng))
                    assert bound.value >= best, (algorithm, k, r)
                    assert bound.value <= np.linalg.eigvalsh(A)[-k:].sum() * (1 + 1e-9)
                    less[algorithm] += before.get(algorithm, np.inf) < best
                    before[algorithm] = bound.value
    assert kind in ("tied", "rank_deficient") or min(less.values()) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_components_pass_the_bounds_of_a_total(kind):
    """Features in all, divided in any way."""
    rng = np.random.default_rng(20 + KINDS.index(kind))
    for _ in range(4):
        d = int(rng.integers(4, 7))
        A = covariance(kind, rng, d)
        for k in (2, 3):
            total = int(rng.integers(k, d))
            cuts = np.sort(rng.choice(np.arange(1, total), k - 1, replace=False))
            sizes = np.diff([0, *cuts, total]).tolist()
            for algorithm, orthogonal in ((OrthogonalDual, True), (SharedPart, False)):
                problem = several(k, total, d, orthogonal=orthogonal, total=True)
                bound = algorithm(**QUICK).bound(Task(DenseGram(A), problem), None, Run(rng))
                assert bound.value >= reached(A, sizes, rng, orthogonal=orthogonal, starts=3), (algorithm, sizes)


def test_every_matrix_proves_something():
    """1,500 random W and Y, some near good ones, some far from everything."""
    rng = np.random.default_rng(3)
    for trial in range(50):
        d, k, r = int(rng.integers(3, 7)), int(rng.integers(2, 4)), int(rng.integers(1, 4))
        A = covariance(KINDS[trial % len(KINDS)], rng, d)
        free, strict = several(k, r, d), several(k, r, d, orthogonal=True)
        best, best_strict = reached(A, [r] * k, rng, starts=2), reached(A, [r] * k, rng, orthogonal=True, starts=2)
        for _ in range(15):
            W = rng.standard_normal((d, d))
            W = rng.choice([0.1, 1.0, 10.0]) * (W + W.T) + rng.choice([0.0, 1.0]) * A
            assert split_value(A, W, sizes_in_turn(free, d), best_single) >= best
            assert projection_value(A, W, k, most_absolute(free, d)) >= best
            assert split_value(A, W, [r] * k, best_single) >= best_strict
            assert projection_value(A, W, k, nonzeros(strict, d)) >= best_strict


def test_what_holds_for_orthogonal_components_holds_for_no_others(rng):
    """Control: k times the best single one is passed by components that nearly repeat one another."""
    best = reached(GAMED, [3, 3], rng, starts=10, sweeps=10)
    np.testing.assert_allclose(best, 27.217, atol=1e-3)
    strictly = Task(DenseGram(GAMED), several(2, 3, 5, orthogonal=True))
    unsound = OrthogonalDual().check(strictly, ("part", np.zeros((5, 5))))
    np.testing.assert_allclose(unsound, 24.849, atol=1e-3)
    assert unsound < best
    assert split_value(GAMED, np.zeros((5, 5)), [3, 3], best_single) < best
    assert SharedPart(rounds=20).bound(Task(DenseGram(GAMED), several(2, 3, 5)), None, Run(rng)).value >= best
    strict = OrthogonalDual(rounds=20).bound(strictly, None, Run(rng))
    assert reached(GAMED, [3, 3], rng, orthogonal=True, starts=10) <= strict.value < best


def test_entries_of_projections(rng):
    """sum |P_ij| keeps its bound; kr bounds it for orthogonal components alone (control: 6.56 > 6)."""
    for _ in range(300):
        d, k, r = int(rng.integers(3, 9)), int(rng.integers(2, 4)), int(rng.integers(1, 5))
        H = np.zeros((d, k))
        for h in H.T:
            h[rng.choice(d, min(r, d), replace=False)] = rng.standard_normal(min(r, d))
        U, s, _ = np.linalg.svd(H, full_matrices=False)
        U = U[:, s > 1e-9]
        assert np.abs(U @ U.T).sum() <= most_absolute(several(k, r, d), d) * (1 + 1e-9)
    H = np.array([[1, 0.78, 0.78, 0, 0], [1, 0, 0, 0.78, 0.78]]).T
    P = H @ np.linalg.pinv(H)
    assert 6.5 < np.abs(P).sum() <= most_absolute(several(2, 3, 5), 5)
    assert nonzeros(several(2, 3, 5), 5) == 6


def test_sizes_in_turn():
    assert sizes_in_turn(several(3, 5, 13), 13) == [5, 10, 13]
    assert sizes_in_turn(several(3, 7, 13, total=True), 13) == [2, 4, 7]
    assert sizes_in_turn(several(3, 13, 13, total=True), 13) == [13, 13, 13]
    assert nonzeros(several(3, 7, 13, total=True), 13) == 7
    assert nonzeros(several(3, 13, 13, total=True), 13) == 39
    assert nonzeros(several(3, 5, 13), 13) == 15


def test_one_component_has_the_bound_of_the_semidefinite_dual(rng):
    """With the search for W off, the same number; with it, at least as good."""
    A = load_pitprops().correlation
    for r in (1, 4, 9, 13):
        problem = Problem(1, r, 13, "variance", orthogonal=True)
        plain = SemidefiniteDual().bound(Task(DenseGram(A), problem), None, Run(rng)).value
        ours = OrthogonalDual(rounds=20).bound(Task(DenseGram(A), problem), None, Run(rng)).value
        np.testing.assert_allclose(ours, plain, rtol=1e-9)
        alone = OrthogonalDual(rounds=20).bound(Task(DenseGram(A), several(1, r, 13, orthogonal=True)), None, Run(rng))
        assert best_single(A, r) * (1 - 1e-12) <= alone.value <= plain * (1 + 1e-9)


def test_real_data(rng):
    """Orthogonal components: within 2% and 3.7% of what SparsePCA finds; PCA's own variance is 7.8% and 4.1% away."""
    wine = np.corrcoef(load_wine().data, rowvar=False)
    for A, k, value, gap in ((wine, 3, 7.975909, 0.0200), (load_pitprops().correlation, 6, 10.846372, 0.0370)):
        problem = several(k, 5, 13, orthogonal=True)
        bound = OrthogonalDual(rounds=20).bound(Task(DenseGram(A), problem), None, Run(rng))
        assert value <= bound.value <= value / (1 - gap)
        free = SharedPart(rounds=2).bound(Task(DenseGram(A), several(k, 5, 13)), None, Run(rng))
        assert bound.value < free.value <= leading_sum(A, k) * (1 + 1e-12)
        assert reached(A, [5] * k, rng, starts=1, sweeps=2) <= free.value


def test_a_bound_on_single_components_can_be_given(rng):
    """It replaces the default, in the check too, and is believed: what exists passes one that is too small."""
    A = np.cov(rng.standard_normal((20, 7)), rowvar=False)
    for algorithm, problem in ((OrthogonalDual, several(2, 2, 7, orthogonal=True)), (SharedPart, several(2, 2, 7))):
        task, best = Task(DenseGram(A), problem), reached(A, [2, 2], rng, orthogonal=problem.orthogonal)
        default = algorithm(rounds=20).bound(task, None, Run(rng))
        method = algorithm(single=best_single, rounds=20)
        given = method.bound(task, None, Run(rng))
        np.testing.assert_allclose(given.value, default.value, rtol=1e-9)
        again = pickle.loads(pickle.dumps(given))
        np.testing.assert_allclose(method.check(task, again.witness), given.value, rtol=1e-12)
        believed = algorithm(single=lambda B, r: -1e3, rounds=20)
        wrong = believed.bound(task, None, Run(rng))
        assert wrong.value < best
        assert believed.check(task, wrong.witness) == wrong.value
        assert checked(wrong, DenseGram(A), problem) >= best  # a recheck asks nobody but us


def test_checked_again_from_data_and_witness_in_every_storage(rng):
    X = rng.standard_normal((30, 7)) * (rng.random((30, 7)) < 0.6) + 5.0
    for algorithm, orthogonal in ((OrthogonalDual(rounds=20), True), (SharedPart(rounds=20), False)):
        problem, values = several(2, 3, 7, orthogonal=orthogonal), []
        for view in (as_view(X), as_view(sparse.csr_array(X)), as_view(X * 2.0**20)):
            bound = algorithm.bound(Task(view, problem), None, Run(rng))
            again = pickle.loads(pickle.dumps(bound))
            np.testing.assert_allclose(checked(again, view, problem), bound.value, rtol=1e-12)
            (kind, W), skew = again.witness, np.triu(np.ones((7, 7)), 1)  # only the symmetric part of a witness counts
            assert checked(replace(again, witness=(kind, W + skew)), view, problem) >= bound.value * (1 - 1e-9)
            values.append(bound.value * view.square_unit)
        np.testing.assert_allclose(values[1], values[0], rtol=1e-6)
        np.testing.assert_allclose(values[2], values[0] * 2.0**40, rtol=1e-6)


def test_indefinite_matrices_and_an_expired_budget(rng):
    for _ in range(4):
        A = rng.standard_normal((6, 6))
        A = A + A.T
        view = DenseGram(A, is_psd=False)
        for budget in (Budget(), Budget(deadline=0.0)):
            for r in (1, 2, 3):
                strict = OrthogonalDual(**QUICK).bound(
                    Task(view, several(2, r, 6, orthogonal=True)), None, Run(rng, budget)
                )
                pairs = [
                    np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] + A[T, T]
                    for S in combinations(range(6), r)
                    for T in set(range(6)) - set(S)
                ]
                assert strict.value >= max(pairs)
                free = SharedPart(**QUICK).bound(Task(view, several(2, r, 6)), None, Run(rng, budget))
                assert free.value >= max(pairs)


def test_what_does_not_apply_is_left_to_others(rng):
    view = DenseGram(np.eye(6))
    assert OrthogonalDual().bound(Task(view, several(2, 3, 6)), None, Run(rng)) is None
    assert SharedPart().bound(Task(view, Problem(1, 3, 6, "variance")), None, Run(rng)) is None
    large = DenseGram(np.eye(501))
    assert OrthogonalDual().bound(Task(large, several(2, 3, 501, orthogonal=True)), None, Run(rng)) is None
    assert SharedPart().bound(Task(large, several(2, 3, 501)), None, Run(rng)) is None
