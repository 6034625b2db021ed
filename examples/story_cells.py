"""Breast cancer cells: the picture of the README, and what it shows in words.

python examples/story_cells.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_breast_cancer
from story_data import IMAGES, save

from sparing import sparsity_path
from sparing.plots import SparsityPathDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt


def main(folder: Path) -> None:
    """Compute the path, print, draw."""
    X = load_breast_cancer(as_frame=True).data
    path = sparsity_path(X, 3, max_features=15, scale=True, cv=5, effort="thorough")
    fewest = path.smallest(min_variance=0.95)
    print(f"{fewest} of {X.shape[1]} measurements keep 95% of the variance that PCA's 3 components keep")
    _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    save(SparsityPathDisplay.from_path(path, min_variance=0.95, ax=ax), folder / "readme.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
