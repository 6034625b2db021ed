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


def main() -> None:
    from sparing import SparseEncoder, information_loss

    folder = os.environ.get("SPARING_DATA")
    if not folder:
        print("Few passes: SPARING_DATA is not set, nothing to compare\n")
        return
    print("Few passes: excess loss over PCA's as a multiple of that of passes='any', and the passes")
    worst = {"few": 0.0, "one": 0.0}
    for name, X in data_sets(Path(folder)).items():
        for scale in (False, True):
            for k, r in CASES:
                settings = {"n_nonzero": r, "scale": scale, "random_state": 0}
                often = SparseEncoder(k, passes="any", **settings).fit(X)
                few = SparseEncoder(k, passes="few", **settings).fit(X)
                one = SparseEncoder(k, **settings)
                for first in range(0, X.shape[0], 1000):
                    one.partial_fit(X[first : first + 1000])
                least = often.certificate_.pca_value
                excess = often.loss_ - least
                ratios = {
                    "few": (few.loss_ - least) / excess,
                    "one": (information_loss(one.components_, X, scale=scale) - least) / excess,
                }
                if excess > 1e-6 * least:
                    worst = {way: max(worst[way], ratios[way]) for way in worst}
                print(
                    f"  {name:17s} {X.shape[0]:>6} x {X.shape[1]:<6} scale={scale!s:5} k={k:<2} r={r}: excess "
                    f"{excess / least:.5f}, few {ratios['few']:.3f} ({often.n_passes_} -> {few.n_passes_} passes), "
                    f"one {ratios['one']:.3f}, whose proved loss is {one.certificate_.ratio:.3f} times a proved "
                    f"{one.certificate_.bound / least:.3f} of PCA's",
                    flush=True,
                )
    print(f"  worst: few {worst['few']:.3f} (wanted: 1.03), one {worst['one']:.3f} (wanted: 1.08)\n")


if __name__ == "__main__":
    main()
