"""The perspective relaxation: upper bounds on the variance that r of some columns capture, for many sets at once.

J(S) is the sum of the k largest eigenvalues of C_SS relative to A_SS. For every mu > 0 and W with WW' <= C

    J(S) <= k mu + tr(W_S' M_SS^-1 W_S - mu I)_+,    M = A - (C - WW') / mu,

where X_+ has the positive eigenvalues of X. W belongs to the eigenvalues above mu, so that this is a regression on the
columns in S, with the other eigenvalues as noise. Take M = B + Diag(delta) apart with B >= 0 and delta > 0. Then

    W_S' M_SS^-1 W_S <= Y'BY + sum over j in S of s_j s_j',    s_j = (W - BY)_j / sqrt(delta_j),

for every Y: a sum over the columns that are chosen, whose largest value is the r longest s_j. The best Y belongs to
the perspective relaxation of the regression [frangioni2006, Sec. 2], in which columns are chosen in part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparing.linalg.rounding import NEARLY_COLLINEAR, TINY, whitening_margin
from sparing.proof_limits import SCHEDULES
from sparing.results import Array, Indices
from sparing.rules import Mask


class Completions(NamedTuple):
    """Supports of one node that have most columns in common: those kept, and some of the free ones."""

    node: int
    kept: Indices  # places
    free: Indices
    added: Indices  # rows of numbers of free places

    @property
    def supports(self) -> Indices:
        """The places of each support."""
        return np.column_stack([np.tile(self.kept, (len(self.added), 1)), self.free[self.added]])


@dataclass(frozen=True)
class Relaxed:
    """Results of the relaxation for N nodes with Q column slots each; all bounds are rounded up.

    Attributes
    ----------
    bound : ndarray of shape (N,)
        What no choice of columns captures more than.
    gains : ndarray of shape (N, Q)
        |s_j|^2: a choice whose gains are less than the largest by some amount captures less than ``bound`` by as much,
        or by ``room`` where that is less.
    room : ndarray of shape (N,)
    shares : ndarray of shape (N, Q)
        How much of each column the relaxation chooses.
    whole : ndarray of shape (N,)
        J of all columns.
    missed : ndarray of shape (N, Q)
        By how much J of all columns falls at least if one of them goes.
    """

    bound: Array
    gains: Array
    room: Array
    shares: Array
    whole: Array
    missed: Array
    _regression: tuple[Array, Array]
    is_trace: Mask
    _rounding: Array

    def may_exceed(self, target: float, tried: Sequence[Completions]) -> list[Mask]:
        """Which of these supports may capture more than the target?

        Where all eigenvalues above mu are among the k largest, and far enough above it, W_S' M_SS^-1 W_S need not be
        decomposed: its trace shows it. The columns that supports have in common are eliminated once; then all supports
        with as many others at once, column by column of their Cholesky factors.
        """
        possible = [np.ones(len(one.added), dtype=bool) for one in tried]
        by_size = dict[int, list[int]]()
        for number, one in enumerate(tried):
            if self.is_trace[one.node]:
                by_size.setdefault(one.added.shape[1], []).append(number)
        for numbers in by_size.values():
            parts = [(tried[number].added, *self._eliminated(tried[number])) for number in numbers]
            M = np.concatenate([M[added[:, :, None], added[:, None, :]] for added, _, M, _ in parts])
            W = np.concatenate([W[added] for added, _, _, W in parts])
            counts, known = [len(added) for added, *_ in parts], [known for _, known, _, _ in parts]
            needed = target - self._rounding[[tried[number].node for number in numbers]] - known
            exceeds = _explained(M, W) > np.repeat(needed, counts)
            for number, those in zip(numbers, np.split(exceeds, np.cumsum(counts)[:-1]), strict=True):
                possible[number] = those
        return possible

    def _eliminated(self, one: Completions) -> tuple[float, Array, Array]:
        """tr(W_S' M_SS^-1 W_S) of the columns that stay; M and W of the others, with those regressed out."""
        M, W = (matrices[one.node] for matrices in self._regression)
        if len(one.kept) == 0:
            return 0.0, M[np.ix_(one.free, one.free)], W[one.free]
        across, inside = M[np.ix_(one.kept, one.free)], M[np.ix_(one.kept, one.kept)]
        X = np.linalg.solve(inside, np.hstack([across, W[one.kept]]))
        count, left = len(one.free), across.T @ X
        rest = W[one.free] - left[:, count:]
        return float(np.vdot(W[one.kept], X[:, count:])), M[np.ix_(one.free, one.free)] - left[:, :count], rest


def _explained(M: Array, W: Array) -> Array:
    """tr(W' M^-1 W) of many small M and W, (N, p, p) and (N, p, q)."""
    size, total = M.shape[1], np.zeros(len(M))
    entries, images = np.moveaxis(M, 0, 2).copy(), np.moveaxis(W, 0, 2).copy()
    factor = np.empty(entries.shape)
    for i in range(size):
        for j in range(i + 1):
            value = entries[i, j]
            for m in range(j):
                value -= factor[i, m] * factor[j, m]
            factor[i, j] = np.sqrt(np.maximum(value, NEARLY_COLLINEAR)) if i == j else value / factor[j, j]
        for m in range(i):
            images[i] -= factor[i, m] * images[m]
        images[i] /= factor[i, i]
        total += np.square(images[i]).sum(axis=0)
    return np.asarray(total)


@dataclass(frozen=True)
class Columns:
    """Padded columns of N nodes, (N, Q): which places have one, which of these are chosen anyway, how many in all."""

    here: Mask
    kept: Mask
    size: int

    @property
    def free(self) -> Mask:
        """Columns that may be chosen or not."""
        return self.here & ~self.kept

    @property
    def open_places(self) -> Indices:
        """Number of undecided features that may still be chosen."""
        return np.asarray(np.maximum(self.size - self.kept.sum(axis=1), 0))


def relaxed(A: Array | None, C: Array, rank: int, nodes: Columns, shares: Array, target: float, steps: int) -> Relaxed:
    """The relaxation of nodes whose columns have matrices A and C, (N, Q, Q).

    A has unit diagonal, and is the identity where there is no column; None stands for the identity everywhere. C is 0
    where there is no column. ``shares`` is the fractional choice to start from, ``target`` the value to be refuted.
    Bounds of nearly collinear columns are infinite.
    """
    size, inverse, factor = C.shape[1], None, None
    if A is None:
        squares, G = np.full(len(C), float(size)), C
    else:
        factor, regular = _factors(A)
        inverse = np.linalg.inv(factor)
        squares = np.where(regular, np.square(inverse).sum(axis=(1, 2)), np.inf)
        G = inverse @ C @ inverse.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh((G + G.transpose(0, 2, 1)) / 2)
    values, vectors = np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]
    whole = values[:, :rank].sum(axis=1) + rank * whitening_margin(size, squares) * values[:, 0]
    whole = np.where(squares < 1 / NEARLY_COLLINEAR, whole, np.inf)

    level = _levels(values, rank, whole - target)
    above = values > level[:, None]
    damping = np.where(above, 1.0, 1.0 - values / level[:, None])  # V'L^-1 M L^-T V
    usable = np.isfinite(whole) & (damping.min(axis=1) > NEARLY_COLLINEAR)
    amplified = squares * (1 + values[:, 0] / level) / np.where(usable, damping.min(axis=1), NEARLY_COLLINEAR)
    usable &= amplified < 1 / NEARLY_COLLINEAR
    rounding = np.where(usable, 16 * rank * whitening_margin(size, amplified) * values[:, 0], np.inf)

    highest = slice(min(rank + 1, size))  # a level is below the first k + 1 eigenvalues at most
    W = vectors[:, :, highest] * np.sqrt(values * above)[:, None, highest]
    W, whole_A = (W, np.eye(size)) if A is None else (factor @ W, A)
    M = np.where(usable[:, None, None], whole_A - (C - W @ W.transpose(0, 2, 1)) / level[:, None, None], np.eye(size))
    back = vectors.transpose(0, 2, 1) if inverse is None else vectors.transpose(0, 2, 1) @ inverse
    deltas = _diagonal(back.transpose(0, 2, 1) @ (back / np.maximum(damping, NEARLY_COLLINEAR)[:, :, None]), nodes.free)
    missed = np.maximum(_missed(values, back, rank) - rounding[:, None], 0.0)
    shares = _scaled(shares, nodes)
    for step in range(steps):
        shares = np.where(nodes.free, np.clip(shares, SCHEDULES.least_choice, 1.0), 1.0)
        Y = np.linalg.solve(M + np.eye(size) * (deltas * (1 / shares - 1))[:, :, None], W)
        if step < steps - 1:
            lengths = np.sqrt(deltas * np.square(Y).sum(axis=2))
            shares = _shared_out(np.where(nodes.free, lengths, 0.0), nodes.open_places)

    BY = M @ Y - deltas[:, :, None] * Y
    s = (W - BY) / np.sqrt(deltas)[:, :, None] * nodes.here[:, :, None]
    gains = np.square(s).sum(axis=2)
    price = _price(np.where(nodes.free, gains, -1.0), nodes.open_places)
    unpaid = np.divide(price[:, None], gains, out=np.ones(gains.shape), where=gains > price[:, None])
    weights = np.where((nodes.open_places > 0)[:, None] & nodes.free, 1 - unpaid, nodes.kept)
    X = Y.transpose(0, 2, 1) @ BY + (s * weights[:, :, None]).transpose(0, 2, 1) @ s
    excess = np.linalg.eigvalsh((X + X.transpose(0, 2, 1)) / 2)[:, ::-1] - level[:, None]
    bound = rank * level + nodes.open_places * price + np.maximum(excess, 0.0).sum(axis=1) + rounding
    count = np.maximum(above.sum(axis=1), 1)
    room = np.where(usable, np.maximum(np.take_along_axis(excess, count[:, None] - 1, axis=1)[:, 0], 0.0), 0.0)
    spread = np.take_along_axis(values, count[:, None] - 1, axis=1)[:, 0] - level
    is_trace = usable & (above.sum(axis=1) == rank) & (spread >= whole - target)
    bound = np.where(usable, np.minimum(whole, bound), whole)
    return Relaxed(bound, gains, np.where(bound < whole, room, 0.0), shares, whole, missed, (M, W), is_trace, rounding)


