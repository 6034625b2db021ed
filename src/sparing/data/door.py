"""The one place where a user's data become a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.affine import Affine
from sparing.data.base import DataMatrix
from sparing.data.blocks import ArrayRows, Rows, SparseRows
from sparing.data.covariance import Covariance
from sparing.results import Array

SYMMETRY = 1e-8
"""Asymmetry and negative eigenvalues below this share of the largest entry are taken for rounding."""

SUMS = (1e-300, 1e305)
"""Sums of squares that can be reported, and shares of them, without overflow or loss of digits."""


@dataclass(frozen=True)
class Preparation:
    """How X becomes the matrix whose components are sought; kept with a certificate so that it can be checked."""

    center: bool = True
    scale: bool = False
    precomputed: bool = False


def as_view(X: Any, preparation: Preparation | None = None) -> DataMatrix:
    """Check X and wrap it, whatever it is stored in.

    Dense arrays, memory maps, sparse matrices and data frames are taken as they are: nothing is copied but the
    conversion of other sparse formats to CSC. A view passes through.
    """
    if isinstance(X, DataMatrix):
        return X
    how = preparation or Preparation()
    if how.precomputed:
        return _in_range(_covariance(X, how.scale))
    rows = as_rows(X)
    if how.center and rows.shape[0] == 1:
        raise errors.one_row()
    return _in_range(Affine(rows, center=how.center, scale=how.scale))


def _in_range(view: DataMatrix) -> DataMatrix:
    """Refuse data whose sums of squares are not ordinary numbers in the user's own unit."""
    with np.errstate(over="ignore", under="ignore"):
        total = np.float64(view.total) * view.square_unit
        size = np.sqrt(view.square_unit)
    if view.total > 0 and not SUMS[0] < total < SUMS[1]:
        raise errors.out_of_scale(float(size))
    return view


def as_rows(X: Any) -> Rows:
    """Raw rows of any accepted storage, checked for shape and type but not yet read."""
    if isinstance(X, Rows):
        return X
    table: Any = X if sparse.issparse(X) else _as_array(X)
    if table.ndim != 2:
        raise errors.not_two_dimensional(table.shape)
    if 0 in table.shape:
        raise errors.empty(table.shape)
    if table.dtype.kind == "c":
        raise errors.complex_values()
    if table.dtype.kind not in "fiub":
        raise errors.not_numeric(table.dtype)
    return SparseRows(table) if sparse.issparse(table) else ArrayRows(table)


def as_matrix(X: Any) -> Array:
    """A small table of finite numbers of any size, such as scores or loadings, as a dense float64 array."""
    rows = as_rows(X)
    d = rows.shape[1]
    return Affine(rows, mean=np.zeros(d), deviation=np.ones(d)).columns(np.arange(d))


def _as_array(X: Any) -> Any:
    """A NumPy array that shares memory with X where it can; memory maps stay on disk."""
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return _from_frame(X)
    if isinstance(X, (str, bytes, dict, set)) or X is None:
        raise errors.not_a_table(X)
    try:
        array = X if isinstance(X, np.memmap) else np.asarray(X)
    except ValueError as ragged:
        raise errors.ragged_rows() from ragged
    if array.ndim == 0:
        raise errors.not_a_table(X)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return _numbers_of(array) if array.dtype == object else array


def _numbers_of(array: Any) -> Any:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as broken:
        if any(isinstance(value, complex) for value in array.flat):
            raise errors.complex_values() from broken
        raise errors.not_numeric(array.dtype) from broken


def _from_frame(frame: Any) -> Any:
    """A data frame's numbers; columns that hold anything else are named."""
    array = frame.to_numpy()
    if array.dtype.kind in "fiub":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as broken:
        strange = [name for name in frame.columns if np.asarray(frame[name]).dtype.kind not in "fiub"]
        kinds = {str(getattr(frame[name], "dtype", "object")) for name in strange}
        raise errors.not_numeric(" and ".join(sorted(kinds)), strange) from broken


def _covariance(C: Any, scale: bool) -> Covariance:
    """A symmetric matrix given in place of data, in units where its largest entry is near 1."""
    if sparse.issparse(C):
        raise errors.sparse_covariance()
    A = np.asarray(as_rows(C).source, dtype=np.float64)  # type: ignore[attr-defined]
    if A.shape[0] != A.shape[1]:
        raise errors.not_square(A.shape)
    if not np.isfinite(A).all():
        i, j = (int(index) for index in np.argwhere(~np.isfinite(A))[0])
        raise errors.not_finite(float(A[i, j]), i, j)
    largest = float(np.abs(A).max())
    square_unit = 1.0 if largest == 0 else float(2.0 ** np.round(np.log2(largest)))
    A = A / square_unit
    skew = np.abs(A - A.T)
    if skew.max() > SYMMETRY:
        i, j = (int(index) for index in np.unravel_index(np.argmax(skew), skew.shape))
        raise errors.not_symmetric(float(skew[i, j]) * square_unit, i, j)
    A = (A + A.T) / 2
    if not scale:
        return Covariance(A, is_psd=_is_psd(A), square_unit=square_unit)
    variances = np.diagonal(A)
    deviation = np.sqrt(np.where(variances > 0, variances, 1.0))
    correlation = A / np.multiply.outer(deviation, deviation)
    return Covariance(correlation, is_psd=_is_psd(correlation), scale=deviation * np.sqrt(square_unit))


def _is_psd(A: Any) -> bool:
    """No eigenvalue is below zero by more than rounding."""
    try:
        np.linalg.cholesky(A + SYMMETRY * max(float(np.abs(A).max()), np.finfo(float).tiny) * np.eye(len(A)))
    except np.linalg.LinAlgError:
        return False
    return True
