"""Twelve markers become a panel of 50 genes without ribosomal ones: the numbers and the picture of docs/panel.md.

SPARING_DATA=... python examples/story_panel.py [folder]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.decomposition import PCA
from story_data import IMAGES, save
from story_genes import read

from sparing import SparseEncoder, load_model, save_model

mpl.use("Agg")
from matplotlib import pyplot as plt

MARKERS = ["CD3D", "CD3E", "CD4", "CD8A", "CD8B", "CD19", "MS4A1", "CD79A", "NKG7", "GNLY", "CD14", "CD34"]


def explained(X: Any, rebuilt: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """What a prediction explains of each cell, as a sum of squares about the mean of the cells of the fit."""
    dense = X.toarray()
    return np.square(dense - mean).sum(axis=1) - np.square(dense - rebuilt).sum(axis=1)


def main(folder: Path) -> None:
    """Fit, print, draw."""
    X, kinds, genes = read()
    ribosomal = np.array([gene.startswith(("RPL", "RPS")) for gene in genes])
    order = np.random.default_rng(0).permutation(X.shape[0])
    seen, new = X[order[: len(order) // 2]], X[order[len(order) // 2 :]]

    markers = np.isin(genes, MARKERS)
    panel = SparseEncoder(5, n_nonzero=50, include=markers, exclude=ribosomal).fit(seen)
    print(panel.certificate_)
    added = [gene for gene in genes[panel.support_] if gene not in MARKERS]
    print(f"12 markers, and {', '.join(added)}")

    variances = seen.multiply(seen).mean(axis=0) - np.square(seen.mean(axis=0))
    order_of_variance = np.argsort(-np.where(ribosomal | markers, 0.0, variances))
    variable = np.union1d(np.flatnonzero(markers), order_of_variance[:38])
    models = {
        "12 markers": SparseEncoder(5, n_nonzero=12, include=markers, certify=False).fit(seen),
        "+ 38 most variable": SparseEncoder(5, n_nonzero=50, include=variable, certify=False).fit(seen),
        "+ 38 chosen": panel,
        "any 50": SparseEncoder(5, n_nonzero=50, certify=False).fit(seen),
    }
    pca = PCA(5, svd_solver="arpack", random_state=0).fit(seen)
    by_pca = explained(new, pca.inverse_transform(pca.transform(new)), pca.mean_)
    of = kinds[order[len(order) // 2 :]]
    kept = {}
    for name, model in models.items():
        found = explained(new, model.inverse_transform(model.transform(new)), model.mean_)
        kept[name] = [
            found.sum() / by_pca.sum(),
            *(found[of == kind].sum() / by_pca[of == kind].sum() for kind in np.unique(of)),
        ]
    rows = ["all new cells", *np.unique(of)]
    print(f"\nof PCA's variance {''.join(f'{name:>20}' for name in kept)}")
    for i, kind in enumerate(rows):
        print(f"{kind:17} {''.join(f'{shares[i]:20.1%}' for shares in kept.values())}")
    print(f"\nribosomal genes of any 50: {ribosomal[models['any 50'].support_].sum()}")

    with tempfile.TemporaryDirectory() as place:
        save_model(panel, Path(place) / "panel.model")
        alone = load_model(Path(place) / "panel.model").transform(new[:, panel.support_])
    print(f"scores from the 50 columns alone differ by {np.abs(alone - panel.transform(new)).max():.0e} at most")
    save(SimpleNamespace(figure_=dots(rows, kept)), folder / "panel.png")


def dots(rows: list[str], kept: dict[str, list[float]]) -> Any:
    """What each kind of cells keeps, by panel."""
    figure, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
    for mark, (name, shares) in zip("xs^o", kept.items(), strict=True):
        ax.plot(100 * np.array(shares), np.arange(len(rows)), mark, ms=8, label=name)
    ax.set(xlabel="% of PCA's variance kept, on new cells", xlim=(None, 100), axisbelow=True)
    ax.set_yticks(np.arange(len(rows)), rows)
    ax.invert_yaxis()
    ax.grid(axis="y", lw=0.5)
    ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.17), frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