def _factors(A: Array) -> tuple[Any, Any]:
    """The Cholesky factors, and which of them there are; the identity in place of the others."""
    try:
        return np.linalg.cholesky(A), np.ones(len(A), dtype=bool)
    except np.linalg.LinAlgError:
        if len(A) == 1:
            return np.eye(A.shape[1])[None], np.zeros(1, dtype=bool)
    halves = [_factors(half) for half in np.array_split(A, 2)]
    return np.concatenate([factor for factor, _ in halves]), np.concatenate([regular for _, regular in halves])


def _levels(values: Array, rank: int, needed: Array) -> Array:
    """mu for each node: below the k-th eigenvalue by the amount that the bound must fall, or in the wider gap below
    it."""
    padded = np.pad(values, ((0, 0), (0, max(rank + 2 - values.shape[1], 0))))
    kth, next_one, after = (padded[:, rank + i] for i in (-1, 0, 1))
    gap, wider = kth - next_one, next_one - after
    least, middle, low = SCHEDULES.level_shares
    enough = kth - needed >= next_one + least * gap
    level = np.where(enough, np.minimum(kth - needed, next_one + (1 - low) * gap), next_one + middle * gap)
    level = np.where(~enough & (wider > 2 * gap), after + low * wider, level)
    return np.asarray(np.maximum(level, np.maximum(values[:, 0] * NEARLY_COLLINEAR, TINY)))


