"""Bounds of nodes by the perspective relaxation against all of their supports."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sparing.proof.relaxations import perspective
from sparing.proof.relaxations.perspective import Columns, relaxed
from sparing.proof.trees.captured import Captured


def matrix(rng, kind, n, d):
    X = rng.standard_normal((n, d))
    if kind == 1:  # correlated
        return X @ rng.standard_normal((d, d))
    if kind == 2:  # ties
        return rng.integers(-2, 3, (n, d)).astype(float) + np.eye(n, d)
    if kind == 3:  # near copies
        return X[:, rng.integers(0, d // 2 + 1, d)] + 10.0 ** rng.uniform(-4, -1) * rng.standard_normal((n, d))
    return X if kind == 0 else X * 10.0 ** rng.uniform(-4, 4, d)


def nodes(count):
    """Relaxations of some nodes, and by node what every support in it captures, with the gains of its columns."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        d, k = int(rng.integers(4, 8)), int(rng.integers(1, 4))
        r, X = int(rng.integers(k, d)), matrix(rng, seed % 5, 2 * d, d)
        gram, squared = (np.eye(d), X.T @ X) if seed % 3 == 0 else (X.T @ X, X.T @ X @ X.T @ X)
        of = Captured(gram, squared, k, np.arange(d))
        columns = np.argsort(rng.random((3, d)), axis=1)
        here = np.arange(d) < np.array([d, int(rng.integers(r, d + 1)), d])[:, None]
        columns[~here] = 0
        kept = np.arange(d) < np.array([0, 0, int(rng.integers(0, r + 1))])[:, None]
        part, both = (columns[:, :, None], columns[:, None, :]), here[:, :, None] & here[:, None, :]
        A, C = np.where(both, of.gram[part], np.eye(d)), np.where(both, of.squared[part], 0.0)
        best = of.best_of(np.array(list(combinations(range(d), r))))[1]
        target = best * float(rng.choice([0.5, 0.9, 0.97, 1.0]))
        found = relaxed(A, C, k, Columns(here, kept, r), rng.random((3, d)) + 0.01, target, int(rng.integers(1, 8)))
        for at in range(3):
            open_ = np.flatnonzero(here[at] & ~kept[at])
            places = np.array([[*np.flatnonzero(kept[at]), *S] for S in combinations(open_, r - kept[at].sum())])
            yield found, at, places, of.judged(columns[at, places]).captured, target, open_, of, columns[at]


def test_no_support_of_a_node_captures_more():
    """Neither than the bound, nor than what its gains leave of it."""
    passed = closer = 0
    for found, at, places, captured, _, open_, _, _ in nodes(60):
        slack = 1e-11 * captured.max()
        assert captured.max() <= found.bound[at] + slack
        gains = np.where(np.isin(places, open_), found.gains[at, places], 0.0).sum(axis=1)
        lost = np.sort(found.gains[at, open_])[::-1][: (np.isin(places[0], open_)).sum()].sum() - gains
        assert np.all(captured <= found.bound[at] - np.minimum(lost, found.room[at]) + slack)
        closer += found.bound[at] < found.whole[at] - slack
        passed += bool(np.any(captured > found.bound[at] - np.minimum(1.5 * lost, found.room[at]) - slack))
    assert closer > 40
    assert passed > 0  # control: gains that are half as much again are wrong


def test_supports_passed_over_do_not_exceed_the_target():
    passed_over = wrong = 0
    for found, at, places, captured, target, _, _, _ in nodes(60):
        possible = found.may_exceed(target, np.full(len(places), at), places)
        assert np.all(captured[~possible] <= target)
        passed_over += (~possible).sum()
        lower = found.may_exceed(target * 1.05, np.full(len(places), at), places)
        wrong += (captured[~lower] > target).sum()
    assert passed_over > 100
    assert wrong > 0  # control: those of a higher target may


def test_one_column_less_captures_less_by_what_is_said():
    tight = 0
    for found, at, places, _, _, _, of, columns in nodes(25):
        if places.shape[1] < of.rank + 1:
            continue
        used = np.flatnonzero(found.gains[at] > 0)
        for j in used:
            fewer = of.judged(columns[used[used != j]][None]).captured[0]
            assert fewer <= found.whole[at] - found.missed[at, j] + 1e-11 * found.whole[at]
            tight += fewer > found.whole[at] - 1.1 * found.missed[at, j]
    assert tight > 20


def test_nearly_collinear_columns_are_not_relaxed(rng):
    X = rng.standard_normal((12, 3))
    X = np.column_stack([X, X[:, 0] + 1e-9 * rng.standard_normal(12)])
    of = Captured(X.T @ X, X.T @ X @ X.T @ X, 2, np.arange(4))
    both = np.ones((1, 4), dtype=bool)
    found = relaxed(of.gram[None], of.squared[None], 2, Columns(both, ~both, 2), np.ones((1, 4)), 0.0, 3)
    assert np.isinf(found.bound[0])
    assert perspective._factors(np.array([[[1.0, 1.0], [1.0, 1.0]], np.eye(2)]))[1].tolist() == [False, True]
