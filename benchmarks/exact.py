"""Proofs: what the exact solver proves, how long it takes and how much memory. Seconds are of the processor."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import numpy as np

from sparing import SparsePCA
from sparing.datasets import load_pitprops

GENES = {
    "colon": "colon_alon.npz",
    "lymphoma": "lymphoma_alizadeh62.npz",
    "NCI60": "nci60.npz",
    "Armstrong": "leukemia_armstrong.npz",
}


def proved(X: np.ndarray, r: int, **settings) -> tuple[float, float, float]:
    """Variance, gap and seconds of an exact fit."""
    start = time.process_time()
    model = SparsePCA(n_nonzero=r, solver="exact", random_state=0, **settings).fit(X)
    return float(model.variance_[0]), model.certificate_.gap, time.process_time() - start


def is_proved(gap: float) -> bool:
    return gap <= 1e-6


def verdict(gap: float) -> str:
    return "proved" if is_proved(gap) else f"within {100 * gap:.2f}%"


def peak() -> float:
    """Most memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def pit_props() -> None:
    C = load_pitprops().correlation
    results = [proved(C, r, precomputed=True) for r in range(1, 14)]
    values = ", ".join(f"{value:.6f}" for value, _, _ in results)
    worst, seconds = max(gap for _, gap, _ in results), sum(took for _, _, took in results)
    print(f"  PitProps, r = 1..13: {values}\n    largest gap {worst:.1e}, all thirteen in {seconds:.2f} s (wanted 0.5)")


def matrices(folder: Path) -> None:
    print("  matrices of the literature, r = 5, 10, 20 (wanted: proved, each under 2 s)")
    results = []
    for file in ("bcp_covariances.npz", "eisen_cov.npz"):
        stored = np.load(folder / file)
        for name in stored.files:
            A = np.nan_to_num(stored[name])
            if A.ndim != 2 or A.shape[0] != A.shape[1]:
                continue
            found = [proved((A + A.T) / 2, r, precomputed=True) for r in (5, 10, 20)]
            cells = [f"{value:.6f} {verdict(gap)} {seconds:.2f} s" for value, gap, seconds in found]
            print(f"    {name:16s} d={len(A):3d}: " + "; ".join(cells))
            results += found
    done, seconds = sum(is_proved(gap) for _, gap, _ in results), [took for _, _, took in results]
    share = f"{done} of {len(results)} proved, slowest {max(seconds):.2f} s"
    print(f"    {len(results) // 3} matrices: {share}; {sum(took < 0.2 for took in seconds)} under 0.2 s")


def genes_500(folder: Path) -> None:
    for name in ("colon", "lymphoma"):
        A = np.load(folder / f"{name}_cov500.npz")["C"]
        results = [proved(A, r, precomputed=True) for r in range(1, 31)]
        worst, slowest = max(gap for _, gap, _ in results), max(took for _, _, took in results)
        total = sum(took for _, _, took in results)
        print(
            f"  {name}_cov500, r = 1..30: r=10 is {results[9][0]:.5f}, largest gap {worst:.1e}, slowest "
            f"{slowest:.2f} s, all {total:.1f} s (wanted: proved, each within 10 s)"
        )


def genes(folder: Path) -> None:
    print("  gene expression from X (wanted: r = 5, 10 proved within 30 s, r = 20 within 60 s, below 1024 MiB)")
    sizes, results = [], []
    for name, file in GENES.items():
        X = np.load(folder / file)["X"].astype(float)
        for scale in (False, True):
            cells = []
            for r, limit in ((5, 30), (10, 30), (20, 60)):
                value, gap, seconds = proved(X, r, scale=scale, time_limit=limit)
                results.append((r, gap, seconds))
                cells.append(f"r={r} {value:.6g} {verdict(gap)} {seconds:.1f} s")
            kind = "correlation" if scale else "covariance"
            shape = f"{X.shape[0]} x {X.shape[1]}"
            print(f"    {name:10s}{shape:>11s} {kind}: " + "; ".join(cells) + f"; {peak():.0f} MiB", flush=True)
        sizes.append(X.shape[1])
    done = [(r, seconds) for r, gap, seconds in results if is_proved(gap)]
    few, many = (max(seconds for r, seconds in done if r in size) for size in ((5, 10), (20,)))
    share = f"{len(done)} of {len(results)} proved, r = 5, 10 in {few:.1f} s at most, r = 20 in {many:.1f} s"
    print(f"    {len(sizes)} sets of {min(sizes)} to {max(sizes)} genes: {share}; peak {peak():.0f} MiB")


def main() -> None:
    print("Exact: one sparse component, proved optimal")
    pit_props()
    folder = os.environ.get("SPARING_DATA")
    if not folder:
        print("  the rest needs SPARING_DATA, the folder of the real data sets\n")
        return
    matrices(Path(folder))
    genes_500(Path(folder))
    genes(Path(folder))
    print()


if __name__ == "__main__":
    main()
