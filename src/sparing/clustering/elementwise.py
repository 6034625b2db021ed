"""Dissimilarities by a function of two values, in blocks of pairs and features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparing import errors
from sparing.clustering.dissimilarity import Dissimilarity
from sparing.data.values import SIZES, Table, dense
from sparing.gram.base import CACHE_ENTRIES
from sparing.results import Array

ElementWise = Callable[[Any, Any], Any]


class ElementwiseDissimilarity(Dissimilarity):
    """d_ii'j = f(x_ij, x_i'j), computed in blocks of pairs and features."""

    def __init__(self, table: Table, function: ElementWise, block_entries: int = CACHE_ENTRIES) -> None:
        super().__init__(table)
        self.block_entries = block_entries
        self.function, self.is_own = function, function is not absolute_difference
        if self.is_own:
            _check(function, table)

    def _blocks(self, features: Any = None) -> Iterator[tuple[Any, slice, Array]]:
        """Features J, samples i and d of shape (len(J), len(i), n), for features that are not constant."""
        n = self.n_samples
        features = np.arange(self.n_features) if features is None else features
        features = features[self.table.varying[features]]
        height = min(n, max(self.block_entries // n, 1))
        width = max(self.block_entries // (height * n), 1)
        for first in range(0, len(features), width):
            J = features[first : first + width]
            C = np.ascontiguousarray(self.table.columns(J).T)
            C.flags.writeable = False  # a function that modifies its input would change later blocks
            Z = None if self.table.missing is None else dense(self.table.missing[:, J]).T > 0
            for top in range(0, n, height):
                i = slice(top, min(top + height, n))
                d = self.function(C[:, i, None], C[:, None, :])
                if self.is_own:
                    d = _checked(d, (len(J), i.stop - top, n))
                if Z is not None:
                    d = np.where(Z[:, i, None] | Z[:, None, :], 0.0, d)
                yield J, i, d

    def _weighted(self, w: Array) -> Array:
        M = np.zeros((self.n_samples, self.n_samples))
        for J, i, d in self._blocks(np.flatnonzero(w)):
            M[i] += np.tensordot(w[J], d, axes=1)
        return np.asarray((M + M.T) / 2)

    def _per_feature(self, U: Array) -> Array:
        out = np.zeros(self.n_features)
        for J, i, d in self._blocks():
            out[J] += d.reshape(len(J), -1) @ U[i].ravel()
        return out

    def _norms(self) -> Array:
        out = np.zeros(self.n_features)
        for J, _, d in self._blocks():
            flat = d.reshape(len(J), -1)
            out[J] += np.einsum("ij,ij->i", flat, flat)
        return np.sqrt(out)


def absolute_difference(a: Any, b: Any) -> Any:
    """|a - b|."""
    difference = a - b
    return np.abs(difference, out=difference)


def _check(function: ElementWise, table: Table) -> None:
    """Check on one feature that a user's function is a dissimilarity."""
    column = table.columns(np.flatnonzero(table.varying)[:1])[:, 0]
    _, different = np.unique(column, return_index=True)
    column = column[np.sort(different)[:50]]
    column.flags.writeable = False
    d = np.asarray(function(column[:, None], column[None, :]))
    if d.shape != (len(column), len(column)):
        raise errors.bad_own_dissimilarity(f"shape {d.shape} for shapes {(len(column), 1)} and {(1, len(column))}")
    if d.dtype.kind not in "fiub":
        raise errors.bad_own_dissimilarity(f"values of type {d.dtype}")
    if not np.allclose(d, d.T, rtol=1e-9, atol=0, equal_nan=True):
        raise errors.bad_own_dissimilarity("other numbers for (a, b) than for (b, a)")


def _checked(d: Any, shape: tuple[int, ...]) -> Array:
    """Check the values that a user's function returns for a block of pairs and features."""
    values = np.asarray(d)
    if values.shape != shape:
        n, i, j = shape
        raise errors.bad_own_dissimilarity(f"shape {values.shape} for shapes {(n, i, 1)} and {(n, 1, j)}")
    if not values.min() >= 0 or not np.isfinite(values).all():
        raise errors.bad_own_dissimilarity("NaN, infinity or negative numbers")
    if values.max() >= SIZES[1]:
        raise errors.bad_own_dissimilarity(
            f"numbers above {SIZES[1]:g}, whose squares leave the range of double precision"
        )
    return values
