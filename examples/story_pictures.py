"""Every kind of picture, of 178 wines: docs/pictures.md.

python examples/story_pictures.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from story_data import IMAGES, save

from sparing import SparseEncoder, SparseHierarchicalClustering, SparsePCA
from sparing.plots import BiplotDisplay, LoadingsDisplay, SpannogramDisplay, WeightedDendrogramDisplay

mpl.use("Agg")


def main(folder: Path) -> None:
    """Fit, print, draw."""
    wine = load_wine(as_frame=True)
    X, kinds = wine.data, [f"cultivar {kind + 1}" for kind in wine.target]
    encoder = SparseEncoder(2, n_nonzero=6, scale=True, random_state=0).fit(X)
    save(LoadingsDisplay.from_estimator(encoder), folder / "wine_loadings.png")
    save(BiplotDisplay.from_estimator(encoder, X, labels=kinds), folder / "wine_biplot.png")

    component = SparsePCA(1, n_nonzero=5, scale=True, random_state=0).fit(X)
    drawn = SpannogramDisplay.from_estimator(component, X)
    best, reached = drawn.optimum_.value, component.variance_[0]
    print(f"The best of two directions alone has variance {best:.3f}; with all directions {reached:.3f} is reached")
    save(drawn, folder / "wine_spannogram.png")

    tree = SparseHierarchicalClustering(3, n_features=5, linkage="ward").fit(scale(X))
    save(WeightedDendrogramDisplay.from_estimator(tree, feature_names=X.columns), folder / "wine_tree.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
