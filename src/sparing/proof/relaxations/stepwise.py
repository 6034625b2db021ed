"""The semidefinite relaxation one step at a time: it can be stopped, restricted and continued, and it tells which
targets it refutes."""

from __future__ import annotations

import numpy as np

from sparing.linalg.rounding import EPS
from sparing.proof.relaxations.semidefinite import dual_value, into_l1_ball
from sparing.proof_limits import SCHEDULES
from sparing.results import Array, Indices


class Relaxation:
    """An iterate of the semidefinite relaxation of m features of G: a sparse Z and a scaled multiplier W.

    ``semidefinite.py`` has the method. Here it can be stopped, restricted, continued with another G, and
    asked whether its dual refutes a target.
    """

    def __init__(self, G: Array, Z: Array, W: Array, penalty: float, scale: float) -> None:
        self.G, self.Z, self.W, self.penalty, self.scale = G, Z, W, penalty, scale

    @classmethod
    def of(cls, G: Array) -> Relaxation:
        """The first iterate."""
        nothing, scale = np.zeros(G.shape), float(np.abs(np.linalg.eigvalsh(G)).max()) or 1.0
        return cls(G, nothing, nothing, scale, scale)

    def __len__(self) -> int:
        return len(self.G)

    @property
    def Y(self) -> Array:
        """The dual, with zero diagonal."""
        Y = self.penalty / 2 * (self.W + self.W.T)
        np.fill_diagonal(Y, 0.0)
        return Y

    def keep(self, places: Indices) -> Relaxation:
        """The same with fewer features."""
        at = (places[:, None], places)
        return Relaxation(self.G[at], self.Z[at], self.W[at], self.penalty, self.scale)

    def fix(self, p: int, beside: Indices, target: float) -> Relaxation:
        """The feature in place p becomes fixed. This changes G little compared with Y: at first Y absorbs the whole
        change."""
        g = self.G[p, beside]
        change = np.multiply.outer(g, g / (target - self.G[p, p]))
        rest = self.keep(beside)
        return Relaxation(rest.G + change, rest.Z, rest.W + change / self.penalty, self.penalty, self.scale)

    def step(self, m: int, *, balance: bool = False) -> None:
        """One iteration: the nearest positive semidefinite matrix of trace 1, and the nearest of small l1 norm."""
        values, vectors = np.linalg.eigh(self.Z - self.W + self.G / self.penalty)
        excess = np.cumsum(values[::-1]) - 1.0
        rank = int(np.flatnonzero(values[::-1] * np.arange(1, len(self) + 1) > excess)[-1]) + 1
        top = vectors[:, -rank:]
        M = (top * (values[-rank:] - excess[rank - 1] / rank)) @ top.T
        moved = SCHEDULES.over_relaxation * M + (1.0 - SCHEDULES.over_relaxation) * self.Z + self.W
        before, self.Z = self.Z, into_l1_ball(moved, m)
        self.W = moved - self.Z
        if balance:
            self._balance(float(np.linalg.norm(M - self.Z)), float(np.linalg.norm(self.Z - before)))

    def _balance(self, apart: float, moved: float) -> None:
        moved *= self.penalty / self.scale
        if max(apart, moved) > SCHEDULES.unbalanced * min(apart, moved):
            factor = 2.0 if apart > moved else 0.5
            self.penalty, self.W = self.penalty * factor, self.W / factor

    def value(self, m: int) -> float:
        """An upper bound for m features of G, rounded up."""
        return dual_value(self.G, self.Y, m - 1)

    def refutes(self, m: int, target: float) -> bool:
        """Is the dual value below the target? A Cholesky decomposition tells, at a fifth of the cost of eigenvalues.

        It succeeds only where the matrix is positive definite up to (d + 2) eps / 2 times its trace; the margin is
        more than twice that, for what rounding did to the matrix before.
        """
        rest = self.Y
        price = (m - 1) * float(np.abs(rest).max(initial=0.0))
        rest -= self.G
        diagonal = np.einsum("ii->i", rest)
        scale = abs(target) + price + float(np.abs(rest).max(initial=0.0))
        diagonal += target - price - EPS * len(self) * (len(self) + 16) * scale
        if diagonal.min(initial=1.0) <= 0.0:
            return False
        try:
            np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            return False
        return True
