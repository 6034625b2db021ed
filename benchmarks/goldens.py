"""Answers of many small fits through the public door, as stored: what no change of the internals may move.

python benchmarks/goldens.py                  # fit again and compare with benchmarks/results/goldens.json
python benchmarks/goldens.py encoder exact    # only fits whose name contains one of these words
python benchmarks/goldens.py --store [word]   # store what is found, and print the seconds of each

Numbers are those of one BLAS thread. Fits of real data need SPARING_DATA and are not compared without it.
"""

from __future__ import annotations

import os

# before NumPy is imported: sums of several threads differ in their last digits
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import math
import sys
import tempfile
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import dask.array as da
import h5py
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_linnerud, load_wine
from stored import RESULTS

from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    certify,
    explained_variance,
    information_loss,
    load_model,
    open_data,
    polish,
    save_model,
    sparsity_path,
)
from sparing.datasets import load_pitprops, make_hard_columns, make_hidden_direction, make_rotated_hadamard, make_spiked
from sparing.methods.encoders import Batch

STORED = RESULTS / "goldens.json"
REAL = os.environ.get("SPARING_DATA")
DIGITS = 12
RTOL, ATOL, LOADINGS = 1e-7, 1e-9, 1e-6

ROUGH = {"proof sharper dual": 1e-3}
"""Fits whose bound comes from an iteration that turns other last digits into this much."""

Record = dict[str, Any]
Fits = Iterator[tuple[str, Callable[[], Record]]]

SELECTORS = ("auto", "greedy", "exact", "dual_set", "adaptive", "leverage", "pivoted_qr", "uniform")
SOLVERS = (
    "auto",
    "exact",
    "truncated_power",
    "generalized_power_l0",
    "generalized_power_l1",
    "greedy",
    "rounding",
    "max_component",
    "semidefinite",
    "elastic_net",
    "varimax",
)
NONNEGATIVE_SOLVERS = ("auto", "exact", "spannogram", "spannogram_net", "em", "nspca")
DEFLATIONS = ("projection", "hotelling", "schur", "orthogonalized", "generalized", "disjoint")
DEFINITIONS = ("information", "symmetric", "basis", "adjusted")


# Data


@cache
def pitprops() -> np.ndarray:
    return np.asarray(load_pitprops().correlation)


@cache
def wine() -> np.ndarray:
    return load_wine().data


@cache
def cancer() -> np.ndarray:
    return load_breast_cancer().data


@cache
def digits() -> np.ndarray:
    return load_digits().data[:300]


@cache
def spiked() -> np.ndarray:
    return make_spiked(80, 60, random_state=0).X


@cache
def counts() -> np.ndarray:
    """A table with many zeros."""
    rng = np.random.default_rng(0)
    return rng.poisson(0.4 * rng.gamma(1.0, size=(150, 3)) @ rng.gamma(0.5, size=(3, 36))).astype(float)


@cache
def gappy() -> np.ndarray:
    """The same, with a value in twenty missing."""
    return np.where(np.random.default_rng(1).random(counts().shape) < 0.05, np.nan, counts())


@cache
def weights() -> np.ndarray:
    return np.random.default_rng(2).integers(0, 4, size=len(counts())).astype(float)


@cache
def wide(n: int = 320) -> np.ndarray:
    """More features than a Gram matrix is computed for where few passes are asked for."""
    rng = np.random.default_rng(3)
    return (rng.standard_normal((n, 6)) * np.arange(6, 0, -1)) @ rng.laplace(size=(6, 1100)) + rng.normal(
        size=(n, 1100)
    )


@cache
def wide_sparse() -> sparse.csr_array:
    rng = np.random.default_rng(4)
    dense = rng.poisson(0.02 * rng.gamma(0.5, size=(1030, 4)) @ rng.gamma(0.3, size=(4, 1100)))
    return sparse.csr_array(dense.astype(float))


@cache
def noise(n: int, d: int) -> np.ndarray:
    """Nothing stands out, so that proofs do not end at once."""
    return np.random.default_rng(6).standard_normal((n, d))


@cache
def groups() -> np.ndarray:
    """Three groups of samples, apart in six of forty features."""
    X = np.random.default_rng(5).standard_normal((45, 40))
    X[:15, :3] += 3
    X[15:30, 3:6] += 3
    return X


@cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def folder() -> Path:
    """Where files live until the command ends."""
    return Path(scratch().name)


