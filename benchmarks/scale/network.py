"""Bytes that travel over the network in each pass of a few-pass fit on a cluster, beside what arithmetic says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))

CHUNKS, WORKERS = 12, 3


def part(number: int, n: int, d: int) -> Any:
    from shapes import counts

    return counts(n, d, 40, seed=number)


def sent() -> int:
    """Bytes that have gone over the loopback interface so far: between workers, scheduler and client."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split()[1])


def sizes_of(result: Any) -> int:
    """Bytes of the arrays in a result."""
    if isinstance(result, np.ndarray):
        return result.nbytes
    if hasattr(result, "indptr"):
        return result.data.nbytes + result.indices.nbytes + result.indptr.nbytes
    fields = result if isinstance(result, (list, tuple)) else getattr(result, "__dict__", {}).values()
    return sum(sizes_of(field) for field in fields)


def main(n: int = 48_000, d: int = 20_000) -> None:
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster, wait

    from sparing import SparseEncoder
    from sparing.data.dask_rows import DaskRows

    run, passes = DaskRows.run, []
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(sys.path.append, str(Path(__file__).parents[1]))
        each = n // CHUNKS
        meta = part(0, 2, d)[:0]
        made = [da.from_delayed(delayed(part)(i, each, d), (each, d), meta=meta) for i in range(CHUNKS)]
        chunks = client.persist(da.concatenate(made))
        wait(chunks)

        def counted(self: DaskRows, work: Any, merge: Any) -> Any:
            before = sent()
            result = run(self, work, merge)
            passes.append((work.args[0], sent() - before, sizes_of(result)))
            return result

        DaskRows.run = counted  # type: ignore[method-assign]
        model = SparseEncoder(5, n_nonzero=40, passes="few", random_state=0).fit(chunks)
        DaskRows.run = run  # type: ignore[method-assign]
    stored = CHUNKS * sizes_of([part(0, each, d)])
    what = f"{n:,} x {d:,} counts ({stored / 2**20:.0f} MiB) in {CHUNKS} chunks on {WORKERS} workers"
    most = CHUNKS + 2 * WORKERS + 2  # merges, what the jobs bring to scheduler and workers, the way back
    print(f"Network: {what}, {model.n_passes_} passes (arithmetic: at most {most} results in each)")
    for number, (jobs, moved, size) in enumerate(passes, start=1):
        names = " and ".join(type(job).__name__ for job in jobs)
        print(
            f"  pass {number}, {names}: result {size / 2**20:.1f} MiB, over the network {moved / 2**20:.1f} MiB, "
            f"{moved / size:.1f} results"
        )
    print()


if __name__ == "__main__":
    main()
