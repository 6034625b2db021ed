"""Nonnegative sparse PCA on the data of its paper: what is reached and proved, and seconds of the processor.

Beside each ratio the reference number of value / lambda_1 and the share of the optimum that the paper proves. The last
lines are six parts of faces, in turn and together, and the search on the sphere for a flat random matrix, the hardest.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from sparing import NonnegativeSparsePCA
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.sphere.branch_and_bound import highest
from sparing.run import Budget

DATA = Path(os.environ.get("SPARING_DATA", "/nonexistent"))

# file, features, reference of value / lambda_1, share of the optimum to be proved, share that the paper proves
PROBLEMS = (
    ("lrs", 20, 0.8869, 0.995, 0.86),
    ("cbcl_faces", 40, 0.2351, 0.96, None),
    ("cbcl_faces", 180, 0.6825, 0.99, 0.58),
    ("leukemia_armstrong", 50, 0.2305, 0.75, 0.446),
)


def parts() -> None:
    faces = np.load(DATA / "cbcl_faces.npz")["X"].astype(float)
    A = np.cov(faces, rowvar=False)
    shares = []
    for config in ({"deflation": "disjoint"}, {"constraint": "orthogonal"}):
        H = NonnegativeSparsePCA(6, n_nonzero=40, certify=False, random_state=0, **config).fit(faces).components_
        shares.append(np.trace(H @ A @ H.T) / np.linalg.eigvalsh(A)[-1])
    print("six parts of faces, disjoint, over the largest eigenvalue: {:.4f} in turn, {:.4f} together".format(*shares))


def main() -> None:
    print(
        f"{'nonnegative':<20} {'r':>4} {'value':>7} {'wanted':>7} {'proved':>8} {'wanted':>7} {'paper':>6} {'s':>6}  by"
    )
    for name, r, value, ratio, printed in PROBLEMS:
        if not (DATA / f"{name}.npz").exists():
            print(f"{name:<20} needs {name}.npz in SPARING_DATA")
            continue
        X = np.load(DATA / f"{name}.npz")["X"].astype(float)
        start = time.process_time()
        certificate = NonnegativeSparsePCA(n_nonzero=r, random_state=0).fit(X).certificate_
        seconds = time.process_time() - start
        reached, proved = certificate.value / certificate.pca_value, certificate.value / certificate.bound
        paper = "" if printed is None else f"{printed:.3f}"
        print(
            f"{name:<20} {r:>4} {reached:>7.4f} {value:>7.4f} {proved:>8.5f} {ratio:>7.3f} {paper:>6} {seconds:>6.2f}  "
            f"{certificate.witness.method}"
        )
    if (DATA / "cbcl_faces.npz").exists():
        parts()
    for rank in (3, 5, 6):
        V = np.random.default_rng(0).standard_normal((1000, rank))
        start = time.process_time()
        with single_threaded_blas():
            found = highest(V, 50, tolerance=1e-3, max_cells=10**7, budget=Budget(), nonnegative=True)
        seconds, gap = time.process_time() - start, found.bound / found.value - 1
        print(f"sphere, 1000 rows of rank {rank}, within {gap:.1e}: {seconds:.2f} s, {found.cells} cells")


if __name__ == "__main__":
    main()
