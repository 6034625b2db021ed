"""Peak memory of a fit on CSR data, as allocated by NumPy, against the size of the data."""

from __future__ import annotations

import tracemalloc

import numpy as np
from shapes import counts

from sparing import SparseEncoder
from sparing.gram.cached import CACHED_ENTRIES

COLUMNS = {"quick": 0, "default": 2 * CACHED_ENTRIES}
"""Gram columns that a search may keep, and copy once, by effort."""


def peak_of_fit(X, k: int, r: int, effort: str) -> int:
    """Bytes allocated beyond X at the peak."""
    model = SparseEncoder(k, n_nonzero=r, effort=effort, random_state=0)
    model.fit(X[:200])  # caches and imports
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    print("Memory: peak of a certified fit on CSR data, X included, as a multiple of X's own storage")
    for n, d, words, dtype in (
        (8000, 19000, 120, np.float64),
        (40000, 20000, 100, np.float64),
        (40000, 20000, 100, np.float32),
    ):
        X = counts(n, d, words).astype(dtype)
        k, r = 5, 30
        stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        what = f"{n} x {d} {np.dtype(dtype).name}, {X.nnz} nonzeros"
        print(f"  {what}: X {stored / 2**20:.0f} MiB, d x d {8 * d * d / 2**20:.0f} MiB")
        for effort, columns in COLUMNS.items():
            peak, allowance = peak_of_fit(X, k, r, effort), 8 * ((n + d) * (k + r) + columns)
            kept = f" and {8 * columns / 2**20:.0f} MiB of Gram columns" if columns else ""
            ratio = max(stored + peak - allowance, stored) / stored
            said = f"(all - (n+d)(k+r) floats{kept}) / X = {ratio:.2f} (wanted at most 2.5)"
            print(f"    {effort}: beyond X {peak / 2**20:.0f} MiB; {said}")
    print()


if __name__ == "__main__":
    main()
