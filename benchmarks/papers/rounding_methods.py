"""Data and methods that the figures and tables of [fountoulakis2016] share."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.impute import SimpleImputer
from summary import shared

from sparing.data import Preprocessing, as_view
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders import ElasticNet
from sparing.methods.solvers import Auto, MaxComponent, Rounding
from sparing.results import Spectrum
from sparing.run import Run
from sparing.task import Task


class Problem(NamedTuple):
    """Data, and their leading principal components."""

    view: DataMatrix
    spectrum: Spectrum


def problem(X: Any, *, center: bool = True, n_components: int = 1) -> Problem:
    view = as_view(X, Preprocessing(center=center))
    return Problem(view, top_spectrum(view, n_components, np.random.default_rng(0), tolerance=1e-9))


def chromosome(number: int) -> Problem:
    """Genotypes of one chromosome of the joint panel, missing ones at the mean of their SNP."""
    stored = np.load(shared("genotypes/joint_hm3_1kg.npz"))
    X = stored["X"][:, stored["chromosome"] == number].astype(float)
    return problem(SimpleImputer(missing_values=-1).fit_transform(X))


def classic2(*, center: bool = False, n_components: int = 2) -> tuple[Problem, np.ndarray]:
    """Classic-2 and its words: scikit-learn's English stop words out, its tf-idf, documents of unit length."""
    file = shared("classic2_counts.npz")
    counts, words = sparse.load_npz(file).astype(float), np.load(file)["feature_names"]
    kept = ~np.isin(words, list(ENGLISH_STOP_WORDS))
    X = TfidfTransformer().fit_transform(counts[:, kept]).tocsc()
    return problem(X, center=center, n_components=n_components), words[kept]


def share(given: Problem, x: np.ndarray) -> float:
    """f(x) of eq. (15), with the norm of A in place of its square: x'Ax over the largest eigenvalue."""
    return float(x @ given.view.gram_matmat(x[:, None])[:, 0] / given.spectrum.values[0])


def solved(solver: Any, given: Problem, r: int) -> np.ndarray:
    """One component by a solver."""
    return solver.solve(Task.of_component(given.view, r), Run(np.random.default_rng(0))).vector(given.view.n_features)


def regressed(net: ElasticNet, given: Problem, r: int | list[int]) -> np.ndarray:
    """One component (an array of numbers) or several (rows) by SPCA."""
    k = 1 if isinstance(r, int) else len(r)
    spectrum = top_spectrum(given.view, k, np.random.default_rng(0), tolerance=1e-9)
    found = net.encode(Task.of_components(given.view, spectrum, r), Run(np.random.default_rng(0))).components
    return found[0] if k == 1 else found


SOLVERS = {
    "rspca": partial(solved, Rounding(refit=False)),
    "Spasm": partial(regressed, ElasticNet(ridge=np.inf, refit=False)),
    "MaxComp": partial(solved, MaxComponent(refit=False)),
}
"""The three of the figures. Spasm is SPCA with soft thresholding, as the paper has it (delta infinite)."""

OURS = partial(solved, Auto())


def refitted(given: Problem, x: np.ndarray) -> np.ndarray:
    """The best loadings on the features of x, the paper's "SVD-based" normalisation."""
    support, best = np.flatnonzero(x), np.zeros_like(x)
    best[support] = top_spectrum(given.view.restricted(support), 1, np.random.default_rng(0), tolerance=1e-9).basis[
        :, 0
    ]
    return best
