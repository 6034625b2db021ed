"""Input validation: converts any table or view of a user to a view of the Gram matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.containers import is_dask, is_frame, is_lazy, is_source, not_numeric, unwrapped
from sparing.data.dask_rows import DaskRows
from sparing.data.imputed import Imputed
from sparing.data.rows import ArrayRows, Rows, SparseRows
from sparing.data.sketch import Condensed, CountSketch
from sparing.data.sources import Slices, source_rows
from sparing.data.standardized import StandardizedRows
from sparing.gram.base import GRAM_LIMIT, DataMatrix
from sparing.gram.dense import view_of_gram
from sparing.results import Array

ASYMMETRY = 1e-8
"""Asymmetry and negative eigenvalues below this share of the largest entry count as rounding errors."""

DATES = ("Date", "Time", "Duration")
"""Prefixes of polars types that are not numeric but convert to numbers."""

EXACT = ("Int128", "UInt128", "Decimal")
"""Prefixes of polars types that NumPy does not have."""

SUMS = (1e-300, 1e305)
"""Range of sums of squares that can be reported, with their shares, without overflow or loss of digits."""


@dataclass(frozen=True)
class Preprocessing:
    """Preprocessing of X, stored with a certificate so that it can be checked.

    ``noise_variance`` is the variance of independent noise on all readings, or one per feature, in the units of X after
    scaling.
    """

    center: bool = True
    scale: bool = False
    precomputed: bool = False
    missing: str = "error"
    noise_variance: float | Array | None = field(default=None, compare=False)


def as_view(
    X: Any,
    preprocessing: Preprocessing | None = None,
    sample_weight: Any = None,
    sketch: CountSketch | Condensed | None = None,
) -> DataMatrix:
    """Check X and convert it to a view, whatever its storage.

    Dense arrays, memory maps, sparse matrices and data frames are not copied, except that other sparse formats are
    converted to CSC. Any other object with ``shape``, ``dtype`` and row slices, such as an h5py data set, is read slice
    by slice. A view is returned unchanged. Integers in ``sample_weight`` count as that many copies of a row.
    """
    if isinstance(X, DataMatrix):
        return X
    config = preprocessing or Preprocessing()
    view = _clean_view(X, config, sample_weight, sketch)
    if config.noise_variance is None:
        return view
    if np.ndim(config.noise_variance) and np.shape(config.noise_variance) != (view.n_features,):
        raise errors.wrong_n_features(view.n_features, np.size(config.noise_variance), "noise_variance")
    return view.noisy(config.noise_variance)


def _clean_view(
    X: Any, config: Preprocessing, sample_weight: Any, sketch: CountSketch | Condensed | None
) -> DataMatrix:
    """The view of X itself, without noise on its readings."""
    if config.precomputed:
        if sample_weight is not None:
            raise ValueError(
                "sample_weight was given with precomputed=True, but a covariance has no rows to be weighted. Pass the "
                "data themselves, or a covariance that was computed with these weights."
            )
        covariance = _covariance(X, config.scale)
        return _in_range(covariance, float(np.sqrt(covariance.square_unit)))
    rows = as_rows(X)
    if config.center and rows.shape[0] == 1:
        raise ValueError(
            "X has n_samples=1: after centring a single row nothing is left to explain. Pass at least 2 rows, or "
            "center=False to work on the row itself."
        )
    weights = None if sample_weight is None else checked_weights(sample_weight, rows.shape[0])
    if config.missing == "mean":
        rows = Imputed(rows, weights=weights)
    view = StandardizedRows(rows, center=config.center, scale=config.scale, weights=weights, sketch=sketch)
    return _in_range(view, 1.0 / view.unit)


def checked_weights(sample_weight: Any, n_samples: int) -> Array:
    """One weight per row, none negative and not all of them zero."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise _weights_error("they are not numbers") from None
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise _weights_error(f"their shape is {weights.shape}, and X has {n_samples} rows")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise _weights_error("some are negative, infinite or missing")
    if not weights.any():
        raise _weights_error("all of them are zero")
    return weights


def _weights_error(why: str) -> ValueError:
    """The error for invalid sample weights."""
    return ValueError(
        f"sample_weight cannot be used: {why}. Pass one number of at least zero for each row of X; an integer counts "
        "as that many copies of the row."
    )


def _in_range(view: DataMatrix, size: float) -> DataMatrix:
    """Reject data whose sums of squares overflow or vanish in the user's unit."""
    with np.errstate(over="ignore", under="ignore"):
        total = np.float64(view.total) * view.square_unit
    if view.total > 0 and not SUMS[0] < total < SUMS[1]:
        raise errors.out_of_scale(size)
    return view


def is_symmetric(rows: Rows) -> bool:
    """Whether the table is symmetric, as covariances are and samples almost never."""
    n, d = rows.shape
    if n != d or not 2 < d <= GRAM_LIMIT or not rows.is_dense:
        return False
    table = rows.source
    return bool(np.array_equal(table, table.T))


