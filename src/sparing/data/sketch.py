"""Jobs that compute a small sketch of X in one pass.

Both use raw rows divided by ``reference``, a rough size of each feature, so that they fit into single precision. The
sketch is centred and scaled afterwards, when means and deviations are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from sparing.data.rows import RawBlock, Rows
from sparing.data.standardized_block import Standardization, StandardizedBlock
from sparing.results import Array, Indices

SKETCHED_ENTRIES = 2**20
"""Number of entries processed in double precision at a time (8 MiB)."""


class Sketch(NamedTuple):
    """Rows that represent all rows, in reference units.

    ``signs`` is the sketch of a column of ones. A sketch that is already centred has its ``mean`` instead, and
    ``dropped`` is an upper bound of the eigenvalues of the dropped part.
    """

    rows: Any  # single precision; sparse while it is computed
    weight: float
    signs: Array | None = None
    mean: Array | None = None
    dropped: float = 0.0

    def placed(self, reference: Array, placement: Standardization) -> Any:
        """Center and scale the rows like X, in place.

        rows'rows approximates X'X: unbiased for a count sketch, from below for a condensed one.
        """
        back = reference * placement.unit * placement.factor
        offset = placement.unit_mean * placement.factor
        rows = self.rows
        if self.mean is not None:
            rows *= back.astype(rows.dtype)
            rows[-1] = np.sqrt(self.weight) * (self.mean * back - offset)
            return rows
        assert self.signs is not None
        for part in strips(*rows.shape):
            rows[:, part] = rows[:, part] * back[part] - np.multiply.outer(self.signs, offset[part])
        return rows


class InReferenceUnits:
    """Jobs on raw rows divided by a rough size of each feature."""

    reference: Array
    has_leading: ClassVar[bool] = False  # whether the leading directions of the result are those of X

    @property
    def unit(self) -> float:
        """A power of two that brings most features near 1."""
        return power_of_two(1 / float(np.median(self.reference)))


def signed_buckets(size: int, seed: int, start: int, stop: int) -> tuple[Indices, Array]:
    """Bucket and sign of each row from ``start`` on, by a generator that can skip ahead."""
    stream = np.random.Philox(key=seed)
    stream.advance(start // 4)  # one step of the counter gives four numbers
    numbers = stream.random_raw(stop - start + start % 4)[start % 4 :]
    buckets = ((numbers >> np.uint64(1)) % np.uint64(size)).astype(np.intp)
    return buckets, np.where(numbers & np.uint64(1), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class CountSketch(InReferenceUnits):
    """Each row is added to one of ``size`` rows with a random sign [clarkson2013, Sec. 3].

    The target of a row depends only on its index, not on the division into blocks.
    """

    size: int
    seed: int
    reference: Array

    def map(self, block: StandardizedBlock) -> Sketch:
        """For sparse rows: one addition per nonzero, with a sparse result."""
        matrix = block.raw.matrix  # type: ignore[attr-defined]
        buckets, signs = signed_buckets(self.size, self.seed, block.start, block.stop)
        if block.weights is not None:
            signs = signs * np.sqrt(block.weights)
        spread = sparse.csr_array((signs, buckets, np.arange(len(signs) + 1)), shape=(len(signs), self.size))
        rows = sparse.csc_array((matrix.T @ spread).T)
        rows.data /= np.repeat(self.reference, np.diff(rows.indptr))
        ones = np.bincount(buckets, signs, self.size)
        return Sketch(rows.astype(np.float32), 0.0, signs=np.asarray(ones, dtype=np.float64))

    def merge(self, first: Sketch, second: Sketch) -> Sketch:
        """Add."""
        assert first.signs is not None
        assert second.signs is not None
        signs = first.signs + second.signs
        rows: Any = first.rows
        added: Any = second.rows
        if isinstance(rows, np.ndarray) and not isinstance(added, np.ndarray):
            columns = np.repeat(np.arange(rows.shape[1]), np.diff(added.indptr))
            rows.reshape(-1)[added.indices.astype(np.intp) * rows.shape[1] + columns] += added.data
            return first._replace(signs=signs)
        return first._replace(rows=_filled_up(rows + added), signs=signs)

    def finish(self, result: Sketch) -> Sketch:
        """Dense rows."""
        return result._replace(rows=_filled_up(result.rows, share=0.0))


def _filled_up(rows: Any, share: float = 0.1) -> Any:
    """Make a sketch dense if more than a given share of it is nonzero."""
    full = not sparse.issparse(rows)
    return rows if full or rows.nnz < share * rows.shape[0] * rows.shape[1] else rows.toarray(order="C")


@dataclass
class Digest:
    """Centred rows so far, condensed whenever they fill the ``room``; rows are appended in place.

    ``dropped`` is an upper bound of the eigenvalues of the part of X'X that was dropped.
    """

    weight: float
    mean: Array
    room: Any
    filled: int
    dropped: float = 0.0

    @property
    def rows(self) -> Any:
        """The current rows."""
        return self.room[: self.filled]

    def append(self, rows: Any, length: int) -> None:
        """Append a few rows; if there is no room for them, keep only the ``length`` leading directions."""
        if len(self.room) < 2 * length:
            room = np.empty((2 * length, self.room.shape[1]), dtype=self.room.dtype)
            room[: self.filled] = self.rows
            self.room = room
        while len(rows):
            if self.filled == len(self.room):
                self.condense(length)
            some = rows[: len(self.room) - self.filled]
            self.room[self.filled : self.filled + len(some)] = some
            self.filled += len(some)
            rows = rows[len(some) :]

    def condense(self, length: int) -> None:
        """Rotate the rows to their principal axes and keep the leading ones; sums in double precision, strip by
        strip."""
        rows = self.rows
        if len(rows) <= length:
            return
        gram = row_gram_of(rows)
        if not np.isfinite(gram).all():  # cannot be condensed, and LAPACK would not return
            rows[:], self.filled = np.nan, length
            return
        values, rotation = np.linalg.eigh(gram)
        self.dropped += max(float(values[-length - 1]), 0.0)
        leading = rotation[:, : -length - 1 : -1].T
        for part in strips(*rows.shape):
            rows[:length, part] = leading @ rows[:, part].astype(np.float64)
        self.filled = length


@dataclass(frozen=True, eq=False)
class Condensed(InReferenceUnits):
    """The leading singular directions of all rows so far, in one pass [ross2008, Sec. 3].

    Blocks are centred by their own means; a merge adds one row for the difference of two means. Dropping directions
    only makes X'X smaller.
    """

    length: int
    reference: Array
    double: bool = False

    has_leading: ClassVar = True

    def map(self, block: StandardizedBlock) -> Digest:
        """For any rows; a few at a time are made dense."""
        raw: Any = block.raw
        rows = raw.rows if raw.is_dense else raw.matrix.tocsr()
        out: Digest | None = None
        for first in range(0, rows.shape[0], 2 * self.length):
            some = slice(first, first + 2 * self.length)
            weights = None if block.weights is None else block.weights[some]
            digest = self._of(rows[some] if raw.is_dense else rows[some].toarray(), weights)
            out = digest if out is None else self.merge(out, digest)
        assert out is not None
        return out

    def _of(self, rows: Any, weights: Array | None) -> Digest:
        n, d = rows.shape
        weight = float(n if weights is None else weights.sum())
        share = np.full(n, 1.0 / n) if weights is None else weights / max(weight, np.finfo(float).tiny)
        mean, centred = np.empty(d), np.empty((n, d), dtype=np.float64 if self.double else np.float32)
        for part in strips(n, d):
            strip = rows[:, part] / self.reference[part]
            mean[part] = share @ strip
            strip = strip - mean[part]
            centred[:, part] = strip if weights is None else strip * np.sqrt(weights)[:, None]
        return Digest(weight, mean, centred, n)

    def merge(self, first: Digest, second: Digest) -> Digest:
        """Append, with the row for the difference of two means."""
        weight = first.weight + second.weight
        if second.weight > 0:
            apart = second.mean - first.mean
            between = np.sqrt(first.weight * second.weight / weight) * apart
            first.append(second.rows, self.length)
            first.append(between[None], self.length)
            first.mean = first.mean + (second.weight / weight) * apart
        first.weight = weight
        first.dropped += second.dropped
        return first

    def finish(self, result: Digest) -> Sketch:
        """The leading directions, and a row of zeros for the difference between the mean and the centre subtracted
        later."""
        result.condense(self.length)
        if result.filled == len(result.room):
            result.room = np.concatenate([result.room, np.zeros((1, result.room.shape[1]), result.room.dtype)])
        rows = result.room[: result.filled + 1]
        rows[-1] = 0.0
        return Sketch(rows, result.weight, mean=result.mean, dropped=result.dropped)


def strips(n_rows: int, n_columns: int) -> list[slice]:
    """Strips of columns with few entries each."""
    width = max(1, SKETCHED_ENTRIES // max(n_rows, 1))
    return [slice(first, min(first + width, n_columns)) for first in range(0, n_columns, width)]


def row_gram_of(rows: Any) -> Array:
    """``rows @ rows.T`` in double precision."""
    gram = np.zeros((len(rows), len(rows)))
    for part in strips(*rows.shape):
        strip = rows[:, part].astype(np.float64)
        gram += strip @ strip.T
    return gram


def column_squares(rows: Any) -> Array:
    """Squared norms of columns, in double precision."""
    out = np.empty(rows.shape[1])
    for part in strips(*rows.shape):
        out[part] = np.square(rows[:, part].astype(np.float64)).sum(axis=0)
    return out


def sketch_of(rows: Rows, length: int, seed: int, *, scale: bool) -> CountSketch | Condensed:
    """The job for these rows: a count sketch for sparse rows, the leading directions for dense ones.

    ``scale`` tells whether features will be divided by their deviations, on which the leading directions depend. Sizes
    are taken from the first block with nonzero deviations, which is read for this purpose.
    """
    size, looked_at = rows.first(sizes) or (np.ones(rows.shape[1]), 0)
    if looked_at == rows.shape[0] and not rows.is_resident:
        rows.passes += 1
    typical = float(np.median(size[size > 0]))
    reference = np.where(size > 0, size, typical) if scale else np.full(len(size), typical)
    reference = np.exp2(np.round(np.log2(reference)))  # powers of two: division is exact
    return Condensed(length, reference) if rows.is_dense else CountSketch(length, seed, reference)


def sizes(block: RawBlock) -> tuple[Array, int] | None:
    """Deviations of the features, 0 if unknown, and the number of rows; None if none is known."""
    peak = block.extent()[0]
    if not np.isfinite(peak) or peak == 0:
        return None
    unit = power_of_two(1 / max(peak, np.finfo(float).tiny))
    with np.errstate(over="ignore", invalid="ignore"):
        moments = block.moments(unit, None)
        size = np.sqrt(moments.deviation / max(moments.weight, 1.0)) / unit
    size = np.where(np.isfinite(size), size, 0.0)
    return (size, block.stop - block.start) if size.any() else None


def power_of_two(size: float) -> float:
    """The nearest power of two within the range of double precision."""
    return float(np.exp2(np.clip(np.round(np.log2(size)), -1000, 1000)))
