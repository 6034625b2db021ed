"""spapros: genes by the sums of their loadings over PCA's components (`select_pca_genes`); it has no decoder."""

from __future__ import annotations

import warnings

import numpy as np
from entry import Array
from panel_method import Choice, Method, Rule


def largest_loadings(X: Array, k: int, r: int, rule: Rule) -> Choice:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from anndata import AnnData
        from spapros.selection import select_pca_genes

        found = select_pca_genes(AnnData(X.copy()), r, n_pcs=k, variance_scaled=False, inplace=False)
    return Choice(np.flatnonzero(found["selection"]))


PANELS = [Method("spapros", "PCA selection", largest_loadings)]
