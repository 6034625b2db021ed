"""Three leukemias told apart by fifty genes of 12,582: the pictures and numbers of docs/clustering.md.

SPARING_DATA=... python examples/leukemia_clusters.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from story_data import IMAGES, save, shared

from sparing import SparseHierarchicalClustering, SparseKMeans
from sparing.plots import DendrogramDisplay, FeatureWeightsDisplay

mpl.use("Agg")

NAMES = ("ALL", "MLL", "AML")


def main(folder: Path) -> None:
    """Fit, print, draw."""
    stored = np.load(shared("leukemia_armstrong.npz"))
    X, y = np.log2(np.clip(stored["X"].astype(float), 100, 16000)), stored["y"]
    genes = [f"probe {j}" for j in range(X.shape[1])]

    def show(what: str, labels: np.ndarray, used: int) -> None:
        print(f"{what:52s} {used:6d} genes   agreement {adjusted_rand_score(y, labels):.3f}")

    show("k-means", KMeans(3, n_init=20, random_state=0).fit(X).labels_, X.shape[1])
    groups = SparseKMeans(3, n_features=50, random_state=0).fit(X)
    show("SparseKMeans(3, n_features=50)", groups.labels_, len(groups.support_))
    for bound in ("auto", "fewest"):
        model = SparseKMeans(3, weight_bound=bound, random_state=0).fit(X)
        show(f"SparseKMeans(3, weight_bound={bound!r})", model.labels_, len(model.support_))
    show("Ward's tree", AgglomerativeClustering(3).fit(X).labels_, X.shape[1])
    tree = SparseHierarchicalClustering(3, n_features=500, linkage="ward").fit(X)
    show("SparseHierarchicalClustering(3, n_features=500, ward)", tree.labels_, len(tree.support_))

    save(FeatureWeightsDisplay.from_estimator(groups, feature_names=genes), folder / "leukemia_weights.png")
    drawn = DendrogramDisplay.from_estimator(tree, sample_names=[NAMES[kind] for kind in y], leaf_font_size=6)
    save(drawn, folder / "leukemia_tree.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