def _missed(values: Array, back: Array, rank: int) -> Array:
    """Lower bound of the decrease of the k largest eigenvalues when one column is removed.

    The same regression on all columns but one. The level is anywhere between two eigenvalues, the best for each column.
    """
    padded = np.pad(values, ((0, 0), (0, max(rank + 1 - values.shape[1], 0))))
    kth, gap, squares = padded[:, rank - 1], padded[:, rank - 1] - padded[:, rank], np.square(back)
    explained = np.einsum("nij,ni->nj", squares[:, :rank], values[:, :rank])
    most = np.zeros(explained.shape)
    for share in SCHEDULES.missed_levels:
        level = np.maximum(kth - share * gap, TINY)[:, None]
        damping = np.maximum(1 - values[:, rank:] / level, NEARLY_COLLINEAR)
        own = squares[:, :rank].sum(axis=1) + np.einsum("nij,ni->nj", squares[:, rank:], 1 / damping)
        most = np.maximum(most, np.minimum(explained / own, share * gap[:, None]))
    return most


def _diagonal(inverse: Array, free: Mask) -> Array:
    """delta with Diag(delta) <= M, of which the inverse is given: the same share of 1 / (M^-1)_jj for all free columns.

    That is less than they could have if each were for itself; for columns that are kept, which need none, a hundredth.
    """
    own = np.einsum("nii->ni", inverse)
    weights = np.where(free, 1.0, 0.1) / np.sqrt(own)
    scaled = inverse * (weights[:, :, None] * weights[:, None, :])
    return np.asarray(np.square(weights) / (np.linalg.eigvalsh(scaled)[:, -1:] * (1 + 1e-9)))


def _scaled(shares: Array, nodes: Columns) -> Array:
    """Shares of free columns that sum to the open places."""
    total = np.where(nodes.free, shares, 0.0).sum(axis=1)
    return np.asarray(shares * (nodes.open_places / np.maximum(total, TINY))[:, None])


def _shared_out(lengths: Array, places: Indices) -> Array:
    """Shares in proportion to these lengths, at most 1, that sum to the number of places."""
    falling = -np.sort(-lengths, axis=1)
    left = places[:, None] - np.arange(lengths.shape[1])
    level = np.cumsum(falling[:, ::-1], axis=1)[:, ::-1] / np.maximum(left, TINY)
    first = ((falling <= level) | (left <= 1)).argmax(axis=1)
    return np.asarray(lengths / np.maximum(np.take_along_axis(level, first[:, None], axis=1), TINY))


def _price(gains: Array, places: Indices) -> Array:
    """The gain of the last column that gets a slot; 0 if there are at least as many slots as columns."""
    falling = -np.sort(-gains, axis=1)
    last = np.clip(places - 1, 0, gains.shape[1] - 1)[:, None]
    return np.where(places > 0, np.maximum(np.take_along_axis(falling, last, axis=1)[:, 0], 0.0), 0.0)
