"""What 2,858 abstracts are about, in a few of 12,525 words: the numbers and pictures of docs/text.md.

SPARING_DATA=... python examples/story_text.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from story_data import IMAGES, save, shared

from sparing import SparseEncoder, SparsePCA
from sparing.plots import BiplotDisplay, LoadingsDisplay

mpl.use("Agg")

COLLECTIONS = np.array(["library science", "aerodynamics"])


def read() -> tuple[sparse.csc_array, np.ndarray, np.ndarray]:
    """Weighted counts of words (tf-idf, unit rows) without stop words, the collection of each abstract, the words."""
    file = shared("classic2_counts.npz")
    stored, counts = np.load(file), sparse.load_npz(file).astype(float)
    words = stored["feature_names"]
    kept = ~np.isin(words, list(ENGLISH_STOP_WORDS))
    return TfidfTransformer().fit_transform(counts[:, kept]).tocsc(), COLLECTIONS[stored["y"]], words[kept]


def agreement(scores: np.ndarray, collections: np.ndarray) -> float:
    """Of two clusters with the two collections: 1 is the same, 0 what chance gives."""
    return float(adjusted_rand_score(collections, KMeans(2, n_init=10, random_state=0).fit(scores).labels_))


def row(n_words: int, kept: float, silent: float, agrees: float) -> str:
    """A line of the table."""
    return f"{n_words:7d}  {kept:17.1%}  {silent:19.1%}  {agrees:18.2f}"


def main(folder: Path) -> None:
    """Fit, print, draw."""
    X, collections, words = read()
    topics = SparsePCA(4, n_nonzero=6, random_state=0).fit(X)
    print(topics.certificate_)
    scores = topics.transform(X)
    for i, component in enumerate(topics.components_):
        used = np.argsort(-np.abs(component))[: np.count_nonzero(component)]
        means = {name: scores[collections == name, i].mean() for name in COLLECTIONS}
        print(f"{max(means, key=means.get):>15}: " + ", ".join(f"{words[j]} {component[j]:.2f}" for j in used))

    best = SparsePCA(1, n_nonzero=8, solver="exact", random_state=0).fit(X)
    print(f"\n{best.certificate_}")
    print(", ".join(words[best.support_]))

    pca = PCA(2, svd_solver="arpack", random_state=0).fit(X)
    most = pca.explained_variance_ratio_.sum()
    print(f"\nTwo principal components have {most:.1%} of the variance")
    print("  words  of PCA's variance  abstracts with none  two clusters agree")
    print(row(X.shape[1], 1.0, 0.0, agreement(pca.transform(X), collections)))
    panels = {r: SparseEncoder(2, n_nonzero=r, certify=False, random_state=0).fit(X) for r in (10, 40, 160)}
    for r, panel in panels.items():
        silent = float((X[:, panel.support_].sum(axis=1) == 0).mean())
        print(row(r, panel.variance_kept_, silent, agreement(panel.transform(X), collections)))

    save(LoadingsDisplay.from_estimator(topics, feature_names=words), folder / "text_topics.png")
    plane = BiplotDisplay.from_estimator(panels[10], X, labels=collections, feature_names=words, s=6)
    save(plane, folder / "text_biplot.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