@cache
def real(name: str) -> np.ndarray:
    return np.load(Path(str(REAL)) / name)["X"].astype(float)


# What is recorded


def plain(value: Any) -> Any:
    """As JSON has it, with as many digits as are compared, and more."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, bool | np.bool):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") + 0.0 if math.isfinite(value) else str(float(value))
    return value if value is None else str(value)


def of_certificate(certificate: Any) -> Record:
    """Value and bound, and how they were proved."""
    found = {
        "value": certificate.value,
        "bound": certificate.bound,
        "gap": certificate.gap,
        "pca_value": certificate.pca_value,
        "guarantees": [
            {"claim": g.claim, "limit": g.limit, "measured": g.measured, "strength": g.strength, "of": str(g.reference)}
            for g in certificate.guarantees
        ],
    }
    if hasattr(certificate, "witness"):
        found |= {
            "method": certificate.witness.method,
            "strength": certificate.strength,
            "ratio": certificate.ratio,
            "bound_ratio": certificate.bound_ratio,
            "estimate": getattr(certificate, "estimate", None),
            "notes": list(certificate.notes),
            "parts": [of_certificate(part) for part in certificate.parts],
        }
    return found


FITTED = (
    "n_passes_",
    "n_samples_seen_",
    "loss_",
    "loss_ratio_",
    "variance_",
    "explained_variance_ratio_",
    "rows_",
    "row_weights_",
    "intercept_",
    "ranking_",
    "labels_",
    "weight_bound_",
    "criterion_",
    "inertia_",
    "n_iter_",
    "converged_",
    "distances_",
)
"""Attributes that are recorded as they are, where a model has them."""

WIDE = {
    "components_": "loadings",
    "coef_": "coefficients",
    "feature_weights_": "weights",
    "cluster_centers_": "centers",
}
"""Attributes with a number for each feature, of which those on the support are recorded."""


def of_model(model: Any) -> Record:
    """All that a fit has to say."""
    support = model.support_
    found = {"support": support}
    for attribute, name in WIDE.items():
        if hasattr(model, attribute):
            found[name] = getattr(model, attribute)[..., support]
    if hasattr(model, "components_"):
        found["counts"] = np.count_nonzero(model.components_, axis=1)
    if hasattr(model, "decoder_"):
        found["decoder_squares"] = (model.decoder_**2).sum(axis=1)
    if hasattr(model, "row_components_"):
        found["row_support"] = [np.flatnonzero(row) for row in model.row_components_]
        found["row_loadings"] = [row[row != 0] for row in model.row_components_]
    if hasattr(model, "feature_names_in_"):
        found["names"] = list(model.feature_names_in_[support])
    found |= {name.rstrip("_"): getattr(model, name) for name in FITTED if hasattr(model, name)}
    if hasattr(model, "certificate_"):
        found["certificate"] = of_certificate(model.certificate_)
    if hasattr(model, "complementary_"):
        found["complementary"] = of_model(model.complementary_)
    if hasattr(model, "bound_search_"):
        found["bounds_tried"] = model.bound_search_.bounds
        found["gaps"] = model.bound_search_.gaps
    return found


def checked(model: Any, *data: Any, **weights: Any) -> Record:
    """What the certificate of a model, where it has one, says of these data when it is checked again."""
    if not hasattr(model, "certificate_"):
        return {}
    again = model.certificate_.recheck(*data, **weights)
    return {"again": {"holds": again.holds, "value": again.value, "bound": again.bound}}


def fitted(kind: Callable[..., Any], X: Callable[[], Any], *args: Any, y: Any = None, **settings: Any) -> Record:
    """The record of an estimator of this kind; weights of samples are for ``fit``, all other settings for the kind."""
    weights = {"sample_weight": settings.pop("sample_weight")} if "sample_weight" in settings else {}
    data = X()
    model = kind(*args, random_state=0, **settings).fit(data, y, **weights)
    return of_model(model) | checked(model, *((data,) if y is None else (data, y)), **weights)


# Fits


def encoders() -> Fits:
    work = partial(partial, fitted, SparseEncoder)
    for selector in SELECTORS:
        yield f"encoder batch {selector}", work(wine, 3, n_nonzero=5, selector=selector, scale=True)
    yield "encoder batch cancer", work(cancer, 3, n_nonzero=6, scale=True)
    for strategy in ("iterative", "joint"):
        yield f"encoder {strategy}", work(wine, 3, n_nonzero=4, strategy=strategy, scale=True)
        yield f"encoder {strategy} counts", work(wine, 3, n_nonzero=[5, 3, 2], strategy=strategy, scale=True)
        yield f"encoder {strategy} max_loss", work(wine, 2, max_loss=1.1, strategy=strategy, scale=True)
    yield "encoder iterative adaptive", work(wine, 2, n_nonzero=8, strategy="iterative", selector="adaptive")
    yield "encoder batch max_loss", work(digits, 4, max_loss=1.05)
    yield "encoder batch default", work(spiked)
    yield "encoder batch orthonormal", work(digits, 3, n_nonzero=8, strategy=Batch(orthonormal=True))
    yield "encoder batch sketch", work(spiked, 2, n_nonzero=20, strategy=Batch(sketch=24))
    yield "encoder batch wide", work(partial(wide, 60), 3, n_nonzero=12)
    yield "encoder exact pitprops", work(pitprops, 2, n_nonzero=5, selector="exact", precomputed=True)
    yield "encoder hard columns", work(make_hard_columns, 1, n_nonzero=4, center=False)


def components() -> Fits:
    work = partial(partial, fitted, SparsePCA)
    for solver in SOLVERS:
        yield f"sparse_pca {solver}", work(digits, 2, n_nonzero=10, solver=solver)
    for deflation in DEFLATIONS:
        yield f"sparse_pca {deflation}", work(wine, 3, n_nonzero=4, deflation=deflation, scale=True)
    yield "sparse_pca orthogonal", work(wine, 2, n_nonzero=5, constraint="orthogonal", scale=True)
    yield "sparse_pca uncorrelated", work(wine, 3, n_nonzero=4, constraint="uncorrelated", scale=True)
    yield "sparse_pca exact disjoint", work(wine, 2, n_nonzero=4, solver="exact", deflation="disjoint", scale=True)
    yield "sparse_pca counts", work(pitprops, 3, n_nonzero=[6, 3, 2], precomputed=True)
    yield "sparse_pca n_nonzero_total", work(pitprops, 3, n_nonzero_total=12, precomputed=True)
    yield "sparse_pca n_rows", work(spiked, 2, n_nonzero=5, n_rows=10)
    yield "sparse_pca min_variance", work(cancer, 2, min_variance=0.8, scale=True)
    yield "sparse_pca default", work(wine, scale=True)
    yield "sparse_pca no refit", work(cancer, 1, n_nonzero=6, solver="generalized_power_l1", refit=False, scale=True)
    yield "sparse_pca wide", work(partial(wide, 60), 2, n_nonzero=8)
    yield "sparse_pca hidden", work(lambda: make_hidden_direction(50, 120, random_state=0).X, 1, n_nonzero=10)
    yield "sparse_pca hadamard", work(lambda: make_rotated_hadamard(32, 128, random_state=0).X, 1, n_nonzero=8)


def nonnegative() -> Fits:
    work = partial(partial, fitted, NonnegativeSparsePCA)
    for solver in NONNEGATIVE_SOLVERS:
        yield f"nonnegative {solver}", work(digits, 1, n_nonzero=10, solver=solver, refit=False)
    yield "nonnegative several", work(wine, 3, n_nonzero=4, scale=True)
    yield "nonnegative several em", work(wine, 2, n_nonzero=[4, 3], solver="em", scale=True)
    yield "nonnegative orthogonal", work(wine, 3, n_nonzero=4, constraint="orthogonal", scale=True)
    yield "nonnegative disjoint", work(digits, 2, n_nonzero=6, deflation="disjoint")
    yield "nonnegative min_variance", work(pitprops, 1, min_variance=0.9, precomputed=True)
    yield "nonnegative refit", work(cancer, 1, n_nonzero=6, solver="spannogram", rank=2, scale=True)
    yield "nonnegative net", work(pitprops, 1, n_nonzero=6, solver="spannogram_net", accuracy=0.2, precomputed=True)


def proofs() -> Fits:
    """Bounds that the data above do not need."""
    work, orthogonal = partial(partial, fitted, SparsePCA), {"constraint": "orthogonal"}
    yield "proof sharper dual", work(partial(noise, 100, 30), 1, n_nonzero=12)
    yield "proof dual", work(partial(noise, 120, 180), 1, n_nonzero=8)
    yield "proof samples", work(partial(noise, 20, 600), 1, n_nonzero=8)
    yield "proof each alone", work(partial(noise, 12, 1500), 3, n_nonzero=8, **orthogonal)
    yield "proof pca", work(pitprops, 2, n_nonzero=12, precomputed=True)
    work = partial(partial, fitted, NonnegativeSparsePCA)
    yield "proof nonnegative dual", work(partial(noise, 90, 60), 1, n_nonzero=8)
    yield "proof nonnegative wedges", work(partial(noise, 12, 1500), 1, n_nonzero=2)
    yield "proof nonnegative disjoint", work(digits, 3, n_nonzero=2, **orthogonal)


def two_sided() -> Fits:
    work = partial(partial, fitted, DoublySparseEncoder)
    yield "doubly auto", work(wine, 2, n_nonzero=5, n_rows=6, scale=True)
    yield "doubly exact", work(wine, 2, n_nonzero=4, n_rows=5, selector="exact", scale=True)
    yield "doubly dual_set", work(spiked, 2, selector="dual_set")


def regressors() -> Fits:
    X, y = load_diabetes(return_X_y=True)
    for selector in (*SELECTORS, "response"):
        yield (
            f"regressor {selector}",
            partial(fitted, SparsePCARegressor, lambda: X, 3, y=y, n_nonzero=5, selector=selector),
        )
    noisy = partial(noise, 500, 480)
    many = {"y": noisy()[:, :20].sum(axis=1), "n_nonzero": 440, "selector": "leverage"}  # as many as Theorem 2 needs
    yield "regressor leverage promised", partial(fitted, SparsePCARegressor, noisy, 1, **many)
    several = load_linnerud()
    settings = {"n_nonzero": 3, "selector": "response", "scale": True}
    yield (
        "regressor targets",
        partial(fitted, SparsePCARegressor, lambda: several.data, 2, y=several.target, **settings),
    )
    settings = {"n_nonzero": 5, "fit_intercept": False}
    yield "regressor no intercept", partial(fitted, SparsePCARegressor, lambda: X, 3, y=y, **settings)


def columns() -> Fits:
    for selector in SELECTORS:
        yield f"columns {selector}", partial(fitted, ColumnSelector, wine, 5, selector=selector, scale=True)


def clusters() -> Fits:
    for kind, name in ((SparseKMeans, "kmeans"), (SparseHierarchicalClustering, "tree")):
        work = partial(partial, fitted, kind, groups, 3)
        yield f"{name} n_features", work(n_features=6)
        yield f"{name} bound", work(weight_bound=2.0, scale=True)
        yield f"{name} auto", work(n_permutations=3)
        yield f"{name} fewest", work(weight_bound="fewest", n_permutations=3)
    tree = partial(partial, fitted, SparseHierarchicalClustering)
    yield "tree complementary", tree(groups, 3, n_features=6, linkage="average", complementary=True)
    yield "tree absolute gaps", tree(gappy, 2, weight_bound=2.0, difference="absolute")


def written(kind: str) -> Any:
    """The counts, in a file of this kind, opened to be read in several blocks."""
    X, path = counts(), folder() / f"counts.{kind}"
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(X.shape[1])])
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        sparse.save_npz(path, sparse.csr_array(X))
    elif kind == "h5":
        with h5py.File(path, "w") as file:
            file["X"] = X
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return open_data(path, block_bytes=8192)


def mapped() -> np.memmap:
    path = folder() / "mapped"
    X = np.memmap(path, dtype=np.float64, mode="w+", shape=counts().shape)
    X[:] = counts()
    return X


STORAGES: dict[str, Callable[[], Any]] = {
    "dense": counts,
    "fortran": lambda: np.asfortranarray(counts()),
    "csr": lambda: sparse.csr_array(counts()),
    "csc": lambda: sparse.csc_array(counts()),
    "memmap": mapped,
    "float32": lambda: counts().astype(np.float32),
    "frame": lambda: pd.DataFrame(counts(), columns=[f"word{j}" for j in range(counts().shape[1])]),
    "dask": lambda: da.from_array(counts(), chunks=(40, 36)),
    "file npy": partial(written, "npy"),
    "file npz": partial(written, "npz"),
    "file h5": partial(written, "h5"),
    "file csv": partial(written, "csv"),
    "file parquet": partial(written, "parquet"),
}


def transformed(X: Any) -> Record:
    """An encoder of rows in some storage, and scores that are read from there again."""
    model = SparseEncoder(2, n_nonzero=5, random_state=0).fit(X)
    return of_model(model) | {"scores": np.asarray(model.transform(X))[:4]}


def storages() -> Fits:
    for name, X in STORAGES.items():
        yield f"storage {name}", lambda X=X: transformed(X())
    for name in ("csr", "file npy", "dask"):
        yield f"storage {name} sparse_pca", partial(fitted, SparsePCA, STORAGES[name], 2, n_nonzero=4, scale=True)
    yield "storage csc columns", partial(fitted, ColumnSelector, STORAGES["csc"], 4)
    yield "storage csr doubly", partial(fitted, DoublySparseEncoder, STORAGES["csr"], 2, n_nonzero=4, n_rows=6)
    y = counts()[:, 3] - counts()[:, 7]
    yield "storage csr regressor", partial(fitted, SparsePCARegressor, STORAGES["csr"], 3, y=y, n_nonzero=5)
    yield (
        "storage covariance",
        partial(fitted, SparseEncoder, lambda: np.cov(counts().T), 2, n_nonzero=5, precomputed=True),
    )
    checkpoint = str(folder() / "checkpoint")
    work = partial(fitted, SparseEncoder, STORAGES["file npy"], 2, n_nonzero=5, checkpoint=checkpoint)
    yield "storage checkpoint", work


def settings() -> Fits:
    yield "weights encoder", partial(fitted, SparseEncoder, counts, 2, n_nonzero=5, sample_weight=weights())
    yield "weights sparse_pca", partial(fitted, SparsePCA, STORAGES["csr"], 2, n_nonzero=4, sample_weight=weights())
    yield "weights columns", partial(fitted, ColumnSelector, counts, 4, sample_weight=weights())
    yield "missing encoder", partial(fitted, SparseEncoder, gappy, 2, n_nonzero=5, missing="mean", scale=True)
    yield "missing nonnegative", partial(fitted, NonnegativeSparsePCA, gappy, 1, n_nonzero=5, missing="mean")
    y = counts()[:, 3]
    yield "missing regressor", partial(fitted, SparsePCARegressor, gappy, 3, y=y, n_nonzero=5, missing="mean")
    few = {"passes": "few"}
    yield "few passes narrow", partial(fitted, SparsePCA, STORAGES["file h5"], 2, n_nonzero=4, **few)
    yield "few passes wide", partial(fitted, SparseEncoder, wide, 3, n_nonzero=8, **few)
    yield "few passes kept", partial(fitted, SparseEncoder, partial(wide, 60), 3, n_nonzero=8, **few)
    yield "few passes max_loss", partial(fitted, SparseEncoder, wide, 3, max_loss=1.002, **few)
    yield "few passes sparse", partial(fitted, SparseEncoder, wide_sparse, 2, n_nonzero=8, **few)


def streamed(X: np.ndarray, batch: int, **settings: Any) -> Record:
    """A model that saw the rows in batches."""
    model = SparseEncoder(random_state=0, **settings)
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch])
    return of_model(model) | checked(model, X)


def streams() -> Fits:
    yield "stream narrow", lambda: streamed(cancer(), 150, n_components=3, n_nonzero=6, scale=True)
    yield "stream wide", lambda: streamed(wide(), 110, n_components=2, n_nonzero=8)
    yield "stream joint", lambda: streamed(wine(), 60, n_components=2, n_nonzero=4, strategy="joint", scale=True)
    yield "stream max_loss", lambda: streamed(counts(), 50, n_components=2, max_loss=1.2)


def path_of(X: np.ndarray, *args: Any, **settings: Any) -> Record:
    path = sparsity_path(X, *args, random_state=0, **settings)
    found = {"n_features": path.n_features, "loss_ratio": path.loss_ratio, "bound": path.bound}
    return found | {"supports": path.supports, "smallest": path.smallest(1.2)}


def paths() -> Fits:
    yield "path pitprops", lambda: path_of(pitprops(), 2, precomputed=True)
    yield "path wine", lambda: path_of(wine(), 3, max_loss=1.05, scale=True)
    yield "path nested", lambda: path_of(cancer(), 3, max_features=12, improve=False, certify=False, scale=True)


@cache
def theirs() -> np.ndarray:
    """Loadings of nobody in particular: principal components whose small entries are dropped."""
    vectors = np.linalg.eigh(pitprops())[1][:, :-4:-1].T
    return np.where(np.abs(vectors) >= np.sort(np.abs(vectors), axis=1)[:, -5:-4], vectors, 0.0) * 2.0


def polished(objective: str, swaps: bool) -> Record:
    better = polish(theirs(), pitprops(), objective=objective, swaps=swaps, precomputed=True)
    return {"support": [np.flatnonzero(row) for row in better], "loadings": better}


def measured() -> Record:
    H, X = theirs(), pitprops()
    shares = {name: explained_variance(H, X, definition=name, precomputed=True) for name in DEFINITIONS}
    each = {f"{name} each": explained_variance(H, X, definition=name, cumulative=False) for name in DEFINITIONS}
    return {"loss": information_loss(H, X, precomputed=True), "loss of rows": information_loss(H, X), **shares, **each}


def foreign() -> Fits:
    for objective in ("loss", "variance"):
        work = partial(certify, theirs(), pitprops(), objective=objective, precomputed=True, random_state=0)
        yield f"foreign certify {objective}", lambda work=work: of_certificate(work())
        for swaps in (False, True):
            yield f"foreign polish {objective}{' swaps' * swaps}", partial(polished, objective, swaps)
    yield "foreign measures", measured


def reloaded(model: Any, X: np.ndarray, y: Any = None) -> Record:
    """The record of a model that was saved and loaded, and what its certificate says when it is checked again."""
    file = folder() / "saved.model"
    save_model(model.fit(X, y), file)
    loaded = load_model(file)
    found = of_model(loaded) | checked(loaded, *((X,) if y is None else (X, y)))
    some = loaded.predict(X[:5]) if hasattr(loaded, "predict") else loaded.transform(X[:5])
    return found | {"scores": some}


def saved() -> Fits:
    X, y = load_diabetes(return_X_y=True)
    wine_scaled = {"scale": True, "random_state": 0}
    yield "saved encoder", lambda: reloaded(SparseEncoder(2, n_nonzero=5, **wine_scaled), wine())
    joint = {"strategy": "joint", **wine_scaled}
    yield "saved encoder joint", lambda: reloaded(SparseEncoder(2, n_nonzero=4, **joint), wine())
    yield "saved sparse_pca", lambda: reloaded(SparsePCA(3, n_nonzero=4, **wine_scaled), wine())
    one = {"n_nonzero": 5, "solver": "exact", "random_state": 0}
    yield "saved sparse_pca exact", lambda: reloaded(SparsePCA(1, precomputed=True, **one), pitprops())
    yield "saved nonnegative", lambda: reloaded(NonnegativeSparsePCA(2, n_nonzero=4, **wine_scaled), wine())
    yield "saved doubly", lambda: reloaded(DoublySparseEncoder(2, n_nonzero=4, n_rows=5, **wine_scaled), wine())
    yield "saved regressor", lambda: reloaded(SparsePCARegressor(3, n_nonzero=5, random_state=0), X, y)
    yield "saved columns", lambda: reloaded(ColumnSelector(4, random_state=0), wine())
    yield "saved kmeans", lambda: reloaded(SparseKMeans(3, n_features=6, random_state=0), groups())


def reals() -> Fits:
    """Those that need SPARING_DATA."""
    colon, nci60 = partial(real, "colon_alon.npz"), partial(real, "nci60.npz")
    yield "real colon encoder", partial(fitted, SparseEncoder, colon, 3, n_nonzero=10)
    yield "real colon sparse_pca", partial(fitted, SparsePCA, colon, 2, n_nonzero=5, scale=True)
    yield "real nci60 encoder", partial(fitted, SparseEncoder, nci60, 3, n_nonzero=6, strategy="iterative")
    yield "real nci60 nonnegative", partial(fitted, NonnegativeSparsePCA, nci60, 1, n_nonzero=5)
    genotypes = partial(open_data, Path(str(REAL)) / "genotypes" / "hapmap3_957.bed", scaling="binomial")
    yield "real genotypes encoder", partial(fitted, SparseEncoder, genotypes, 2, n_nonzero=4, passes="few")


FAMILIES = (
    encoders,
    components,
    nonnegative,
    proofs,
    two_sided,
    regressors,
    columns,
    clusters,
    storages,
    settings,
    streams,
    paths,
    foreign,
    saved,
    reals,
)


# Comparison


def numeric(value: Any) -> bool:
    """A number, or a list of nothing but numbers, to any depth, one of which has a decimal point."""
    leaves = list(flat(value))
    return any(isinstance(each, float) for each in leaves) and all(type(each) in (int, float) for each in leaves)


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for each in value:
            yield from flat(each)
    else:
        yield value


def whole(value: Any) -> bool:
    """Nothing but whole numbers, to any depth: a support, counts, labels."""
    return all(type(each) is int for each in flat(value))


def shape(value: Any) -> Any:
    return [shape(each) for each in value] if isinstance(value, list) else 0


def tolerances(name: str, field: str) -> tuple[float, float]:
    """Relative and absolute."""
    if "loadings" in field:
        return 0.0, LOADINGS
    if name in ROUGH and ("bound" in field or "gap" in field):
        return ROUGH[name], ROUGH[name]
    return RTOL, ATOL


def deviations(name: str, stored: Any, found: Any, field: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Field, stored and found wherever they differ by more than rounding; of arrays the entry that differs most."""
    if isinstance(stored, dict) and isinstance(found, dict):
        for key in {**stored, **found}:
            yield from deviations(name, stored.get(key), found.get(key), f"{field}.{key}" if field else key)
    elif numeric(stored) and numeric(found) and shape(stored) == shape(found):
        a, b = (np.array(list(flat(each)), dtype=float) for each in (stored, found))
        rtol, atol = tolerances(name, field)
        excess = np.abs(a - b) - atol - rtol * np.abs(a)
        worst = int(np.argmax(excess))
        if excess[worst] > 0:
            yield f"{field}[{worst}]" if len(a) > 1 else field, float(a[worst]), float(b[worst])
    elif isinstance(stored, list) and isinstance(found, list) and shape(stored) == shape(found) and not whole(stored):
        for number, pair in enumerate(zip(stored, found, strict=True)):
            yield from deviations(name, *pair, f"{field}[{number}]")
    elif type(stored) is not type(found) or stored != found:
        yield field, stored, found


