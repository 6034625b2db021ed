"""Disjoint supports: exact against brute force, valid bounds however early the search ends, and their encoder."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from laws import checked
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.linalg.threads import single_threaded_blas
from sparing.methods.deflation import DisjointDeflation
from sparing.methods.encoders.disjoint import Disjoint
from sparing.methods.encoders.sequential import Sequential
from sparing.methods.solvers import Auto
from sparing.proof.bounds.disjoint_supports import DisjointSupports
from sparing.proof.bounds.orthogonal_dual import OrthogonalDual
from sparing.proof.trees.disjoint_supports import best_disjoint, countable
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "indefinite")


@pytest.fixture(autouse=True)
def one_thread():
    """As in every fit: many small products are slower on several threads."""
    with single_threaded_blas():
        yield


def matrix(kind, rng, d):
    X = rng.standard_normal((d + 3, d))
    if kind == "integer":
        X = rng.integers(-1, 2, X.shape).astype(float)
    elif kind == "tied":
        A = np.full((d, d), rng.choice([0.0, 0.25, 0.5]))
        np.fill_diagonal(A, 1.0)
        return A
    elif kind == "rank_deficient":
        X = X[:2]
    elif kind == "block":
        X[: d // 2, d // 2 :], X[d // 2 :, : d // 2] = 0.0, 0.0
    elif kind == "indefinite":
        return X[:d] + X[:d].T
    return X.T @ X


def optimum(A, sizes):
    """All supports of all sizes, one component after the other."""
    tops = {}

    def top(S):
        if S not in tops:
            tops[S] = float(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1])
        return tops[S]

    def best(sizes, free):
        if not sizes:
            return 0.0
        own = [S for s in range(1, min(sizes[0], len(free)) + 1) for S in combinations(free, s)]
        return max((top(S) + best(sizes[1:], tuple(sorted(set(free) - set(S)))) for S in own), default=-np.inf)

    return best(list(sizes), tuple(range(len(A))))


def proved(found):
    """Is nothing better, up to rounding?"""
    return found.bound <= found.value + 1e-9 * abs(found.value)


def check(A, sizes, found):
    """Disjoint, in the order and of the sizes asked for, with the value said."""
    features = np.concatenate(found.supports)
    assert len(set(features.tolist())) == len(features)
    assert all(1 <= len(S) <= r for S, r in zip(found.supports, sizes, strict=True))
    value = sum(float(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1]) for S in found.supports)
    np.testing.assert_allclose(found.value, value, rtol=1e-9, atol=1e-12)
    assert found.bound >= found.value


@pytest.mark.parametrize("kind", KINDS)
def test_exact_against_brute_force(kind):
    """480 problems, sizes alike and unlike, also more than there are features for."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(80):
        d = int(rng.integers(2, 7))
        A = matrix(kind, rng, d)
        k = int(rng.integers(1, min(d, 3) + 1))
        sizes = rng.integers(1, 4, k).tolist() if rng.random() < 0.5 else [int(rng.integers(1, 4))] * k
        best = optimum(A, sizes)
        found = best_disjoint(A, sizes, budget=Budget())
        check(A, sizes, found)
        np.testing.assert_allclose(found.value, best, rtol=1e-9, atol=1e-9)
        assert proved(found) or abs(best) < 1e-6
        assert found.bound >= best - 1e-12 * abs(best)


@pytest.mark.parametrize("max_nodes", [0, 1, 5])
def test_bounds_hold_however_early_the_search_ends(max_nodes, rng):
    early = 0
    for trial in range(60):
        A = matrix(KINDS[trial % 6], rng, 6)
        sizes = [2, 2, 2] if trial % 2 else [3, 2]
        best = optimum(A, sizes)
        for prices in (None, np.zeros(6), rng.random(6) * np.abs(A).max()):
            found = best_disjoint(A, sizes, budget=Budget(), max_nodes=max_nodes, prices=prices)
            check(A, sizes, found)
            assert found.value <= best + 1e-9 * abs(best)
            assert found.bound >= best - 1e-12 * abs(best)
            early += not proved(found)
        late = best_disjoint(A, sizes, budget=Budget(deadline=0.0))
        check(A, sizes, late)
        assert late.bound >= best - 1e-12 * abs(best)
    assert early > 10


def test_without_the_sum_of_prices_there_is_no_bound(rng):
    """Control: reduced values alone are passed."""
    A = np.cov(rng.standard_normal((12, 7)), rowvar=False)
    prices = np.full(7, 0.5)
    found = best_disjoint(A, [2, 2], budget=Budget(), max_nodes=0, prices=prices)
    assert found.bound >= optimum(A, [2, 2]) > found.bound - prices.sum()


