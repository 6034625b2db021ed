"""Loss per strategy against reference numbers, proofs with seconds of the processor, and the cost of a whole path."""

from __future__ import annotations

import time
import warnings

import numpy as np
from shapes import DATA
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from speed import side_by_side

from sparing import SparseEncoder, sparsity_path
from sparing.datasets import load_pitprops


def timed(X: np.ndarray, k: int, r: int, **parameters: object) -> tuple[SparseEncoder, float]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseEncoder(k, n_nonzero=r, random_state=0, **parameters).fit(X)
    return model, time.process_time() - start


def losses() -> None:
    pitprops = load_pitprops().correlation
    cases = [
        ("wine standardised (3, 5)", load_wine().data, 3, 5, {"scale": True}, 1.0265),
        ("breast_cancer standardised (3, 10)", load_breast_cancer().data, 3, 10, {"scale": True}, 1.0048),
        ("digits (5, 16)", load_digits().data, 5, 16, {}, 1.0048),
        ("PitProps as covariance (6, 5)", pitprops, 6, 5, {"precomputed": True}, 1.001),
        ("PitProps as X (2, 3)", pitprops, 2, 3, {"center": False}, None),
        ("PitProps as X (2, 5)", pitprops, 2, 5, {"center": False}, None),
    ]
    if DATA.exists():
        cases += [
            ("colon 62 x 2000 (3, 10)", np.load(DATA / "colon_alon.npz")["X"], 3, 10, {}, None),
            ("nci60 64 x 6830 (3, 10)", np.load(DATA / "nci60.npz")["X"], 3, 10, {}, None),
        ]
    print("Strategies: loss ratio with r features per component (joint wanted at most), seconds")
    for name, X, k, r, parameters, wanted in cases:
        found = {s: timed(X, k, r, strategy=s, certify=False, **parameters) for s in ("iterative", "joint")}
        shown = "  ".join(f"{s} {m.loss_ratio_:.5f} ({t:.2f} s)" for s, (m, t) in found.items())
        print(f"  {name:36s} {shown}  {'' if wanted is None else f'({wanted})'}")


def proofs() -> None:
    print("Proof: optimal shared features by selector='exact' (loss ratio, gap, seconds with certificate)")
    for k in (1, 2, 3):
        X, start = load_pitprops().correlation, time.process_time()
        gaps = [timed(X, k, r, center=False, selector="exact")[0].certificate_.gap for r in range(k, 14)]
        seconds = time.process_time() - start
        print(f"  PitProps k={k}, r={k}..13: largest gap {max(gaps):.1e}, {seconds:.2f} s for all {len(gaps)}")
    start = time.process_time()
    gaps = [timed(load_wine().data, 3, r, scale=True, selector="exact")[0].certificate_.gap for r in range(3, 14)]
    print(f"  wine k=3, r=3..13: largest gap {max(gaps):.1e}, {time.process_time() - start:.2f} s for all {len(gaps)}")
    for k in (3, 5):
        model, seconds = timed(load_breast_cancer().data, k, 5, scale=True, selector="exact")
        print(f"  breast_cancer ({k}, 5): {model.loss_ratio_:.6f}, gap {model.certificate_.gap:.1e}, {seconds:.2f} s")


def path() -> None:
    if not DATA.exists():
        return
    X = np.load(DATA / "leukemia_armstrong.npz")["X"].astype(np.float64)
    print("Path: r = 1..100 on armstrong 72 x 12582, time over that of one fit at r = 100 (wanted at most 3)")
    for k in (2, 5, 10):
        fit, improved, nested = side_by_side(
            lambda k=k: SparseEncoder(k, n_nonzero=100, certify=False, random_state=0).fit(X),
            lambda k=k: sparsity_path(X, k, random_state=0),
            lambda k=k: sparsity_path(X, k, improve=False, random_state=0),
        )
        print(f"  k={k:2d}: fit {1e3 * fit:.0f} ms; improved path {improved / fit:.2f}, nested path {nested / fit:.2f}")


def main() -> None:
    losses()
    proofs()
    path()
    print()


if __name__ == "__main__":
    main()
