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
    model = SparseEncoder(n_components=2, n_nonzero=5, precomputed=True, random_state=0).fit(pitprops.correlation)
    print(model.certificate_)
    print([pitprops.feature_names[j] for j in model.support_])
    path = sparsity_path(pitprops.correlation, 2, precomputed=True, random_state=0)
    print(path.smallest(1.1), "features are the fewest found within 10% of PCA's loss")
    save(SparsityPathDisplay.from_path(path, max_loss=1.1), folder / "timber_path.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
