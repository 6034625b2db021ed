"""Components without common features: which of them has which feature, and how that raises their variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sparing.gram import DataMatrix
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search_limits import SEARCH


def settled(
    view: DataMatrix, H: Array, sizes: list[int], pull: Callable[[Array], Array], growth: float, budget: Budget
) -> tuple[float, Array]:
    """Features shared out among directions (columns of H) while the sum of variances rises; and that sum.

    With p = Ax for each direction, 2 x'p - constant is below x'Ax and touches it where x is now, so that whoever raises
    the sum of |p on its features| raises the sum of variances. The square roots are bounded by their tangents likewise.
    ``pull`` returns the part of p that may be used.
    """
    P = view.gram_matmat(H)
    value = float(np.einsum("ij,ij->", H, P))
    for _ in range(SEARCH.sharing_turns):
        pulls, now = pull(P), H != 0
        roots = np.sqrt(np.einsum("ij,ij->j", np.square(pulls), now.astype(float)))
        roots = np.where(roots > 0, roots, np.linalg.norm(pulls, axis=0))  # of one whose features all pull back
        owned = share_out(np.square(pulls) / np.where(roots > 0, roots, 1.0), now, sizes)
        after = np.where(owned, pulls, 0.0)
        lengths = np.linalg.norm(after, axis=0)
        if not (lengths > 0).all():
            break
        after /= lengths
        products = view.gram_matmat(after)
        higher = float(np.einsum("ij,ij->", after, products))
        if higher <= value * (1 + growth) or budget.expired:
            break
        value, H, P = higher, after, products
    return value, H


def share_out(worth: Array, owned: NDArray[np.bool_], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Which component (column) has which feature, for the largest sum of worths.

    Parameters
    ----------
    worth : ndarray of shape (d, k)
        What a feature adds to a component, at least 0.
    owned : ndarray of bool of shape (d, k)
        Where to begin: no feature twice, at most ``sizes`` for each component.
    sizes : sequence of int
    """
    k, total = worth.shape[1], sum(sizes)
    few = _candidates(worth, total)
    if len(few) * total > SEARCH.assigned_entries * k**2:
        return by_exchanges(worth, owned, sizes)
    places = np.repeat(np.arange(k), sizes)
    features, columns = linear_sum_assignment(-worth[few][:, places])
    assigned = np.zeros(worth.shape, dtype=bool)
    assigned[few[features], places[columns]] = True
    return assigned


def by_exchanges(worth: Array, owned: NDArray[np.bool_], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """The same for many features: an assignment costs their cube, this little more than sorting them.

    Two components, or one component and the unassigned features, exchange features while the sum increases, best first,
    pair after pair until none gains. Then single features move along cycles of several components, until none gains.
    """
    k = worth.shape[1]
    worths = np.column_stack([worth, np.zeros(len(worth))])
    owner = np.where(owned.any(axis=1), owned.argmax(axis=1), k)
    for _ in range(SEARCH.sharing_sweeps):
        moved = [_exchanged(worths, owner, a, b, sizes) for a in range(k) for b in range(a + 1, k + 1)]
        if not any(moved):
            break
    for _ in range(SEARCH.sharing_cycles):
        if not _rotated(worths, owner, sizes):
            break
    return np.asarray(owner[:, None] == np.arange(k))


def _candidates(worth: Array, total: int) -> Indices:
    """Features among which the best assignment is: the first ``total`` of each component, as others take no more."""
    count = min(total, len(worth))
    return np.unique(np.argpartition(-worth, count - 1, axis=0)[:count])


def _exchanged(worths: Array, owner: Indices, a: int, b: int, sizes: Sequence[int]) -> bool:
    """Exchange features of a and b, in place, while the sum increases; b one past the last means the unassigned
    features."""
    mine, theirs = np.flatnonzero(owner == a), np.flatnonzero(owner == b)
    room = sizes[a] - len(mine)
    free = sizes[b] - len(theirs) if b < len(sizes) else 0
    there, back = worths[mine, b] - worths[mine, a], worths[theirs, a] - worths[theirs, b]
    best_there = there.max(initial=0.0 if room > 0 else -np.inf)
    best_back = back.max(initial=0.0 if free > 0 else -np.inf)
    given, gains = _best_first(mine, there, -best_back)
    taken, returns = _best_first(theirs, back, -best_there)
    gains, returns = _with_room(gains, room), _with_room(returns, free)
    count = min(len(gains), len(returns))
    count = int(np.count_nonzero(gains[:count] + returns[:count] > 0))  # both fall: so does the sum
    places, others = _ranks(gains, count, len(given), room), _ranks(returns, count, len(taken), free)
    owner[given[:places]], owner[taken[:others]] = b, a
    return count > 0


def _rotated(worths: Array, owner: Indices, sizes: Sequence[int]) -> bool:
    """Move one feature along each edge of a cycle of components that gains, in place; is there one?"""
    k = len(sizes)
    gains, who = np.full((k + 1, k + 1), -np.inf), np.full((k + 1, k + 1), -1)
    for a in range(k + 1):
        features = np.flatnonzero(owner == a)
        if len(features):
            moves = worths[features] - worths[features, a][:, None]
            best = moves.argmax(axis=0)
            gains[a], who[a] = moves[best, np.arange(k + 1)], features[best]
        if a == k or len(features) < sizes[a]:  # a free place may move instead
            who[a] = np.where(gains[a] > 0, who[a], -1)
            gains[a] = np.maximum(gains[a], 0.0)
    np.fill_diagonal(gains, -np.inf)
    cycle = _positive_cycle(gains, 1e-12 * float(worths.max(initial=0.0)))
    for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        if who[a, b] >= 0:
            owner[who[a, b]] = b
    return bool(cycle)


def _positive_cycle(gains: Array, least: float) -> list[int]:
    """Nodes of a cycle with a positive sum of gains, by Bellman and Ford; empty if there is none."""
    n = len(gains)
    reached, before = np.zeros(n), np.full(n, -1)
    longer = np.zeros(n, dtype=bool)
    for _ in range(n):
        paths = reached[:, None] + gains
        best = paths.argmax(axis=0)
        longer = paths[best, np.arange(n)] > reached + least
        if not longer.any():
            return []
        reached = np.where(longer, paths[best, np.arange(n)], reached)
        before = np.where(longer, best, before)
    node = int(np.argmax(longer))
    for _ in range(n):
        node = int(before[node])
    cycle = [node]
    while (node := int(before[node])) != cycle[0]:
        cycle.append(node)
    return cycle[::-1]


def _best_first(features: Indices, gains: Array, least: float) -> tuple[Indices, Array]:
    """Features in decreasing order of the gain of moving them, and these gains, which are above ``least``."""
    some = np.flatnonzero(gains > least)
    order = some[np.argsort(-gains[some], kind="stable")]
    return features[order], gains[order]


def _with_room(gains: Array, room: int) -> Array:
    """Gains with zeros for free places, in falling order: nothing moves out of these."""
    at = int(np.count_nonzero(gains > 0))
    return np.concatenate([gains[:at], np.zeros(max(room, 0)), gains[at:]])


def _ranks(gains: Array, count: int, n_features: int, room: int) -> int:
    """Number of features, not empty places, among the first ``count`` gains."""
    positive = int(np.count_nonzero(gains > 0))
    return min(count, positive) + max(count - positive - max(room, 0), 0)
