"""Views derived from another view: masked features, added rank-one terms, directions or scores projected out."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix, runs
from sparing.gram.dense import ColumnBlock, DenseGram
from sparing.results import Array, Indices

GRAM_ROUNDING, LEFT = 1e-12, 1e-9
"""Entries below this share of A count as rounding errors. Columns with at most this share left are set to zero, because
their inner products would have few correct digits."""

SUBTRACTED = 1e-2
"""Squares are computed as differences only if more than this share of the total is left."""


class Derived(DataMatrix):
    """A view made from another one, its ``base``; it inherits everything that it does not change."""

    def __init__(self, base: DataMatrix) -> None:
        self.base = base
        self.n_features, self.total_weight = base.n_features, base.total_weight
        self.is_psd, self.square_unit, self.psd_slack = base.is_psd, base.square_unit, base.psd_slack
        self.is_residual = base.is_residual

    @property
    def passes(self) -> int:
        """Number of passes over the data of the base."""
        return self.base.passes

    @property
    def mean(self) -> Array:
        """The same as in the base."""
        return self.base.mean

    @property
    def scale(self) -> Array:
        """The same as in the base."""
        return self.base.scale

    @property
    def rounding_error(self) -> float:
        """The same as in the base."""
        return self.base.rounding_error

    @property
    def rounding_errors(self) -> Array:
        """The same as in the base."""
        return self.base.rounding_errors

    @property
    def has_gram(self) -> bool:
        """The same as for the base, because the change is cheap."""
        return self.base.has_gram

    @property
    def product_work(self) -> float:
        """That of the base."""
        return self.base.product_work

    def unprojected_diagonal(self) -> Array:
        """Squared column norms of the base, before deflation."""
        return self.base.unprojected_diagonal()

    @property
    def rows_in_memory(self) -> bool:
        """The same as for the base, if there are rows."""
        return self.has_rows and self.base.rows_in_memory

    def _dense(self, block: Array) -> DenseGram:
        """A block of this view's Gram matrix, with the definiteness of the whole."""
        return DenseGram(block, is_psd=self.is_psd, psd_slack=self.psd_slack)


class Masked(Derived):
    """The base view with rows and columns ``dropped`` of its Gram matrix set to zero, so that they are not used."""

    def __init__(self, base: DataMatrix, dropped: Indices) -> None:
        super().__init__(base)
        self._kept = np.ones(base.n_features)
        self._kept[dropped] = 0.0

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V`` with the dropped features at zero."""
        return self._kept[:, None] * self.base.gram_matmat(self._kept[:, None] * V)

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J; those of dropped features are zero."""
        J = np.asarray(J, dtype=np.intp)
        return cast(Array, self._kept[:, None] * self.base.gram_columns(J) * self._kept[J])

    def gram_diagonal(self) -> Array:
        """Squared column norms, zero for dropped features."""
        return self._kept * self.base.gram_diagonal()

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        kept = self._kept[J]
        return self._dense(self.base.restricted(J).gram() * np.multiply.outer(kept, kept))


