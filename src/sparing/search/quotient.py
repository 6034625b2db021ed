"""One sparse direction v that maximises v'Bv / v'Mv: exact on a support, all swaps of features scored at once.

Variance and loss of one component, the others fixed, are both such quotients; only B and M differ.
"""

from __future__ import annotations

import numpy as np

from sparing.linalg.signs import first_largest
from sparing.results import Array, Indices

SINGULAR = 1e-9
"""Directions whose share of M is below this are not used: the quotient is not defined there."""

VERIFIED = 4
GROWTH = 1e-9


class Quotient:
    """The problem max v'Bv / v'Mv over v with at most r nonzeros, for symmetric B >= 0 and M >= 0 of size u x u."""

    def __init__(self, B: Array, M: Array) -> None:
        self.B, self.M = B, M
        self.scale = np.sqrt(np.maximum(np.diagonal(M), 0.0))
        self.usable = self.scale > SINGULAR * self.scale.max(initial=0.0)

    def solve(self, support: Indices) -> tuple[float, Array]:
        """The best quotient on a support, and its v (of the support's length)."""
        part = np.ix_(support, support)
        scale = np.where(self.usable[support], self.scale[support], 1.0)
        outer = np.multiply.outer(scale, scale)
        values, vectors = np.linalg.eigh(self.M[part] / outer)
        keep = values > SINGULAR * max(float(values[-1]), np.finfo(float).tiny)
        if not keep.any():
            return 0.0, np.zeros(len(support))
        turn = vectors[:, keep] / np.sqrt(values[keep])
        top, best = np.linalg.eigh(turn.T @ (self.B[part] / outer) @ turn)
        return float(top[-1]), turn @ best[:, -1] / scale

    def improved(self, support: Indices, max_swaps: int) -> tuple[float, Indices, Array]:
        """Swap single features while the quotient grows: (quotient, support, v)."""
        rho, v = self.solve(support)
        for _ in range(max_swaps):
            trials = [(*self.solve(trial), trial) for trial in self._promising(support, rho, v)]
            best = max(trials, key=lambda found: found[0], default=None)
            if best is None or best[0] <= rho * (1 + GROWTH):
                break
            rho, v, support = best
        return rho, support, v

    def _promising(self, support: Indices, rho: float, v: Array) -> list[Indices]:
        """Supports one swap away that beat rho, judged for all swaps from one decomposition.

        With N = rho M - B, N_SS v = 0 and P = pinv(N_SS): replacing i by j raises the quotient exactly where
        N_jj < the Schur complement of the others, which for all (j, i) is a rank-two formula in P.
        """
        others = np.flatnonzero(self.usable)
        others = others[~np.isin(others, support)]
        if len(others) == 0 or rho <= 0:
            return []
        N = rho * self.M - self.B
        inside, cross = N[np.ix_(support, support)], N[np.ix_(others, support)]
        P = np.linalg.pinv((inside + inside.T) / 2, hermitian=True, rcond=1e-10)
        C = cross @ P
        small = 1e-7 * np.abs(v).max()
        pivots = np.where(np.abs(v) < small, np.where(v < 0, -small, small), v)
        t = np.multiply.outer(cross @ v, 1.0 / pivots)
        phi = np.einsum("ij,ij->i", cross, C)[:, None] - 2 * t * C + t**2 * np.diagonal(P)
        phi = (phi - np.diagonal(N)[others][:, None]) / np.square(self.scale[others])[:, None]
        order = np.argsort(-phi, axis=None)[:VERIFIED]
        pairs = [divmod(int(flat), len(support)) for flat in order if phi.flat[flat] > 0]
        return [np.append(np.delete(support, slot), others[j]) for j, slot in pairs]

    def grown(self, size: int, start: Indices | None = None) -> Indices:
        """A support by forward selection: each feature the one that raises the quotient most."""
        single = np.divide(np.diagonal(self.B), np.square(self.scale), out=np.zeros(len(self.B)), where=self.usable)
        support = np.array([first_largest(single)], dtype=np.intp) if start is None else start
        while len(support) < min(size, int(self.usable.sum())):
            rho, v = self.solve(support)
            others = np.flatnonzero(self.usable)
            others = others[~np.isin(others, support)]
            N = rho * self.M - self.B
            cross = N[np.ix_(others, support)]
            slope = np.square(cross @ v) / np.square(self.scale[others])  # N v = 0 inside: what outside pulls
            support = np.append(support, others[first_largest(slope)])
        return support
