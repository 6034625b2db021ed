"""The bound in the space of samples against brute force: nothing passes it, whatever the witness."""

from __future__ import annotations

import pickle
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from laws import checked
from small_problems import covariance
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.proof.bounds import direct_optimality as module
from sparing.proof.bounds.direct_optimality import DirectOptimality, Dominance
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "wide", "indefinite")


def solved(A, r):
    """The optimum and an encoder that reaches it."""
    S = np.array(list(combinations(range(len(A)), r)))
    values, vectors = np.linalg.eigh(A[S[:, :, None], S[:, None, :]])
    at = int(values[:, -1].argmax())
    return float(values[at, -1]), SimpleNamespace(support=S[at], loadings=vectors[at, :, -1:].T)


def found(A, r, incumbent=None, budget=None, max_iter=200):
    view, problem = A if not isinstance(A, np.ndarray) else DenseGram(A), Problem(1, r, 0, "variance")
    return DirectOptimality(max_iter=max_iter).bound(Task(view, problem), incumbent, Run(None, budget or Budget()))


@pytest.mark.parametrize("kind", KINDS)
def test_no_direction_passes_the_bound(kind):
    """All supports of 40 matrices at every r, from the optimum, from another direction and from none."""
    rng = np.random.default_rng(KINDS.index(kind))
    proved = 0
    for _ in range(5):
        d = int(rng.integers(1, 8))
        A = covariance(kind, rng, d)
        for r in range(1, d + 1):
            best, incumbent = solved(A, r)
            other = SimpleNamespace(support=np.arange(r), loadings=rng.standard_normal((1, r)))
            for start in (incumbent, other, None):
                bound = found(A, r, start, max_iter=3)
                assert bound.value >= best, r
                proved += start is incumbent and bound.value <= best + 1e-8 * abs(best)
    assert kind == "indefinite" or proved > 5


@pytest.mark.parametrize("kind", KINDS)
def test_all_witnesses_prove_something(kind):
    """1600 random rho, X, C and s; the bases are not even orthogonal."""
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(50):
        d = int(rng.integers(2, 8))
        A = covariance(kind, rng, d)
        r = int(rng.integers(1, d + 1))
        best, view, problem = solved(A, r)[0], DenseGram(A), Problem(1, r, d, "variance")
        C, shift, _ = module._factored(view)
        n = len(C)
        for changed in (0.0, 0.0, 0.1, 1.0):
            rho = rng.choice([0.0, 1e-6, rng.random(), 2.0]) * np.square(C).sum(axis=0).max()
            basis = np.linalg.qr(rng.standard_normal((n, n)))[0] + changed * rng.standard_normal((n, n))
            weights = 10.0 ** rng.uniform(-12, 1, n) * (rng.random(n) < 0.8)
            factor = C + changed * rng.standard_normal(C.shape)
            witness = Dominance(rho, basis, weights, factor, shift + changed * rng.standard_normal())
            assert DirectOptimality().check(Task(view, problem), witness) >= best


def test_every_matrix_dominates(rng):
    """Y_i >= 0 and Y_i >= a_i a_i' - rho I for both of the paper's formulas and all that lie between."""
    for _ in range(300):
        n = int(rng.integers(1, 6))
        a, basis = rng.standard_normal((n, 1)), np.linalg.qr(rng.standard_normal((n, n)))[0]
        rho = float(rng.choice([0.0, 0.01, 0.5, 0.99, 1.5])) * float(a[:, 0] @ a[:, 0])
        weights = np.append(1.0, np.full(n - 1, 10.0 ** rng.uniform(-12, 0)))
        _, Y, _ = module.bound_at(a, rho, basis, weights, 1)
        values = np.linalg.eigvalsh(Y - a @ a.T + rho * np.eye(n))
        assert min(values[0], np.linalg.eigvalsh(Y)[0]) >= -1e-12 * (1 + np.abs(Y).max())


def test_concentrated_it_is_the_papers_two_formulas(rng):
    n, tested = 5, [0, 0]
    for _ in range(200):
        a = rng.standard_normal(n)
        basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
        x, rho = basis[:, 0], float(rng.uniform(0.1, 0.9) * (a @ a))
        _, Y, _ = module.bound_at(a[:, None], rho, basis, np.append(1.0, np.full(n - 1, 1e-11)), 1)
        B, inside = np.outer(a, a) - rho * np.eye(n), (a @ x) ** 2
        if abs(inside / rho - 1) < 0.1:
            continue
        u = a - (a @ x) * x
        expected = np.outer(B @ x, B @ x) / (x @ B @ x)
        if inside < rho:
            expected = rho * (a @ a - rho) / (rho - inside) * np.outer(u, u) / (u @ u)
        tested[int(inside < rho)] += 1
        np.testing.assert_allclose(Y, expected, atol=1e-6 * np.abs(expected).max())
    assert min(tested) > 20


def test_features_left_out_are_caught(rng):
    """Control: with Y_i = 0 for all features outside the support it is no bound."""
    caught = 0
    for _ in range(50):
        A = covariance("dense", rng, 7)
        _, incumbent = solved(-A + 20 * np.diag(np.diagonal(A)), 3)  # some support, not the best
        best = solved(A, 3)[0]
        bound = found(A, 3, incumbent, max_iter=0)
        C = np.array(bound.witness.factor)
        C[:, np.setdiff1d(np.arange(7), incumbent.support)] = 0.0
        rho, basis, weights, _, shift = bound.witness
        caught += module.bound_at(C, rho, basis, weights, 3)[0] + shift < best * (1 - 1e-9)
    assert caught > 5


