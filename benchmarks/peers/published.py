"""What packages outside Python published, beside ours: loadings and variances that are stored with the shared data.

The stored output of the MATLAB package of [yuan2013] has loadings of three methods for the pit props, and variances of
one component for every number of genes. The components of R's elasticnet come again from the penalties of [zou2006].
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sets import shared
from summary import table

from sparing import SparseEncoder, SparsePCA, explained_variance, information_loss
from sparing.datasets import load_pitprops

sys.path.append(str(Path(__file__).parents[1]))
from variances import published_loadings

GENES = (5, 10, 20, 50, 100)


def text() -> str:
    """The section of the page."""
    results = np.load(shared("ref_tpower_results.npz"))
    return "\n\n".join([LOADINGS, timber(results), CURVES, genes(results)])


def timber(results: np.lib.npyio.NpzFile) -> str:
    """Six components of the pit props, published and ours with the same counts."""
    C = load_pitprops().correlation
    theirs = {"SPCA, R's elasticnet [zou2006]": published_loadings()}
    theirs |= {
        f"{name}, MATLAB [{reference}]": results[f"{name}_pitprops_loadings"].T
        for name, reference in (("TPower", "yuan2013"), ("PathSPCA", "daspremont2008"), ("GPower", "journee2010"))
    }
    said = {"SPCA": 0.758} | {
        name: float(results[f"{name}_pitprops_{'adjusted_' * (name == 'TPower')}variance_rate"])
        for name in ("TPower", "PathSPCA", "GPower")
    }
    rows = []
    for name, H in theirs.items():
        counts = np.count_nonzero(H, axis=1).tolist()
        rows.append([name, listed(counts), f"{100 * said[name.split(',')[0]]:.1f}", *numbers(H, C)])
        for what, model in (
            ("SparsePCA", SparsePCA(6, n_nonzero=counts, precomputed=True, certify=False, random_state=0)),
            (
                "SparseEncoder, joint",
                SparseEncoder(6, n_nonzero=counts, strategy="joint", precomputed=True, certify=False, random_state=0),
            ),
        ):
            if [f"sparing {what}", listed(counts)] not in [row[:2] for row in rows]:
                rows.append([f"sparing {what}", listed(counts), "", *numbers(model.fit(C).components_, C)])
    return table(
        ("method", "features", "variance, as published", "loss ratio", "information", "symmetric", "adjusted"), rows
    )


def listed(counts: list[int]) -> str:
    return " ".join(map(str, sorted(counts, reverse=True)))


def numbers(H: np.ndarray, C: np.ndarray) -> list[str]:
    """Loss over PCA's, and percent of the variance by three definitions."""
    best = np.linalg.eigvalsh(C)[:-6].sum()
    shares = [
        100 * explained_variance(H, C, definition=name, precomputed=True)[-1]
        for name in ("information", "symmetric", "adjusted")
    ]
    return [f"{information_loss(H, C, precomputed=True) / best:.4f}", *(f"{share:.1f}" for share in shares)]


def genes(results: np.lib.npyio.NpzFile) -> str:
    """One component of 500 genes: percent of the variance by the number of genes."""
    rows = []
    for name, file in (("coloncancer", "colon_cov500"), ("lymphoma", "lymphoma_cov500")):
        C = np.load(shared(f"{file}.npz"))["C"]
        for method in ("TPower", "PathSPCA"):
            path = results[f"{method}_{name}_cardinality_path"].tolist()
            rates = results[f"{method}_{name}_variance_rate"]
            rows.append([name, method, *(f"{100 * rates[path.index(r)]:.3f}" for r in GENES)])
        best = [
            SparsePCA(1, n_nonzero=r, precomputed=True, certify=False, random_state=0).fit(C).variance_[0] / np.trace(C)
            for r in GENES
        ]
        rows.append([name, "sparing", *(f"{100 * share:.3f}" for share in best)])
    return table(("genes", "method", *map(str, GENES)), rows)


LOADINGS = """## Published results of packages outside Python

Six components of the pit props, with the published numbers of features of each method. The last four columns are
computed here from the loadings. Those of elasticnet are computed again from the published penalties; the others are
stored output of the MATLAB package of [yuan2013]. What that package calls adjusted variance is the symmetric variance
of these columns."""

CURVES = """
Percent of the variance of one component with 5 to 100 of 500 genes, on two matrices of the same package:
""".strip()
