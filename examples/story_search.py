"""What more effort finds and proves on 1,797 digits: the picture of docs/search.md.

python examples/story_search.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from story_data import IMAGES, save

from sparing import SparseEncoder

mpl.use("Agg")
from matplotlib import pyplot as plt

EFFORTS = {"quick": "#e69f00", "default": "#0072b2", "thorough": "#009e73"}
COUNTS = np.arange(8, 37, 4)


def main(folder: Path) -> None:
    """Fit with every effort, print, draw."""
    X = load_digits().data
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3), layout="constrained")
    kept, most = {}, {}
    for effort in EFFORTS:
        models = [SparseEncoder(6, n_nonzero=int(r), effort=effort).fit(X) for r in COUNTS]
        kept[effort] = 100 * np.array([model.variance_kept_ for model in models])
        most[effort] = 100 * np.array([model.certificate_.variance_kept_bound for model in models])
    for effort, colour in EFFORTS.items():
        settings = {"color": colour, "marker": "o", "markersize": 3.5, "label": effort}
        axes[0].plot(COUNTS, kept["thorough"] - kept[effort], **settings)
        axes[1].plot(COUNTS, most[effort] - kept[effort], **settings)
        below, gap = (kept["thorough"] - kept[effort]).max(), (most[effort] - kept[effort]).mean()
        print(f"{effort}: at most {below:.2f} points below thorough, gap {gap:.2f}")
    for ax, title in zip(axes, ("found: points below thorough", "proved: gap to the upper bound"), strict=True):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.3)
        ax.set(title=title, xlabel="number of pixels", ylabel="points of PCA's variance")
    axes[0].legend(frameon=False, title="effort")
    save(SimpleNamespace(figure_=figure), folder / "search.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
