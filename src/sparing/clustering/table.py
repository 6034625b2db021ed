"""The numbers to be clustered: shifted, scaled and zero where a value is missing, dense or sparse as they came."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sparing.clustering.entries import is_sparse
from sparing.data import Rows, SparseRows
from sparing.errors import nan_or_infinity
from sparing.results import Array, Indices

BLOCK_ENTRIES = 2**20
"""Entries of a block of columns (8 MiB): what products need beside n x n matrices."""

SMALL_ENTRIES = 2**20
"""Sparse tables of fewer entries than this, stored or not, are made dense: products are then quicker."""

ROUNDING = 10 * np.finfo(float).eps
"""A feature whose standard deviation is below this share of its mean is constant, if it is to be divided by that."""

SIZES = (1e-140, 1e140)
"""Largest absolute values whose sums of squares, and dissimilarities, are ordinary numbers."""


@dataclass(frozen=True)
class Table:
    """``values`` = (X - center) * unit / scale, n x p, 0 where X is missing and in features that are constant.

    ``unit`` is a power of two that brings values near 1: fourth powers then stay in range. Sparse values are not
    shifted. ``missing`` holds 1 where X has NaN, in the same storage, or is None. ``varying`` says which features are
    not constant.
    """

    values: Any
    missing: Any
    center: Array
    scale: Array
    unit: float
    varying: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        n, p = self.values.shape
        return int(n), int(p)

    @property
    def is_sparse(self) -> bool:
        """Are the values in sparse storage, unshifted?"""
        return is_sparse(self.values)

    def blocks(self, features: Indices | None = None) -> Iterator[tuple[Any, Any, Any]]:
        """Runs of features that fit a block: where they are, their values and where those are missing (or None)."""
        n, p = self.shape
        count, width = p if features is None else len(features), max(BLOCK_ENTRIES // n, 1)
        for first in range(0, count, width):
            run = slice(first, min(first + width, count))
            J: Any = run if features is None else features[run]
            yield J, self.values[:, J], None if self.missing is None else self.missing[:, J]

    def columns(self, J: Any) -> Array:
        """Values of some features, dense."""
        part = self.values[:, J]
        return np.asarray(part.toarray() if self.is_sparse else part)

    def restricted(self, J: Indices) -> Table:
        """The features J alone."""
        part = None if self.missing is None else self.missing[:, J]
        return Table(self.values[:, J], part, self.center[J], self.scale[J], self.unit, self.varying[J])

    def around_medians(self) -> Table:
        """The same with the median of every feature at zero, so that no outlier takes the digits of the others.

        Sparse values stay where they are.
        """
        if self.is_sparse:
            return self
        values, medians = self.values.copy(), np.empty(self.shape[1])
        for J, C, _ in self.blocks():
            medians[J] = np.median(C, axis=0)
        values -= medians
        return replace(self, values=values, center=self.center + medians / self.unit * self.scale)

    def permuted(self, rng: np.random.Generator) -> Table:
        """The values of every feature in a random order of their own: nothing is left to be clustered."""
        n, p = self.shape
        if not self.is_sparse:
            if self.missing is None:
                return replace(self, values=rng.permuted(self.values, axis=0))
            orders = rng.permuted(np.broadcast_to(np.arange(n)[:, None], (n, p)), axis=0)
            shuffled = (np.take_along_axis(part, orders, axis=0) for part in (self.values, self.missing))
            return replace(self, values=next(shuffled), missing=next(shuffled))
        moves = [rng.permutation(n) for _ in range(p)]
        return replace(
            self,
            values=_moved(self.values, moves),
            missing=None if self.missing is None else _moved(self.missing, moves),
        )


def _moved(matrix: Any, orders: list[Any]) -> Any:
    """A CSC matrix with row i of column j moved to ``orders[j][i]``."""
    indices = np.empty_like(matrix.indices)
    for j, order in enumerate(orders):
        run = slice(matrix.indptr[j], matrix.indptr[j + 1])
        indices[run] = order[matrix.indices[run]]
    moved = sparse.csc_array((matrix.data.copy(), indices, matrix.indptr.copy()), shape=matrix.shape)
    moved.sort_indices()
    return moved


def read_table(
    rows: Rows,
    *,
    scale: bool | Array = False,
    missing: bool = False,
    plain: bool = False,
    keep: bool = False,
    names: Sequence[object] = (),
) -> Table:
    """Read all rows, once.

    Parameters
    ----------
    rows : Rows
    scale : bool or ndarray
        Divide by standard deviations (n - 1 of the available values): those of the rows, or given ones.
    missing : bool
        Is NaN a missing value rather than a mistake?
    plain : bool
        Leave unit and origin alone, for a dissimilarity that may depend on them.
    keep : bool
        Keep the values of constant features, for new samples that are compared with others.
    names : sequence
        Names of features, for errors.
    """
    stored: Any = rows.block.matrix if isinstance(rows, SparseRows) else rows.source  # type: ignore[attr-defined]
    if is_sparse(stored) and rows.shape[0] * rows.shape[1] <= SMALL_ENTRIES:
        stored = stored.toarray()
    values: Any
    values, absent = _read_sparse(stored) if is_sparse(stored) else _read_dense(stored)
    _check_finite(values, absent, missing, names)
    entries = values.data if is_sparse(values) else values
    largest = float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))
    if largest >= SIZES[1] or (0 < largest <= SIZES[0] and not keep):  # what is kept has the unit of other data
        raise ValueError(
            f"X holds values of size {largest:.3g}; dissimilarities are sums of their squares, and leave the range of "
            "double precision. Change the unit of the data (multiply it by a constant) to values between 1e-140 and "
            "1e+140."
        )
    unit = 1.0 if plain or largest == 0 else math.ldexp(1.0, -round(math.log2(largest)))
    values *= unit
    n_features = values.shape[1]
    mean, deviation, constant = (_sparse_moments if is_sparse(values) else _dense_moments)(values, absent)
    center = np.zeros(n_features)
    if not plain and not is_sparse(values):
        values -= mean
        center = mean / unit
        if absent is not None:
            values[absent > 0] = 0.0
    if scale is True:
        constant = constant | (deviation <= np.maximum(ROUNDING * np.abs(mean), np.finfo(float).tiny))
        scales = np.where(constant, 1.0, deviation / unit)
    else:
        scales = np.ones(n_features) if scale is False else scale
    factor = np.where(constant & (not keep), 0.0, 1.0 if scale is False else 1.0 / (scales * unit))
    if is_sparse(values):
        values.data *= np.repeat(factor, np.diff(values.indptr))
        values.eliminate_zeros()
    elif not (factor == 1.0).all():
        values *= factor
    if plain and absent is not None and not is_sparse(values):
        _fill(values, absent)
    return Table(values, absent, center, scales, unit if scale is False else 1.0, ~constant | keep)


def _fill(values: Array, absent: Array) -> None:
    """Put a value that the feature has where one is missing: a user's function may not be made for zeros."""
    known = np.take_along_axis(values, np.argmin(absent, axis=0)[None, :], axis=0)
    np.copyto(values, known, where=absent > 0)


