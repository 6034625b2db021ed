"""Denominators of sparse quotients x'Bx / x'Mx: the identity plus a few rank-one terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from sparing.linalg.eigen import top_eigenpairs
from sparing.results import Array, Indices

SINGULAR = 1e-9
"""Directions whose share of M is below this are not used: the quotient is not defined there."""

STEADY = 1e-3
"""Cholesky factors whose diagonal keeps this share of the original one have lost no significant digits."""

ZERO_PRODUCT = 1e-10
"""Inner products of unit vectors below this are zero."""


class Metric(Protocol):
    """A positive semidefinite M (d x d), accessed by columns."""

    def matmat(self, V: Array) -> Array:
        """``M @ V``."""

    def columns(self, J: Indices) -> Array:
        """``M[:, J]``."""

    def block(self, J: Indices) -> Array:
        """``M[J, J]``."""

    def diagonal(self) -> Array:
        """The diagonal of M."""

    def defined(self) -> NDArray[np.bool_]:
        """Mask of the features whose entries of M exceed rounding errors."""

    def whitening(self, J: Indices) -> Array:
        """T with T'M[J, J]T = I, over the directions on J in which M exceeds rounding errors."""

    def restricted(self, J: Indices) -> Metric:
        """``M[J, J]`` as a metric."""


@dataclass(frozen=True)
class NearIdentity:
    """``M = level I + W diag(weights) W'`` for W of shape (d, m).

    With orthonormal W and weights -1 it measures the part of x outside the span of W: generalized deflation. Large
    positive weights make x nearly orthogonal to W.
    """

    W: Array
    weights: Array
    level: float = 1.0

    def matmat(self, V: Array) -> Array:
        """``M @ V``."""
        return self.level * V + self.W @ (self.weights[:, None] * (self.W.T @ V))

    def columns(self, J: Indices) -> Array:
        """``M[:, J]``."""
        out = self.W @ (self.weights[:, None] * self.W[J].T)
        out[J, np.arange(len(J))] += self.level
        return out

    def block(self, J: Indices) -> Array:
        """``M[J, J]``."""
        W = self.W[J]
        return (W * self.weights) @ W.T + self.level * np.eye(len(J))

    def diagonal(self) -> Array:
        """The diagonal of M."""
        return self.level + np.square(self.W) @ self.weights

    def defined(self) -> NDArray[np.bool_]:
        """Mask of the features that are not in the span of W."""
        return self.diagonal() > SINGULAR * self.level

    def whitening(self, J: Indices) -> Array:
        """T with T'M[J, J]T = I."""
        return whitened(self.block(J))

    def restricted(self, J: Indices) -> Metric:
        """``M[J, J]`` as a metric."""
        return replace(self, W=self.W[J])


@dataclass(frozen=True)
class OrthogonalTo(NearIdentity):
    """Directions exactly orthogonal to the columns of W; the weights only rank candidates."""

    def whitening(self, J: Indices) -> Array:
        """Orthonormal directions on J that are orthogonal to W; if there are none, nearly orthogonal ones."""
        U, values, _ = np.linalg.svd(self.W[J])
        rank = int((values > ZERO_PRODUCT).sum())
        return U[:, rank:] if rank < len(J) else super().whitening(J)


@dataclass(frozen=True)
class Whole:
    """Any matrix, given explicitly."""

    matrix: Array

    def matmat(self, V: Array) -> Array:
        """``M @ V``."""
        return self.matrix @ V

    def columns(self, J: Indices) -> Array:
        """``M[:, J]``."""
        return self.matrix[:, J]

    def block(self, J: Indices) -> Array:
        """``M[J, J]``."""
        return self.matrix[np.ix_(J, J)]

    def diagonal(self) -> Array:
        """The diagonal of M."""
        return np.diagonal(self.matrix)

    def defined(self) -> NDArray[np.bool_]:
        """Mask of the features with positive M_jj, independent of units."""
        diagonal = self.diagonal()
        return np.asarray(diagonal > SINGULAR**2 * diagonal.max(initial=0.0))

    def whitening(self, J: Indices) -> Array:
        """T with T'M[J, J]T = I."""
        return whitened(self.block(J))

    def restricted(self, J: Indices) -> Metric:
        """``M[J, J]`` as a metric."""
        return Whole(self.block(J))


def top_quotients(block: Array, metric: Array, rank: int) -> tuple[Array, Array]:
    """The largest values of x' block x / x' metric x in descending order, and their directions as columns."""
    root = _steady_root(metric)
    if root is None:
        rotation = whitened(metric)
        values, vectors = top_eigenpairs(rotation.T @ block @ rotation, min(rank, rotation.shape[1]))
        return values, rotation @ vectors
    below, _ = linalg.lapack.dsygst(block, root, itype=1, lower=1)  # L^-1 block L^-T, below the diagonal
    values, vectors = top_eigenpairs(below, min(rank, len(below)))
    return values, linalg.solve_triangular(root, vectors, lower=True, trans="T", check_finite=False)


def _steady_root(block: Array) -> Array | None:
    """The Cholesky factor L of a block that is far from singular, else None."""
    try:
        root = cast(Array, np.linalg.cholesky(block))
    except np.linalg.LinAlgError:
        return None
    scale = np.sqrt(np.maximum(np.diagonal(block), 0.0))
    return root if (np.diagonal(root) > STEADY * np.where(scale > 0, scale, 1.0)).all() else None


def whitened(block: Array) -> Array:
    """T with T' block T = I, computed with unit diagonal so that units do not matter."""
    root = _steady_root(block)
    if root is not None:
        return np.asarray(np.linalg.inv(root).T)
    scale = np.sqrt(np.maximum(np.diagonal(block), 0.0))  # singular: leave out the null space
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(block / np.multiply.outer(scale, scale))
    keep = values > SINGULAR * max(float(values[-1]), np.finfo(float).tiny)
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]) / scale[:, None])
