"""Loss of the default encoder against independently measured reference numbers."""

from __future__ import annotations

import numpy as np
from shapes import DATA
from sklearn.datasets import load_breast_cancer, load_digits

from sparing import SparseEncoder
from sparing.datasets import load_pitprops

PITPROPS = {2: 1.1970, 3: 1.0669, 4: 1.0227, 5: 1.0119, 6: 1.0093, 7: 1.0063, 8: 1.0033}


def ratio(X: np.ndarray, k: int, r: int, **parameters: bool) -> float:
    return SparseEncoder(k, n_nonzero=r, random_state=0, **parameters).fit(X).loss_ratio_


def main() -> None:
    print("Quality: PitProps as X, uncentred, k = 2: loss ratio by number of features (wanted at most)")
    X = load_pitprops().correlation
    print("  " + "  ".join(f"r={r} {ratio(X, 2, r, center=False):.6f} ({limit})" for r, limit in PITPROPS.items()))
    cases = [
        ("breast_cancer standardised (5, 10)", lambda: load_breast_cancer().data, 5, 10, {"scale": True}, 10.9),
        ("breast_cancer standardised (5, 5)", lambda: load_breast_cancer().data, 5, 5, {"scale": True}, 43.2),
        ("digits (5, 20)", lambda: load_digits().data, 5, 20, {}, 2.7),
        ("colon_cov500 as X (2, 8)", lambda: np.load(DATA / "colon_cov500.npz")["C"], 2, 8, {"center": False}, 0.29),
        (
            "lymphoma_cov500 as X (2, 8)",
            lambda: np.load(DATA / "lymphoma_cov500.npz")["C"],
            2,
            8,
            {"center": False},
            0.69,
        ),
        ("nci60 (5, 20)", lambda: np.load(DATA / "nci60.npz")["X"], 5, 20, {}, 1.22),
    ]
    print("Quality: excess loss over PCA in % (reference: greedy on the principal components with swap sweeps)")
    for name, load, k, r, parameters, reference in cases:
        try:
            X = load()
        except FileNotFoundError:
            print(f"  {name:36s} skipped: SPARING_DATA is not set")
            continue
        print(f"  {name:36s} {100 * (ratio(X, k, r, **parameters) - 1):7.3f} ({reference})")
    print()


if __name__ == "__main__":
    main()