def _read_dense(source: Any) -> tuple[Array, Array | None]:
    values = np.array(source, dtype=np.float64, order="C")
    absent = np.isnan(values)
    if not absent.any():
        return values, None
    values[absent] = 0.0
    return values, absent.astype(np.float64)


def _read_sparse(stored: Any) -> tuple[Any, Any]:
    data = stored.data.astype(np.float64)
    values = sparse.csc_array((data, stored.indices.copy(), stored.indptr.copy()), shape=stored.shape)
    if not np.isnan(data).any():
        return values, None
    absent = sparse.csc_array((np.isnan(data).astype(np.float64), values.indices.copy(), values.indptr.copy()))
    absent.resize(stored.shape)
    absent.eliminate_zeros()
    values.data[np.isnan(data)] = 0.0
    return values, absent


def _check_finite(values: Any, absent: Any, missing: bool, names: Sequence[object]) -> None:
    """Refuse infinity always, NaN where nothing can be done with it."""

    def refuse(flaws: Any, value: float | None) -> None:
        where = sparse.coo_array(flaws)
        where.eliminate_zeros()
        order = np.lexsort((where.col, where.row))[0]
        i, j = int(where.row[order]), int(where.col[order])
        found = float(where.data[order]) if value is None else value
        feature = names[j] if len(names) else j
        advice = (
            "Mark values that are not known by NaN: pairs of samples are then compared by the features that both have."
            if missing
            else "Drop those rows, impute them with sklearn.impute.SimpleImputer, or use SparseHierarchicalClustering, "
            "which compares pairs of samples by the features that both have."
        )
        raise ValueError(f"Input X contains {nan_or_infinity(found)} (first at row {i}, feature {feature!r}). {advice}")

    if absent is not None and not missing:
        refuse(absent, np.nan)
    entries = values.data if is_sparse(values) else values
    if not np.isfinite(entries).all():
        flaws = values.copy()
        (flaws.data if is_sparse(values) else flaws)[np.isfinite(entries)] = 0.0
        refuse(flaws, None)


