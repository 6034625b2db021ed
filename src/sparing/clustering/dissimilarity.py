"""Products with D (pairs x features), the feature-wise dissimilarities of all pairs of samples; D is never formed.

Pairs are ordered, as in the lecture: D has n^2 rows, with equal rows for (i, i') and (i', i), and a vector u over pairs
is a symmetric n x n matrix U. So (Dw) is the matrix of weighted dissimilarities, |Dw| its Frobenius norm, and (D'u)_j =
sum over all i and i' of U_ii' d_ii'j.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from sparing.data.values import Table, dense, inner, scaled_columns
from sparing.results import Array, Indices
from sparing.search_limits import SEARCH


@dataclass(frozen=True)
class Pairs:
    """p / (number of features known for both samples), zero on the diagonal; positions of pairs without any, and the
    number of other pairs."""

    upscaling: Array
    unknown: tuple[Any, ...]
    n_known: int


def known_pairs(table: Table) -> Pairs:
    """The known part of every pair with missing values."""
    Z = table.missing
    p = table.shape[1]
    gone = np.asarray(Z.sum(axis=1)).ravel()
    both = p - gone - gone[:, None] + dense(Z @ Z.T)
    np.fill_diagonal(both, 0.0)
    known = both > 0.5
    if not known.any() and len(both) > 1:
        raise ValueError(
            "No two samples have a feature for which both values are known, so their dissimilarity is undefined. "
            "Impute missing values with sklearn.impute.SimpleImputer, or check that the right rows and columns were "
            "passed."
        )
    upscaling = np.zeros_like(both)
    np.divide(p, both, out=upscaling, where=known)
    np.fill_diagonal(known, True)
    return Pairs(upscaling, np.nonzero(~known), max(int(np.count_nonzero(upscaling)), 1))


class Dissimilarity(ABC):
    """D of one table, given by its products.

    Missing values contribute nothing: d_ii'j = 0 if x_ij or x_i'j is missing, and the sum of a pair is multiplied by p
    / (number of features known for both), as in R's ``sparcl``. A pair without a common feature gets the mean
    dissimilarity.
    """

    power = 1
    """If X is multiplied by a number, d is multiplied by this power of it."""

    def __init__(self, table: Table) -> None:
        self._hold(table)
        self.pairs = None if table.missing is None else known_pairs(table)

    def _hold(self, table: Table) -> None:
        self.table = table
        self.n_samples, self.n_features = table.shape
        self._sizes: Array | None = None

    def restricted(self, J: Indices) -> Self:
        """The dissimilarity of the features J only; the scaling of pairs is unchanged."""
        part = copy(self)
        part._hold(self.table.restricted(J))
        return part

    @property
    def in_units_of_x(self) -> float:
        """The factor that converts a dissimilarity of the table's values to the user's units."""
        return float(self.table.unit**-self.power)

    def weighted(self, w: Array) -> Array:
        """Dw: the n x n matrix of dissimilarities for weights w >= 0; symmetric, nonnegative, zero diagonal."""
        M = self._weighted(w)
        np.fill_diagonal(M, 0.0)
        if self.pairs is not None:
            M *= self.pairs.upscaling
            M[self.pairs.unknown] = M.sum() / self.pairs.n_known
        return M

    def per_feature(self, U: Array) -> Array:
        """D'u for a symmetric U with zero diagonal, one number per feature."""
        if self.pairs is None:
            return self._per_feature(U)
        shared = U[self.pairs.unknown].sum() / self.pairs.n_known
        return self._per_feature((U + shared) * self.pairs.upscaling)

    @property
    def is_quick(self) -> bool:
        """Whether D'Dw is cheap."""
        return False

    def normal(self, w: Array) -> Array:
        """D'Dw."""
        return self.per_feature(self.weighted(w))

    @abstractmethod
    def _weighted(self, w: Array) -> Array:
        """Dw before pairs are scaled up."""

    @abstractmethod
    def _per_feature(self, U: Array) -> Array:
        """D'u before pairs are scaled up."""

    def sizes(self) -> Array:
        """Norms of the columns of D, to choose starting points; missing values count as means."""
        if self._sizes is None:
            self._sizes = self._norms()
        return self._sizes

    @abstractmethod
    def _norms(self) -> Array:
        """Compute ``sizes``."""


