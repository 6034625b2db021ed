"""Small matrices of many kinds, and what brute force says about them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np


def optimum(A: np.ndarray, size: int) -> float:
    """The largest eigenvalue of all blocks of this size."""
    sets = np.array(list(combinations(range(len(A)), size)))
    return float(np.linalg.eigvalsh(A[sets[:, :, None], sets[:, None, :]])[:, -1].max())


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


def wide(X: np.ndarray, entries: int = 2**20) -> np.ndarray:
    """X and as many features of zeros as it takes for more entries than this: clustering then keeps it sparse."""
    return np.c_[X, np.zeros((len(X), entries // len(X) + 1 - X.shape[1]))]
