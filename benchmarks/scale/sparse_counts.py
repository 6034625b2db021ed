"""A large sparse matrix in memory: 200,000 x 100,000 word counts with about ten million nonzeros."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from measured import alone

sys.path.append(str(Path(__file__).parents[1]))


def fitted(n: int, d: int, words: int, passes: str) -> dict[str, Any]:
    from shapes import counts

    from sparing import SparseEncoder

    X = counts(n, d, words)
    began, cpu = time.perf_counter(), time.process_time()
    model = SparseEncoder(5, n_nonzero=40, passes=passes, random_state=0).fit(X)
    return {
        "nonzeros": X.nnz,
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "passes": model.n_passes_,
        "ratio": model.loss_ratio_,
    }


def main() -> None:
    print("Sparse: CSR 200,000 x 100,000, k=5, r=40 (wanted: below 45 s and 3 GiB)")
    for passes in ("any", "few"):
        found = alone(fitted, 200_000, 100_000, 50, passes)
        print(
            f"  passes={passes!r}: {found['nonzeros']:,} nonzeros, {found['seconds']:.0f} s, peak of the process "
            f"{found['peak_mib'] / 1024:.2f} GiB, {found['passes']} passes, loss {found['ratio']:.4f} times PCA's"
        )
    print()


if __name__ == "__main__":
    main()
