"""Thirteen measurements of timber: the picture of the first page, docs/index.md, and what it prints.

python examples/story_timber.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from story_data import IMAGES, save

from sparing import SparseEncoder, sparsity_path
from sparing.datasets import load_pitprops
from sparing.plots import SparsityPathDisplay

mpl.use("Agg")


def main(folder: Path) -> None:
    """Fit, print, draw."""
    pitprops = load_pitprops()
    model = SparseEncoder(n_components=2, n_nonzero=5, precomputed=True).fit(pitprops.correlation)
    print(model.certificate_)
    print([pitprops.feature_names[j] for j in model.support_])
    path = sparsity_path(pitprops.correlation, 2, precomputed=True)
    print(path.smallest(min_variance=0.9), "features are the fewest found that keep 90% of PCA's variance")
    save(SparsityPathDisplay.from_path(path, min_variance=0.9), folder / "timber_path.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