def as_rows(X: Any) -> Rows:
    """Raw rows of any accepted storage, checked for shape and type but not yet read."""
    if isinstance(X, Rows):
        return X
    if is_lazy(X):
        raise errors.lazy_table(X)
    table: Any
    table, names = unwrapped(X)
    if table is not X:
        rows = as_rows(table)
        rows.feature_names = names if names is not None and len(names) == rows.shape[1] else None
        return rows
    if is_dask(X):
        _check_shape(X.shape)
        _checked_kind(X)
        return DaskRows(X)
    table = X if sparse.issparse(X) else Slices(X) if is_source(X) else _as_array(X)
    _check_shape(table.shape)
    _checked_kind(table)
    if isinstance(table, Slices):
        return source_rows(table)
    return SparseRows(table) if sparse.issparse(table) else ArrayRows(table)


def _check_shape(shape: tuple[int, ...]) -> None:
    """Reject anything without rows and columns."""
    if len(shape) != 2:
        raise errors.ShapeError(shape)
    n, d = shape
    if n == 0 or d == 0:
        things = "sample(s)" if n == 0 else "feature(s)"
        raise ValueError(
            f"X holds 0 {things} (shape=({n}, {d})) while a minimum of 1 is required. Pass data with rows and columns."
        )


def as_matrix(X: Any) -> Array:
    """A small table of finite numbers of any size, such as scores or loadings, as a dense float64 array."""
    rows = as_rows(X)
    stored = rows.source
    matrix = np.asarray(stored.toarray() if hasattr(stored, "toarray") else stored, dtype=np.float64)
    if not np.isfinite(matrix).all():
        i, j = (int(index) for index in np.argwhere(~np.isfinite(matrix))[0])
        raise errors.NotFiniteError(float(matrix[i, j]), i, j)
    return matrix


def _as_array(X: Any) -> Any:
    """A NumPy array that shares memory with X if possible; memory maps stay on disk."""
    if isinstance(X, np.ma.MaskedArray):
        values = _checked_kind(_as_array(np.ma.getdata(X))).astype(np.float64)
        return np.where(np.ma.getmaskarray(X), np.nan, values)
    if is_frame(X):
        return _from_frame(X)
    if not _is_array_like(X):
        raise _no_table_error(X)
    try:
        array = X if isinstance(X, np.memmap) else np.asarray(X)
    except ValueError as ragged:
        raise ValueError(
            "X is a list whose rows differ in length, so it is not a table. Give every sample the same number of "
            "features; a 2-D array is expected."
        ) from ragged
    except TypeError as refused:  # from its __array__
        raise _no_table_error(X) from refused
    if array.ndim == 0:  # a number or a string
        raise _no_table_error(X)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    return _numbers_of(array) if array.dtype == object else array


def _is_array_like(X: Any) -> bool:
    """Whether NumPy can convert it directly. It would read any other object element by element."""
    if isinstance(X, Sequence) or any(hasattr(X, name) for name in ("__array__", "__array_interface__")):
        return True
    try:
        memoryview(X)
    except TypeError:
        return False
    return True


def _no_table_error(X: Any) -> TypeError:
    """The error for strings, dicts, None and objects of unknown classes."""
    kind = type(X)
    called = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return TypeError(
        f"X is a {called}; a table of numbers is needed. Pass a NumPy array, a SciPy sparse matrix, a pandas or polars "
        "DataFrame, an AnnData object, an Arrow table, a Dask array, or an object with shape, dtype and slices of rows."
    )


def _checked_kind(table: Any) -> Any:
    """Reject tables with anything but real numbers."""
    if table.dtype.kind == "c":
        raise _complex_error()
    if table.dtype.kind not in "fiub":
        raise not_numeric([table.dtype])
    return table


def _numbers_of(array: Any, columns: Sequence[object] = ()) -> Any:
    """Python numbers in an object array as float64; None and pandas' NA are missing values."""
    flat = [np.nan if _is_missing(value) else value for value in array.flat]
    if any(isinstance(value, complex) for value in flat):
        raise _complex_error()
    if any(isinstance(value, (str, bytes, np.datetime64, np.timedelta64)) for value in flat):
        raise not_numeric([array.dtype], columns)
    try:
        return np.array(flat, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError) as broken:
        raise not_numeric([array.dtype], columns) from broken
    except OverflowError as huge:
        raise ValueError(
            "X holds a number beyond the range of double precision (about 1e308). Change the unit of the data."
        ) from huge


