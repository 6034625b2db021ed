"""The data sets, from the smallest: real ones, each with a number of components and of features per component."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from sparing.datasets import load_pitprops

sys.path.append(str(Path(__file__).parents[1] / "papers"))
from summary import shared


class Data(NamedTuple):
    """What everybody is given: ``load()`` returns samples in rows, scaled where units differ."""

    name: str
    what: str
    n_components: int
    n_nonzero: int
    load: Callable[[], Any]


def standardised(X: np.ndarray) -> np.ndarray:
    """Units of standard deviations, without features that do not vary."""
    X = np.asarray(X, dtype=np.float64)
    X = X[:, np.ptp(X, axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def pitprops() -> np.ndarray:
    """180 rows that have exactly the published correlations: some packages read rows alone."""
    values, vectors = np.linalg.eigh(load_pitprops().correlation)
    rows = np.random.default_rng(0).standard_normal((180, len(values)))
    rows = np.linalg.qr(rows - rows.mean(axis=0))[0]
    return rows * np.sqrt(179 * values) @ vectors.T


def stored(name: str) -> np.ndarray:
    return np.load(shared(f"{name}.npz"))["X"].astype(np.float64)


def colon500() -> np.ndarray:
    """Logarithms, each sample standardised, the 500 genes of largest variance: rows of the matrix of [yuan2013]."""
    X = np.log(stored("colon_alon"))
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)
    return X[:, np.sort(np.argsort(-X.var(axis=0))[:500])]


def counts() -> sparse.csr_array:
    return sparse.csr_array(sparse.load_npz(shared("ng20_basehock.npz"))).astype(np.float64)


SETS = (
    Data("PitProps", "timber", 3, 5, pitprops),
    Data("wine", "standardised", 3, 5, lambda: standardised(load_wine().data)),
    Data("breast cancer", "standardised", 3, 10, lambda: standardised(load_breast_cancer().data)),
    Data("digits", "pixels", 5, 16, lambda: load_digits().data),
    Data("CBCL faces", "pixels", 6, 40, lambda: stored("cbcl_faces")),
    Data("colon 500", "genes", 3, 10, colon500),
    Data("colon", "genes, standardised", 5, 20, lambda: standardised(stored("colon_alon"))),
    Data("lymphoma", "genes", 5, 20, lambda: stored("lymphoma_alizadeh62")),
    Data("NCI60", "genes", 5, 20, lambda: stored("nci60")),
    Data("leukemia", "genes, standardised", 5, 20, lambda: standardised(stored("leukemia_armstrong"))),
    Data("newsgroups", "word counts, sparse", 5, 20, counts),
)
