"""Promises about size: a time limit that is kept, memory beside the data, a table of many columns opened."""

from __future__ import annotations

import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np


def clustered(n: int, d: int) -> np.ndarray:
    """Two groups of samples that differ in twenty features."""
    X = np.random.default_rng(0).standard_normal((n, d))
    X[: n // 3, :20] += 1.0
    return X


def limited_clusters(n: int, d: int, limit: float) -> str:
    """Sparse k-means with a time limit: CPU seconds, features found, memory beside X."""
    from sparing import SparseKMeans

    X = clustered(n, d)
    started = time.process_time()
    float(np.einsum("ij,ij->", X, X))
    reading = time.process_time() - started
    tracemalloc.start()
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseKMeans(3, n_features=20, time_limit=limit).fit(X)
    took, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (
        f"  SparseKMeans, {n} x {d}, time_limit={limit:g}: {took:.1f} s CPU, {len(model.support_)} of 20 features, "
        f"{peak / X.nbytes:.2f} times X beside it (wanted at most 1.5; reading X once takes {reading:.2f} s)"
    )


def opened_columns(n: int, d: int) -> str:
    """A text table of many columns."""
    from sparing import open_data

    X = np.random.default_rng(0).standard_normal((n, d))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wide.csv"
        lines = [",".join(f"gene{j}" for j in range(d)), *(",".join(f"{value:.4f}" for value in row) for row in X)]
        file.write_text("\n".join(lines) + "\n")
        open_data(file)  # imports
        started = time.process_time()
        with open_data(file) as rows:
            took = time.process_time() - started
            return f"  open_data, CSV of {rows.shape[0]} x {rows.shape[1]}: {took:.2f} s CPU (wanted at most 3)"


def main() -> None:
    print("Limits: what is promised about time and memory, as measured")
    for limit in (0.001, 1.0):
        print(limited_clusters(200_000, 200, limit))
    print(opened_columns(50, 100_000))
    print()


if __name__ == "__main__":
    main()
