"""Whole encoder fit against scikit-learn's PCA, side by side in one run.

The two take turns and the median of each is kept, on one BLAS thread both and in seconds of the processor, so that a
busy machine disturbs both alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from shapes import shapes
from sklearn.decomposition import PCA, TruncatedSVD
from threadpoolctl import threadpool_limits

from sparing import SparseEncoder

REPEATS, SLOW = 7, 0.5
"""Turns, and seconds from which three are enough."""


def side_by_side(*calls: Callable[[], object]) -> list[float]:
    """Median seconds of the processor for each call, taking turns."""
    seconds: list[list[float]] = []
    while len(seconds) <= (REPEATS if not seconds or max(seconds[0]) < SLOW else 3):  # one warm-up
        seconds.append([])
        for call in calls:
            start = time.process_time()
            call()
            seconds[-1].append(time.process_time() - start)
    return list(np.median(seconds[1:], axis=0))


def pca_of(X: Any, k: int) -> PCA | TruncatedSVD:
    """What scikit-learn's users take for such data."""
    if sparse.issparse(X):
        return TruncatedSVD(k, random_state=0)
    return PCA(k, svd_solver="randomized", random_state=0)


def main() -> None:
    print(
        "Speed: whole fit (certificate off) / scikit-learn's randomized PCA (TruncatedSVD on sparse), one thread each\n"
        "  with effort='quick', and what the default search takes and reaches"
    )
    ratios, longest = [], 0.0
    with threadpool_limits(1, user_api="blas"):
        for name, X in shapes():
            for k, r in ((5, 15), (10, 30), (10, 60)):
                rival = pca_of(X, k)
                quick, default = (
                    SparseEncoder(k, n_nonzero=r, certify=False, effort=effort) for effort in ("quick", "default")
                )
                mine, theirs = side_by_side(lambda o=quick, X=X: o.fit(X), lambda p=rival, X=X: p.fit(X))
                start = time.process_time()
                default.fit(X)
                seconds = time.process_time() - start
                ratios.append(mine / theirs)
                longest = max(longest, seconds - mine)
                print(
                    f"  {name:22s} k={k:2d} r={r:2d}  {1e3 * mine:7.1f} ms / {1e3 * theirs:7.1f} ms = "
                    f"{ratios[-1]:5.2f}   loss ratio {quick.loss_ratio_:.4f}, {quick.n_passes_} passes   "
                    f"default {1e3 * seconds:6.0f} ms, {default.loss_ratio_:.4f}, {default.n_passes_} passes",
                    flush=True,
                )
    print(
        f"  quick: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, worst {max(ratios):.2f} ({len(ratios)} fits); "
        f"the default search takes at most {longest:.1f} s more\n"
    )


if __name__ == "__main__":
    main()
