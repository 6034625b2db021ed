"""Approximations of the principal components, by random projections and sketches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.sketch import signed_buckets
from sparing.data.standardized_block import StandardizedBlock
from sparing.gram import DataMatrix, view_of_columns
from sparing.linalg.eigen import top_eigenpairs, top_spectrum
from sparing.linalg.rounding import EPS, first_largest, orientations
from sparing.results import Array

OVERSAMPLING = 6
"""Additional random directions per component. With these the accuracy of ``randomly_projected`` is at most
1 + 1/6 in expectation, the most for which Theorem 6(ii) follows as printed: (1 + 1/6) (1 + 1/(1 - sqrt(1/5))^2) < 5."""


@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal V (d x k), or its rows for some features, as a selection target: X'T and T'T for T = XV."""

    basis: Array
    cross: Array
    gram: Array

    @classmethod
    def of(cls, view: DataMatrix, basis: Array) -> Subspace:
        """Make the target, with one product with A."""
        basis = basis * orientations(basis)
        cross = view.gram_matmat(basis)
        return cls(basis, cross, basis.T @ cross)


def randomly_projected(view: DataMatrix, rank: int, rng: np.random.Generator) -> Subspace:
    """The best V (d x k) in the span of A G for a Gaussian G (d x (7k + 1)): one block power step [boutsidis2014].

    Notes
    -----
    **Guarantee.** E ||X - XVV'||^2 <= (1 + k/(p - 1)) ||X - X_k||^2 for G with k + p columns, so at most 7/6 of it;
    below 1.01 on all data measured.
    **Differs from the paper.** It takes V from the singular vectors of Q'X with Q = orth(X G). Their span lies in that
    of A G, and this function returns the best part of it, so rows are not needed and the bound still holds.
    """
    d = view.n_features
    G = rng.standard_normal((d, min((1 + OVERSAMPLING) * rank + 1, d)))
    Q = np.linalg.qr(view.gram_matmat(G))[0]
    AQ = view.gram_matmat(Q)
    _, rotation = top_eigenpairs(Q.T @ AQ, rank)
    V, cross = Q @ rotation, AQ @ rotation
    signs = orientations(V)
    V, cross = V * signs, cross * signs
    return Subspace(V, cross, V.T @ cross)


def sketched(view: DataMatrix, rank: int, n_rows: int) -> Subspace:
    """The leading directions of a frequent-directions sketch of the rows [ghashami2014, Theorem 3.1]; deterministic.

    One pass over the rows and one product, ``n_rows`` (at least ``rank``) times d numbers. The sketch depends on how
    the storage divides the rows into blocks, so different storages may give different, equally good directions.

    Notes
    -----
    **Guarantee.** ||X - XVV'||^2 <= (1 + k/(l + 1 - k)) ||X - X_k||^2 for l rows, always. For a flat spectrum fewer
    than k directions may survive, or none. Any directions are then good enough: the bound still holds.
    """
    if not view.has_rows:
        raise errors.needs_rows("A sketch", view.n_features)
    job = FrequentDirections(max(n_rows, rank))
    if view.has_blocks:
        sketch = cast(Array, view.one_pass(job)[0])
    else:
        assert view.n_samples is not None
        sketch = job.sketch(view.rmatmat(units).T for units in unit_vectors(view.n_samples, job.n_rows))
    squares, left = top_eigenpairs(sketch @ sketch.T, min(rank, len(sketch)))
    kept = squares > len(sketch) * EPS * squares[0]
    if not kept.any():
        return Subspace.of(view, np.eye(view.n_features, 1, -first_largest(view.gram_diagonal())))
    return Subspace.of(view, np.linalg.qr(sketch.T @ left[:, kept])[0])


def count_sketched(view: DataMatrix, rank: int, n_rows: int, rng: np.random.Generator) -> Subspace:
    """The leading directions of a count sketch SX of the rows [clarkson2013, Sec. 3]: one addition per nonzero, one
    product.

    Notes
    -----
    **Guarantee.** ||X - XVV'||^2 <= (1 + e)/(1 - e) ||X - X_k||^2 with probability 0.9 where
    e = ``sparing.linalg.theorem_bounds.count_sketch_error`` is below 1.
    """
    if not view.has_rows or view.n_samples is None:
        raise errors.needs_rows("A sketch", view.n_features)
    job = SignedSums(n_rows, int(rng.integers(2**63)), view.n_features)
    sketch = cast(Array, view.one_pass(job)[0]) if view.has_blocks else job.of_products(view)
    top = top_spectrum(view_of_columns(sketch), rank, rng)
    if top.rank == 0:
        return Subspace.of(view, np.eye(view.n_features, 1, -first_largest(view.gram_diagonal())))
    return Subspace.of(view, top.basis)


