"""The shifted low rank bound over the optimum, by rank, where all supports can be tried; and seconds of its search."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
from threadpoolctl import threadpool_limits

from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.proof.bounds.shifted_low_rank import ShiftedLowRank
from sparing.proof.sphere.branch_and_bound import highest
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

RANKS = range(1, 9)
DRAWS = 20


def optimum(A: np.ndarray, r: int) -> float:
    S = np.array(list(combinations(range(len(A)), r)))
    return float(np.linalg.eigvalsh(A[S[:, :, None], S[:, None, :]])[:, -1].max())


def wishart(rng: np.random.Generator, d: int, n: int) -> np.ndarray:
    X = rng.standard_normal((n, d))
    return X.T @ X


def ensembles() -> dict[str, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    drawn = {f"Gaussian, n = d = {d}": [wishart(rng, d, d) for _ in range(DRAWS)] for d in (7, 8, 9, 10, 12)}
    drawn |= {f"Gaussian, n = 2d, d = {d}": [wishart(rng, d, 2 * d) for _ in range(DRAWS)] for d in (10, 15, 20)}
    return drawn | {"pit props": [load_pitprops().correlation]}


def ratios(A: np.ndarray, r: int) -> tuple[list[float], list[float]]:
    """Bound over optimum and seconds, one of each per rank."""
    best, found, seconds = optimum(A, r), [], []
    for rank in RANKS:
        start = time.process_time()
        bound = ShiftedLowRank(rank=rank).bound(
            Task(DenseGram(A), Problem(1, r, len(A), "variance")), None, Run(np.random.default_rng(0))
        )
        seconds.append(time.process_time() - start)
        found.append(bound.value / best)
    return found, seconds


def main() -> None:
    with threadpool_limits(1, user_api="blas"):
        print("Shifted low rank bound / optimum, mean over r = 2..5, by rank")
        print(f"  {'':26s}" + "".join(f"{rank:8d}" for rank in RANKS) + "   seconds at rank 6")
        for name, matrices in ensembles().items():
            rows = [ratios(A, r) for A in matrices for r in range(2, 6)]
            means, seconds = np.mean([row[0] for row in rows], axis=0), np.mean([row[1] for row in rows], axis=0)
            print(f"  {name:26s}" + "".join(f"{mean:8.4f}" for mean in means) + f"   {seconds[5]:.3f}", flush=True)
        print("Search on the sphere: 1000 rows, flat spectrum, accuracy 1e-3, at most 300000 cells")
        rng = np.random.default_rng(0)
        for m in (3, 5, 6, 8):
            V = np.linalg.qr(rng.standard_normal((1000, m)))[0]
            for r in (5, 10, 100):
                start = time.process_time()
                found = highest(V, r, tolerance=1e-3, max_cells=300_000, budget=Budget())
                spent = time.process_time() - start
                left = found.bound / found.value - 1
                print(f"  m={m} r={r:3d}  {spent:7.3f} s, {found.cells:6d} cells, within {left:.2e}", flush=True)
    print()


if __name__ == "__main__":
    main()
