"""A table in memory for clustering: standardized values, 0 where one is missing, dense or sparse as stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sparing.data import ArrayRows, Imputed, InMemoryRows, Rows, standardized
from sparing.errors import NotFiniteError, nan_or_infinity
from sparing.results import Array, Indices

COLUMN_ENTRIES = 2**20
"""Entries of a block of columns (8 MiB): what products need beside n x n matrices."""

SMALL_ENTRIES = 2**20
"""Sparse tables of fewer entries than this, stored or not, are made dense: products are then quicker."""

SIZES = (1e-140, 1e140)
"""Largest absolute values whose sums of squares, and dissimilarities, are ordinary numbers."""


@dataclass(frozen=True)
class Table:
    """``values`` = (X - center) * unit / scale, n x p, 0 where X is missing and in features that are constant.

    ``unit`` is a power of two that brings values near 1: fourth powers then stay in range. Sparse values are not
    shifted. ``missing`` holds 1 where X has NaN, in the same storage, or is None. ``varying`` says which features are
    not constant. ``block_entries`` is the size of blocks of columns that products take at a time.
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
        """Are the values in sparse storage, unshifted?"""
        return is_sparse(self.values)

    def blocks(self, features: Indices | None = None) -> Iterator[tuple[Any, Any, Any]]:
        """Runs of features that fit a block: where they are, their values and where those are missing (or None)."""
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
        """The same with the median of every feature at zero, so that no outlier takes the digits of the others.

        The values themselves are shifted: tables are large. Sparse ones stay where they are.
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
        """The values of every feature in a random order of their own: nothing is left to be clustered.

        Where no value is missing those of a dense table are moved, and moved back in the end, so that they are held
        once: do not use the table itself meanwhile.
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
        """Undo the permutations that this generator made."""
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
    names: Sequence[object] = (),
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
        Is NaN a missing value rather than a mistake?
    plain : bool
        Leave unit and origin alone, for a dissimilarity that may depend on them.
    keep : bool
        Keep the values of constant features, for new samples that are compared with others.
    names : sequence
        Names of features, for errors.
    dense_entries : int
        Sparse rows of at most this many entries, stored or not, are made dense.
    block_entries : int
        See :class:`Table`.
    """
    rows = InMemoryRows(rows)
    n, p = rows.shape
    if rows.is_dense or n * p <= dense_entries:
        rows = ArrayRows(np.ascontiguousarray(dense(rows.source)))  # sums in one order, however X is stored
    known = Imputed(rows) if missing else rows
    try:
        learned = standardized(known, scale=scale is True)
    except NotFiniteError as flaw:
        advice = (
            "Mark values that are not known by NaN: pairs of samples are then compared by the features that both have."
            if missing
            else "Drop those rows, impute them with sklearn.impute.SimpleImputer, or use SparseHierarchicalClustering, "
            "which compares pairs of samples by the features that both have."
        )
        what, feature = nan_or_infinity(flaw.value), flaw.named(names).column
        raise ValueError(f"Input X contains {what} (first at row {flaw.row}, feature {feature!r}). {advice}") from None
    size = 1.0 / learned.unit
    if size >= SIZES[1] or (size <= SIZES[0] and not keep):  # what is kept has the unit of other data
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
    if scale is True and absent is not None:  # a mean in place of a missing value adds nothing but to the count
        there = n - np.asarray(absent.sum(axis=0)).ravel()
        scales = np.where(varying, scales * np.sqrt((n - 1) / np.maximum(there - 1, 1)), scales)
    unit = learned.unit if scale is False and not plain else 1.0
    center = learned.mean if rows.is_dense and not plain else np.zeros(p)
    values = _placed(rows.source, absent, center, np.where(varying, unit / scales, 0.0))
    if plain and absent is not None and rows.is_dense:  # a user's function may not be made for zeros
        np.copyto(values, np.take_along_axis(values, np.argmin(absent, axis=0)[None, :], axis=0), where=absent > 0)
    return Table(values, absent, center, scales, unit, varying, block_entries)


def _placed(stored: Any, absent: Any, center: Array, factor: Array) -> Any:
    """(X - center) * factor, and 0 where a value is missing; of sparse X, which is not centred, X * factor."""
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


def check_varies(table: Table) -> Table:
    """The table, if samples differ at all."""
    if not table.varying.any():
        raise ValueError(
            "X has no feature in which two samples differ: every feature is constant (or its values are missing), so "
            "no feature can separate clusters. Check that the right rows and columns were passed."
        )
    return table


def is_sparse(matrix: Any) -> bool:
    """Any storage of SciPy's."""
    return bool(sparse.issparse(matrix))


def dense(matrix: Any) -> Any:
    """The same, dense."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def scaled_columns(C: Any, factors: Array) -> Any:
    """Columns multiplied by factors, in the storage of C."""
    return C.multiply(factors[None, :]).tocsc() if is_sparse(C) else C * factors


def inner(A: Any, B: Any) -> Array:
    """Sums of the columns of A.B, entry by entry."""
    return np.asarray((A * B).sum(axis=0) if is_sparse(A) else np.einsum("ij,ij->j", A, B))
