"""The proof for r features, against brute force; find and refute."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sparing.data import Preprocessing, as_view
from sparing.proof.trees.deletion_tree import DeletionTree
from sparing.run import Budget


def captured(X, J, k):
    Q = np.linalg.qr(X[:, list(J)])[0]
    return float((np.linalg.svd(Q.T @ X, compute_uv=False)[:k] ** 2).sum())


def problems():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d, k = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        kind = seed % 4
        if kind == 0:
            X = rng.standard_normal((d + 4, d))
        elif kind == 1:
            X = rng.standard_normal((d + 4, d)) @ rng.standard_normal((d, d))
        elif kind == 2:
            X = rng.integers(-2, 3, (d + 6, d)).astype(float)
        else:  # blocks: ties everywhere
            X = np.kron(np.eye(-(-d // 2)), np.array([[2.0, 1], [1, 2], [0, 1]]))[:, :d]
        yield seed, X, k


@pytest.mark.parametrize(
    ("seed", "X", "k"),
    [pytest.param(*case, marks=pytest.mark.long if case[0] >= 40 else ()) for case in problems()],
    ids=lambda value: str(value) if np.isscalar(value) else "",
)
def test_finds_and_proves_what_brute_force_finds(seed, X, k):
    A = X.T @ X
    tree = DeletionTree(A, A @ A, k, enumerated=seed % 3)  # the work is left to the bounds
    d = X.shape[1]
    for r in range(1, d):
        best = max(captured(X, J, k) for J in combinations(range(d), r))
        worst = min(combinations(range(d), r), key=lambda J: captured(X, J, k))
        found = tree.search(r, np.array(worst), budget=Budget(), max_nodes=10**6)
        assert found.proved or np.linalg.eigvalsh(A)[0] < 1e-6  # collinear features may count for more than they are
        np.testing.assert_allclose(found.captured, best, rtol=1e-9)
        np.testing.assert_allclose(captured(X, found.support, k), best, rtol=1e-9)
        assert found.bound >= best  # never refutes what exists
        for cap in (0, 1, 3):  # at any cap the open bound is valid
            assert tree.search(r, np.array(worst), budget=Budget(), max_nodes=cap).bound >= best * (1 - 1e-12)


def test_collinear_features_count_for_as_much_as_anything_could(rng):
    X = rng.standard_normal((20, 4))
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] + 1e-9 * rng.standard_normal(20)])
    tree = DeletionTree(X.T @ X, X.T @ X @ X.T @ X, 2)
    for r in (2, 3, 4):
        found = tree.search(r, np.arange(r), budget=Budget(), max_nodes=10**4)
        assert found.bound >= max(captured(X, J, 2) for J in combinations(range(6), r)) * (1 - 1e-12)
    captured_, bounds = tree.of.judged(np.array([[0, 2, 5], [0, 2, 3]]))
    assert bounds[0] > captured_[0] * 1.01  # its third direction is rounding: it may be any
    assert bounds[1] < captured_[1] * (1 + 1e-9)


@pytest.mark.parametrize("n", [5, 8])
def test_more_features_than_samples_are_searched(n, rng):
    X = rng.standard_normal((n, 9))
    A = X.T @ X
    for k, r in ((1, 2), (2, 3), (2, n - 1)):
        tree = DeletionTree(A, A @ A, k, enumerated=3)
        best = max(captured(X, J, k) for J in combinations(range(9), r))
        found = tree.search(r, np.arange(r), budget=Budget(), max_nodes=10**4)
        assert found.proved
        np.testing.assert_allclose([found.captured, found.bound], best, rtol=1e-6)
        assert found.bound >= best


def test_the_sum_of_the_largest_eigenvalues_is_searched_likewise(rng):
    X = rng.standard_normal((12, 7)) @ rng.standard_normal((7, 7))
    A = X.T @ X
    for k, u in ((2, 3), (3, 5)):
        best = max(np.linalg.eigvalsh(A[np.ix_(J, J)])[-k:].sum() for J in combinations(range(7), u))
        tree = DeletionTree(np.eye(7), A, k, enumerated=2)
        found = tree.search(u, np.arange(u), budget=Budget(), max_nodes=10**4)
        assert found.proved
        np.testing.assert_allclose(found.bound, best, rtol=1e-8)
        assert tree.search(u, np.arange(u), budget=Budget(), max_nodes=1).bound >= best


def test_zero_columns_and_supports_of_all_features(rng):
    X = np.column_stack([rng.standard_normal((15, 3)), np.zeros(15)])
    tree = DeletionTree.of_view(as_view(X, Preprocessing(center=False)), 2)
    found = tree.search(3, np.array([0, 1, 2]), budget=Budget(), max_nodes=10)
    assert found.proved
    np.testing.assert_array_equal(found.support, [0, 1, 2])
