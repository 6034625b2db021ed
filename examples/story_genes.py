"""Kinds of blood cells by a few of 16,791 genes: the numbers and pictures of docs/genes.md.

SPARING_DATA=... python examples/story_genes.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from story_data import IMAGES, save, shared

from sparing import SparseEncoder, SparsePCA
from sparing.plots import LoadingsDisplay, ScoresDisplay

mpl.use("Agg")


def read() -> tuple[sparse.csc_array, np.ndarray, np.ndarray]:
    """Log counts per cell of median depth, five kinds of cells (all T cells are one), names of genes."""
    file = shared("pbmc_facs.npz")
    stored, counts = np.load(file), sparse.load_npz(file).astype(float)
    depth = np.asarray(counts.sum(axis=1)).ravel()
    X = sparse.csc_array(sparse.diags(np.median(depth) / depth) @ counts)
    X.data = np.log1p(X.data)
    kinds = np.array(["T cell" if kind.startswith(("CD4+", "CD8+")) else kind for kind in stored["y"]])
    return X, kinds, stored["feature_names"]


def told_apart(scores: np.ndarray, kinds: np.ndarray) -> float:
    """Share of cells whose 15 nearest neighbours, of other fifths of the data, are mostly of their kind."""
    return float(cross_val_score(KNeighborsClassifier(15), scores, kinds, cv=5).mean())


def row(n_genes: int, kept: float, known: float) -> str:
    """A line of the table."""
    return f"{n_genes:7d}  {kept:17.1%}  {known:16.1%}"


def main(folder: Path) -> None:
    """Fit, print, draw."""
    X, kinds, genes = read()
    pca = PCA(3, svd_solver="arpack", random_state=0).fit(X)
    most = pca.explained_variance_ratio_.sum()
    print(f"{X.shape[0]} cells, {X.shape[1]} genes; three principal components have {most:.1%} of the variance")
    print("  genes  of PCA's variance  cells told apart")
    print(row(X.shape[1], 1.0, told_apart(pca.transform(X), kinds)))
    for r in (5, 10, 20, 40):
        panel = SparseEncoder(3, n_nonzero=r, certify=False, random_state=0).fit(X)
        print(row(r, panel.variance_kept_, told_apart(panel.transform(X), kinds)))
        if r == 10:
            ten = panel
    print("\nThe ten: " + ", ".join(genes[ten.support_]))

    named = SparsePCA(3, n_nonzero=6, random_state=0).fit(X)
    print(f"\n{named.certificate_}")
    scores = named.transform(X)
    for i, component in enumerate(named.components_):
        used = np.argsort(-np.abs(component))[: np.count_nonzero(component)]
        means = {kind: scores[kinds == kind, i].mean() for kind in np.unique(kinds)}
        print(f"highest in {max(means, key=means.get)}: " + ", ".join(f"{genes[j]} {component[j]:.2f}" for j in used))

    best = SparsePCA(1, n_nonzero=10, solver="exact", random_state=0).fit(X)
    print(f"\n{best.certificate_}")
    print(best.certificate_.recheck(X))

    save(LoadingsDisplay.from_estimator(named, feature_names=genes), folder / "genes_loadings.png")
    save(ScoresDisplay.from_estimator(ten, X, labels=kinds, s=6), folder / "genes_scores.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