def test_pitprops_and_what_is_too_large():
    A = load_pitprops().correlation
    found = best_disjoint(A, [4, 4, 4], budget=Budget())
    assert proved(found)
    np.testing.assert_allclose(found.value, 7.250149, atol=1e-6)
    one = best_disjoint(A, [5], budget=Budget())
    np.testing.assert_allclose(one.value, 3.406155, atol=1e-6)
    assert best_disjoint(np.eye(60), [9, 9], budget=Budget()) is None
    assert best_disjoint(np.eye(2), [1, 1, 1], budget=Budget()) is None
    assert countable(13, [5, 5])
    assert not countable(60, [9, 9])
    unlike = best_disjoint(A, [1, 6, 3], budget=Budget())
    assert [len(S) for S in unlike.supports] == [1, 6, 3]


def test_a_start_is_never_lost(rng):
    A = np.cov(rng.standard_normal((20, 8)), rowvar=False)
    best = best_disjoint(A, [3, 2], budget=Budget())
    again = best_disjoint(A, [3, 2], budget=Budget(), max_nodes=0, start=best.supports, prices=np.zeros(8))
    np.testing.assert_allclose(again.value, best.value)
    assert [S.tolist() for S in again.supports] == [S.tolist() for S in best.supports]


def disjoint(k, r, d):
    """What a problem without common features looks like to a bound."""
    return Problem(k, r, d, "variance", shared_support=False, disjoint=True)


def test_disjoint_supports_are_bounded_and_checked(rng):
    for _ in range(15):
        A = np.cov(rng.standard_normal((12, 7)), rowvar=False)
        view = DenseGram(A)
        best = optimum(A, [2, 2])
        for nodes in (0, 20_000):
            bound = DisjointSupports(nodes).bound(Task(view, disjoint(2, 2, 7)), None, Run(rng))
            assert bound.value >= best * (1 - 1e-12)
            again = pickle.loads(pickle.dumps(bound))
            assert best * (1 - 1e-12) <= checked(again, view, disjoint(2, 2, 7)) <= bound.value * (1 + 1e-12)
        np.testing.assert_allclose(bound.value, best, rtol=1e-9)
        orthogonal = OrthogonalDual(max_iter=20, rounds=2).bound(Task(view, disjoint(2, 2, 7)), None, Run(rng))
        assert bound.value * (1 - 1e-9) <= orthogonal.value <= 1.2 * bound.value
        prices, supports, nodes = bound.witness
        lied = replace(bound, witness=(prices - 1.0, [supports[0], supports[0]], nodes))
        assert checked(lied, view, disjoint(2, 2, 7)) >= best * (1 - 1e-12)
    free = replace(disjoint(2, 2, 7), disjoint=False)
    assert DisjointSupports().bound(Task(view, free), None, Run(rng)) is None
    assert DisjointSupports().bound(Task(DenseGram(np.eye(60)), disjoint(3, 9, 60)), None, Run(rng)) is None


def encode(view, k, n_nonzero, encoder, budget=None):
    rng = np.random.default_rng(0)
    return encoder.encode(Task.of_components(view, top_spectrum(view, k, rng), n_nonzero), Run(rng, budget or Budget()))


def test_the_encoder_is_exact_and_never_below_one_after_the_other(rng):
    better = 0
    for _ in range(10):
        A = np.cov(rng.standard_normal((15, 8)), rowvar=False)
        for n_nonzero in (2, [3, 1, 2]):
            found = encode(DenseGram(A), 3, n_nonzero, Disjoint())
            H = found.components
            sizes = [n_nonzero] * 3 if isinstance(n_nonzero, int) else n_nonzero
            assert (np.count_nonzero(H, axis=0) <= 1).all()
            assert (np.count_nonzero(H, axis=1) <= sizes).all()
            np.testing.assert_allclose(np.trace(H @ A @ H.T), optimum(A, sizes))
            turns = encode(DenseGram(A), 3, n_nonzero, Sequential(Auto(), DisjointDeflation())).components
            better += np.trace(H @ A @ H.T) > np.trace(turns @ A @ turns.T) * (1 + 1e-9)
    assert better >= 5


def test_the_encoder_where_supports_are_too_many_or_time_is_over(rng):
    view = as_view(rng.standard_normal((30, 60)))
    H = encode(view, 3, 9, Disjoint()).components
    assert (np.count_nonzero(H, axis=0) <= 1).all()
    assert (np.count_nonzero(H, axis=1) == 9).all()
    H = encode(as_view(rng.standard_normal((30, 9))), 3, 2, Disjoint(), Budget(deadline=0.0)).components
    assert (np.count_nonzero(H, axis=0) <= 1).all()


def test_the_encoder_cites_its_source():
    known = (Path(__file__).parents[3] / "docs" / "references.bib").read_text()
    assert f"{{{Disjoint.reference.key}," in known
    assert f"[{Disjoint.reference.key}, " in inspect.getdoc(Disjoint)
