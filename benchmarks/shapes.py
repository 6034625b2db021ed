"""The data sets that speed and memory are measured on: real ones where SPARING_DATA has them, made ones elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

DATA = Path(os.environ.get("SPARING_DATA", "/nonexistent"))


def factors(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Twenty factors of falling strength on a tenth of the features each, plus noise."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((20, d)) * (rng.random((20, d)) < 0.1)
    return (rng.standard_normal((n, 20)) * 0.85 ** np.arange(20)) @ loadings * 2 + rng.standard_normal((n, d))


def counts(n: int, d: int, words_per_row: int, seed: int = 0) -> sparse.csr_array:
    """Word counts: each row mixes two of twenty topics; a topic has its own frequent words and a shared long tail."""
    rng = np.random.default_rng(seed)
    own = rng.permutation(d)[: 20 * 60].reshape(20, 60)
    rows = np.repeat(np.arange(n), words_per_row)
    topics = rng.integers(0, 20, (n, 2))[rows, rng.integers(0, 2, len(rows))]
    frequent = own[topics, np.minimum((60 * rng.random(len(rows)) ** 2).astype(int), 59)]
    rare = np.minimum((d * rng.random(len(rows)) ** 2).astype(int), d - 1)
    words = np.where(rng.random(len(rows)) < 0.3, frequent, rare)
    matrix = sparse.coo_array((np.ones(len(rows)), (rows, words)), shape=(n, d)).tocsr()
    matrix.sum_duplicates()
    return matrix


def real_dense(name: str) -> Callable[[], Any] | None:
    path = DATA / f"{name}.npz"
    return (lambda: np.load(path)["X"].astype(np.float64)) if path.exists() else None


def real_sparse(name: str) -> Callable[[], Any] | None:
    path = DATA / f"{name}.npz"
    return (lambda: sparse.csr_array(sparse.load_npz(path)).astype(np.float64)) if path.exists() else None


def genotypes() -> Callable[[], Any] | None:
    """Allele counts of the joint panel; the few missing ones are the mean of their SNP."""
    path = DATA / "genotypes" / "joint_hm3_1kg.npz"
    if not path.exists():
        return None

    def read() -> np.ndarray:
        X = np.load(path)["X"].astype(np.float64)
        missing = X < 0
        return np.where(missing, X.mean(axis=0, where=~missing), X)

    return read


def shapes() -> Iterator[tuple[str, Any]]:
    """Name and matrix, one at a time."""
    makers: dict[str, Callable[[], Any] | None] = {
        "nci60 64 x 6830": real_dense("nci60") or (lambda: factors(64, 6830)),
        "armstrong 72 x 12582": real_dense("leukemia_armstrong"),
        "arcene 200 x 10000": real_dense("arcene"),
        "factors 200 x 12000": lambda: factors(200, 12000),
        "factors 1000 x 5000": lambda: factors(1000, 5000),
        "factors 5000 x 2000": lambda: factors(5000, 2000),
        "cbcl 2429 x 361": real_dense("cbcl_faces"),
        "genotypes 1485 x 14027": genotypes(),
        "counts 8000 x 19000": lambda: counts(8000, 19000, 120),
        "pbmc 3774 x 16791": real_sparse("pbmc_facs"),
        "classic2 2858 x 12782": real_sparse("classic2_counts"),
        "tdt2 10212 x 36771": real_sparse("tdt2_all"),
    }
    for name, maker in makers.items():
        if maker is not None:
            yield name, maker()
