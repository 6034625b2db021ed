"""Does anything jump with size? Neighbouring numbers of features d, and of nonzeros r, are nearly the same problem.

One matrix is cut to its first d columns, so that what is kept can only grow with d, and with r. For each sweep the
table names the neighbours with the largest ratio of CPU seconds (means over five seeds of each, where the first seed
showed a jump: a search ends where little is new, earlier with one seed than with another, at any size; fits of less
than 20 ms count as alike) and those with the largest fall of what is kept at the first seed, relative.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from shapes import factors
from threadpoolctl import threadpool_limits

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA

DATA = Path(os.environ.get("SPARING_DATA", "/nonexistent"))
FEATURES = (range(60, 71, 2), range(95, 106, 5), range(395, 406, 5))
NONZEROS = (range(150, 206, 5),)
FEW = (range(195, 206, 5),)
SUSPECT, SEEDS, BRIEF = 1.4, 5, 0.02
Model = tuple[type, dict[str, Any]]
Measured = tuple[float, float]

BY_FEATURES: dict[str, Model] = {
    "SparseEncoder(3) batch": (SparseEncoder, {"n_components": 3}),
    "SparseEncoder(3) iterative": (SparseEncoder, {"n_components": 3, "strategy": "iterative"}),
    "SparseEncoder(3) joint": (SparseEncoder, {"n_components": 3, "strategy": "joint"}),
    "SparsePCA(1)": (SparsePCA, {"n_components": 1}),
    "SparsePCA(3)": (SparsePCA, {"n_components": 3}),
    "SparsePCA(3) orthogonal": (SparsePCA, {"n_components": 3, "constraint": "orthogonal"}),
    "SparsePCA(3) uncorrelated": (SparsePCA, {"n_components": 3, "constraint": "uncorrelated"}),
    "NonnegativeSparsePCA(1)": (NonnegativeSparsePCA, {"n_components": 1}),
    "NonnegativeSparsePCA(3)": (NonnegativeSparsePCA, {"n_components": 3}),
}
TALL = {"SparseEncoder(3) batch", "SparseEncoder(3) iterative", "SparsePCA(1)", "SparsePCA(3) orthogonal"}
"""Models that are fitted to more rows than features as well."""

BY_NONZEROS: dict[str, tuple[Model, Sequence[range]]] = {
    "SparsePCA(1)": ((SparsePCA, {"n_components": 1}), NONZEROS),
    "SparsePCA(10)": ((SparsePCA, {"n_components": 10}), FEW),
    "NonnegativeSparsePCA(3)": ((NonnegativeSparsePCA, {"n_components": 3}), FEW),
}


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns in falling order of variance, then of mean 0 and variance 1."""
    X = X[:, np.argsort(-X.var(axis=0), kind="stable")]
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def sets() -> dict[str, np.ndarray]:
    """Name and matrix."""
    made = {"made 80": factors(80, 1100), "made 600": factors(600, 1100)}
    path = DATA / "colon_alon.npz"
    return {**made, "colon": standardised(np.load(path)["X"].astype(float))} if path.exists() else made


def at_features(model: Model, X: np.ndarray, d: int, seed: int = 0) -> Measured:
    return fitted(model, X[:, :d], 8, seed)


def fitted(model: Model, X: np.ndarray, r: int, seed: int = 0) -> Measured:
    """CPU seconds of one fit, and what it keeps: of what a decoder rebuilds, or of the variance of its directions."""
    kind, parameters = model
    estimator = kind(n_nonzero=r, certify=False, random_state=seed, **parameters)
    start = time.process_time()
    estimator.fit(X)
    seconds = time.process_time() - start
    X = X - X.mean(axis=0)
    if kind is SparseEncoder:
        return seconds, float(np.square(X).sum() - estimator.loss_)
    return seconds, float(np.square(X @ np.linalg.qr(estimator.components_.T)[0]).sum())


def ratio(a: float, b: float) -> float:
    a, b = max(a, BRIEF), max(b, BRIEF)
    return max(a, b) / min(a, b)


def swept(ranges: Sequence[range], fit: Callable[..., Measured]) -> str:
    """The worst neighbours of all ranges, in time and in what is kept."""
    found = {size: fit(size) for sizes in ranges for size in sizes}
    pairs = [pair for sizes in ranges for pair in pairwise(sizes)]
    seconds, confirmed = {size: one[0] for size, one in found.items()}, set[int]()

    def jump(pair: tuple[int, int]) -> float:
        return ratio(*(seconds[size] for size in pair))

    while jump(worst := max(pairs, key=jump)) >= SUSPECT and not confirmed.issuperset(worst):
        for size in set(worst) - confirmed:
            seconds[size] = float(np.mean([seconds[size], *(fit(size, seed=seed)[0] for seed in range(1, SEEDS))]))
        confirmed.update(worst)
    s, t = (seconds[size] for size in worst)
    fall, (a, b) = max((1 - found[b][1] / found[a][1], (a, b)) for a, b in pairs)
    quality = f"{fall:>8.1e} {a:>4} -> {b:<4}" if fall > 1e-9 else "    none"
    return f"{jump(worst):>6.2f} {f'{worst[0]:>4} -> {worst[1]:<4} {1e3 * s:>5.0f} -> {1e3 * t:<5.0f}':<28} {quality}"


def main() -> None:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # fewer components than asked for
        SparsePCA(1, n_nonzero=2).fit(factors(20, 30))  # what is imported once belongs to no row
        tables = sets()
        print(f"n_nonzero=8, d over {', '.join(f'{each[0]}..{each[-1]}' for each in FEATURES)}, some of them")
        print(f"{'':<9}{'':<27} {'ratio':>6} {'neighbours, milliseconds':<28} {'fall':>8} neighbours")
        for name, X in tables.items():
            for said, model in BY_FEATURES.items():
                if name != "made 600" or said in TALL:
                    print(f"{name:<9}{said:<27} {swept(FEATURES, partial(at_features, model, X))}", flush=True)
        if "colon" not in tables:
            print("colon needs colon_alon.npz in SPARING_DATA")
            return
        print(f"\ncolon, d=2000, r over {', '.join(f'{each[0]}..{each[-1]}' for each in NONZEROS)}")
        for said, (model, ranges) in BY_NONZEROS.items():
            print(f"{'':<9}{said:<27} {swept(ranges, partial(fitted, model, tables['colon']))}", flush=True)


if __name__ == "__main__":
    main()
