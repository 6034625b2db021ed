"""Small matrices of many kinds, and what brute force says about them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sparing.gram import DataMatrix, DenseGram
from sparing.run import Budget, Run
from sparing.task import Task


def optimum(A: np.ndarray, size: int, k: int = 1) -> float:
    """The largest eigenvalue, or sum of the k largest ones, of all blocks of this size."""
    sets = np.array(list(combinations(range(len(A)), size)))
    return float(np.linalg.eigvalsh(A[sets[:, :, None], sets[:, None, :]])[:, -k:].sum(axis=1).max())


def nonnegative_optimum(A: np.ndarray, size: int) -> float:
    """The same over x >= 0: the best is the leading eigenvector on its own support, which has one sign therefore."""
    best = -np.inf
    for count in range(1, size + 1):
        S = np.array(list(combinations(range(len(A)), count)))
        values, vectors = np.linalg.eigh(A[S[:, :, None], S[:, None, :]])
        leading = vectors[:, :, -1]
        one_signed = (leading > -1e-9).all(axis=1) | (leading < 1e-9).all(axis=1)
        best = max(best, float(values[one_signed, -1].max(initial=-np.inf)))
    return best


def matrices(count: int, seed: int, largest: int = 8) -> Iterator[tuple[str, np.ndarray]]:
    """Dense, integer and tied, rank-deficient, block, noisy and indefinite ones by turns."""
    rng = np.random.default_rng(seed)
    kinds = ("dense", "integer", "tied", "deficient", "block", "noisy", "indefinite", "negative")
    for number in range(count):
        d, kind = int(rng.integers(3, largest + 1)), kinds[number % len(kinds)]
        B = rng.standard_normal((d, d))
        if kind == "dense":
            A = B @ B.T
        elif kind == "integer":
            whole = rng.integers(-3, 4, (d, d)).astype(float)
            A = whole @ whole.T
        elif kind == "tied":
            A = np.eye(d) + 0.3 * (rng.random((d, d)) < 0.3)
            A = (A + A.T) / 2 + d * 0.3 * np.eye(d)
        elif kind == "deficient":
            low = rng.integers(-1, 2, (d, 2)).astype(float)
            A = low @ low.T
        elif kind == "block":
            A = np.kron(np.eye(2), np.ones((d, d)))[:d, :d] + np.diag(rng.random(d))
        elif kind == "noisy":
            A = np.corrcoef(rng.standard_normal((d, 3 * d)))
        elif kind == "indefinite":
            A = (B + B.T) / 2
        else:
            A = (B + B.T) / 2 - 5 * np.eye(d)
        yield kind, A


def covariance(kind: str, rng: np.random.Generator, d: int) -> np.ndarray:
    """One matrix of a kind, never zero: for tests that draw their own."""
    X = rng.standard_normal((3 if kind == "wide" else d + 3, d))
    if kind == "integer":
        X = rng.integers(-2, 3, X.shape).astype(float)
    elif kind == "tied":
        A = np.full((d, d), rng.choice([0.0, 0.25, 0.5]))
        np.fill_diagonal(A, 1.0)
        return A
    elif kind == "rank_deficient":
        X = rng.standard_normal((2, d))
    elif kind == "block":
        X[: d // 2, d // 2 :], X[d // 2 :, : d // 2] = 0.0, 0.0
    elif kind == "coupled":
        labels = rng.integers(0, 3, d)
        A = X.T @ X
        return np.where(labels[:, None] == labels, A, rng.choice([0.0, 0.01, 0.1]) * A)
    elif kind == "noisy":
        X = 0.3 * X + np.outer(rng.standard_normal(d + 3), rng.random(d) < 0.5)
    elif kind == "indefinite":
        return X[:d] + X[:d].T - np.eye(d)
    A = X.T @ X
    return A if A.any() else np.eye(d)


GAMED = np.array(
    [[5, 5, 2, -3, -3], [5, 5, 2, -3, -3], [2, 2, 9, 2, 2], [-3, -3, 2, 5, 5], [-3, -3, 2, 5, 5]], dtype=float
)
"""Two components of three features each have 27.217, more than twice the best single one: random tests miss it."""


def random_gram(rng: np.random.Generator, n: int = 30, d: int = 15) -> np.ndarray:
    """X'X of correlated features."""
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X.T @ X


def planted_direction(
    rng: np.random.Generator, d: int = 40, size: int = 6, spike: float = 30.0
) -> tuple[np.ndarray, np.ndarray]:
    """A nonnegative direction above noise, and its support."""
    v = np.zeros(d)
    v[rng.choice(d, size, replace=False)] = rng.uniform(0.5, 1.0, size)
    v /= np.linalg.norm(v)
    noise = rng.standard_normal((3 * d, d))
    return spike * np.outer(v, v) + noise.T @ noise / (3 * d), np.flatnonzero(v)


def planted_clusters(shift: float, seed: int = 0, n: int = 45, p: int = 120, informative: int = 8):
    """Three clusters of samples, apart in a few features, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, p))
    X[:, :informative] += shift * (y - 1.0)[:, None]
    return X, y


def solved_by(solver, view, r: int, *, seed: int = 0, budget: Budget | None = None, **given):
    """What a solver finds; a matrix is taken for A."""
    view = view if isinstance(view, DataMatrix) else DenseGram(np.asarray(view, dtype=float))
    return solver.solve(Task.of_component(view, r, **given), Run(np.random.default_rng(seed), budget or Budget()))


def solving(kind):
    """The function (view, count, settings) of one kind of solver."""

    def solve(view, r: int, *, seed: int = 0, budget: Budget | None = None, metric=None, start=None, **settings):
        return solved_by(kind(**settings), view, r, seed=seed, budget=budget, metric=metric, start=start)

    return solve


def wide(X: np.ndarray, entries: int = 2**20) -> np.ndarray:
    """X and as many features of zeros as it takes for more entries than this: clustering then keeps it sparse."""
    return np.c_[X, np.zeros((len(X), entries // len(X) + 1 - X.shape[1]))]
