"""Dask on two workers beside NumPy, on data that fit into memory, and the bytes that travel."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))


def main(n: int = 60_000, d: int = 2_000) -> None:
    import dask.array as da
    from distributed import Client, LocalCluster
    from shapes import factors

    from sparing import SparseEncoder

    X = factors(n, d)
    print(f"Dask: {n:,} x {d:,} in 8 chunks on two workers, k=5, r=40 (wanted: equal to 1e-6, at most 1.5 times NumPy)")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        chunks = client.persist(da.from_array(X, chunks=(-(-n // 8), d)))
        seconds: dict[str, list[float]] = {"NumPy": [], "Dask": []}
        for _ in range(3):
            for name, data in (("NumPy", X), ("Dask", chunks)):
                began = time.perf_counter()
                model = SparseEncoder(5, n_nonzero=40, random_state=0).fit(data)
                seconds[name].append(time.perf_counter() - began)
                if name == "NumPy":
                    expected = model
        apart = np.abs(model.components_ - expected.components_).max()
        ratio = min(seconds["Dask"]) / min(seconds["NumPy"])
    print(f"  components differ by {apart:.1e}; {ratio:.2f} times as long ({model.n_passes_} passes)\n")


if __name__ == "__main__":
    main()
