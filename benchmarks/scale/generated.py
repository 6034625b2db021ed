"""Rows that are made when they are asked for and never stored: 5 million x 1000 in single precision, 20 GB."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from measured import side_by_side

FEATURES = 1000
BLOCK = 8192
FACTORS = 10


class Generated:
    """Ten factors on a tenth of the features each, plus noise; rows i come from seeds of their own block."""

    dtype = np.dtype(np.float32)

    def __init__(self, n_rows: int) -> None:
        self.shape = (n_rows, FEATURES)
        self.chunks = (BLOCK, FEATURES)
        rng = np.random.default_rng(0)
        loadings = rng.standard_normal((FACTORS, FEATURES)) * (rng.random((FACTORS, FEATURES)) < 0.1)
        self.loadings = (2 * loadings * 0.85 ** np.arange(FACTORS)[:, None]).astype(np.float32)

    def __getitem__(self, run: slice) -> np.ndarray:
        start, stop, _ = run.indices(self.shape[0])
        first, last = start // BLOCK, -(-stop // BLOCK)
        rows = (
            np.concatenate([self.block(number) for number in range(first, last)])
            if last - first > 1
            else self.block(first)
        )
        return rows[start - first * BLOCK : stop - first * BLOCK]

    def block(self, number: int) -> np.ndarray:
        """Rows of one block, always the same."""
        rng = np.random.default_rng([1, number])
        rows = rng.standard_normal((BLOCK, FEATURES), dtype=np.float32)
        rows += rng.standard_normal((BLOCK, FACTORS), dtype=np.float32) @ self.loadings
        return rows


def produced(n_rows: int, times: int, k: int) -> dict[str, Any]:
    """Produce all rows and multiply them, ``times`` over, as k + 6 directions of a subspace iteration would."""
    source = Generated(n_rows)
    V = np.random.default_rng(0).standard_normal((FEATURES, k + 6)).astype(np.float32)
    for _ in range(times):
        total = np.zeros((FEATURES, k + 6))
        for start in range(0, n_rows, BLOCK):
            rows = source[start : start + BLOCK]
            total += rows.T @ (rows @ V)
        V = np.linalg.qr(total)[0].astype(np.float32)
    return {}


def fitted(n_rows: int, k: int, r: int) -> dict[str, Any]:
    from sparing import SparseEncoder

    began = time.perf_counter()
    model = SparseEncoder(k, n_nonzero=r, passes="few", random_state=0).fit(Generated(n_rows))
    return {"fit": time.perf_counter() - began, "passes": model.n_passes_, "said": str(model.certificate_)}


def main(n_rows: int = 5_000_000) -> None:
    k, r = 5, 40
    print(
        f"Generated: {n_rows:,} x {FEATURES} float32, k={k}, r={r} (wanted: below 1 GiB, at most 5 passes, ratio 1.3)"
    )
    ours, bare = side_by_side((fitted, n_rows, k, r), (produced, n_rows, 5, k))
    print(
        f"  fit: {ours['passes']} passes, peak of the process {ours['peak_mib']:.0f} MiB, "
        f"{ours['fit'] / bare['seconds']:.2f} times producing and multiplying it 5 times "
        f"({ours['fit']:.0f} s, {bare['seconds']:.0f} s)"
    )
    print("  " + ours["said"].splitlines()[0] + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