def fits() -> dict[str, Callable[[], Record]]:
    """All fits by name."""
    listed = [pair for family in FAMILIES for pair in family()]
    assert len(dict(listed)) == len(listed), "two fits have one name"
    return dict(listed)


def answer(work: Callable[[], Record]) -> Record:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # SparingWarning is one
        return plain(work())


def store(chosen: dict[str, Callable[[], Record]], kept: dict[str, Record]) -> None:
    """Fit, and write what was found beside what is kept."""
    begun = time.process_time()
    for name, work in chosen.items():
        start = time.process_time()
        kept[name] = answer(work)
        print(f"{time.process_time() - start:7.2f} s  {name}", flush=True)
    lines = (f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in fits() if name in kept)
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(
        f"{len(chosen)} fits stored, {time.process_time() - begun:.0f} s, {STORED.stat().st_size / 1000:.0f} KB in all"
    )


def short(value: Any) -> str:
    return textwrap.shorten(str(value), 160, placeholder=" ...")


def compare(chosen: dict[str, Callable[[], Record]], kept: dict[str, Record]) -> bool:
    """Fit, and print what is not as stored."""
    same = 0
    for name, work in chosen.items():
        if name not in kept:
            print(f"{name}: not stored", flush=True)
            continue
        try:
            differing = list(deviations(name, kept[name], answer(work)))
        except Exception as error:
            traceback.print_exc()
            differing = [("error", None, repr(error))]
        for field, stored, found in differing:
            print(f"{name}: {field}: stored {short(stored)}, found {short(found)}", flush=True)
        same += not differing
    print(f"{same} of {len(chosen)} fits as stored")
    return same == len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only fits whose name contains one of them")
    parser.add_argument("--store", action="store_true", help="store instead of comparing")
    asked = parser.parse_args()
    chosen = {name: work for name, work in fits().items() if any(word in name for word in asked.words or [""])}
    if not chosen:
        sys.exit(f"{', '.join(asked.words)}: no fit has such a name.")
    kept = json.loads(STORED.read_text()) if STORED.exists() else {}
    for name in [name for name in chosen if name.startswith("real ") and not REAL]:
        print(f"{name}: not compared, SPARING_DATA is not set")
        del chosen[name]
    if asked.store:
        store(chosen, kept)
    elif not compare(chosen, kept):
        sys.exit(1)


if __name__ == "__main__":
    main()
