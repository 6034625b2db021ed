"""Proofs: sizes in turn, pairs in place of the matrix, leaders, time, interruptions."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from small_problems import matrices, optimum
from sparing.data import Preprocessing, as_view
from sparing.gram import DenseGram
from sparing.methods.deflation import DEFLATIONS
from sparing.proof.bounds import BranchAndBound
from sparing.proof.trees import refuter
from sparing.proof.trees.prover import Prover, as_bound, bound_of_one_component, refuted_again
from sparing.proof.trees.refuter import pairs_reaching
from sparing.proof_limits import LIMITS
from sparing.results import Problem
from sparing.run import Budget
from sparing.task import Task


def prove(view, size, start=None, max_nodes=10**9, budget=None, **limits):
    start = np.arange(size) if start is None else start
    return Prover(view, **limits).prove(
        size, start, np.random.default_rng(0), max_nodes=max_nodes, budget=Budget() if budget is None else budget
    )


def view_of(A):
    return DenseGram(A, is_psd=bool(np.linalg.eigvalsh(A)[0] >= -1e-12 * np.abs(A).max()), psd_slack=1e-12)


WAYS = {
    "at once": {},
    "in turn": {"direct": 1},
    "pairs": {"direct": 1, "max_dense": 4},
    "leaders": {"direct": 1, "max_dense": 1},
}
"""Every way that thousands of features take, tried on a few."""


@pytest.mark.parametrize("way", WAYS)
def test_the_optimum_is_found_and_proved_from_any_start(way):
    proved = 0
    for kind, A in matrices(16, 21):
        for size in range(1, len(A) + 1):
            best, scale = optimum(A, size), np.abs(A).max()
            proof = prove(view_of(A), size, **WAYS[way])
            assert proof.value <= best + 1e-9 * scale
            assert proof.bound >= best - 1e-12 * scale, kind
            proved += proof.bound <= best + 2e-9 * max(abs(best), scale)
            if way in ("at once", "in turn"):
                assert proof.bound <= best + 2e-9 * max(abs(best), scale), kind
                assert proof.value >= best - 2e-9 * scale
    assert proved > 25, "all ways lead somewhere"


@pytest.mark.parametrize("way", WAYS)
def test_a_recheck_refutes_the_same_targets_again(way):
    max_dense = WAYS[way].get("max_dense", LIMITS.dense_features)
    for _, A in matrices(48, 22):
        view, size = view_of(A), max(len(A) // 2, 1)
        bound = as_bound(prove(view, size, **WAYS[way]))
        again = refuted_again(view, size, bound.witness, max_dense=max_dense)
        assert again == bound.value or again <= bound.value + 1e-9 * np.abs(A).max()


def test_a_step_that_is_not_true_counts_for_nothing():
    A = next(A for kind, A in matrices(8, 23) if kind == "dense")
    best = optimum(A, 2)
    task = Task(view_of(A), Problem(1, 2, len(A), "variance"))
    assert BranchAndBound().check(task, ((2, 0.5 * best, False),)) >= best


def test_wide_data_and_their_matrix_agree():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 1200))
    X[:, :8] += 2 * rng.standard_normal((30, 1))
    view = as_view(X, Preprocessing(scale=True))
    from_rows = prove(view, 4)
    from_matrix = prove(DenseGram(view.gram()), 4)
    assert np.array_equal(from_rows.support, from_matrix.support)
    assert from_rows.value == pytest.approx(from_matrix.value, rel=1e-10)
    assert from_rows.bound == pytest.approx(from_rows.value, rel=1e-8)


def test_pairs_are_those_of_the_matrix():
    for _, A in matrices(80, 31):
        d, level = len(A), 1.1 * float(np.diagonal(A).max())
        if level <= 0:
            continue
        features = np.arange(d)[:: 1 + d % 2]
        table = pairs_reaching(DenseGram(A).restricted(features), features, level, Budget())
        expected = {
            (i, j)
            for i in range(len(features))
            for j in range(len(features))
            if i != j and np.linalg.eigvalsh(A[np.ix_(features[[i, j]], features[[i, j]])])[-1] >= level
        }
        assert set(zip(table.rows.tolist(), table.columns.tolist(), strict=True)) == expected
        higher = table.at(1.05 * level, features[1:])
        again = pairs_reaching(DenseGram(A).restricted(features[1:]), features[1:], 1.05 * level, Budget())
        assert np.array_equal(higher.rows, again.rows)
        assert np.allclose(higher.strength(3), again.strength(3))
        assert table.at(0.9 * level, features) is None


def test_useful_features_include_those_of_every_support_that_reaches_the_target():
    from itertools import combinations

    dropped = 0
    for _, A in matrices(160, 41):
        d = len(A)
        for size in range(3, d + 1):
            target = 0.999 * optimum(A, size)
            if target <= max(np.diagonal(A).max(), 0.0):
                continue
            level = -np.inf if d < 3 else min(np.linalg.eigvalsh(A)[0], 0.0) - 1.0  # all pairs
            table = pairs_reaching(DenseGram(A), np.arange(d), level, Budget())
            useful = set(table.useful(size, target).tolist())
            for S in combinations(range(d), size):
                if np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] >= target:
                    assert set(S) <= useful
            dropped += d - len(useful)
    assert dropped > 0


def noise(d=60, n=60, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return DenseGram(X.T @ X / n)


def test_few_nodes_leave_a_valid_gap():
    view = noise(40)
    proof = prove(view, 4, max_nodes=10**9)
    few = prove(view, 4, max_nodes=3)
    assert few.bound > proof.bound * (1 + 1e-9)
    assert few.bound >= proof.value
    assert few.value <= proof.value * (1 + 1e-12)
    some = prove(view, 4, max_nodes=60)
    assert proof.bound <= some.bound <= few.bound * (1 + 1e-12)


def test_no_time_is_no_error():
    proof = prove(noise(), 6, budget=Budget(deadline=time.monotonic() - 1))
    assert proof.bound >= proof.value > 0


def test_an_interruption_keeps_what_is_known(monkeypatch):
    view, budget = noise(), Budget()
    calls = []

    def interrupt(self, *args, **kwargs):
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(refuter.SchurTree, "search", interrupt)
    proof = prove(view, 6, budget=budget)
    assert calls
    assert budget.expired, "what follows does not start long work either"
    assert proof.bound >= proof.value > 0
    assert np.array_equal(proof.support, np.arange(6))


def test_progress_says_what_is_known():
    said = []
    prove(noise(40), 4, budget=Budget(progress=said.append))
    assert any("4 features" in line and "gap 0.00%" in line and "nodes" in line for line in said)


def test_smaller_sizes_bound_larger_ones():
    """Of r terms the t largest have t/r of the sum: what t features reach bounds r features."""
    for kind, A in matrices(80, 51):
        if kind in ("indefinite", "negative"):
            continue
        known = Prover(view_of(A))
        known.most[2] = optimum(A, 2)
        for size in range(3, len(A) + 1):
            assert known.most_of(size) >= optimum(A, size) * (1 - 1e-12)
        known.most[len(A)] = optimum(A, len(A))
        assert known.most_of(1) >= optimum(A, 1)


def test_any_symmetric_matrix_has_a_best_component():
    for _, A in matrices(80, 61):
        for size in range(1, len(A) + 1):
            best, most = optimum(A, size), bound_of_one_component(A, size)
            assert best - 1e-12 * np.abs(A).max() <= most <= best + 1e-7 * np.abs(A).max()


def test_a_step_about_more_features_than_there_are_proves_nothing():
    A = next(A for kind, A in matrices(8, 71) if kind == "dense")
    task, best = Task(view_of(A), Problem(1, 2, len(A), "variance")), optimum(A, 2)
    for step in ((len(A) + 1, 0.1), (0, 0.1), (2, float("nan")), (2, float("-inf"))):
        for probing in (False, True):
            assert BranchAndBound().check(task, ((*step, probing),)) >= best


def test_matrices_without_variance_end_at_once():
    assert bound_of_one_component(np.zeros((5, 5)), 3) == pytest.approx(0.0, abs=1e-300)
    assert bound_of_one_component(-np.eye(4), 2) == pytest.approx(-1.0)
    nothing = DenseGram(np.zeros((5, 5)), is_psd=False)
    assert prove(nothing, 3, max_nodes=100).bound == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize("seed", range(6))
def test_means_far_above_the_spread_end_too(seed):
    """Variances from moments and from blocks differ by rounding; a target between them is reached by neither."""
    X = sparse.csr_matrix(np.random.default_rng(seed).standard_normal((20, 6)) + 1e8)
    view = as_view(X, Preprocessing())
    for size in (1, 2, 3):
        proof = prove(view, size, max_nodes=10_000)
        assert proof.nodes < 1000
        assert proof.value <= proof.bound <= proof.value * (1 + 1e-4)


@pytest.mark.parametrize("name", ["disjoint", "projection", "orthogonalized", "schur"])
def test_deflated_views_remember_how_far_below_zero_they_may_be(name):
    """A variance of zero with a covariance: by rounding only, but sub-additivity does not hold for it."""
    A = np.diag([1.0, 0.0, 0.3, 2.0])
    A[0, 1] = A[1, 0] = 1e-4
    view = as_view(A, Preprocessing(precomputed=True))
    assert view.is_psd
    left = DEFLATIONS[name]().deflate(view, np.eye(4)[:, [3]]).view
    assert prove(left, 2, start=np.array([0, 2])).bound >= optimum(left.gram_columns(np.arange(4)), 2) * (1 - 1e-15)
