"""The example encoders of [magdonismail2015, Sec. 3.3]: PitProps, two components, five features, five algorithms.

python benchmarks/papers/encoders_example.py
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from encoders_figure1 import OURS, PAPER, K
from summary import Compared, compared, keep, section, table

from sparing import information_loss
from sparing.datasets import load_pitprops

R = 5


def text() -> str:
    """The section; the data are part of the package."""
    pitprops = load_pitprops()
    C = pitprops.correlation
    least = np.square(np.linalg.eigvalsh(C)[:-K]).sum()
    encoders = {name: components(C, R) for name, components in (PAPER | OURS).items()}
    losses = {name: information_loss(H, C, center=False) / least for name, H in encoders.items()}
    supports = [{frozenset(np.flatnonzero(h)) for h in encoders[name]} for name in PAPER]
    pairs = list(combinations(supports, 2))
    rows = [
        (feature, *(", ".join(f"{h[j]:.2f}" if h[j] else "0" for h in H) for H in encoders.values()))
        for j, feature in enumerate(pitprops.feature_names)
    ]
    rows.append(("loss / PCA's", *(f"{loss:.4f}" for loss in losses.values())))
    return section(
        "Sparse linear auto-encoders, example encoders [magdonismail2015, Sec. 3.3]",
        f"The loadings h1 and h2 on the correlations of PitProps, {R} features each.",
        compared(
            [
                Compared(
                    "the loadings",
                    "ten columns",
                    "below",
                    "not compared: the numbers are missing in the available copy of the paper",
                ),
                Compared(
                    "methods find different encoders",
                    '"differ significantly"',
                    f"{sum(a != b for a, b in pairs)} of {len(pairs)} pairs of algorithms choose different features",
                ),
            ]
        ),
        table(("feature", *encoders), rows),
        "Our batch components span the same space as the paper's orthonormal H but have uncorrelated scores; support "
        "and loss are the same. Branch and bound proves that no five shared features lose less than those of "
        "`sparing batch`.",
    )


def main() -> None:
    keep("encoders_example", text())


if __name__ == "__main__":
    main()
