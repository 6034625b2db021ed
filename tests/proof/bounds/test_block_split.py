"""Splitting into blocks against brute force: nothing passes it at any threshold, and a gap too small is caught."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from laws import checked
from small_problems import covariance, optimum
from sparing.data import as_view
from sparing.gram import DenseGram
from sparing.proof.bounds import RowSquares, RowSums
from sparing.proof.bounds import block_split as module
from sparing.proof.bounds.block_split import BlockSplit
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "coupled", "noisy", "indefinite")


def found(A, r, budget=None):
    return BlockSplit().bound(
        Task(DenseGram(A), Problem(1, r, len(A), "variance")), None, Run(None, budget or Budget())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_no_direction_passes_the_bound_at_any_threshold(kind):
    """All supports of 84 matrices at every r, the chosen threshold and five others each."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(12):
        d = int(rng.integers(1, 8))
        A = covariance(kind, rng, d)
        for r in range(1, d + 1):
            best, problem = optimum(A, r), Problem(1, r, d, "variance")
            bound = found(A, r)
            assert bound.value >= best
            for eps in (-1.0, 0.0, *np.quantile(np.abs(A), [0.3, 0.7]), np.abs(A).max()):
                value = BlockSplit().check(Task(DenseGram(A), problem), eps)
                assert value >= best
                assert bound.value <= value + 1e-9 * abs(value) + 1e-12  # the search found the best of all


def test_less_than_r_minus_one_between_blocks_is_no_bound():
    """Control: equal blocks that all touch by eps reach (r - 1) eps more than one of them, so (r - 2) eps is wrong."""
    for r in range(2, 7):
        A = np.full((8, 8), 0.25)
        np.fill_diagonal(A, 1.0)
        within, between = module._parts(A, r, 0.25)
        assert (within, between) == (1.0, (r - 1) * 0.25)
        np.testing.assert_allclose(optimum(A, r), within + between)
        assert optimum(A, r) > within + (r - 2) * 0.25 + 0.2
        assert found(A, r).value >= optimum(A, r)


def test_bounds_of_blocks_alone_are_no_bound(rng):
    """Control: what lies between the blocks counts."""
    passed = 0
    for _ in range(100):
        A = covariance("block", rng, 7)
        within, _ = module._parts(A, 3, float(np.quantile(np.abs(A), 0.7)))
        passed += within < optimum(A, 3)
    assert passed > 5


def test_exact_where_blocks_have_no_more_than_r_features(rng):
    for r in (2, 3, 4):
        blocks = [covariance("dense", rng, r) for _ in range(20)]
        order = rng.permutation(20 * r)
        A = np.zeros((20 * r, 20 * r))
        for i, block in enumerate(blocks):
            A[i * r : (i + 1) * r, i * r : (i + 1) * r] = block
        A = A[np.ix_(order, order)]
        best = max(np.linalg.eigvalsh(block)[-1] for block in blocks)
        bound = found(A, r)
        assert best <= bound.value <= best * (1 + 1e-11)
        noisy = np.where(A == 0, 1e-3, A)
        assert best <= found(noisy, r).value <= best + (r - 1) * 1e-3 + 1e-9


def test_better_than_rows_alone_where_blocks_hardly_touch(rng):
    better = 0
    for _ in range(20):
        A = np.kron(np.eye(6), np.ones((5, 5))) + 0.02 * rng.standard_normal((30, 30))
        A = (A + A.T) / 2
        problem = Problem(1, 10, 30, "variance")
        others = [bound.bound(Task(DenseGram(A), problem), None, Run(rng)).value for bound in (RowSums(), RowSquares())]
        better += found(A, 10).value < min([np.linalg.eigvalsh(A)[-1] * 1.2, *others])
    assert better == 20


def test_few_thresholds_are_looked_at(rng, monkeypatch):
    looked = []
    parts = module._parts
    monkeypatch.setattr(module, "_parts", lambda A, r, eps: looked.append(eps) or parts(A, r, eps))
    for kind in ("dense", "block"):
        looked.clear()
        A = covariance(kind, rng, 150)
        assert found(A, 10).value >= np.diagonal(A).max()
        assert len(looked) <= module.SPLITS + 1


def test_checked_again_from_data_and_witness(rng):
    X = rng.standard_normal((30, 9)) + 5.0
    problem = Problem(1, 3, 9, "variance")
    for view in (as_view(X), as_view(X * 2.0**20), DenseGram(X.T @ X)):
        bound = BlockSplit().bound(Task(view, problem), None, Run(rng))
        again = pickle.loads(pickle.dumps(bound))
        assert checked(again, view, problem) == bound.value >= optimum(view.gram(), 3)


def test_an_expired_budget_and_what_is_left_to_others(rng):
    A = covariance("block", rng, 8)
    assert found(A, 3, Budget(deadline=0.0)).value >= optimum(A, 3)
    assert BlockSplit().bound(Task(DenseGram(np.eye(1001)), Problem(1, 3, 1001, "variance")), None, Run(rng)) is None
    assert BlockSplit().bound(Task(DenseGram(A), Problem(2, 3, 8, "variance")), None, Run(rng)) is None


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.eye(4), -np.eye(4), np.ones((1, 1)), np.ones((5, 5))])
def test_degenerate_matrices(A):
    for r in range(1, len(A) + 1):
        assert optimum(A, r) <= found(A, r).value <= optimum(A, r) + 1e-9
