"""One sparse direction v that maximises v'Bv / v'Mv: exact on a support, all swaps of features scored at once.

Variance and loss of one component, the others fixed, are both such quotients; only B and M differ. Both are seen
through columns of the features in use, so that nothing of size d x d is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.krylov import block_krylov
from sparing.linalg.metric import Metric, OrthogonalTo
from sparing.linalg.rounding import first_largest, orientations
from sparing.linalg.truncation import keep_largest
from sparing.results import Array, Component, Indices
from sparing.search_limits import SEARCH

NULL = 1e-10
"""Quotients within this share of the best count as equal to it."""

GROWTH = 1e-9

BY_PRODUCTS, ACCURACY = 1024, 1e-10
"""Number of nonzeros from which loadings are computed by products alone, and their relative error."""


@dataclass(frozen=True)
class Solved:
    """The quotients of a support in rising order, with directions V such that V'MV = I and V'BV is diagonal."""

    values: Array
    directions: Array

    @property
    def rho(self) -> float:
        """The best quotient; 0 if there is no direction."""
        return float(self.values[-1]) if len(self.values) else 0.0

    @property
    def v(self) -> Array:
        """Its direction."""
        return self.directions[:, -1] if len(self.values) else np.zeros(len(self.directions))

    @property
    def inverse(self) -> Array:
        """P with N P N = N for N = rho M - B: all that swaps need to know."""
        below = self.rho - self.values
        others = below > NULL * abs(self.rho)
        V = self.directions[:, others]
        return (V / below[others]) @ V.T


class RayleighObjective:
    """The problem max v'Bv / v'Mv over v with at most r nonzeros; M is the identity if no metric is given."""

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

    def restricted(self, J: Indices) -> RayleighObjective:
        """The same problem on the features J alone, in memory."""
        inside = view_of_gram(self.view.restricted(J).gram(), is_psd=self.view.is_psd, psd_slack=self.view.psd_slack)
        return RayleighObjective(inside, None if self.metric is None else self.metric.restricted(J))

    def gradient_candidates(self, x: Array, n_features: int, outside: Indices) -> Indices:
        """The features, without those given, that pull a direction x (d entries) most; one product with B."""
        pull = np.abs(self.view.gram_matmat(x[:, None])[:, 0]) / np.where(self.usable, self.scale, np.inf)
        pull[outside] = -1.0
        return np.argpartition(-pull, min(n_features, len(pull)) - 1)[:n_features]

    def slope(self, rho: float, x: Array) -> Array:
        """(B - rho M)x for a direction x of quotient rho: where positive, more of that feature raises it."""
        slope = self.view.gram_matmat(x[:, None])[:, 0]
        return slope - rho * (x if self.metric is None else self.metric.matmat(x[:, None])[:, 0])

    def at_counts(self, x: Array, counts: Indices, steps: int) -> tuple[Array, Array]:
        """Quotients and directions (columns) of several counts after some truncated steps from x, all of them at once.

        A step is x <- the largest of (B - rho M)x + curb x with curb such that the matrix is about positive
        semidefinite, so that the quotient does not fall; for M = I and positive semidefinite B that is Bx.
        """
        X = self._cut(np.repeat(x[:, None], len(counts), axis=1), counts)
        best, values = X, np.full(len(counts), -np.inf)
        for step in range(steps):
            BX, MX = self.view.gram_matmat(X), X if self.metric is None else self.metric.matmat(X)
            below = np.einsum("ij,ij->j", X, MX)
            now = np.where(below > 0, np.einsum("ij,ij->j", X, BX) / np.where(below > 0, below, 1.0), -np.inf)
            best = np.where(now > values, X, best)
            values = np.maximum(now, values)
            if step < steps - 1:
                curb = np.array([self._curb(rho) for rho in np.where(below > 0, now, 0.0)])
                X = self._cut(BX - np.where(below > 0, now, 0.0) * MX + curb * X, counts)
        return values, best

    def _curb(self, rho: float) -> float:
        """The shift that makes B - rho M + curb I roughly positive semidefinite, so that a truncated power step does
        not decrease."""
        least = 0.0 if self.view.is_psd else float(np.abs(self.view.gram_diagonal()).max())
        return least + max(rho, 0.0) * float(np.square(self.scale).max())

    def _cut(self, V: Array, counts: Indices) -> Array:
        """Columns cut to their largest entries and normalised; zero if nothing is left."""
        cut = keep_largest(np.where(self.usable[:, None], V, 0.0), counts.tolist())
        lengths = np.linalg.norm(cut, axis=0)
        return np.asarray(cut / np.where(lengths > np.finfo(float).tiny, lengths, np.inf))

    def solve(self, support: Indices) -> tuple[float, Array]:
        """The best quotient on a support, and its v (of the support's length)."""
        if self.wide(support):
            return self._from_products(support)
        if len(support) and self.metric is None:
            values, vectors = top_eigenpairs(self.view.restricted(support).gram(), 1)
            return float(values[0]), vectors[:, 0]
        solved = self._solved(support)
        return solved.rho, solved.v

    def wide(self, support: Indices) -> bool:
        """Whether features outnumber rows so much that products with A cost less than its block on them."""
        n, plain = self.view.n_samples, self.metric is None and self.view.is_psd and not self.view.has_gram
        return plain and n is not None and len(support) > max(BY_PRODUCTS, n)

    def _from_products(self, support: Indices) -> tuple[float, Array]:
        """The best quotient on a support from products with A alone."""

        def inside(V: Array) -> Array:
            whole = np.zeros((self.view.n_features, V.shape[1]))
            whole[support] = V
            return self.view.gram_matmat(whole)[support]

        size, total = len(support), float(self._worth[support].sum())
        found = block_krylov(inside, size, 1, total, np.random.default_rng(0), tolerance=ACCURACY)
        return float(found.values[0]), found.vectors[:, 0]

    def _solved(self, support: Indices) -> Solved:
        """All quotients on a support."""
        inside = self.view.restricted(support).gram()
        if self.metric is None:
            return Solved(*np.linalg.eigh(inside))
        rotation = self.metric.whitening(support)
        values, vectors = np.linalg.eigh(rotation.T @ inside @ rotation)
        return Solved(values, rotation @ vectors)

    def component(self, support: Indices) -> Component:
        """The best direction on a support; features that it does not need are left out."""
        support = np.sort(support)
        value, v = self.solve(support)
        return component_of(support, v, value)

    def improved(self, support: Indices, max_swaps: int) -> tuple[float, Indices, Array]:
        """Swap single features while the quotient grows: (quotient, support, v); fewer swaps if each is expensive."""
        r = len(support)
        max_swaps = min(max_swaps, int(SEARCH.swap_work / (self.view.n_features * r + (1 + SEARCH.verified) * r**3)))
        if max_swaps == 0:
            rho, v = self.solve(support)
            return rho, support, v
        now = self._solved(support)
        for _ in range(max_swaps):
            for others in self._outside(support, now):
                trial = self._better(support, now, others)
                if trial is not None:
                    support, now = trial
                    break
            else:
                break
        return now.rho, support, now.v

    def _better(self, support: Indices, now: Solved, others: Indices) -> tuple[Indices, Solved] | None:
        """A support one swap away that really is better: the first that is promised to be, or the best of several.

        The predicted gain is nearly exact, except where directions are forbidden.
        """
        thorough = self._thorough
        trials = ((trial, self._solved(trial)) for trial in self._promising(support, now, others))
        better = (pair for pair in trials if pair[1].rho > now.rho * (1 + GROWTH))
        return max(better, key=lambda pair: pair[1].rho, default=None) if thorough else next(better, None)

    @property
    def _thorough(self) -> bool:
        """Is each swap evaluated that may be the best, because that costs little or promises are rough?"""
        return self.view.n_features <= SEARCH.verified_all or isinstance(self.metric, OrthogonalTo)

    def _outside(self, support: Indices, now: Solved) -> list[Indices]:
        """Candidates to enter: first those with the largest gradient, then all."""
        free = self.usable.copy()
        free[support] = False
        others = np.flatnonzero(free)
        if now.rho <= 0 or len(others) == 0:
            return []
        if len(others) <= 2 * SEARCH.shortlist:
            return [others]
        pull = np.abs(self.view.gram_columns(support) @ now.v)[others] / self.scale[others]
        return [others[np.argpartition(-pull, SEARCH.shortlist)[: SEARCH.shortlist]], others]

    def _promising(self, support: Indices, now: Solved, others: Indices, most: int = SEARCH.verified) -> list[Indices]:
        """At most this number of supports one swap away that improve the value, all evaluated from one decomposition.

        With N = rho M - B, N_SS v = 0 and P a generalized inverse of N_SS: replacing i by j raises the quotient exactly
        where N_jj < the Schur complement of the others, which for all (j, i) is a rank-two formula in P. By how much is
        estimated, for the few best of them, by a step of Newton's: the direction with v_j = 1 and v_i = 0 that solves
        the other equations, and what it measures by M.
        """
        rho, v = now.rho, now.v
        N = self._shifted(support, rho)
        if isinstance(self.metric, OrthogonalTo):  # what was solved leaves out directions that a new feature may allow
            inside = N[support]
            P = np.linalg.pinv((inside + inside.T) / 2, hermitian=True, rcond=NULL)
        else:
            P = now.inverse
        cross = N[others]
        C = cross @ P
        small = 1e-7 * np.abs(v).max()
        pivots = np.where(np.abs(v) < small, np.where(v < 0, -small, small), v)
        t = (cross @ v)[:, None] / pivots
        square = np.square(self.scale[others])
        phi = t * np.diagonal(P)
        phi -= 2 * C
        phi *= t
        phi += (np.einsum("ij,ij->i", cross, C) + self._worth[others] - rho * square)[:, None]
        better = np.flatnonzero(phi > 0)
        if len(better) == 0:
            return []
        scores = phi.flat[better]
        rows, slots = np.divmod(better, len(support))
        if len(better) > SEARCH.sketched:
            few = np.argpartition(-scores / square[rows], SEARCH.sketched - 1)[: SEARCH.sketched]
            rows, slots, scores = rows[few], slots[few], scores[few]
        if self._thorough:  # then the estimate, which takes M for its diagonal, decides nothing
            order = np.lexsort((rows * len(support) + slots, -scores / square[rows]))[:most]
            return [np.append(np.delete(support, slots[p]), others[rows[p]]) for p in order]
        t = t[rows, slots][:, None]
        solution = t * P[slots] - C[rows]
        solution -= np.multiply.outer(solution[np.arange(len(slots)), slots] / pivots[slots], v)
        length = np.square(self.scale[others[rows]]) + np.square(solution).sum(axis=1)
        order = np.lexsort((rows * len(support) + slots, -scores / length))[:most]
        return [np.append(np.delete(support, slots[p]), others[rows[p]]) for p in order]

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
            n_new = min(max(1, len(support) // SEARCH.stride), size - len(support), int(free.sum()))
            new = np.flatnonzero(keep_largest(slope[:, None] + 1.0, n_new)) if n_new > 1 else [first_largest(slope)]
            support = np.append(support, new)
            free[new] = False
        return support


def component_of(support: Indices, v: Array, value: float) -> Component:
    """A direction normalised to unit norm and a fixed sign, on its sorted support without zeros."""
    order = np.argsort(support)
    support, v = support[order], v[order]
    kept = np.abs(v) > 1e-12 * np.abs(v).max(initial=0.0)
    support, v = support[kept], v[kept] / max(float(np.linalg.norm(v[kept])), np.finfo(float).tiny)
    return Component(support, v * orientations(v[:, None])[0] if len(v) else v, value)
