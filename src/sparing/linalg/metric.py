"""Denominators of sparse quotients x'Bx / x'Mx: the identity changed by a few rank-one terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparing.results import Array, Indices


class Metric(Protocol):
    """A positive semidefinite M (d x d), by its columns."""

    def columns(self, J: Indices) -> Array:
        """``M[:, J]``."""

    def block(self, J: Indices) -> Array:
        """``M[J, J]``."""

    def diagonal(self) -> Array:
        """Its diagonal."""


@dataclass(frozen=True)
class NearIdentity:
    """``M = level I + W diag(weights) W'`` for W of shape (d, m).

    With orthonormal W and weights -1 it measures what of x lies outside the span of W: generalized deflation. With
    large positive weights it makes x nearly orthogonal to W.
    """

    W: Array
    weights: Array
    level: float = 1.0

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
        """Its diagonal."""
        return self.level + np.square(self.W) @ self.weights


@dataclass(frozen=True)
class Whole:
    """Any matrix, given in full."""

    matrix: Array

    def columns(self, J: Indices) -> Array:
        """``M[:, J]``."""
        return self.matrix[:, J]

    def block(self, J: Indices) -> Array:
        """``M[J, J]``."""
        return self.matrix[np.ix_(J, J)]

    def diagonal(self) -> Array:
        """Its diagonal."""
        return np.diagonal(self.matrix)
