"""scikit-learn's SparsePCA and ours on the same data: the numbers and the picture of docs/migrate.md.

python examples/beside_scikit_learn.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import SparsePCA as PenalisedPCA
from sklearn.preprocessing import scale
from story_data import IMAGES, save

from sparing import SparsePCA, certify, polish

mpl.use("Agg")
from matplotlib import pyplot as plt


def counts(components: np.ndarray) -> str:
    """Features of each component."""
    return " ".join(str(count) for count in np.count_nonzero(components, axis=1))


def read_by_first_score(model: object, X: np.ndarray) -> int:
    """Features that change the first score when they change."""
    before = model.transform(X)[:, 0]
    after = [model.transform(X + 1e-3 * step)[:, 0] for step in np.eye(X.shape[1])]
    return sum(bool((np.abs(changed - before) > 1e-9).any()) for changed in after)


def draw(loadings: dict[str, np.ndarray], names: list[str], place: Path) -> None:
    """Loadings of several models as one map each: white is zero."""
    figure, axes = plt.subplots(1, len(loadings), figsize=(7.2, 3.4), sharey=True, layout="constrained")
    for ax, (title, components) in zip(axes, loadings.items(), strict=True):
        image = ax.imshow(components.T, cmap=plt.get_cmap("RdBu_r", 15), vmin=-0.75, vmax=0.75, aspect="auto")
        ax.set_title(f"{title}\n{counts(components)} features", fontsize=9)
        ax.set_xticks(range(len(components)), [f"{i + 1}" for i in range(len(components))])
        ax.set_xlabel("component")
    axes[0].set_yticks(range(len(names)), names, fontsize=8)
    figure.colorbar(image, ax=axes, label="loading", shrink=0.8)
    save(SimpleNamespace(figure_=figure), place)


def main(folder: Path) -> None:
    """Fit, print, draw."""
    X = scale(load_wine().data)
    print(f"{'features of each of three components':38} {'scikit-learn, alpha=2':24} sparing, n_nonzero=5")
    fitted = []
    for what, data in (("wine, standardised", X), ("the same, times 10", 10 * X), ("every tenth wine", X[::10])):
        theirs = PenalisedPCA(3, alpha=2, random_state=0).fit(data)
        ours = SparsePCA(3, n_nonzero=5, certify=False, random_state=0).fit(data)
        fitted.append((theirs, ours))
        print(f"{what:38} {counts(theirs.components_):24} {counts(ours.components_)}")
    reads = [read_by_first_score(model, X) for model in fitted[0]]
    print(f"{'features that the first score reads':38} {reads[0]:<24} {reads[1]}")
    nothing = PenalisedPCA(3, alpha=100, random_state=0).fit(X)
    print(f"{'wine, standardised, alpha=100':38} {counts(nothing.components_)}")
    print()
    theirs = fitted[0][0]
    same_counts = np.count_nonzero(theirs.components_, axis=1).tolist()
    same = SparsePCA(3, n_nonzero=same_counts, certify=False, random_state=0).fit(X)
    for components in (theirs.components_, polish(theirs.components_, X), same.components_):
        print(str(certify(components, X, objective="variance", effort="quick", random_state=0)).splitlines()[0])
    drawn = {
        "scikit-learn, alpha=2": theirs.components_,
        "the same, X times 10": fitted[1][0].components_,
        "sparing, n_nonzero=5": fitted[0][1].components_,
    }
    draw(drawn, load_wine().feature_names, folder / "migrate.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