def _from_frame(frame: Any) -> Any:
    """A data frame's numbers; columns that hold anything else are named. Sparse frames stay sparse."""
    kinds = [str(kind) for kind in getattr(frame, "dtypes", [])]
    names = list(frame.columns)
    packed = [kind.startswith("Sparse") for kind in kinds]
    if kinds and all(packed) and all(kind.fill_value == 0 for kind in frame.dtypes):
        return frame.sparse.to_coo()
    if any(packed):  # values not stored may be missing or nonzero, and other columns may be dense
        columns = (frame.iloc[:, j] for j in range(len(names)))
        frame = type(frame)({j: np.asarray(column) if packed[j] else column for j, column in enumerate(columns)})
        kinds = [str(kind) for kind in frame.dtypes]
    if exact := [name for name, kind in zip(names, kinds, strict=False) if kind.startswith(EXACT)]:
        frame = _rounded(frame, exact)
    try:
        array = frame.to_numpy()
    except TypeError:  # polars may have no common type for numbers and dates
        array = None
    dated = any(kind.startswith(DATES) for kind in kinds)  # polars would convert them to integers
    if array is not None and array.dtype.kind in "fiub" and not dated:
        return array
    strange = []
    for place, name in enumerate(names):
        column = np.asarray(frame.iloc[:, place] if hasattr(frame, "iloc") else frame[name])
        if column.dtype.kind == "c":
            raise _complex_error()
        kind = column.dtype.kind
        if column.ndim != 1 or kind not in "fiubO" or (kind == "O" and not _holds_numbers(column)):
            strange.append(name)
    if strange or array is None:
        found = {kinds[names.index(name)] for name in strange or names}
        raise not_numeric(found, strange)
    return _numbers_of(np.asarray(array, dtype=object), names)


def _rounded(frame: Any, columns: Sequence[str]) -> Any:
    """A polars frame with these columns in double precision."""
    import polars as pl

    return frame.with_columns(pl.col(list(columns)).cast(pl.Float64))


def _complex_error() -> ValueError:
    """The error for complex numbers."""
    return ValueError(
        "X holds complex numbers. Complex data not supported: stack real and imaginary parts as separate features."
    )


def _holds_numbers(column: Any) -> bool:
    """Whether all of these Python objects are real numbers or missing values."""
    return all(_is_missing(value) or isinstance(value, (Number, np.bool_)) for value in column)


def _is_missing(value: object) -> bool:
    """Whether it is None or pandas' NA."""
    return value is None or type(value).__name__ == "NAType"


def _covariance(C: Any, scale: bool) -> DataMatrix:
    """A symmetric matrix given instead of data, in units in which its largest entry is near 1."""
    rows = None if sparse.issparse(C) else as_rows(C)
    if rows is None or not rows.is_dense:
        raise ValueError(
            "precomputed=True expects a dense covariance matrix, got a sparse one. Pass matrix.toarray() if it fits in "
            "memory, or the sparse data X themselves with precomputed=False: their covariance is never formed."
        )
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(
            f"precomputed=True expects a square covariance or correlation matrix, got shape {rows.shape}. Pass X.T @ X "
            "or numpy.cov(X, rowvar=False), or precomputed=False for a table of samples."
        )
    A = _without_the_faint(as_matrix(rows))
    digits = np.finfo(rows.dtype).eps if rows.dtype.kind == "f" else 0.0
    tolerance = max(ASYMMETRY, len(A) * float(digits))
    largest = float(np.abs(A).max())
    square_unit = 1.0 if largest == 0 else math.ldexp(1.0, min(round(math.log2(largest)), 1000))
    A = A / square_unit
    skew = np.abs(A - A.T)
    if skew.max() > tolerance:
        i, j = (int(index) for index in np.unravel_index(np.argmax(skew), skew.shape))
        raise ValueError(
            f"The covariance matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by "
            f"{float(skew[i, j]) * square_unit:.3g}. If that is rounding, pass (C + C.T) / 2; if C is a table of "
            "samples, pass precomputed=False."
        )
    A = (A + A.T) / 2
    if not scale:
        return view_of_gram(A, **_definiteness(A, tolerance), square_unit=square_unit)
    variances = np.diagonal(A)
    deviation = np.sqrt(np.where(variances > 0, variances, 1.0))
    correlation = A / np.multiply.outer(deviation, deviation)
    return view_of_gram(correlation, **_definiteness(correlation, tolerance), scale=deviation * np.sqrt(square_unit))


def _without_the_faint(A: Array) -> Array:
    """A with zeros for features whose variance is too small for double precision."""
    variances = np.diagonal(A)
    faint = (variances > 0) & (variances < np.finfo(float).tiny)
    return np.where(faint[:, None] | faint, 0.0, A) if faint.any() else A


def _definiteness(A: Array, tolerance: float) -> dict[str, Any]:
    """Whether A is positive semidefinite up to rounding errors, and how far below zero an eigenvalue may be.

    Rounding errors of entries change eigenvalues by about sqrt(d) times as much.
    """
    largest = max(float(np.abs(A).max()), np.finfo(float).tiny)
    for share in (4 * len(A) * np.finfo(float).eps, tolerance * math.sqrt(len(A))):
        try:
            np.linalg.cholesky(A + share * largest * np.eye(len(A)))
        except np.linalg.LinAlgError:
            continue
        return {"is_psd": True, "psd_slack": 2 * share * largest}  # twice, because of rounding errors of Cholesky
    return {"is_psd": False}
