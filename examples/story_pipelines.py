"""A classifier behind few features of 178 wines: the picture of docs/pipelines.md.

python examples/story_pipelines.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from story_data import IMAGES, save

from sparing import SparseEncoder

mpl.use("Agg")
from matplotlib import pyplot as plt


def main(folder: Path) -> None:
    """Cross-validate, print, draw."""
    X, y = load_wine(return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)

    def accuracy(step: object) -> float:
        return cross_val_score(make_pipeline(StandardScaler(), step, LogisticRegression()), X, y, cv=folds).mean()

    counts = np.arange(1, 11)
    few = [accuracy(SparseEncoder(min(3, r), n_nonzero=int(r), effort="quick", certify=False)) for r in counts]
    dense = accuracy(PCA(3))
    print(f"accuracy with 3 components of all 13 features: {dense:.3f}; of 4 features: {few[3]:.3f}")

    figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    ax.plot(counts, few, marker="o", color="#0072b2", label="SparseEncoder")
    ax.axhline(dense, color="0.4", linestyle="--", linewidth=1, label="PCA, all 13 features")
    ax.set(xlabel="number of features", ylabel="accuracy, cross-validated")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_locator(mpl.ticker.MultipleLocator(0.05))
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.legend(frameon=False, loc="lower right")
    save(SimpleNamespace(figure_=figure), folder / "pipelines.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
