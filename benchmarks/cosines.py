"""What a limit on the cosines of components costs and buys: variance, gap of the certificate, and new samples.

Each row is one `SparsePCA(max_cosine=...)`: the share of PCA's variance that it keeps, the most that any components
within the limit can keep, the gap between both, the largest cosine and the largest correlation of scores that it has,
the share kept of new samples (five folds, all features), and CPU seconds.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from efforts import DATA, SETS

from sparing import SparsePCA, cross_validated
from sparing.errors import SparingWarning

LIMITS = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)
PROBLEMS = (("PitProps", 5), ("wine", 5), ("breast_cancer", 10), ("ionosphere", 5), ("digits", 10))
SCALED = ("wine", "breast_cancer")


def largest(products: np.ndarray) -> float:
    """The largest |cosine| of two directions, from all inner products."""
    lengths = np.sqrt(np.diagonal(products))
    return float(np.abs(np.triu(products / np.outer(lengths, lengths), 1)).max())


def main() -> None:
    print("data            d  k   r  max_cosine    kept   bound      gap  cosine  correlation  new samples   all, s")
    below, free = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparingWarning)
        for data, r in PROBLEMS:
            if not DATA.exists() and data == "ionosphere":
                print(f"{data:<14} needs SPARING_DATA")
                continue
            X = SETS[data]()
            square = data == "PitProps"
            config = {"precomputed": True} if square else {"scale": data in SCALED}
            for k in (2, 3):
                shares = []
                for limit in LIMITS:
                    model = SparsePCA(k, n_nonzero=r, max_cosine=limit, **config)
                    start = time.process_time()
                    c = model.fit(X).certificate_
                    seconds = time.process_time() - start
                    A, H = X if square else np.cov(model.transform(X), rowvar=False), model.components_
                    correlation = largest(H @ A @ H.T if square else A)
                    new = None if square else cross_validated(model, X).everything.mean()
                    gap = "proved" if c.gap < 1e-6 else f"{c.gap:.2%}"
                    print(
                        f"{data:<14}{X.shape[1]:>3}{k:>3}{r:>4}{limit:>12.1f}{c.variance_kept:>8.1%}"
                        f"{c.variance_kept_bound:>8.1%}{gap:>9}{largest(H @ H.T):>8.3f}{correlation:>13.3f}"
                        f"{'' if new is None else f'{new:.1%}':>13}{seconds:>9.2f}",
                        flush=True,
                    )
                    shares.append((c.variance_kept, new))
                free += 1
                (kept, new), (kept_free, new_free) = shares[LIMITS.index(0.3)], shares[-1]
                below += kept < kept_free - 5e-4 or (new is not None and new < new_free - 5e-4)
    print(f"cosines up to 0.3 keep less than free components, of these or of new samples: {below} of {free} problems")


if __name__ == "__main__":
    main()
