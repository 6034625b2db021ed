"""Peak memory of a fit on CSR data, as allocated by NumPy, against the size of the data."""

from __future__ import annotations

import tracemalloc

import numpy as np
from shapes import counts

from sparing import SparseEncoder


def peak_of_fit(X, k: int, r: int) -> tuple[int, int, int]:
    """Bytes of X, bytes allocated beyond X at the peak, and the allowance (n + d)(k + r) in bytes."""
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    SparseEncoder(k, n_nonzero=r, certify=False, random_state=0).fit(X[:200])  # caches and imports
    tracemalloc.start()
    SparseEncoder(k, n_nonzero=r, random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return stored, peak, 8 * (X.shape[0] + X.shape[1]) * (k + r)


def main() -> None:
    print("Memory: peak of a certified fit on CSR data, X included, as a multiple of X's own storage")
    for n, d, words, dtype in (
        (8000, 19000, 120, np.float64),
        (40000, 20000, 100, np.float64),
        (40000, 20000, 100, np.float32),
    ):
        X = counts(n, d, words).astype(dtype)
        k, r = 5, 30
        stored, peak, allowance = peak_of_fit(X, k, r)
        what = f"{n} x {d} {np.dtype(dtype).name}, {X.nnz} nonzeros"
        sizes = f"X {stored / 2**20:.0f} MiB, beyond it {peak / 2**20:.0f} MiB, d x d {8 * d * d / 2**20:.0f} MiB"
        ratio = (stored + peak - allowance) / stored
        print(f"  {what}: {sizes}; (all - (n+d)(k+r) floats) / X = {ratio:.2f} (wanted at most 2.5)")
    print()


if __name__ == "__main__":
    main()
