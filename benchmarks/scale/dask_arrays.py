"""Dask on two workers beside NumPy, on data that fit into memory."""

from __future__ import annotations

import time

import numpy as np

CHUNKS = 8


def part(number: int, n: int, d: int) -> np.ndarray:
    """Rows of one chunk, made where they will be used: ten factors on a tenth of the features each, plus noise."""
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((10, d)) * (rng.random((10, d)) < 0.1) * 2 * 0.85 ** np.arange(10)[:, None]
    rng = np.random.default_rng([1, number])
    return rng.standard_normal((n, 10)) @ loadings + rng.standard_normal((n, d))


def main(n: int = 60_000, d: int = 2_000) -> None:
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster, wait

    from sparing import SparseEncoder

    each = n // CHUNKS
    X = np.concatenate([part(number, each, d) for number in range(CHUNKS)])
    print(f"Dask: {n:,} x {d:,}, {CHUNKS} chunks, two workers, k=5, r=40 (wanted: equal to 1e-6, at most 1.5 x NumPy)")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        made = [da.from_delayed(delayed(part)(number, each, d), (each, d), float) for number in range(CHUNKS)]
        chunks = client.persist(da.concatenate(made))
        wait(chunks)
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