def test_c_too_small_is_caught(rng):
    """Control: nine tenths of every Y_i is no bound."""
    caught = 0
    for _ in range(20):
        A = covariance("noisy", rng, 7)
        best, incumbent = solved(A, 3)
        rho, basis, weights, C, shift = found(A, 3, incumbent).witness
        _, M, _ = module.bound_at(C, rho, basis, weights, 3)
        caught += 0.9 * np.linalg.eigvalsh(M)[-1] + 3 * rho + shift < best * (1 - 1e-9)
    assert caught > 10


def test_proves_spikes_optimal_without_the_gram_matrix(rng, monkeypatch):
    """60 samples of 3000 features: the paper's own test succeeds."""
    v = np.zeros(3000)
    v[:10] = 10**-0.5
    X = rng.standard_normal((60, 3000)) + 12 * np.outer(rng.standard_normal(60), v)
    view = as_view(X)
    monkeypatch.setattr(type(view), "gram", None)
    C = view.columns(np.arange(10))
    value, vectors = np.linalg.eigh(C.T @ C)
    incumbent = SimpleNamespace(support=np.arange(10), loadings=vectors[:, -1:].T)
    bound = found(view, 10, incumbent, max_iter=0)
    assert value[-1] <= bound.value <= value[-1] * (1 + 1e-8)
    task = Task(view, Problem(1, 10, 3000, "variance"))
    np.testing.assert_allclose(DirectOptimality().check(task, bound.witness), bound.value, rtol=1e-12)
    for altered in (bound.witness._replace(rho=0.5 * bound.witness.rho), bound.witness._replace(rho=-1.0)):
        assert DirectOptimality().check(task, altered) >= value[-1]
    assert DirectOptimality().check(task.counting(9), bound.witness) < value[-1]  # Control: one feature less


def test_steps_improve_where_the_test_fails(rng):
    better = 0
    for _ in range(10):
        X = rng.standard_normal((6, 9))
        best, incumbent = solved(X.T @ X, 4)
        view = as_view(X, Preprocessing(center=False))
        first, later = found(view, 4, incumbent, max_iter=0).value, found(view, 4, incumbent).value
        assert best * view.square_unit**-1 <= later <= first
        better += later < 0.98 * first
    assert better >= 5


def test_the_smallest_eigenvalue_is_free(rng):
    A = covariance("noisy", rng, 7)
    _, incumbent = solved(A, 3)
    base = found(A, 3, incumbent).value
    np.testing.assert_allclose(found(A + 5 * np.eye(7), 3, incumbent).value, base + 5, rtol=1e-4)


def test_checked_again_from_data_and_witness_in_every_storage(rng):
    X = rng.standard_normal((8, 30)) * (rng.random((8, 30)) < 0.6) + 5.0
    problem, values = Problem(1, 3, 30, "variance"), []
    for view in (as_view(X), as_view(sparse.csr_array(X)), as_view(X * 2.0**20), as_view(np.vstack([X] * 5))):
        bound = DirectOptimality(max_iter=20).bound(Task(view, problem), None, Run(rng))
        again = pickle.loads(pickle.dumps(bound))
        assert checked(again, view, problem) == bound.value
        assert bound.value >= solved(view.gram(), 3)[0]
        values.append(bound.value * view.square_unit)
    np.testing.assert_allclose(values[1:3], [values[0], values[0] * 2.0**40], rtol=1e-8)


def test_an_expired_budget_and_what_is_left_to_others(rng):
    A = covariance("noisy", rng, 8)
    best, incumbent = solved(A, 3)
    assert found(A, 3, incumbent, Budget(deadline=0.0)).value >= best
    assert found(np.eye(501), 3) is None
    assert found(as_view(rng.standard_normal((501, 600))), 3) is None
    assert found(as_view(sparse.random_array((400, 12501), density=1e-4, random_state=rng)), 3) is None
    assert DirectOptimality().bound(Task(DenseGram(A), Problem(2, 3, 8, "variance")), None, Run(rng)) is None


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.eye(4), -np.eye(4), np.ones((1, 1)), np.ones((5, 5))])
def test_degenerate_matrices(A):
    for r in range(1, len(A) + 1):
        best, incumbent = solved(A, r)
        for start in (incumbent, None):
            assert best <= found(A, r, start).value <= max(best, 0.0) + 1e-2


def test_pitprops_with_seven_features_is_proved():
    A = load_pitprops().correlation
    best, incumbent = solved(A, 7)
    assert best <= found(A, 7, incumbent, max_iter=400).value <= best * (1 + 1e-5)


def test_colon(shared):
    """62 samples of 2000 genes: five proved optimal by the test, without a matrix of genes by genes."""
    view = as_view(shared("colon_alon.npz").astype(float))
    S = np.argsort(-view.gram_diagonal())[:5]
    for _ in range(20):
        C = view.columns(S)
        loadings = np.linalg.eigh(C.T @ C)[1][:, -1:]
        S = np.sort(np.argsort(-np.abs(view.rmatmat(C @ loadings)[:, 0]))[:5])
    C = view.columns(S)
    values, vectors = np.linalg.eigh(C.T @ C)
    bound = found(view, 5, SimpleNamespace(support=S, loadings=vectors[:, -1:].T))
    assert values[-1] <= bound.value <= values[-1] * (1 + 1e-8)
