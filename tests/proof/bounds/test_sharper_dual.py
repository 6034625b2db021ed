"""The sharper dual against brute force: nothing passes it, whatever the witness, and a price too low is caught."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import check_grad

from laws import checked
from small_problems import covariance, optimum
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.proof.bounds.semidefinite_dual import SemidefiniteDual, SharperDual
from sparing.proof.relaxations.sharper_dual import _Search, prices, sharper_value
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "indefinite")


def found(A, r, incumbent=None, budget=None, **options):
    view, problem = DenseGram(A), Problem(1, r, len(A), "variance")
    return SharperDual(**options).bound(
        Task(view, problem), incumbent, Run(np.random.default_rng(0), budget or Budget())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_no_direction_passes_the_bound(kind):
    """All supports of 42 small matrices at every r; a bound for one feature less is passed, so the test can fail."""
    rng = np.random.default_rng(KINDS.index(kind))
    too_small = 0
    for _ in range(6):
        d = int(rng.integers(2, 8))
        A, before = covariance(kind, rng, d), np.inf
        for r in range(1, d + 1):
            best, bound = optimum(A, r), found(A, r, max_iter=20, max_relaxed=20).value
            assert bound >= best, r
            too_small += before < best
            before = bound
    assert kind in ("tied", "rank_deficient") or too_small > 0


@pytest.mark.parametrize("kind", KINDS)
def test_all_witnesses_prove_something(kind):
    """1750 random Q and a, most of them far from any optimum, some as good as exact."""
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(50):
        d = int(rng.integers(2, 8))
        A = covariance(kind, rng, d)
        r = int(rng.integers(1, d + 1))
        best = optimum(A, r)
        for share in (0.0, 0.5, 1.0, 1.0, 2.0):
            Q = share * A + rng.choice([0.0, 0.3, 3.0]) * rng.standard_normal((d, d))
            a = rng.choice([0.0, 1.0, -1.0]) * np.diagonal(A) + rng.choice([0.0, 1.0]) * rng.standard_normal(d)
            assert sharper_value(A, Q, a, r) >= best


def test_a_price_too_low_is_caught(rng):
    """Control: with the r - 2 largest entries of each row, or nine tenths of the price, it is no bound."""
    few, cheap = 0, 0
    for _ in range(25):
        d = int(rng.integers(3, 8))
        A = covariance("noisy", rng, d)
        r = int(rng.integers(2, d))
        best = optimum(A, r)
        Q, a = found(A, r, max_iter=60).witness
        off = Q - np.diag(np.diagonal(Q))
        top = np.linalg.eigvalsh(A - (off + off.T) / 2 + np.diag(a))[-1]
        squares = -np.sort(-np.square(off), axis=1)
        fewer = top + np.sort(prices(np.sqrt(squares[:, : r - 2].sum(axis=1)), a))[-r:].sum()
        cheaper = top + 0.9 * np.sort(prices(np.sqrt(squares[:, : r - 1].sum(axis=1)), a))[-r:].sum()
        few, cheap = few + (fewer < best * (1 - 1e-9)), cheap + (cheaper < best * (1 - 1e-9))
    assert min(few, cheap) > 2


def test_the_price_is_the_exact_maximum(rng):
    s = np.linspace(0.0, 1.0, 20001)
    for n, a in rng.standard_normal((200, 2)) * [[1.0, 2.0]]:
        n = abs(n)
        price = prices(np.array([n]), np.array([a]))[0]
        reached = (n * np.sqrt(s * (1 - s)) - a * s).max()
        assert reached <= price * (1 + 1e-12) + 1e-15
        np.testing.assert_allclose(reached, price, atol=1e-4)
        if a > 0:
            assert price <= n**2 / (4 * a)


def test_never_worse_than_the_plain_dual_and_often_better(rng):
    better = 0
    for _ in range(8):
        A = np.cov(rng.standard_normal((12, 9)), rowvar=False)
        problem = Problem(1, 4, 9, "variance")
        plain = SemidefiniteDual().bound(Task(DenseGram(A), problem), None, Run(rng)).value
        sharper = found(A, 4, max_iter=150).value
        assert sharper <= plain * (1 + 1e-9)
        better += sharper - optimum(A, 4) < 0.5 * (plain - optimum(A, 4))
    assert better >= 4


def test_gradient(rng):
    A = covariance("dense", rng, 6)
    A /= np.linalg.eigvalsh(A)[-1]
    search = _Search(A, 3, 0.1, -np.inf, Budget())
    z = search.start(0.1 * np.clip(A, -1, 1))
    z += 0.1 * rng.random(len(z))
    for temperature in (0.1, 0.01):
        error = check_grad(
            lambda at, t=temperature: search.smoothed(at, t)[0], lambda at, t=temperature: search.smoothed(at, t)[1], z
        )
        assert error < 1e-5


def test_checked_again_from_data_and_witness(rng):
    X = rng.standard_normal((30, 9)) + 5.0
    problem = Problem(1, 3, 9, "variance")
    for view in (as_view(X), as_view(X * 2.0**20), DenseGram(X.T @ X)):
        bound = SharperDual(max_iter=50).bound(Task(view, problem), None, Run(rng))
        again = pickle.loads(pickle.dumps(bound))
        assert checked(again, view, problem) == bound.value
        assert bound.value >= optimum(view.gram(), 3)
        Q, a = bound.witness
        for altered in (
            (Q + 1e-3 * np.abs(Q).max() * rng.standard_normal(Q.shape), a),
            (Q, 0 * a),
            (0 * Q, a),
            (-Q, -a),
        ):
            assert SharperDual().check(Task(view, problem), altered) >= optimum(view.gram(), 3)


def test_stops_in_time_and_when_nothing_is_left_to_prove(rng):
    A = covariance("noisy", rng, 8)
    expired = found(A, 3, budget=Budget(deadline=0.0))
    assert expired.value >= optimum(A, 3)
    A = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0]) + 0.1
    A[5:, 5:] += 1.0
    S = np.arange(5, 8)
    loadings = np.linalg.eigh(A[np.ix_(S, S)])[1][:, -1:].T
    done = found(A, 3, SimpleNamespace(support=S, loadings=loadings), max_iter=100_000)
    assert optimum(A, 3) <= done.value <= optimum(A, 3) * (1 + 1e-6)


def test_what_is_too_large_or_has_more_components_is_left_to_others(rng):
    A = np.eye(501)
    assert SharperDual().bound(Task(DenseGram(A), Problem(1, 3, 501, "variance")), None, Run(rng)) is None
    assert SharperDual().bound(Task(DenseGram(A[:5, :5]), Problem(2, 3, 5, "variance")), None, Run(rng)) is None


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.eye(4), -np.eye(4), np.ones((1, 1)), np.ones((5, 5))])
def test_degenerate_matrices(A):
    for r in range(1, len(A) + 1):
        bound = found(A, r, max_iter=30).value
        assert optimum(A, r) <= bound <= optimum(A, r) + 1e-3 * r


def test_pitprops():
    """Within 0.4% of the optima where the plain dual needs 3.5."""
    A = load_pitprops().correlation
    for r in (1, 2, 5, 10, 13):
        best = optimum(A, r)
        assert best <= found(A, r).value <= 1.004 * best, r


def test_communities(shared):
    A = shared("bcp_covariances.npz", "normCommunities")
    assert 8.823615 <= found(A, 10, max_iter=200).value <= 8.823616 * (1 + 1e-3)