def _dense_moments(values: Array, absent: Array | None) -> tuple[Array, Array, Any]:
    """Mean, standard deviation and constancy of every feature, over the values there are."""
    n = len(values)
    if absent is None:
        mean = values.mean(axis=0)
        runs = np.array_split(np.arange(len(mean)), values.size // BLOCK_ENTRIES + 1)
        deviation = np.concatenate([_root_mean(values[:, J] - mean[J], n - 1) for J in runs])
        return mean, deviation, values.max(axis=0) == values.min(axis=0)
    known = n - absent.sum(axis=0)
    mean = values.sum(axis=0) / np.maximum(known, 1)
    deviation = _root_mean(np.where(absent > 0, 0.0, values - mean), known - 1)
    highest = np.where(absent > 0, -np.inf, values).max(axis=0)
    lowest = np.where(absent > 0, np.inf, values).min(axis=0)
    return mean, deviation, highest <= lowest


def _root_mean(differences: Array, count: Any) -> Array:
    """Roots of sums of squares over ``count``; multiplied by powers of two, so that no square vanishes."""
    exponents = np.frexp(np.abs(differences).max(axis=0))[1]
    np.ldexp(differences, -exponents, out=differences)
    roots = np.sqrt(np.einsum("ij,ij->j", differences, differences) / np.maximum(count, 1))
    return np.asarray(np.ldexp(roots, exponents))


def _sparse_moments(values: Any, absent: Any) -> tuple[Array, Array, Any]:
    """The same for sparse values; those not stored are zero."""
    n, p = values.shape
    gone = np.zeros(p) if absent is None else np.asarray(absent.sum(axis=0)).ravel()
    known = n - gone
    mean = np.asarray(values.sum(axis=0)).ravel() / np.maximum(known, 1)
    deviation, constant = np.zeros(p), np.ones(p, dtype=bool)
    for j in range(p):
        run = slice(values.indptr[j], values.indptr[j + 1])
        column = values.data[run]
        if gone[j]:
            missing = absent.indices[absent.indptr[j] : absent.indptr[j + 1]]
            column = column[~np.isin(values.indices[run], missing)]
        zeros = known[j] - len(column)
        if known[j] > 1:
            unit = max(np.abs(column).max(initial=0.0), np.finfo(float).tiny)  # so that no square vanishes
            squares = np.square((column - mean[j]) / unit).sum() + zeros * (mean[j] / unit) ** 2
            deviation[j] = unit * math.sqrt(squares / (known[j] - 1))
            low, high = (0.0, 0.0) if zeros else (column[0], column[0])
            constant[j] = column.max(initial=high) == column.min(initial=low)
    return mean, deviation, constant


def check_varies(table: Table) -> Table:
    """The table, if samples differ at all."""
    if not table.varying.any():
        raise ValueError(
            "X has no feature in which two samples differ: every feature is constant (or its values are missing), so "
            "no feature can separate clusters. Check that the right rows and columns were passed."
        )
    return table
