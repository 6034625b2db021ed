"""Bounds of nodes by the perspective relaxation against all of their supports."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np

from sparing.proof.relaxations import perspective
from sparing.proof.relaxations.perspective import Columns, Completions, relaxed
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
        every, nothing = np.arange(places.max() + 1), np.zeros(0, dtype=np.intp)
        (possible,) = found.may_exceed(target, [Completions(at, nothing, every, places)])
        common = [j for j in every if (places == j).any(axis=1).all()]
        others = np.array([[j for j in row if j not in common] for row in places], dtype=np.intp)
        (again,) = found.may_exceed(target, [Completions(at, np.array(common, dtype=np.intp), every, others)])
        np.testing.assert_array_equal(possible, again)  # columns in common may be eliminated first, or not
        assert np.all(captured[~possible] <= target)
        passed_over += (~possible).sum()
        (lower,) = found.may_exceed(target * 1.05, [Completions(at, nothing, every, places)])
        wrong += (captured[~lower] > target).sum()
    assert passed_over > 100
    assert wrong > 0  # control: those of a higher target may


def test_none_stands_for_the_identity(rng):
    X = rng.standard_normal((20, 8, 6))
    C, all_of_them = X.transpose(0, 2, 1) @ X, np.ones((20, 6), dtype=bool)
    places, shares = Columns(all_of_them, np.zeros((20, 6), dtype=bool), 3), rng.random((20, 6))
    whitened, white = (relaxed(A, C, 2, places, shares, 10.0, 4) for A in (np.tile(np.eye(6), (20, 1, 1)), None))
    for name in ("bound", "gains", "room", "whole", "missed"):
        np.testing.assert_allclose(getattr(white, name), getattr(whitened, name), rtol=1e-9, atol=1e-9)


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


# -------------------------------------------------------------------------------------------------- exact arithmetic


def exact(matrix):
    return [[Fraction(float(entry)) for entry in row] for row in matrix]


def is_psd(matrix):
    """Is a matrix of fractions positive semidefinite? By elimination, where nothing is rounded."""
    rows = [list(row) for row in matrix]
    for i in range(len(rows)):
        if rows[i][i] < 0 or (rows[i][i] == 0 and any(rows[i][i + 1 :])):
            return False
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i] if rows[i][i] else Fraction(0)
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return True


def trace_of_quotient(A, C):
    """tr(A^-1 C), by elimination."""
    size, rows = len(A), [list(a) + list(c) for a, c in zip(A, C, strict=True)]
    for i in range(size):
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for j in range(size):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return sum(rows[i][size + i] for i in range(size))


def exceeds(A, C, rank, value):
    """Is the sum of the ``rank`` largest eigenvalues of C relative to A above this? Of 1, all or all but one."""
    v, trace = Fraction(float(value)), None
    if rank == 1:
        return not is_psd([[v * a - c for a, c in zip(*rows, strict=True)] for rows in zip(A, C, strict=True)])
    trace = trace_of_quotient(A, C)
    if rank >= len(A):
        return trace > v
    assert rank == len(A) - 1
    rest = trace - v
    return not is_psd([[c - rest * a for a, c in zip(*rows, strict=True)] for rows in zip(A, C, strict=True)])


def collinear(rng, d, distance):
    """A and C of columns of unit length, of which some are so near to one another."""
    X = rng.standard_normal((2 * d, d))
    X = X[:, rng.integers(0, d - 1, d)] + distance * rng.standard_normal((2 * d, d))
    A = X.T @ X
    C, scale = A @ A, np.sqrt(np.diagonal(A))
    A, C = A / np.multiply.outer(scale, scale), C / np.multiply.outer(scale, scale)
    return (A + A.T) / 2, (C + C.T) / 2


def test_bounds_of_nearly_collinear_columns_hold_in_exact_arithmetic():
    """What rounding may do is added before it is known; here no slack is left."""
    closer = passed_over = finite = needed = 0
    for seed in range(160):
        rng = np.random.default_rng(1000 + seed)
        d, k = int(rng.integers(3, 6)), int(rng.integers(1, 3))
        r = int(rng.integers(1, d)) if k == 1 else int(rng.choice([2, 3]))
        A, C = collinear(rng, d, 10.0 ** rng.uniform(-6, -1))
        kept = np.zeros((1, d), dtype=bool)
        kept[0, : int(rng.integers(0, r))] = True
        few = Columns(np.ones((1, d), dtype=bool), kept, r)
        sets = [(*range(kept.sum()), *S) for S in combinations(range(int(kept.sum()), d), r - int(kept.sum()))]
        places, whole = np.array(sets), (exact(A), exact(C))
        parts = [[[[M[i][j] for j in S] for i in S] for M in whole] for S in sets]
        about = max(np.linalg.eigvals(np.linalg.solve(A[np.ix_(S, S)], C[np.ix_(S, S)])).real.max() for S in sets)
        target = float(about) * float(rng.choice([0.8, 0.97, 1.0]))
        found = relaxed(A[None], C[None], min(k, r), few, rng.random((1, d)) + 0.01, target, int(rng.integers(1, 8)))
        finite += bool(np.isfinite(found.bound[0]))
        if not np.isfinite(found.bound[0]):
            continue
        (possible,) = found.may_exceed(target, [Completions(0, np.arange(0), np.arange(d), places)])
        gains = np.where(kept[0], 0.0, found.gains[0])
        lost = np.sort(gains[~kept[0]])[::-1][: r - kept.sum()].sum() - gains[places].sum(axis=1)
        limits = found.bound[0] - np.minimum(lost, found.room[0])
        for (a, c), may, limit in zip(parts, possible, limits, strict=True):
            assert not exceeds(a, c, min(k, r), found.bound[0])
            assert not exceeds(a, c, min(k, r), limit)
            assert may or not exceeds(a, c, min(k, r), target)
            passed_over += not may
        closer += found.bound[0] < found.whole[0]
        if k == 1:
            inverse = np.linalg.inv(np.linalg.cholesky(A))
            assert not exceeds(*whole, 1, found.whole[0])
            needed += exceeds(*whole, 1, np.linalg.eigvalsh(inverse @ C @ inverse.T)[-1])
    assert finite > 80
    assert closer > 25
    assert passed_over > 5
    assert needed > 5  # control: eigenvalues as they are computed are too small
