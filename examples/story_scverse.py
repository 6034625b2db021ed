"""A panel of genes with scanpy, from counts to plots: the numbers and the picture of docs/scverse.md.

SPARING_DATA=... python examples/story_scverse.py [folder]    (needs pip install '.[scverse]' scanpy)
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import anndata
import matplotlib as mpl
import numpy as np
import pandas as pd
import scanpy as sc
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from story_data import IMAGES, save, shared

from sparing.scverse import select_genes

mpl.use("Agg")
MARKERS = ["CD3D", "CD79A", "NKG7", "CD14"]


def counts() -> anndata.AnnData:
    """Sorted blood cells: counts, and the kind of each cell (all T cells are one)."""
    file = shared("pbmc_facs.npz")
    stored = np.load(file)
    kinds = ["T cell" if kind.startswith(("CD4+", "CD8+")) else str(kind) for kind in stored["y"]]
    obs = pd.DataFrame({"cell_type": pd.Categorical(kinds)}, index=[f"cell {i}" for i in range(len(kinds))])
    var = pd.DataFrame(index=[str(name) for name in stored["feature_names"]])
    return anndata.AnnData(sparse.csr_matrix(sparse.load_npz(file), dtype=np.float32), obs=obs, var=var)


def recalls(table: np.ndarray, kinds: pd.Series) -> np.ndarray:
    """Share of the cells of each kind that are recognised, by logistic regression on other fifths of the cells."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    found = cross_val_predict(model, table, kinds, cv=5)
    return recall_score(kinds, found, labels=kinds.cat.categories, average=None)


def main(folder: Path) -> None:
    """From counts to a panel."""
    adata = counts()
    adata.var_names_make_unique()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    adata.var["unwanted"] = adata.var_names.str.match(r"^(MT-|RP[SL][0-9P]|MALAT1$)")
    unwanted = adata.var["unwanted"].sum()
    print(f"{adata.n_obs} cells, {adata.n_vars} genes, {unwanted} of them ribosomal or mitochondrial")

    model = select_genes(adata, 30, n_components=5, include=MARKERS, exclude="unwanted")
    print(model.certificate_)
    panel = list(adata.var_names[adata.var["sparing"]])
    print("\n" + ", ".join(panel))

    sc.pp.pca(adata, n_comps=5, random_state=0)
    kinds = adata.obs["cell_type"]
    few = np.asarray(adata[:, panel].X.todense())
    table = pd.DataFrame(
        {"cells": kinds.value_counts()[kinds.cat.categories], "PCA": recalls(adata.obsm["X_pca"], kinds)},
        index=kinds.cat.categories,
    )
    table["X_sparing"], table["30 genes"] = recalls(adata.obsm["X_sparing"], kinds), recalls(few, kinds)
    print("\nRecognised, of each kind:\n" + table.round(3).to_string())
    dots = sc.pl.dotplot(adata, panel, groupby="cell_type", show=False, return_fig=True)
    dots.make_figure()
    save(SimpleNamespace(figure_=dots.fig), folder / "scverse_panel.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
