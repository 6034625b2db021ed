"""Four definitions of explained variance on one set of loadings: the table of docs/choose.md."""

from __future__ import annotations

import numpy as np

from sparing import explained_variance
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.linalg import top_spectrum
from sparing.linalg.variance import DEFINITIONS
from sparing.methods.encoders import ElasticNet
from sparing.run import Run
from sparing.task import Task

PENALTIES = (0.06, 0.16, 0.1, 0.5, 0.5, 0.5)
"""Those of Zou, Hastie and Tibshirani (2006) for the pit props."""


def published_loadings() -> np.ndarray:
    """Their six components: 7, 4, 4, 1, 1 and 1 features."""
    view, rng = as_view(load_pitprops().correlation, Preprocessing(precomputed=True)), np.random.default_rng(0)
    encoder = ElasticNet(l1=PENALTIES, refit=False, tolerance=1e-9, max_iter=1000)
    return encoder.encode(Task.of_components(view, top_spectrum(view, 6, rng), 13), Run(rng)).components


def table() -> str:
    """Percent of the total variance, one row per definition."""
    C, H = load_pitprops().correlation, published_loadings()
    rows = [f"| `definition=` | {' | '.join(map(str, range(1, 7)))} | all |", f"|---|{'---|' * 7}"]
    for name in DEFINITIONS:
        shares = 100 * explained_variance(H, C, definition=name, cumulative=False, precomputed=True)
        rows.append(f'| `"{name}"` | ' + " | ".join(f"{share:.1f}" for share in [*shares, shares.sum()]) + " |")
    values = 100 * np.linalg.eigvalsh(C)[::-1][:6] / 13
    rows.append("| PCA, by all four | " + " | ".join(f"{value:.1f}" for value in [*values, values.sum()]) + " |")
    return "\n".join(rows)


def main() -> None:
    print(table() + "\n")


if __name__ == "__main__":
    main()