@dataclass(frozen=True)
class SignedSums:
    """Job for SX (m x d): every row of X is added to one of m rows with a random sign."""

    size: int
    seed: int
    n_features: int

    def map(self, block: StandardizedBlock) -> Array:
        """Sketch a block of rows; sparse rows are centred through the sketch of a column of ones."""
        spread = self._spread(block.start, block.stop)
        if block.raw.is_dense:
            return np.asarray(spread.T @ block.columns(slice(None)))
        if block.weights is not None:
            spread = spread.multiply(np.sqrt(block.weights)[:, None]).tocsr()
        matrix = block.raw.matrix  # type: ignore[attr-defined]
        out = np.asarray((matrix.T @ spread).toarray().T, dtype=np.float64) * block.unit
        out -= np.multiply.outer(np.asarray(spread.sum(axis=0)).ravel(), block.mean)
        return out * block.factor

    def merge(self, first: Array, second: Array) -> Array:
        """Add."""
        return first + second

    def finish(self, result: Array) -> Array:
        """Do nothing."""
        return result

    def of_products(self, view: DataMatrix) -> Array:
        """Sketch a view that has no blocks of rows, a few of the m rows at a time."""
        assert view.n_samples is not None
        spread, out = self._spread(0, view.n_samples).tocsc(), np.empty((self.size, view.n_features))
        for first in range(0, self.size, 64):
            out[first : first + 64] = view.rmatmat(spread[:, first : first + 64].toarray()).T
        return out

    def _spread(self, start: int, stop: int) -> Any:
        buckets, signs = signed_buckets(self.size, self.seed, start, stop)
        return sparse.csr_array((signs, buckets, np.arange(len(signs) + 1)), shape=(len(signs), self.size))


@dataclass(frozen=True)
class FrequentDirections:
    """Job for B (at most l x d) with 0 <= ||Xv||^2 - ||Bv||^2 <= ||X - X_k||^2 / (l + 1 - k) for unit v and k <= l.

    Rows are appended. If there are more than l, all squared singular values are reduced by the (l+1)-th. Sketches are
    merged by the same step, so blocks can be processed anywhere.
    """

    n_rows: int

    def map(self, block: StandardizedBlock) -> Array:
        """The sketch of a block of rows."""
        return self.sketch(_dense_rows(block, self.n_rows))

    def sketch(self, strips: Iterator[Array]) -> Array:
        """The sketch of strips of rows."""
        result = next(strips)
        for strip in strips:
            result = self.merge(result, strip)
        return self._shrunk(result)

    def merge(self, first: Array, second: Array) -> Array:
        """Merge two sketches."""
        return self._shrunk(np.concatenate([first, second]))

    def finish(self, result: Array) -> Array:
        """Do nothing."""
        return result

    def _shrunk(self, rows: Array) -> Array:
        if len(rows) <= self.n_rows:
            return rows
        squares, left = top_eigenpairs(rows @ rows.T, self.n_rows + 1)
        lowered = np.maximum(squares - max(squares[-1], 0.0), 0.0)[:-1]
        factors = np.sqrt(np.divide(lowered, squares[:-1], out=np.zeros_like(lowered), where=lowered > 0))
        return cast(Array, (left[:, :-1] * factors).T @ rows)


def _dense_rows(block: StandardizedBlock, height: int) -> Iterator[Array]:
    """The dense rows of a block, a few at a time if they are sparse, by products with unit vectors."""
    if block.raw.is_dense:
        rows = block.columns(slice(None))
        for first in range(0, len(rows), height):
            yield rows[first : first + height]
    else:
        for units in unit_vectors(block.stop - block.start, height):
            yield block.rmatmat(units).T


def unit_vectors(n: int, width: int) -> Iterator[Array]:
    """The columns of the identity, ``width`` at a time."""
    for first in range(0, n, width):
        yield np.eye(n, min(width, n - first), -first)
