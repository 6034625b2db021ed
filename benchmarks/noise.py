"""Certified gaps where nothing stands out: noise and weak spikes, 10 of 200 features, 200 samples, five seeds.

    python benchmarks/noise.py [seconds]

The tree alone walks down the targets of GAPS; the dual alone is the plain semidefinite relaxation. A gap is what the
bound exceeds the value by.
"""

from __future__ import annotations

import sys

import numpy as np

from sparing import SparsePCA
from sparing.data import Preprocessing, as_view
from sparing.linalg.threads import single_threaded_blas
from sparing.objectives.variance import RayleighObjective
from sparing.proof.relaxations.semidefinite import dual_value, relaxed
from sparing.proof.trees.schur_tree import SchurTree
from sparing.run import Budget
from sparing.search.local import LocalSearch

SPIKES, SEEDS, SIZE = (0.0, 1.0), 5, 10

GAPS = (0.2, 0.15, 0.12, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.0)

ANY_NUMBER = 10**9


def problem(spike: float, seed: int, n: int = 200, d: int = 200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    v = np.zeros(d)
    v[rng.permutation(d)[:SIZE]] = 1 / np.sqrt(SIZE)
    X += np.sqrt(spike) * np.outer(rng.standard_normal(n), v)
    return X.T @ X / n


def best_known(A: np.ndarray) -> float:
    objective = RayleighObjective(as_view(A, Preprocessing(precomputed=True)))
    leading = np.linalg.eigh(A)[1][:, -3:]
    support = LocalSearch().search(objective, SIZE, leading, np.random.default_rng(0), budget=Budget())
    return float(np.linalg.eigvalsh(A[np.ix_(support, support)])[-1])  # the view may have a unit of its own


def by_tree(A: np.ndarray, value: float, seconds: float) -> float:
    budget, proved = Budget.of(seconds), np.inf
    for gap in GAPS:
        tree = SchurTree(A, SIZE, value * (1 + max(gap, 1e-9)), np.full(SIZE + 1, -np.inf))
        if not tree.search(ANY_NUMBER, budget).refuted:
            break
        proved = gap
    return proved


def by_dual(A: np.ndarray, value: float, seconds: float) -> float:
    _, Y = relaxed(A, SIZE, max_iter=2000, tolerance=1e-4, budget=Budget.of(seconds))
    return dual_value(A, Y, SIZE) / value - 1


def by_exact(A: np.ndarray, value: float, seconds: float) -> float:
    """What a user gets: the search for a proof, then probing."""
    model = SparsePCA(n_nonzero=SIZE, solver="exact", precomputed=True, time_limit=seconds, random_state=0).fit(A)
    return model.certificate_.gap / (1 - model.certificate_.gap)


def main(seconds: float = 20.0) -> None:
    print("Noise: certified gaps where nothing stands out (wanted: 4% for noise, 2% for a spike of 1)")
    print(f"| spike | tree alone | dual alone | exact | worst | ({seconds:g} s each)\n|---|---|---|---|---|")
    with single_threaded_blas():
        for spike in SPIKES:
            matrices = [problem(spike, seed) for seed in range(SEEDS)]
            values = [best_known(A) for A in matrices]
            gaps = [
                [100 * way(A, value, seconds) for A, value in zip(matrices, values, strict=True)]
                for way in (by_tree, by_dual, by_exact)
            ]
            means = " | ".join(f"{np.mean(row):.2f}%" for row in gaps)
            print(f"| {spike:g} | {means} | {max(gaps[2]):.2f}% |", flush=True)
    print()


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