class SquaredDifferences(Dissimilarity):
    """d_ii'j = (x_ij - x_i'j)^2, by products of matrices.

    With q = (X.X)w and s = U1: (Dw)_ii' = q_i + q_i' - 2 (X diag(w) X')_ii' and (D'u)_j = 2 x_j'(diag(s) - U) x_j.
    With Z = 1 for missing values, subtract (X.X) diag(w) Z' and its transpose from the first, and from the second the
    sum of x_ij^2 (UZ)_ij. For centred columns, D'D = 2n (X.X)'(X.X) + 4 (X'X).(X'X) + 2 vv' with v = (X.X)'1.
    """

    power = 2

    def _hold(self, table: Table) -> None:
        super()._hold(table)
        self._gram: Array | None = None
        few = self.n_features <= min(SEARCH.dissimilarity_features, SEARCH.dissimilarity_ratio * self.n_samples)
        self._by_gram = few and table.missing is None and not table.is_sparse

    def _weighted(self, w: Array) -> Array:
        n = self.n_samples
        q, M = np.zeros(n), np.zeros((n, n))
        support = np.flatnonzero(w)
        for J, C, Z in self.table.blocks(support):
            R = scaled_columns(C, np.sqrt(w[J]))
            squares = R * R
            q += np.asarray(squares.sum(axis=1)).ravel()
            M -= 2.0 * dense(R @ R.T)
            if Z is not None:
                lost = dense(squares @ Z.T)
                M -= lost + lost.T
        M += np.add.outer(q, q)
        return np.maximum(M, 0.0, out=M)

    def _per_feature(self, U: Array) -> Array:
        L, out = np.diag(U.sum(axis=1)) - U, np.empty(self.n_features)
        for J, C, Z in self.table.blocks():
            out[J] = inner(C, L @ C)
            if Z is not None:
                out[J] -= inner(C * C, U @ Z)
        return np.maximum(2.0 * out, 0.0) if (U >= 0).all() else 2.0 * out

    @property
    def is_quick(self) -> bool:
        """Whether D'D is in memory."""
        return self._by_gram

    def normal(self, w: Array) -> Array:
        """D'Dw, by D'D if that is small."""
        if not self._by_gram:
            return super().normal(w)
        if self._gram is None:
            X = self.table.values
            squares = X * X
            G = X.T @ X
            np.square(G, out=G)
            G *= 4.0
            G += (2.0 * self.n_samples) * (squares.T @ squares)
            v = squares.sum(axis=0)
            for first in range(0, len(v), 256):
                G[first : first + 256] += np.multiply.outer(2.0 * v[first : first + 256], v)
            self._gram = G
        support = np.flatnonzero(w)
        if 2 * len(support) < self.n_features:
            return np.asarray(w[support] @ self._gram[support])
        return np.asarray(self._gram @ w)

    def _norms(self) -> Array:
        """Fourth powers of differences, from sums of powers."""
        out = np.empty(self.n_features)
        for J, C, _ in self.table.blocks():
            squares = C * C
            s1, s2 = (np.asarray(part.sum(axis=0)).ravel() for part in (C, squares))
            s3, s4 = inner(C, squares), inner(squares, squares)
            out[J] = 2 * self.n_samples * s4 - 8 * s1 * s3 + 6 * s2**2
        return np.sqrt(np.maximum(out, 0.0))


class Complement(Dissimilarity):
    """D for a complementary clustering: u is kept orthogonal to the dissimilarities u_1 of the first."""

    def __init__(self, whole: Dissimilarity, first: Array) -> None:
        self._hold(whole.table)
        self.whole, self.pairs, self.power = whole, None, whole.power
        self.first = first / np.linalg.norm(first)
        self._used = whole.per_feature(self.first)

    def restricted(self, J: Indices) -> Self:
        """The features J only."""
        part = super().restricted(J)
        part.whole, part._used = self.whole.restricted(J), self._used[J]
        return part

    def weighted(self, w: Array) -> Array:
        """(I - u_1 u_1')Dw; entries may be negative."""
        return self.without_first(self.whole.weighted(w))

    def without_first(self, U: Array) -> Array:
        """The part of U orthogonal to u_1."""
        return np.asarray(U - np.vdot(self.first, U) * self.first)

    def per_feature(self, U: Array) -> Array:
        """D'(I - u_1 u_1')u."""
        return self.whole.per_feature(self.without_first(U))

    @property
    def is_quick(self) -> bool:
        """Whether D'D of the full D is in memory."""
        return self.whole.is_quick

    def normal(self, w: Array) -> Array:
        """D'(I - u_1 u_1')Dw."""
        return self.whole.normal(w) - self._used * (self._used @ w)

    def _norms(self) -> Array:
        """Norms of the columns of the deflated D."""
        return np.asarray(np.sqrt(np.maximum(self.whole.sizes() ** 2 - self._used**2, 0.0)))

    _weighted = weighted
    _per_feature = per_feature


LINKAGES = ("average", "complete", "single", "ward", "weighted")
"""Linkages whose merge heights never decrease, so that the tree can be cut at a height."""


def tree_of(M: Array, linkage: Any) -> Array:
    """SciPy's linkage matrix of a symmetric M; ``ward`` interprets M as squared Euclidean distances."""
    condensed = squareform(M, checks=False)
    lowest = min(float(condensed.min()), 0.0)  # below zero if complementary; a shift changes no merge
    if linkage == "ward":
        condensed = np.sqrt(condensed - lowest)
        lowest = 0.0
    return np.asarray(scipy_linkage(condensed - lowest, method=linkage))


def cut(tree: Array, n_clusters: int) -> Indices:
    """Labels of the samples before the last ``n_clusters`` - 1 merges, in order of first appearance."""
    n = len(tree) + 1
    merges = np.arange(n - n_clusters)
    children = tree[merges, :2].astype(np.intp)
    parents = np.repeat(n + merges, 2)
    edges = sparse.coo_array((np.ones(len(parents)), (children.ravel(), parents)), shape=(2 * n, 2 * n))
    _, groups = connected_components(edges, directed=False)
    _, first, labels = np.unique(groups[:n], return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[labels], dtype=np.intp)
