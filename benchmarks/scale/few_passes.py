"""Excess loss in few passes and in one, against as many passes as it takes, on real data."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))

CASES = ((3, 18), (5, 30), (10, 60))
DENSE = ("cbcl_faces", "madelon", "arcene")
SPARSE = ("pbmc_facs", "classic2_counts", "associated_press", "ng20_basehock", "tdt2_all")


def data_sets(folder: Path) -> dict[str, Any]:
    from scipy import sparse

    found: dict[str, Any] = {}
    for name in DENSE:
        found[name] = np.load(folder / f"{name}.npz")["X"].astype(np.float64)
    for name in SPARSE:
        parts = np.load(folder / f"{name}.npz")
        prefix = "X_" if "X_data" in parts else ""
        entries = parts[prefix + "data"].astype(np.float64), parts[prefix + "indices"], parts[prefix + "indptr"]
        found[name] = sparse.csr_array(entries, shape=parts[prefix + "shape"])
    genotypes = np.load(folder / "genotypes" / "joint_hm3_1kg.npz")["X"].astype(np.float32)
    found["genotypes"] = np.where(genotypes < 0, np.float32(1), genotypes)
    return found


def excesses(X: Any, k: int, r: int, scale: bool) -> tuple[float, float, float, tuple[int, int]]:
    """Excess loss of many passes over PCA's; that of few and of one as multiples of it; passes of the first two."""
    from sparing import SparseEncoder, information_loss

    settings = {"n_nonzero": r, "scale": scale, "random_state": 0}
    often = SparseEncoder(k, passes="any", **settings).fit(X)
    few = SparseEncoder(k, passes="few", **settings).fit(X)
    one = SparseEncoder(k, certify=False, **settings)
    for first in range(0, X.shape[0], 4000):
        one.partial_fit(X[first : first + 4000])
    least = often.certificate_.pca_value
    excess = often.loss_ - least
    streamed = information_loss(one.components_, X, scale=scale) - least
    return excess / least, (few.loss_ - least) / excess, streamed / excess, (often.n_passes_, few.n_passes_)


def _listed(ratios: list[float], digits: int) -> str:
    return " ".join(f"{ratio:.{digits}f}" for ratio in ratios)


def main() -> None:
    folder = os.environ.get("SPARING_DATA")
    if not folder:
        print("Few passes: SPARING_DATA is not set, nothing to compare\n")
        return
    print(f"Few passes: excess loss over PCA's as a multiple of that of passes='any', for (k, r) in {CASES}")
    worst = {"few": 0.0, "one": 0.0}
    for name, X in data_sets(Path(folder)).items():
        for scale in (False, True):
            found = [excesses(X, k, r, scale) for k, r in CASES]
            few, one = ([each[place] for each in found if each[0] > 1e-6] for place in (1, 2))
            worst = {"few": max(worst["few"], *few), "one": max(worst["one"], *one)}
            passes = " ".join(f"{often}->{seldom}" for *_, (often, seldom) in found)
            what = f"{name:16s} {X.shape[0]:>5} x {X.shape[1]:<5} {'scaled' if scale else '':6s}"
            print(f"  {what}  few {_listed(few, 3)}  ({passes} passes)  one {_listed(one, 2)}", flush=True)
    print(f"  worst: few {worst['few']:.3f} (wanted: 1.03), one {worst['one']:.2f} (wanted: 1.08)\n")


if __name__ == "__main__":
    main()
