"""Deflation: remove directions that have been found from a view. One small class per method.

A deflation gets the original view and all directions found so far, so that no view is wrapped twice. It returns the
view for the next direction and, if the next direction maximises a quotient x'Bx / x'Mx, the metric M.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.metric import Metric, NearIdentity, OrthogonalTo
from sparing.linalg.span import DEPENDENT, orthonormal
from sparing.results import Array, Reference


class Remaining(NamedTuple):
    """The problem of the next direction."""

    view: DataMatrix
    metric: Metric | None = None


class Deflation(Protocol):
    """The protocol of deflations."""

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """Return the problem that remains after unit ``directions`` (d x m, columns, in the order of discovery)."""


@dataclass(frozen=True)
class ProjectionDeflation:
    """A <- (I - xx')A(I - xx'), one direction after the other [mackey2008, Sec. 2].

    Keeps A positive semidefinite. Directions that are not orthogonal are projected out one by one, so part of an
    earlier one can reappear.
    """

    reference: ClassVar = Reference("mackey2008", "Sec. 2")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """(I - H T'H')A(I - H T H'): the product of all projections in compact form."""
        H, m = directions, directions.shape[1]
        T = np.zeros((m, m))
        for j in range(m):  # (I - H T H')(I - xx') = I - [H x] [[T, -T H'x], [0, 1]] [H x]'
            T[:j, j] = -T[:j, :j] @ (H[:, :j].T @ H[:, j])
            T[j, j] = 1.0
        AH = view.gram_matmat(H)
        C = np.block([[T.T @ (H.T @ AH) @ T, -T.T], [-T, np.zeros((m, m))]])
        return Remaining(view.updated(np.column_stack([H, AH]), (C + C.T) / 2, is_psd=view.is_psd))


@dataclass(frozen=True)
class HotellingDeflation:
    """A <- A - (x'Ax) xx' [mackey2008, Sec. 2].

    Correct for eigenvectors. For sparse directions it makes A indefinite, so variance that does not exist may be
    explained.
    """

    reference: ClassVar = Reference("mackey2008", "Sec. 2")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """Subtract all rank-one terms; each uses the variance that remained when its direction was found."""
        H = directions
        overlaps = np.square(H.T @ H)
        taken = np.einsum("ij,ij->j", H, view.gram_matmat(H))
        for j in range(len(taken)):
            taken[j] -= overlaps[j, :j] @ taken[:j]
        return Remaining(view.updated(H, -np.diag(taken), is_psd=False))


@dataclass(frozen=True)
class SchurDeflation:
    """A <- A - Axx'A / x'Ax: the residual of a regression on the scores [mackey2008, Sec. 2].

    Later scores are uncorrelated with earlier ones if directions are not sparse. Keeps A positive semidefinite.
    """

    reference: ClassVar = Reference("mackey2008", "Sec. 2")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """Regress out all scores at once, which equals one after the other."""
        return Remaining(view.projected(residual_of=directions))


@dataclass(frozen=True)
class OrthogonalizedDeflation:
    """A <- (I - qq')A(I - qq') with q the new part of x: orthogonalized projection [mackey2008, Sec. 2]."""

    reference: ClassVar = Reference("mackey2008", "Sec. 2")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """Projection on the complement of the span of all directions."""
        return Remaining(view.projected(directions=orthonormal(directions)))


@dataclass(frozen=True)
class GeneralizedDeflation:
    """The most additional variance: x'Bx / x'(I - QQ')x with B = (I - QQ')A(I - QQ') [mackey2008, Sec. 3].

    Like orthogonalized projection, but the variance is divided by the squared length of the new part of a direction.
    """

    reference: ClassVar = Reference("mackey2008", "Sec. 3")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """The projected view with the metric of the complement."""
        Q = orthonormal(directions)
        return Remaining(view.projected(directions=Q), NearIdentity(Q, -np.ones(Q.shape[1])))


@dataclass(frozen=True)
class DisjointDeflation:
    """Every feature is used by at most one component [asteris2014, Sec. 6]."""

    reference: ClassVar = Reference("asteris2014", "Sec. 6")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """Set the features of all directions to zero, and those that their scores explain: copies would repeat them."""
        used = np.flatnonzero(directions.any(axis=1))
        H, columns = directions[used], view.gram_columns(used)
        images = columns @ H
        explained = np.einsum("ij,ij->i", images @ np.linalg.pinv(H.T @ images[used]), images)
        variances = view.gram_diagonal()
        repeated = np.flatnonzero(variances - explained <= DEPENDENT * variances)
        return Remaining(view.masked(np.union1d(used, repeated)))


FORBIDDEN = 1e8
"""Weight of a forbidden direction when swaps are ranked; the directions themselves are exactly orthogonal."""


@dataclass(frozen=True)
class OrthogonalConstraint:
    """x'h = 0 for all earlier h [mackey2014, Sec. 14.5]."""

    reference: ClassVar = Reference("mackey2014", "Sec. 14.5")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """The projected view with a metric that forbids the span of earlier directions."""
        Q = orthonormal(directions)
        return Remaining(view.projected(directions=Q), OrthogonalTo(Q, np.full(Q.shape[1], FORBIDDEN)))


@dataclass(frozen=True)
class UncorrelatedConstraint:
    """x'Ah = 0 for all earlier h: scores uncorrelated with earlier ones [mackey2014, Sec. 14.5].

    Solved on a support in the null space of (A H)_S.
    """

    reference: ClassVar = Reference("mackey2014", "Sec. 14.5")

    def deflate(self, view: DataMatrix, directions: Array) -> Remaining:
        """The residual of a regression on earlier scores, with a metric that forbids the span of A H."""
        AH = view.gram_matmat(directions)
        Q = orthonormal(AH / np.linalg.norm(AH, axis=0))
        return Remaining(view.projected(residual_of=directions), OrthogonalTo(Q, np.full(Q.shape[1], FORBIDDEN)))


DEFLATIONS: dict[str, type[Deflation]] = {
    "projection": ProjectionDeflation,
    "hotelling": HotellingDeflation,
    "schur": SchurDeflation,
    "orthogonalized": OrthogonalizedDeflation,
    "generalized": GeneralizedDeflation,
    "disjoint": DisjointDeflation,
}

CONSTRAINTS: dict[str, type[Deflation]] = {"orthogonal": OrthogonalConstraint, "uncorrelated": UncorrelatedConstraint}
