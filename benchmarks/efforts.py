"""What the three efforts buy: CPU seconds of fit and proof, and the gap of the certificate, on small real sets.

The counts of ``Effort`` and ``ProofEffort`` are set by this table. Each cell is "seconds of the fit + seconds of the
proof, gap". The second table asks whether anything jumps: the default effort on more and more features of one set.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from shapes import factors
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from sparing import NonnegativeSparsePCA, SparseEncoder, SparseKMeans, SparsePCA
from sparing.datasets import load_pitprops
from sparing.effort import EFFORTS
from sparing.errors import SparingWarning

DATA = Path(os.environ.get("SPARING_DATA", "/nonexistent"))
ORTHOGONAL = {"constraint": "orthogonal"}
SIZES = (24, 32, 33, 40, 48, 64, 65, 100, 150, 200, 201, 300, 500, 501, 1000, 1001, 1500)


def real(name: str, key: str = "X") -> Callable[[], np.ndarray]:
    return lambda: np.load(DATA / f"{name}.npz")[key].astype(float)


SETS: dict[str, Callable[[], np.ndarray]] = {
    "PitProps": lambda: load_pitprops().correlation,
    "wine": lambda: load_wine().data,
    "breast_cancer": lambda: load_breast_cancer().data,
    "ionosphere": real("ionosphere"),
    "digits": lambda: load_digits().data,
    "colon_cov500": real("colon_cov500", "C"),
    "colon_alon": real("colon_alon"),
    "nci60": real("nci60"),
    "cbcl_faces": real("cbcl_faces"),
}

PROBLEMS: tuple[tuple[str, type, dict[str, Any]], ...] = (
    ("PitProps", SparsePCA, {"n_components": 3, "n_nonzero": 5, "precomputed": True}),
    ("wine", SparseEncoder, {"n_components": 2, "n_nonzero": 4, "scale": True}),
    ("wine", SparsePCA, {"n_components": 3, "n_nonzero": 4, "scale": True}),
    ("breast_cancer", SparseEncoder, {"n_components": 3, "n_nonzero": 6, "scale": True}),
    ("breast_cancer", SparsePCA, {"n_components": 3, "n_nonzero": 5, "scale": True}),
    ("breast_cancer", SparsePCA, {"n_components": 3, "n_nonzero": 5, "scale": True, **ORTHOGONAL}),
    ("breast_cancer", NonnegativeSparsePCA, {"n_components": 2, "n_nonzero": 5, "scale": True}),
    ("ionosphere", SparseEncoder, {"n_components": 3, "n_nonzero": 8}),
    ("ionosphere", SparsePCA, {"n_components": 3, "n_nonzero": 5, **ORTHOGONAL}),
    ("digits", SparseEncoder, {"n_components": 5, "n_nonzero": 10}),
    ("digits", SparsePCA, {"n_components": 3, "n_nonzero": 8}),
    ("digits", SparsePCA, {"n_components": 3, "n_nonzero": 8, **ORTHOGONAL}),
    ("colon_cov500", SparsePCA, {"n_components": 1, "n_nonzero": 20, "precomputed": True}),
    ("colon_cov500", SparsePCA, {"n_components": 3, "n_nonzero": 10, "precomputed": True, **ORTHOGONAL}),
    ("colon_alon", SparsePCA, {"n_components": 1, "n_nonzero": 10, "scale": True}),
    ("nci60", SparsePCA, {"n_components": 1, "n_nonzero": 20}),
    ("cbcl_faces", NonnegativeSparsePCA, {"n_components": 1, "n_nonzero": 40}),
)


def measured(X: np.ndarray, kind: type, parameters: dict[str, Any]) -> tuple[float, float, Any]:
    """CPU seconds of the fit and of its proof, and the fitted model."""
    seconds = []
    for certify in (False, True):
        start = time.process_time()
        model = kind(certify=certify, random_state=0, **parameters).fit(X)
        seconds.append(time.process_time() - start)
    return seconds[0], max(seconds[1] - seconds[0], 0.0), model


def cell(fit: float, proof: float, gap: float) -> str:
    return f"{fit:>7.3f} +{proof:>6.3f} s {'proved' if gap < 1e-6 else f'{gap:.2%}':>7}"


def by_effort() -> None:
    print(f"{'set':<14} {'d':>5} {'problem':<36}" + "".join(f"{effort:>26}" for effort in EFFORTS))
    for name, kind, parameters in PROBLEMS:
        try:
            X = SETS[name]()
        except FileNotFoundError:
            print(f"{name:<14} needs {name}.npz in SPARING_DATA")
            continue
        said = f"{kind.__name__}({parameters['n_components']}, {parameters['n_nonzero']})"
        said += " orthogonal" if "constraint" in parameters else ""
        cells = []
        for effort in EFFORTS:
            fit, proof, model = measured(X, kind, {"effort": effort, **parameters})
            cells.append(cell(fit, proof, model.certificate_.gap))
        print(f"{name:<14} {X.shape[1]:>5} {said:<36}" + "".join(f"{each:>26}" for each in cells))


def clusterings() -> None:
    X, seconds, criteria = load_wine().data, [], []
    for effort in EFFORTS:
        start = time.process_time()
        model = SparseKMeans(8, weight_bound=2.0, scale=True, effort=effort, random_state=0).fit(X)
        seconds.append(time.process_time() - start)
        criteria.append(model.criterion_)
    ends = ", ".join(f"{each:.2f} in {took:.2f} s" for each, took in zip(criteria, seconds, strict=True))
    print(f"wine, SparseKMeans(8, weight_bound=2), criterion: {ends}")


def by_size() -> None:
    X = factors(120, max(SIZES))
    problems: dict[str, tuple[type, dict[str, Any]]] = {
        "one component": (SparsePCA, {"n_components": 1, "n_nonzero": 6}),
        "three": (SparsePCA, {"n_components": 3, "n_nonzero": 5}),
        "three orthogonal": (SparsePCA, {"n_components": 3, "n_nonzero": 5, **ORTHOGONAL}),
        "encoder": (SparseEncoder, {"n_components": 3, "n_nonzero": 6}),
    }
    print(f"\nmade data, default effort\n{'d':>5}" + "".join(f"{name:>26}" for name in problems))
    for d in SIZES:
        found = [measured(X[:, :d], kind, parameters) for kind, parameters in problems.values()]
        print(f"{d:>5}" + "".join(f"{cell(fit, proof, model.certificate_.gap):>26}" for fit, proof, model in found))


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparingWarning)
        SparsePCA(1, n_nonzero=2).fit(load_wine().data)  # what is imported once belongs to no row
        by_effort()
        clusterings()
        by_size()


if __name__ == "__main__":
    main()
