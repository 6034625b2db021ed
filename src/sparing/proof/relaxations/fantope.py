"""The semidefinite relaxation of several orthogonal sparse components, solved together with its dual.

max tr(AM) over 0 <= M <= I of trace k with sum |M_ij| <= s: the projection M = HH' on orthonormal columns with r_j
nonzeros is such a matrix for s = r_1 + ... + r_k, because |hh'|_1 = |h|_1^2 <= r_j. For every symmetric Y whatever no
such projection exceeds the sum of the k largest eigenvalues of A - Y plus s max|Y_ij|, and the best Y makes that equal
to the largest tr(AM).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import minimize

from sparing.gram import view_of_gram
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.rounding import EPS
from sparing.objectives.variance import RayleighObjective
from sparing.proof.relaxations.semidefinite import Alternation, into_l1_ball, made_feasible
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search.truncated_power import truncated_powers
from sparing.search_limits import SEARCH


def relaxed_projection(
    A: Array, rank: int, radius: float, *, max_iter: int, tolerance: float, budget: Budget
) -> tuple[Array, Array]:
    """A feasible M and a dual Y (d x d), by the alternating direction method of [vu2013, Alg. 1] for a fixed l1 norm.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    rank : int
        The trace k of M; with 1 this is :func:`~sparing.proof.relaxations.semidefinite.relaxed`.
    radius : float
        The bound on the sum of all |M_ij|, at least k.
    max_iter : int
        Iterations at most, one eigendecomposition each.
    tolerance : float
        Stops when the dual value exceeds tr(AM) by at most this share.
    budget : Budget

    Notes
    -----
    **Differs from the paper.** The l1 norm is constrained, not penalised. The penalty parameter follows the residuals.
    M is made feasible: its diagonal is in the Fantope too, and mixing the two stays there. Returns the best M and the
    best Y of all iterates; each is valid without the other.
    """
    return projection_relaxation(A, rank, radius).run(max_iter, tolerance, budget)


def projection_relaxation(A: Array, rank: int, radius: float) -> Alternation:
    """The same before its first iteration."""
    return Alternation(
        A,
        rank,
        lambda W, guess: on_fantope(W, rank, guess),
        lambda W: into_l1_ball(W, radius),
        lambda M: rank * made_feasible(M / rank, radius / rank),
        lambda Y: projection_value(A, Y, rank, radius),
    )


def projection_value(A: Array, Y: Array, rank: int, radius: float) -> float:
    """An upper bound on tr(PA) over projections P of this rank with sum |P_ij| <= radius, from any symmetric Y; rounded
    up.

    tr(PA) = tr(P(A - Y)) + tr(PY) <= the k largest eigenvalues of A - Y [fan1949, Theorem 1] + radius max|Y_ij|.
    """
    price = radius * float(np.abs(Y).max())
    rounding = 8 * len(A) * EPS * (rank * scale_of(A) + price)
    return leading_sum(A - Y, rank) + price + rounding


def leading_sum(W: Array, rank: int) -> float:
    """The sum of the ``rank`` largest eigenvalues, rounded up: an upper bound on tr(PW) over projections P of rank
    k."""
    values = np.linalg.eigvalsh(W)
    rounding = 8 * len(W) * EPS * float(np.abs(values).max())
    return float(values[len(W) - rank :].sum()) + rank * rounding


def scale_of(A: Array) -> float:
    """Size of the entries, for the rounding errors of differences of matrices."""
    return float(np.abs(A).max())


def in_own_unit(A: Array) -> tuple[float, Array]:
    """The size of A, and A divided by it and cut to ten digits: for searches whose end hangs on the last ones.

    So the same data in other units lead to the same witness; a bound is computed from A itself.
    """
    scale = scale_of(A) or 1.0
    return scale, np.round(A / scale, 10)


def on_fantope(W: Array, rank: int, guess: int) -> tuple[Array, int]:
    """The nearest 0 <= M <= I of trace ``rank``, and how many eigenvalues it has; ``guess`` is that from above.

    Its eigenvalues are those of W less a shift, cut off at 0 and 1 [vu2013, Alg. 1].
    """
    d = len(W)
    while True:
        values, vectors = top_eigenpairs(W, min(guess, d))
        shift = _shift(values, rank)
        kept = int(np.count_nonzero(values > shift))
        if kept < len(values) or kept == d:
            values, vectors = np.clip(values[:kept] - shift, 0.0, 1.0), vectors[:, :kept]
            return (vectors * values) @ vectors.T, kept
        guess *= 2


def _shift(values: Array, rank: int) -> float:
    """The t with sum of min(max(values - t, 0), 1) = rank, for falling values; it falls in t and is linear between."""
    corners = np.sort(np.concatenate([values, values - 1.0]))[::-1]
    filled = np.clip(values[None, :] - corners[:, None], 0.0, 1.0).sum(axis=1)  # rises along the corners
    at = int(np.searchsorted(filled, rank))
    if at >= len(corners):  # too few values to fill the trace: the last corner has all of them at one
        return float(corners[-1])
    if at == 0 or filled[at] == rank:
        return float(corners[at])
    share = (rank - filled[at - 1]) / (filled[at] - filled[at - 1])
    return float(corners[at - 1] + share * (corners[at] - corners[at - 1]))


def split(A: Array, Y: Array, rank: int) -> Array:
    """W = (A - Y - mu I)_+ with mu the k-th eigenvalue of A - Y: the part of A that all components share.

    tr W + k lambda_max(A - W - Y) is the sum of the k largest eigenvalues of A - Y, so A - W is to be bounded for one
    component at a time, by this Y or by anything better.
    """
    values, vectors = np.linalg.eigh(A - Y)
    above = np.maximum(values - values[len(A) - rank], 0.0)
    return np.asarray((vectors * above) @ vectors.T)


def top_of_all(B: Array, size: int) -> float | None:
    """lambda_max over all supports of ``size``, rounded up; None if there are too many of them."""
    d = len(B)
    if size >= d:
        return leading_sum(B, 1)
    if comb(d, size) > LIMITS.enumerated_supports:
        return None
    return float(_tops(B, supports_of_size(d, size))[0].max()) + 8 * d * EPS * d * scale_of(B)


class PartSearch(ABC):
    """Rounds of a search for the W that makes a convex function small; whatever it returns proves a bound.

    Maxima over directions (rows of ``known``) and the sum of the k largest eigenvalues are smoothed, and after each
    round the directions that now have most variance in A - W join them. How good W is depends on the directions found.
    """

    def __init__(self, A: Array, start: Array) -> None:
        self.A, self.W, self.best, self.reached = A, start, start, np.inf
        self.scale, self.rounds, self._seen = float(np.abs(np.linalg.eigvalsh(A)).max()), 0, False

    def run(self, rounds: int, budget: Budget) -> Array:
        """The best W after so many rounds, with those of earlier calls."""
        while True:
            if not self._seen:
                if (value := self._look(budget)) < self.reached:
                    self.best, self.reached = self.W, value
                self._seen = True
            if self.rounds >= rounds or budget.expired or self.scale == 0:
                return self.best
            width = max(SCHEDULES.smoothed_first * SCHEDULES.sharpened**self.rounds, SCHEDULES.smoothed_last)
            self.W = self._moved(self.scale * width, SCHEDULES.nearness / self.scale)
            self.rounds, self._seen = self.rounds + 1, False

    @abstractmethod
    def _look(self, budget: Budget) -> float:
        """The function at W, as far as directions are found."""

    @abstractmethod
    def _moved(self, width: float, weight: float) -> Array:
        """W after some steps towards the minimum of the smoothed function; the weight is that of the distance."""

    def _joined(self, known: Array, found: Array, width: float) -> Array:
        """The known directions that still have much variance, and those that were found."""
        variances = np.einsum("ij,ij->i", known @ (self.A - self.W), known)
        needed = (variances > variances.max() - SCHEDULES.cuts * width) | (np.arange(len(known)) < len(self.A))
        return np.vstack([known[needed], found])


class SharedPartSearch(PartSearch):
    """Makes the sum of the k largest eigenvalues of W plus all lambda^(t)(A - W), t in ``sizes``, small.

    lambda^(t) is the most variance of any t features: of all supports where these are at most ``enumerated``.
    ``weights`` by size replace how often a size is in ``sizes``.
    """

    def __init__(
        self,
        A: Array,
        sizes: Sequence[int],
        start: Array,
        *,
        enumerated: int = LIMITS.enumerated_supports,
        weights: Mapping[int, float] | None = None,
    ) -> None:
        super().__init__(A, start)
        self.rank, self.enumerated = len(sizes), enumerated
        self.counts = dict(weights or {t: list(sizes).count(t) for t in sorted(set(sizes))})
        self.known = {t: simple_directions(len(A), t) for t in self.counts}
        self.found = dict[int, Array]()

    def _look(self, budget: Budget) -> float:
        value = leading_sum(self.W, self.rank)
        for t, count in self.counts.items():
            most, self.found[t] = cutting_directions(self.A - self.W, t, self.known[t], budget, self.enumerated)
            value += count * most
        return value

    def _moved(self, width: float, weight: float) -> Array:
        self.known = {t: self._joined(X, self.found[t], width) for t, X in self.known.items()}
        cuts = [(self.known[t], count) for t, count in self.counts.items()]
        return _smoothly(self.A, self.W, cuts, self.rank, width, weight)


def _smoothly(A: Array, start: Array, cuts: list[tuple[Array, float]], rank: int, width: float, weight: float) -> Array:
    """W after some steps towards the minimum of the smoothed function over directions that are known."""
    full, entries_of = symmetric_variables(len(A))

    def function(entries: Array) -> tuple[float, Array]:
        W = full(entries)
        value, slope = smoothed_sum(W, rank, width)
        for X, count in cuts:
            variances = np.einsum("ij,ij->i", X @ (A - W), X)
            shares = np.exp((variances - variances.max()) / width)
            value += count * (float(variances.max()) + width * float(np.log(shares.sum())))
            slope = slope - count * ((X.T * (shares / shares.sum())) @ X)
        away = W - start
        slope = slope + 2 * weight * away
        return value + weight * float(np.vdot(away, away)), entries_of(slope)

    upper, steps = start[np.triu_indices(len(A))], SCHEDULES.smooth_steps
    return full(minimize(function, upper, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x)


def symmetric_variables(d: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """A symmetric matrix from its upper triangle, and the slope in these entries from the slope in the matrix."""
    upper = np.triu_indices(d)
    twice = np.where(upper[0] == upper[1], 1.0, 2.0)

    def full(entries: Array) -> Array:
        out = np.zeros((d, d))
        out[upper] = entries
        return out + np.triu(out, 1).T

    return full, lambda slope: np.asarray(slope[upper] * twice)


def smoothed_sum(W: Array, rank: int, width: float) -> tuple[float, Array]:
    """min over mu of k mu + sum of softplus(values - mu), and its slope: at most width d log 2 above the k largest."""
    values, vectors = np.linalg.eigh(W)
    low, high = values[0] - 40 * width, values[-1] + 40 * width
    mu = float(values[len(W) - rank])
    for _ in range(60):  # Newton's method within a bracket
        shares = 0.5 * (1 + np.tanh((values - mu) / (2 * width)))
        excess = float(shares.sum()) - rank
        if abs(excess) < 1e-12:
            break
        low, high = (mu, high) if excess > 0 else (low, mu)
        ahead = mu + excess * width / max(float((shares * (1 - shares)).sum()), EPS)
        mu = ahead if low < ahead < high else (low + high) / 2
    value = rank * mu + width * float(np.logaddexp(0.0, (values - mu) / width).sum())
    return value, (vectors * shares) @ vectors.T


def simple_directions(d: int, size: int) -> Array:
    """All features (rows), and all sums and differences of two of them if there are not too many."""
    eye = np.eye(d)
    if size < 2 or d > LIMITS.paired_features:
        return eye
    i, j = np.triu_indices(d, 1)
    return np.vstack([eye, (eye[i] + eye[j]) / np.sqrt(2), (eye[i] - eye[j]) / np.sqrt(2)])


def cutting_directions(B: Array, size: int, known: Array, budget: Budget, enumerated: int) -> tuple[float, Array]:
    """The most variance found on ``size`` features, and directions (rows) with much of it."""
    d = len(B)
    if size >= d:
        values, vectors = np.linalg.eigh(B)
        return float(values[-1]), vectors[:, ::-1].T[:8]
    if comb(d, size) <= enumerated:
        supports = supports_of_size(d, size)
    else:
        values, vectors = np.linalg.eigh(B)
        view = view_of_gram(B + max(-float(values[0]), 0.0) * np.eye(d))  # the order of supports stays
        starts = np.hstack([np.eye(d), vectors[:, -SCHEDULES.swapped_supports :]])
        X = truncated_powers(view, starts, size, max_iter=20, settled=3, budget=budget)
        full = known[np.count_nonzero(known, axis=1) == size]
        X = np.hstack([X, full[np.argsort(-np.einsum("ij,ij->i", full @ B, full), kind="stable")[: SCHEDULES.cuts]].T])
        supports = np.unique(np.sort(np.argsort(-np.abs(X), axis=0)[:size], axis=0).T, axis=0)
        first = np.argsort(-_tops(B, supports)[0], kind="stable")[: SCHEDULES.swapped_supports]
        swapped = [np.sort(RayleighObjective(view).improved(supports[at], SEARCH.alternation_swaps)[1]) for at in first]
        supports = np.unique(np.vstack([supports, *swapped]), axis=0)
    values, vectors = _tops(B, supports)
    order = np.argsort(-values, kind="stable")[: SCHEDULES.cuts]
    X = np.zeros((len(order), d))
    X[np.arange(len(order))[:, None], supports[order]] = vectors[order]
    return float(values.max()), X


def supports_of_size(d: int, size: int) -> Indices:
    """All supports of one size, one per row."""
    return np.array(list(combinations(range(d), size)), dtype=np.intp)


def _tops(B: Array, supports: Indices) -> tuple[Array, Array]:
    """The largest eigenvalue of each block, and its eigenvector."""
    values, vectors = np.linalg.eigh(B[supports[:, :, None], supports[:, None, :]])
    return values[:, -1], vectors[:, :, -1]
