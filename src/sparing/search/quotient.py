"""One sparse direction v that maximises v'Bv / v'Mv: exact on a support, all swaps of features scored at once.

Variance and loss of one component, the others fixed, are both such quotients; only B and M differ. Both are seen
through columns of the features in use, so that nothing of size d x d is needed.
"""

from __future__ import annotations

import numpy as np

from sparing.data import DataMatrix
from sparing.linalg.metric import Metric
from sparing.linalg.signs import first_largest, orientations
from sparing.results import Array, Component, Indices

VERIFIED = 4
"""Most promising swaps that are evaluated exactly."""

SHORTLIST = 256
"""Features outside the support that are looked at first; all of them before a search ends."""

GROWTH = 1e-9


class Quotient:
    """The problem max v'Bv / v'Mv over v with at most r nonzeros; M is the identity where no metric is given."""

    def __init__(self, view: DataMatrix, metric: Metric | None = None) -> None:
        self.view, self.metric = view, metric
        self._worth = view.gram_diagonal()
        if metric is None:
            self.scale, self.usable = np.ones(view.n_features), np.ones(view.n_features, dtype=bool)
        else:
            self.scale = np.sqrt(np.maximum(metric.diagonal(), 0.0))
            self.usable = metric.defined()
        if view.is_psd:  # a feature without variance adds nothing
            self.usable &= self._worth > 0

    def solve(self, support: Indices) -> tuple[float, Array]:
        """The best quotient on a support, and its v (of the support's length)."""
        inside = self.view.restricted(support).gram()
        if self.metric is None:
            values, vectors = np.linalg.eigh(inside)
            return float(values[-1]), vectors[:, -1]
        turn = self.metric.whitening(support)
        if turn.shape[1] == 0:
            return 0.0, np.zeros(len(support))
        top, best = np.linalg.eigh(turn.T @ inside @ turn)
        return float(top[-1]), turn @ best[:, -1]

    def value(self, support: Indices, v: Array) -> float:
        """The quotient of a given direction."""
        top = float(v @ self.view.restricted(support).gram() @ v)
        return top / float(v @ v if self.metric is None else v @ self.metric.block(support) @ v)

    def component(self, support: Indices) -> Component:
        """The best direction on a support; features that it does not need are left out."""
        support = np.sort(support)
        value, v = self.solve(support)
        return component_of(support, v, value)

    def improved(self, support: Indices, max_swaps: int) -> tuple[float, Indices, Array]:
        """Swap single features while the quotient grows: (quotient, support, v)."""
        rho, v = self.solve(support)
        for _ in range(max_swaps):
            best = None
            for others in self._outside(support, v):
                trials = [(*self.solve(trial), trial) for trial in self._promising(support, rho, v, others)]
                best = max(trials, key=lambda found: found[0], default=None)
                if best is not None and best[0] > rho * (1 + GROWTH):
                    break
            else:
                break
            assert best is not None
            rho, v, support = best
        return rho, support, v

    def _outside(self, support: Indices, v: Array) -> list[Indices]:
        """Candidates to come in: those that pull most, then all."""
        free = self.usable.copy()
        free[support] = False
        others = np.flatnonzero(free)
        if len(others) <= 2 * SHORTLIST:
            return [others] if len(others) else []
        pull = np.abs(self.view.gram_columns(support) @ v)[others] / self.scale[others]
        return [others[np.argpartition(-pull, SHORTLIST)[:SHORTLIST]], others]

    def _promising(self, support: Indices, rho: float, v: Array, others: Indices) -> list[Indices]:
        """Supports one swap away that beat rho, judged for all swaps from one decomposition.

        With N = rho M - B, N_SS v = 0 and P = pinv(N_SS): replacing i by j raises the quotient exactly where
        N_jj < the Schur complement of the others, which for all (j, i) is a rank-two formula in P.
        """
        if rho <= 0:
            return []
        N = self._shifted(support, rho)
        inside, cross = N[support], N[others]
        P = np.linalg.pinv((inside + inside.T) / 2, hermitian=True, rcond=1e-10)
        C = cross @ P
        small = 1e-7 * np.abs(v).max()
        pivots = np.where(np.abs(v) < small, np.where(v < 0, -small, small), v)
        t = np.multiply.outer(cross @ v, 1.0 / pivots)
        phi = np.einsum("ij,ij->i", cross, C)[:, None] + t * (t * np.diagonal(P) - 2 * C)
        square = np.square(self.scale[others])
        phi = (phi - (rho * square - self._worth[others])[:, None]) / square[:, None]
        few = min(VERIFIED, phi.size)
        order = np.argpartition(-phi, few - 1, axis=None)[:few]
        order = order[np.lexsort((order, -phi.flat[order]))]
        pairs = [divmod(int(flat), len(support)) for flat in order if phi.flat[flat] > 0]
        return [np.append(np.delete(support, slot), others[j]) for j, slot in pairs]

    def _shifted(self, support: Indices, rho: float) -> Array:
        """Columns of N = rho M - B."""
        N = -self.view.gram_columns(support)
        if self.metric is None:
            N[support, np.arange(len(support))] += rho
            return N
        return N + rho * self.metric.columns(support)

    def grown(self, size: int, start: Indices | None = None) -> Indices:
        """A support by forward selection: each feature the one that pulls the direction most."""
        single = np.divide(self._worth, np.square(self.scale), out=np.zeros_like(self.scale), where=self.usable)
        support = np.array([first_largest(single)], dtype=np.intp) if start is None else start
        free = self.usable.copy()
        free[support] = False
        while len(support) < min(size, int(self.usable.sum())):
            rho, v = self.solve(support)
            slope = np.square(self._shifted(support, rho) @ v)  # N v = 0 inside: what outside pulls
            slope = np.divide(slope, np.square(self.scale), out=np.full_like(slope, -1.0), where=free)
            support = np.append(support, first_largest(slope))
            free[support[-1]] = False
        return support


def component_of(support: Indices, v: Array, value: float) -> Component:
    """A direction brought to unit norm and one sign, on its sorted support without zeros."""
    order = np.argsort(support)
    support, v = support[order], v[order]
    kept = np.abs(v) > 1e-12 * np.abs(v).max(initial=0.0)
    support, v = support[kept], v[kept] / max(float(np.linalg.norm(v[kept])), np.finfo(float).tiny)
    return Component(support, v * orientations(v[:, None])[0] if len(v) else v, value)