class SelectedFeatures(Derived):
    """Some features of the base view, renumbered; the others are neither read nor counted."""

    def __init__(self, base: DataMatrix, kept: Indices) -> None:
        super().__init__(base)
        self._kept = kept
        self.n_features, self.n_samples = len(kept), base.n_samples
        self.has_rows, self.unit = base.has_rows, base.unit

    @property
    def mean(self) -> Array:
        """The same as in the base."""
        return self.base.mean[self._kept]

    @property
    def scale(self) -> Array:
        """The same as in the base."""
        return self.base.scale[self._kept]

    @property
    def rounding_errors(self) -> Array:
        """The same as in the base."""
        return self.base.rounding_errors[self._kept]

    def unprojected_diagonal(self) -> Array:
        """The same as in the base."""
        return self.base.unprojected_diagonal()[self._kept]

    def _embedded(self, V: Array) -> Array:
        """Pad V with zeros for the other features."""
        whole = np.zeros((self.base.n_features, V.shape[1]))
        whole[self._kept] = V
        return whole

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V``."""
        return self.base.gram_matmat(self._embedded(V))[self._kept]

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J."""
        return self.base.gram_columns(self._kept[np.asarray(J, dtype=np.intp)])[self._kept]

    def gram_diagonal(self) -> Array:
        """Squared column norms."""
        return self.base.gram_diagonal()[self._kept]

    def restricted(self, J: Indices) -> DataMatrix:
        """The columns J of the base."""
        return self.base.restricted(self._kept[J])

    def matmat(self, V: Array) -> Array:
        """``X @ V``."""
        return self.base.matmat(self._embedded(V))

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``."""
        return self.base.rmatmat(U)[self._kept]

    def columns(self, J: ArrayLike) -> Array:
        """``X[:, J]``, dense."""
        return self.base.columns(self._kept[np.asarray(J, dtype=np.intp)])

    def row_gram(self) -> Array:
        """``X @ X.T``, a block of columns at a time."""
        n = self.n_samples
        assert n is not None
        gram = np.zeros((n, n))
        for some in runs(self.n_features, n):
            block = self.base.columns(self._kept[some])
            gram += block @ block.T
        return gram


class LowRankUpdate(Derived):
    """``A + W C W'`` around a base view, for W (d x m) and symmetric C (m x m): the result of a deflation.

    It has no rows, because not every such matrix is a Gram matrix of data; ``is_psd`` is true if it is one. In that
    case it is a compression of A by a projection, so no eigenvalue is further below zero than those of the base.
    """

    def __init__(self, base: DataMatrix, W: Array, C: Array, *, is_psd: bool) -> None:
        super().__init__(base)
        self._W, self._C = W, C
        self.is_psd = is_psd

    def gram_matmat(self, V: Array) -> Array:
        """``(A + W C W') V``."""
        return self.base.gram_matmat(V) + self._W @ (self._C @ (self._W.T @ V))

    def gram_columns(self, J: ArrayLike) -> Array:
        """Columns J."""
        J = np.asarray(J, dtype=np.intp)
        return cast(Array, self.base.gram_columns(J) + self._W @ (self._C @ self._W[J].T))

    def gram_diagonal(self) -> Array:
        """The diagonal; below zero only where the matrix is indefinite."""
        whole = self.base.gram_diagonal()
        rest = whole + np.einsum("ij,ij->i", self._W @ self._C, self._W)
        return cast(Array, np.where(rest > 0, rest, 0.0) if self.is_psd else rest)

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J."""
        W = self._W[J]
        return self._dense(self.base.restricted(J).gram() + W @ self._C @ W.T)


class Projected(Derived):
    """``(I - LL') X (I - RR')`` around a base view; nothing of the size of X is formed.

    ``R`` (d x m, orthonormal) are directions projected out of every row: projection deflation. ``L`` is an orthonormal
    basis of the scores X H of ``residual_of`` = H (d x m), for the residual of a regression on those scores. Both act
    on A only, (I - RR')(A - ZZ')(I - RR') with Z = X'L = A H (H'AH)^-1/2, so a covariance matrix is enough.
    """

    def __init__(self, base: DataMatrix, *, directions: Array | None = None, residual_of: Array | None = None) -> None:
        super().__init__(base)
        self.n_samples, self.has_rows, self.is_residual = base.n_samples, base.has_rows, True
        if residual_of is not None and base.psd_slack > GRAM_ROUNDING * float(np.abs(base.gram_diagonal()).max()):
            self.is_psd = False  # negative rounding errors may grow when scores are regressed out
        self._inner = np.zeros((self.n_features, 0))  # H (H'AH)^-1/2: X times it is L
        self._left = self._inner  # Z
        if residual_of is not None:
            self._inner, self._left = _whitened(base, residual_of)
        self._right = np.zeros((self.n_features, 0)) if directions is None else np.linalg.qr(directions)[0]
        self._gram_right = self._regressed(self._right)  # (A - ZZ') R
        self._core = self._right.T @ self._gram_right

    def _regressed(self, V: Array) -> Array:
        """``(A - ZZ') V``."""
        if V.shape[1] == 0:
            return np.zeros_like(V)
        return self.base.gram_matmat(V) - self._left @ (self._left.T @ V)

    def _off(self, V: Array) -> Array:
        """``(I - RR') V``."""
        return V - self._right @ (self._right.T @ V)

    @property
    def rounding_error(self) -> float:
        """Rounding error of the base, plus that of the projection."""
        return self.base.rounding_error + float(np.finfo(float).eps * np.sqrt(self.base.total))

    @property
    def has_gram(self) -> bool:
        """Never, because every column needs products with the removed directions."""
        return False

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V`` of the projected X."""
        return self._off(self._regressed(self._off(V)))

    def gram_columns(self, J: ArrayLike) -> Array:
        """``A[:, J]`` of the projected X."""
        J = np.asarray(J, dtype=np.intp)
        raw = self.base.gram_columns(J) - self._left @ self._left[J].T
        return self._off(raw - self._gram_right @ self._right[J].T)

    @property
    def squares_cheaply(self) -> bool:
        """The same as for the base if only scores were removed, unless what is left is small and would be rounding
        errors."""
        left = self._right.shape[1] == 0 and self.total > SUBTRACTED * self.base.total
        return left and self.base.squares_cheaply

    @cached_property
    def _gram_left(self) -> Array:
        """A Z of the base."""
        return self.base.gram_matmat(self._left)

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``: with A - ZZ' instead of A, a few small products."""
        if not self.squares_cheaply:
            return super().gram_squared(J, gram_columns)
        Z, AZ = self._left[J], self._gram_left[J]
        mixed = AZ @ Z.T
        return self.base.gram_squared(J) - mixed - mixed.T + Z @ (self._left.T @ self._left) @ Z.T

    def gram_diagonal(self) -> Array:
        """Squared column norms by Pythagoras' theorem, without a product."""
        R, AR = self._right, self._gram_right
        left = np.einsum("ij,ij->i", self._left, self._left)
        right = np.einsum("ij,ij->i", R, R @ self._core - 2 * AR)
        whole = self.base.gram_diagonal()
        rest = whole - left + right
        return np.where(rest > LEFT * whole, rest, 0.0)

    def matmat(self, V: Array) -> Array:
        """``X @ V``."""
        V = self._off(V)
        if self._left.shape[1]:
            V = V - self._inner @ (self._left.T @ V)  # X V - L L'X V, with L = X inner
        return self.base.matmat(V)

    def rmatmat(self, U: Array) -> Array:
        """``X.T @ U``."""
        out = self.base.rmatmat(U)
        if self._left.shape[1]:
            out = out - self._left @ (self._inner.T @ out)
        return self._off(out)

    @cached_property
    def _right_scores(self) -> Array:
        """X R of the base."""
        return self.base.matmat(self._right)

    @cached_property
    def _left_scores(self) -> Array:
        """L."""
        return self.base.matmat(self._inner)

    def columns(self, J: ArrayLike) -> Array:
        """``X[:, J]``, dense."""
        J = np.asarray(J, dtype=np.intp)
        out = self.base.columns(J)
        if self._right.shape[1]:
            out -= self._right_scores @ self._right[J].T
        if self._left.shape[1]:
            out -= self._left_scores @ (self._left_scores.T @ out)
        return out

    def restricted(self, J: Indices) -> DataMatrix:
        """The columns J, stored if that is cheaper than their Gram matrix."""
        if self.has_rows and (self.n_samples or 0) <= len(J):
            return ColumnBlock(self.columns(J))
        block = self.base.restricted(J).gram() - self._left[J] @ self._left[J].T
        if self._right.shape[1]:
            R, AR = self._right[J], self._gram_right[J]
            block = block - AR @ R.T - R @ (AR - R @ self._core).T
        return self._dense((block + block.T) / 2)

    def row_gram(self) -> Array:
        """``X @ X.T``, from that of the base."""
        gram, n = self.base.row_gram(), self.n_samples
        assert n is not None
        if self._right.shape[1]:
            gram = gram - self._right_scores @ self._right_scores.T
        if self._left.shape[1]:
            off = np.eye(n) - self._left_scores @ self._left_scores.T
            gram = off @ gram @ off
        return (gram + gram.T) / 2


def _whitened(base: DataMatrix, H: Array) -> tuple[Array, Array]:
    """``inner`` with (X inner)'(X inner) = I spanning the scores X H, and ``left`` = X'X inner."""
    unit = H / np.linalg.norm(H, axis=0)
    left = base.gram_matmat(unit)
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", unit, left), np.finfo(float).tiny))
    unit, left = unit / lengths, left / lengths  # equal norms, otherwise small scores would lose their digits
    values, vectors = np.linalg.eigh(unit.T @ left)
    keep = values > GRAM_ROUNDING
    rotation = vectors[:, keep] / np.sqrt(values[keep])
    return unit @ rotation, left @ rotation
