"""Tables of numbers as users have them on a bad day: every shape, size, spectrum and storage."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

from stress.outcomes import IS_STRESS

Rng = np.random.Generator


def with_spectrum(rng: Rng, n: int, d: int, values: np.ndarray) -> np.ndarray:
    m = min(n, d)
    U = np.linalg.qr(rng.standard_normal((n, m)))[0]
    V = np.linalg.qr(rng.standard_normal((d, m)))[0]
    return (U * values[:m]) @ V.T


def duplicated(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))[:, rng.integers(0, max(1, d // 3), d)]


def some_columns(value: float) -> Callable[[Rng, int, int], np.ndarray]:
    def make(rng: Rng, n: int, d: int) -> np.ndarray:
        return np.where(rng.random(d) < 0.5, value, rng.standard_normal((n, d)))

    return make


def with_gaps(value: float) -> Callable[[Rng, int, int], np.ndarray]:
    def make(rng: Rng, n: int, d: int) -> np.ndarray:
        return np.where(rng.random((n, d)) < 0.1, value, rng.standard_normal((n, d)))

    return make


KINDS: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    "gaussian": lambda rng, n, d: rng.standard_normal((n, d)),
    "ties": lambda rng, n, d: rng.integers(-1, 2, (n, d)).astype(float),
    "one-hot": lambda rng, n, d: np.eye(d)[rng.integers(0, d, n)],
    "low rank": lambda rng, n, d: rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)),
    "integer low rank": lambda rng, n, d: (rng.integers(-2, 3, (n, 2)) @ rng.integers(-2, 3, (2, d))).astype(float),
    "flat": lambda rng, n, d: with_spectrum(rng, n, d, np.ones(min(n, d))),
    "one huge": lambda rng, n, d: with_spectrum(rng, n, d, np.r_[1e8, np.ones(min(n, d))]),
    "geometric": lambda rng, n, d: with_spectrum(rng, n, d, np.logspace(0, -16, min(n, d))),
    "duplicated": duplicated,
    "constant columns": some_columns(3.7),
    "zero columns": some_columns(0.0),
    "all zero": lambda rng, n, d: np.zeros((n, d)),
    "all constant": lambda rng, n, d: np.full((n, d), 0.1),
    "large mean": lambda rng, n, d: 1e9 + rng.standard_normal((n, d)),
    "mean only": lambda rng, n, d: 1.0 + 1e-15 * rng.standard_normal((n, d)),
    "unlike columns": lambda rng, n, d: rng.standard_normal((n, d)) * np.logspace(-12, 12, d),
    "unlike rows": lambda rng, n, d: rng.standard_normal((n, d)) * np.logspace(-12, 12, n)[:, None],
    "outlier": lambda rng, n, d: rng.standard_normal((n, d)) + 1e12 * (np.arange(n * d).reshape(n, d) == 0),
    "counts": lambda rng, n, d: rng.poisson(0.5, (n, d)).astype(float),
    "equal rows": lambda rng, n, d: np.tile(rng.standard_normal(d), (n, 1)),
    "gaps": with_gaps(np.nan),
    "infinite": with_gaps(np.inf),
    "two values": lambda rng, n, d: np.where(rng.random((n, d)) < 0.5, -1e-3, 1e3),
}

LARGEST_OF_ALL = 40
LARGEST = LARGEST_OF_ALL if IS_STRESS else 20

SCALES = (1.0, 1.0, 1.0, 1e-150, 1e-148, 1e-100, 1e-30, 1e-8, 1e8, 1e30, 1e100, 1e148, 1e150)


def memory_mapped(X: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def whole(X: np.ndarray, kind: Any) -> np.ndarray:
    """Whole numbers of a type; unsigned ones around a positive mean, and 0 where there is no number."""
    limits, X = np.iinfo(kind), np.where(np.isfinite(X), X, 0.0)
    largest = np.abs(X).max() or 1.0
    spread = min(50.0, limits.max / 4)
    return (X / largest * spread + (spread + 1 if limits.min == 0 else 0)).astype(kind)


def near_the_top(X: np.ndarray) -> np.ndarray:
    return (np.iinfo(np.uint64).max - whole(X, np.uint64)).astype(np.uint64)


def with_explicit_zeros(X: np.ndarray) -> Any:
    S = sparse.csr_array(np.where(X == 0, 1.0, X))
    S.data[::2] = 0.0
    return S


def with_duplicates(X: np.ndarray) -> Any:
    rows, columns = np.indices(X.shape).reshape(2, -1)
    twice = np.r_[0.25 * X.ravel(), 0.75 * X.ravel()]
    return sparse.coo_array((twice, (np.r_[rows, rows], np.r_[columns, columns])), shape=X.shape)


def repeated_in_csr(X: np.ndarray) -> Any:
    """CSR whose rows name a column twice, out of order."""
    n, d = X.shape
    columns = np.tile(np.r_[np.arange(d)[::-1], np.arange(d)], n)
    values = np.concatenate([0.5 * X[:, ::-1], 0.5 * X], axis=1).ravel()
    return sparse.csr_array((values, columns, np.arange(n + 1) * 2 * d), shape=(n, d))


def long_indices(X: np.ndarray) -> Any:
    S = sparse.csr_array(X)
    return sparse.csr_array((S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)), shape=S.shape)


def named(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def nullable(X: np.ndarray) -> pd.DataFrame:
    return named(whole(X, np.int32)).astype("Int64")


STORAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda X: X,
    "float32": lambda X: clipped(X, np.float32),
    "float16": lambda X: clipped(X, np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "swapped bytes": lambda X: X.astype(">f8"),
    "swapped float32": lambda X: clipped(X, np.float32).astype(">f4"),
    "memmap": memory_mapped,
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "bool": lambda X: X > 0,
    "uint64 near the top": near_the_top,
    **{kind: lambda X, kind=kind: whole(X, kind) for kind in ("int8", "int16", "int32", "int64")},
    **{kind: lambda X, kind=kind: whole(X, kind) for kind in ("uint8", "uint16", "uint32", "uint64", ">i4")},
    **{kind: lambda X, kind=kind: sparse.coo_array(X).asformat(kind) for kind in ("csr", "csc", "coo", "dok", "lil")},
    "bsr": lambda X: sparse.bsr_array(X),
    "dia": lambda X: sparse.dia_array(X),
    "csr matrix": sparse.csr_matrix,
    "csr float32": lambda X: sparse.csr_array(clipped(X, np.float32)),
    "csr int8": lambda X: sparse.csr_array(whole(X, np.int8)),
    "csc bool": lambda X: sparse.csc_array(X > 0),
    "csr uint64": lambda X: sparse.csr_array(whole(X, np.uint64)),
    "explicit zeros": with_explicit_zeros,
    "duplicates": with_duplicates,
    "csr with duplicates": repeated_in_csr,
    "int64 indices": long_indices,
    "pandas": named,
    "pandas without names": pd.DataFrame,
    "pandas float32": lambda X: named(clipped(X, np.float32)),
    "pandas nullable": nullable,
    "pandas sparse": lambda X: named(X).astype(pd.SparseDtype(float, 0.0)),
    "pandas arrow": lambda X: named(X).astype("double[pyarrow]"),
    "polars": lambda X: pl.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])}),
    "polars whole": lambda X: pl.DataFrame({f"f{j}": whole(X, np.uint8)[:, j] for j in range(X.shape[1])}),
}


def clipped(X: np.ndarray, kind: Any) -> np.ndarray:
    """The nearest numbers that the type has."""
    largest = float(np.finfo(kind).max)
    return np.clip(X, -largest, largest).astype(kind)


@dataclass(frozen=True)
class Weather:
    """How a table was made, so that a failure says all that is needed to make it again."""

    kind: str
    storage: str
    n: int
    d: int
    scale: float
    seed: int
    X: Any = field(repr=False)


@st.composite
def tables(draw: st.DrawFn, *, largest: int = LARGEST, storages: tuple[str, ...] = tuple(STORAGES)) -> Weather:
    """Any of them."""
    n, d = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    kind, storage = draw(st.sampled_from(tuple(KINDS))), draw(st.sampled_from(storages))
    scale, seed = draw(st.sampled_from(SCALES)), draw(st.integers(0, 2**32 - 1))
    return make_table(kind, storage, n, d, scale, seed)


def make_table(kind: str, storage: str, n: int, d: int, scale: float = 1.0, seed: int = 0) -> Weather:
    """The table of a failure again."""
    dense = KINDS[kind](np.random.default_rng(seed), n, d) * scale
    return Weather(kind, storage, n, d, scale, seed, STORAGES[storage](dense))
