"""Whole SparsePCA fit against scikit-learn's PCA, taking turns: seconds of the processor on one BLAS thread."""

from __future__ import annotations

import warnings

import numpy as np
from shapes import shapes
from speed import pca_of, side_by_side
from threadpoolctl import threadpool_limits

from sparing import SparsePCA

CASES = ((1, 15), (2, 10), (5, 15), (10, 15))
"""Components, and features of each."""


def main() -> None:
    print("SparsePCA speed: whole fit (certificate off) / scikit-learn's randomized PCA (TruncatedSVD on sparse data)")
    ratios: dict[int, list[float]] = {k: [] for k, _ in CASES}
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X in shapes():
            said = []
            for k, r in CASES:
                rival = pca_of(X, k)
                ours = SparsePCA(k, n_nonzero=r, certify=False, random_state=0)
                mine, theirs = side_by_side(lambda o=ours, X=X: o.fit(X), lambda p=rival, X=X: p.fit(X))
                ratios[k].append(mine / theirs)
                said.append(f"k={k} {1e3 * mine:5.0f} / {1e3 * theirs:4.0f} = {mine / theirs:5.2f} ({ours.n_passes_})")
            print(f"  {name:22s} {'   '.join(said)}", flush=True)
    for k, r in CASES:
        mean = np.exp(np.mean(np.log(ratios[k])))
        print(f"  k={k:2d}, {r} features each: geometric mean {mean:.2f}, worst {max(ratios[k]):.2f}")
    everything = np.concatenate(list(ratios.values()))
    mean = np.exp(np.mean(np.log(everything)))
    print(f"  all {len(everything)} fits: geometric mean {mean:.2f} (above: milliseconds, and passes over X)\n")


if __name__ == "__main__":
    main()
