"""Standardized values in memory, dense or sparse as stored, for methods that need more of X than its Gram matrix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sparing.data.imputed import Imputed
from sparing.data.rows import ArrayRows, InMemoryRows, Rows
from sparing.data.standardized import standardized
from sparing.results import Array, Indices

COLUMN_ENTRIES = 2**20
"""Entries of a block of columns (8 MiB), the memory of products in addition to n x n matrices."""

SMALL_ENTRIES = 2**20
"""Sparse tables with fewer entries than this, zeros included, are made dense, because products are then faster."""

SIZES = (1e-140, 1e140)
"""Range of largest absolute values for which sums of squares and dissimilarities neither overflow nor vanish."""


@dataclass(frozen=True)
class Table:
    """``values`` = (X - center) * unit / scale, n x p, 0 for missing values and constant features.

    ``unit`` is a power of two that brings values near 1: fourth powers then stay in range. Sparse values are not
    shifted. ``missing`` holds 1 for each NaN of X, in the same storage, or is None. ``varying`` marks the features that
    are not constant. ``block_entries`` is the size of the blocks of columns in products.
    """

    values: Any
    missing: Any
    center: Array
    scale: Array
    unit: float
    varying: Any
    block_entries: int = COLUMN_ENTRIES

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        n, p = self.values.shape
        return int(n), int(p)

    @property
    def is_sparse(self) -> bool:
        """Whether values are in sparse storage, not shifted."""
        return is_sparse(self.values)

    def blocks(self, features: Indices | None = None) -> Iterator[tuple[Any, Any, Any]]:
        """Blocks of features: their positions, their values and the mask of missing ones (or None)."""
        n, p = self.shape
        count, width = p if features is None else len(features), max(self.block_entries // n, 1)
        for first in range(0, count, width):
            run = slice(first, min(first + width, count))
            J: Any = run if features is None else features[run]
            yield J, self.values[:, J], None if self.missing is None else self.missing[:, J]

    def columns(self, J: Any) -> Array:
        """Values of some features, dense."""
        return np.asarray(dense(self.values[:, J]))

    def restricted(self, J: Indices) -> Table:
        """The features J alone."""
        return replace(
            self,
            values=self.values[:, J],
            missing=None if self.missing is None else self.missing[:, J],
            center=self.center[J],
            scale=self.scale[J],
            varying=self.varying[J],
        )

    def around_medians(self) -> Table:
        """Shift the median of every feature to zero, so that an outlier does not cost the digits of other values.

        Values are shifted in place, because tables are large. Sparse values are not shifted.
        """
        if self.is_sparse:
            return self
        medians = np.empty(self.shape[1])
        for J, C, _ in self.blocks():
            medians[J] = np.median(C, axis=0)
        np.subtract(self.values, medians, out=self.values)
        return replace(self, center=self.center + medians / self.unit * self.scale)

    @contextmanager
    def permuted(self, rng: np.random.Generator) -> Iterator[Table]:
        """The values of every feature in an independent random order, which destroys all clusters.

        A dense table without missing values is permuted in place and restored afterwards, so that it is stored once. Do
        not use the table itself meanwhile.
        """
        if not self.is_sparse and self.missing is None:
            state = rng.bit_generator.state
            rng.permuted(self.values, axis=0, out=self.values)
            after = rng.bit_generator.state
            try:
                yield replace(self)
            finally:
                rng.bit_generator.state = state
                self._move_back(rng)
                rng.bit_generator.state = after
            return
        yield self._permuted_copy(rng)

    def _move_back(self, rng: np.random.Generator) -> None:
        """Undo the permutations of this generator."""
        n, p = self.shape
        width = max(self.block_entries // n, 1)
        for first in range(0, p, width):
            block = self.values[:, first : first + width]
            orders = rng.permuted(np.broadcast_to(np.arange(n)[:, None], block.shape), axis=0)
            np.put_along_axis(block, orders, block.copy(), axis=0)

    def _permuted_copy(self, rng: np.random.Generator) -> Table:
        n, p = self.shape
        if not self.is_sparse:
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
    dense_entries: int = SMALL_ENTRIES,
    block_entries: int = COLUMN_ENTRIES,
) -> Table:
    """All rows in memory, standardized.

    Parameters
    ----------
    rows : Rows
    scale : bool or ndarray
        Divide by standard deviations (n - 1 of the available values): those of the rows, or given ones.
    missing : bool
        Whether NaN is a missing value; otherwise it is an error.
    plain : bool
        Keep unit and origin, for a dissimilarity that may depend on them.
    keep : bool
        Keep the values of constant features, for new samples that are compared with the samples of the fit.
    dense_entries : int
        Sparse rows with at most this many entries, zeros included, are made dense.
    block_entries : int
        See :class:`Table`.
    """
    rows = InMemoryRows(rows)
    n, p = rows.shape
    if rows.is_dense or n * p <= dense_entries:
        rows = ArrayRows(np.ascontiguousarray(dense(rows.source)))  # the same order of summation for every storage
    known = Imputed(rows) if missing else rows
    learned = standardized(known, scale=scale is True)
    size = 1.0 / learned.unit
    if size >= SIZES[1] or (size <= SIZES[0] and not keep):  # with keep, the unit is that of the fit
        raise ValueError(
            f"X holds values of size {size:.3g}; dissimilarities are sums of their squares, and leave the range of "
            "double precision. Change the unit of the data (multiply it by a constant) to values between 1e-140 and "
            "1e+140."
        )
    absent = known.missing() if isinstance(known, Imputed) else None
    if absent is not None and absent.max() == 0:
        absent = None
    varying = (learned.gram_diagonal() > 0) | keep
    scales = learned.scale if scale is True else np.ones(p) if scale is False else scale
    if scale is True and absent is not None:  # a mean instead of a missing value adds to the count only
        there = n - np.asarray(absent.sum(axis=0)).ravel()
        scales = np.where(varying, scales * np.sqrt((n - 1) / np.maximum(there - 1, 1)), scales)
    unit = learned.unit if scale is False and not plain else 1.0
    center = learned.mean if rows.is_dense and not plain else np.zeros(p)
    values = _placed(rows.source, absent, center, np.where(varying, unit / scales, 0.0))
    if plain and absent is not None and rows.is_dense:  # a user's function may not accept zeros
        np.copyto(values, np.take_along_axis(values, np.argmin(absent, axis=0)[None, :], axis=0), where=absent > 0)
    return Table(values, absent, center, scales, unit, varying, block_entries)


def _placed(stored: Any, absent: Any, center: Array, factor: Array) -> Any:
    """(X - center) * factor, and 0 for missing values; X * factor for sparse X, which is not centred."""
    values: Any
    if is_sparse(stored):
        data = np.nan_to_num(stored.data * np.repeat(factor, np.diff(stored.indptr)))
        values = sparse.csc_array((data, stored.indices.copy(), stored.indptr.copy()), shape=stored.shape)
        values.eliminate_zeros()
        return values
    values = stored.astype(np.float64)
    values -= center
    values *= factor
    if absent is not None:
        values[absent > 0] = 0.0
    return values


def is_sparse(matrix: Any) -> bool:
    """Whether it is any sparse format of SciPy."""
    return bool(sparse.issparse(matrix))


def dense(matrix: Any) -> Any:
    """Return a dense copy, or the array itself."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def scaled_columns(C: Any, factors: Array) -> Any:
    """Multiply columns by factors, in the storage of C."""
    return C.multiply(factors[None, :]).tocsc() if is_sparse(C) else C * factors


def inner(A: Any, B: Any) -> Array:
    """Column sums of the elementwise product A.B."""
    return np.asarray((A * B).sum(axis=0) if is_sparse(A) else np.einsum("ij,ij->j", A, B))
