"""Every default path once: its time over PCA's, passes over X, peak memory over X, and the share of time spent on X.

Time is that of the processor, on one BLAS thread. The share is that of the readings of X, through which all large
products go; what follows on small matrices in memory, BLAS or not, is the rest.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from shapes import counts, factors
from sklearn.decomposition import PCA, TruncatedSVD
from threadpoolctl import threadpool_limits

import sparing as s
from sparing.data.standardized import StandardizedRows

K, R = 5, 15
SOLVERS = (
    "auto",
    "greedy",
    "truncated_power",
    "generalized_power_l0",
    "generalized_power_l1",
    "max_component",
    "rounding",
)


def paths(X: Any) -> dict[str, Callable[[], Any]]:
    """What people call, with as few settings as it takes."""
    rng = np.random.default_rng(0)
    y = np.asarray(X[:, :5].sum(axis=1)).ravel() + rng.standard_normal(X.shape[0])
    H = s.SparsePCA(K, n_nonzero=R, certify=False, random_state=0).fit(X).components_
    known: dict[str, Any] = {"random_state": 0}
    found: dict[str, Callable[[], Any]] = {
        "SparseEncoder": lambda: s.SparseEncoder(K, n_nonzero=R, certify=False, **known).fit(X),
        "SparseEncoder, certificate": lambda: s.SparseEncoder(K, n_nonzero=R, **known).fit(X),
        "SparseEncoder, max_loss": lambda: s.SparseEncoder(K, **known).fit(X),
        "SparseEncoder, iterative": lambda: s.SparseEncoder(K, n_nonzero=R, strategy="iterative", **known).fit(X),
        "SparseEncoder, joint": lambda: s.SparseEncoder(K, n_nonzero=R, strategy="joint", **known).fit(X),
        "sparsity_path": lambda: s.sparsity_path(X, K, **known),
        "SparsePCA": lambda: s.SparsePCA(K, n_nonzero=R, certify=False, **known).fit(X),
        "SparsePCA, certificate": lambda: s.SparsePCA(K, n_nonzero=R, **known).fit(X),
        "SparsePCA, min_variance": lambda: s.SparsePCA(K, min_variance=0.9, **known).fit(X),
        "NonnegativeSparsePCA": lambda: s.NonnegativeSparsePCA(K, n_nonzero=R, certify=False, **known).fit(X),
        "DoublySparseEncoder": lambda: s.DoublySparseEncoder(K, n_nonzero=R, n_rows=3 * R, **known).fit(X),
        "SparsePCARegressor": lambda: s.SparsePCARegressor(K, n_nonzero=R, **known).fit(X, y),
        "ColumnSelector": lambda: s.ColumnSelector(R, K, **known).fit(X),
        "certify, loss": lambda: s.certify(H, X, **known),
        "certify, variance": lambda: s.certify(H, X, objective="variance", **known),
        "polish": lambda: s.polish(H, X),
    }
    if not sparse.issparse(X):
        found["SparseKMeans"] = lambda: s.SparseKMeans(3, n_features=R, **known).fit(X)
        found["SparseHierarchicalClustering"] = lambda: s.SparseHierarchicalClustering(3, n_features=R, **known).fit(X)
    return found | {
        f"one component, {name}": lambda name=name: s.SparsePCA(n_nonzero=R, solver=name, certify=False, **known).fit(X)
        for name in SOLVERS
    }


class Meter:
    """Counts readings of X and the time they take, whoever asks for them."""

    def __init__(self) -> None:
        self.passes, self.seconds = 0, 0.0

    @contextmanager
    def attached(self) -> Iterator[None]:
        """While this lasts."""
        plain = StandardizedRows.one_pass

        def metered(view: StandardizedRows, *jobs: Any) -> list[Any]:
            start = time.process_time()
            found = plain(view, *jobs)
            self.seconds += time.process_time() - start
            self.passes += 1
            return found

        StandardizedRows.one_pass = metered  # type: ignore[method-assign]
        try:
            yield
        finally:
            StandardizedRows.one_pass = plain  # type: ignore[method-assign]


def seconds(call: Callable[[], Any]) -> float:
    """Of the processor."""
    start = time.process_time()
    call()
    return time.process_time() - start


def line(name: str, call: Callable[[], Any], pca: float, stored: int) -> str:
    """A first run to measure time, a second one, which tracing slows down, to measure memory."""
    meter = Meter()
    with meter.attached():
        taken = seconds(call)
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"  {name:38s} {taken / pca:7.2f} {meter.passes:7d} {peak / stored:8.2f} {meter.seconds / taken:8.0%}"


def main() -> None:
    sets = {"factors 1000 x 2000": factors(1000, 2000), "counts 4000 x 8000 (sparse)": counts(4000, 8000, 100)}
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X in sets.items():
            whole = sparse.issparse(X)
            stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if whole else X.nbytes
            rival = TruncatedSVD(K, random_state=0) if whole else PCA(K, svd_solver="randomized", random_state=0)
            rival.fit(X)
            pca = min(seconds(lambda rival=rival, X=X: rival.fit(X)) for _ in range(3))
            print(f"Paths: {name}, {K} components of {R} features; PCA takes {1e3 * pca:.0f} ms")
            print(f"  {'':38s} {'time':>7s} {'passes':>7s} {'memory':>8s} {'on X':>8s}")
            for path, call in paths(X).items():
                print(line(path, call, pca, stored), flush=True)
    print()


if __name__ == "__main__":
    main()
