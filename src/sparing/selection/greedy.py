"""Greedy on the principal components, then swaps: the default selector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparing.data import DataMatrix
from sparing.results import Array, Indices, Reference, Selection, Spectrum
from sparing.search.loss_core import LossCore
from sparing.search.spanning import Spanning

if TYPE_CHECKING:
    from sparing.selection import Target

NEGLIGIBLE = 1e-12
"""Gains below this share of the target end the growth."""

NOTICEABLE, WORTHWHILE = 1e-5, 5e-4
"""Swaps must gain this share of the loss; they are looked for while the excess over PCA's loss is this share of it."""

KICK = 6
"""The most columns added, and pruned again, to leave a local optimum of the spanning."""

SMALL, STARTS, KICKS = 64, 4, (2, 4)
"""Up to this many features the last search has several starts, and kicks of these sizes from each."""


@dataclass(frozen=True)
class Greedy:
    """Choose the columns that best span the principal components [farahat2013, Sec. 4].

    ||X - X_{C,k}||^2 <= ||X - X_k||^2 + ||T - CC^+T||^2 for T = X V_k, so forward selection adds the column that spans
    most of what is left of T. Single swaps follow, then kicks (a few columns more, pruned back) with swaps, kept only
    when they span more.

    Everything after the spectrum happens in Gram coordinates: inside a pool of the most promising columns, with one
    product X'X[:, J] for all newly chosen columns at the end of each block.

    Parameters
    ----------
    swaps : bool
        Improve the greedy choice by swaps and kicks.
    core : int
        Columns beside the chosen ones that the last swaps, those judged by the loss itself, may take.

    Notes
    -----
    **Differs from the paper.** The target is the scores of the principal components, not X itself; selection runs in
    blocks within pools. For PCA-like spans that is both faster and better than greedy selection on X.
    """

    swaps: bool = True
    core: int = 32

    reference: ClassVar = Reference("farahat2013", "Sec. 4")

    def select(self, view: DataMatrix, n_columns: int, target: Target, rng: np.random.Generator) -> Selection:
        """Nested forward selection, then swaps; without swaps the order of ``columns`` is that of choice."""
        store = GramStore(view)
        state = Spanning(target.cross, view.gram_diagonal(), n_columns)
        self._grow(store, state, n_columns, NEGLIGIBLE * float(np.trace(target.gram)))
        chosen = np.array(state.chosen, dtype=np.intp)
        if self.swaps and 0 < len(chosen) < view.n_features:
            chosen = self._improve(store, state, target, rng)
        return Selection(chosen, store.columns(chosen))

    def _grow(self, store: GramStore, state: Spanning, n_columns: int, floor: float) -> None:
        """Blocked forward selection: exact inside each pool, one product per block."""
        view = store.view
        n_blocks = 1 if view.has_gram else 4 if (view.n_samples or 0) <= 512 else 2
        for ends_at in np.ceil(np.arange(1, n_blocks + 1) * n_columns / n_blocks).astype(int):
            while len(state.chosen) < ends_at:
                candidates = _most_promising(view, state, smallest=128, entries=2.5e5)
                pool_view, pool = view.restricted(candidates), state.restricted(candidates, ends_at)
                before = len(pool.chosen)
                _add_best(pool_view, pool, ends_at, floor)
                added = candidates[pool.chosen[before:]]
                if len(added) == 0:
                    return
                state.extend(added, store.columns(added))

    def _improve(self, store: GramStore, state: Spanning, target: Target, rng: np.random.Generator) -> Indices:
        """Swaps and a kick inside a pool, then swaps judged by the loss itself; no product over all features."""
        view, size = store.view, len(state.chosen)
        least, excess = _least_loss(target), max(float(np.trace(target.gram)) - state.captured, 0.0)
        if excess <= WORTHWHILE * least and view.n_features > SMALL:
            return np.array(state.chosen, dtype=np.intp)
        extra, floor = min(max(1, int(0.3 * size)), KICK), NOTICEABLE * (least + excess)
        candidates = _most_promising(view, state, smallest=192, entries=4e5)
        pool_view, pool = view.restricted(candidates), state.restricted(candidates, size + extra)
        _swap(pool_view, pool, floor)
        kicked = _kicked(pool_view, pool, extra, floor)
        best = kicked if kicked.captured > pool.captured else pool
        if not isinstance(target, Spectrum):
            return candidates[best.chosen]
        gains = best.gains()
        others = np.argsort(-gains, kind="stable")[: self.core]
        core = candidates[np.concatenate([best.chosen, others[gains[others] > 0]]).astype(np.intp)]
        search = LossCore(*store.core(core), target.rank)
        if view.n_features > SMALL:
            return core[search.swapped(np.arange(size), self.core)]
        return core[_thorough(search, size, rng)]


class GramStore:
    """Gram columns of a view, each computed once."""

    def __init__(self, view: DataMatrix) -> None:
        self.view = view
        self._order = np.empty(0, dtype=np.intp)
        self._known: list[Array] = []

    def columns(self, J: Indices) -> Array:
        """``A[:, J]``; what is missing is computed by one product."""
        if self.view.has_gram:
            return self.view.gram_columns(J)
        missing = J[~np.isin(J, self._order)]
        if len(missing):
            self._order = np.concatenate([self._order, missing])
            self._known.append(np.asfortranarray(self.view.gram_columns(missing)))
            if len(missing) == len(J):
                return self._known[-1]
        rows = [column for block in self._known for column in block.T]
        by_feature = np.argsort(self._order)
        places = by_feature[np.searchsorted(self._order, J, sorter=by_feature)]
        return np.stack([rows[place] for place in places]).T

    def core(self, J: Indices) -> tuple[Array, Array]:
        """``A[J, J]`` and ``(A @ A)[J, J]``."""
        if self.view.squares_cheaply:
            return self.view.restricted(J).gram(), self.view.gram_squared(J)
        Z = self.columns(J)
        return Z[J], self.view.gram_squared(J, Z)


def _least_loss(target: Target) -> float:
    """What remains even where the target is spanned: PCA's loss, or nothing for other targets."""
    return target.tail if isinstance(target, Spectrum) else 0.0


def _most_promising(view: DataMatrix, state: Spanning, *, smallest: int, entries: float) -> Indices:
    """Chosen columns and the best others, in the order of the features; all of them where A is in memory."""
    d = view.n_features
    rows = view.n_samples or d
    size = int(max(smallest, min(entries / rows, max(d / 5, 1024))))
    chosen = np.array(state.chosen, dtype=np.intp)
    if view.has_gram or size + len(chosen) >= d:
        return np.arange(d)
    gains = state.gains()
    gains[chosen] = np.inf
    return np.sort(np.argpartition(-gains, size + len(chosen) - 1)[: size + len(chosen)])


def _add_best(pool_view: DataMatrix, pool: Spanning, size: int, floor: float) -> None:
    """Exact forward selection inside a pool up to ``size`` chosen columns."""
    while len(pool.chosen) < size:
        gains = pool.gains()
        best = int(np.argmax(gains))
        if gains[best] <= floor:
            return
        pool.add(best, pool_view.gram_columns(np.array([best]))[:, 0])


def _swap(pool_view: DataMatrix, pool: Spanning, floor: float) -> None:
    """Steepest single swaps until none helps."""
    for _ in range(3 * len(pool.chosen)):
        gain, slot, taken = pool.best_swap(floor)
        if gain <= 0:
            return
        pool.drop(slot)
        pool.add(taken, pool_view.gram_columns(np.array([taken]))[:, 0])


def _kicked(pool_view: DataMatrix, pool: Spanning, extra: int, floor: float) -> Spanning:
    """A copy with a few columns more, pruned back and swapped again."""
    size = len(pool.chosen)
    other = pool.restricted(np.arange(len(pool.left)), size + extra)
    _add_best(pool_view, other, size + extra, floor)
    while len(other.chosen) > size:
        other.drop(int(np.argmin(other.worth())))
    _swap(pool_view, other, floor)
    return other


def _thorough(search: LossCore, size: int, rng: np.random.Generator) -> Indices:
    """The best of several local optima for the loss: from the first ``size`` columns and from random ones."""
    found = []
    for start in range(STARTS):
        chosen = np.arange(size) if start == 0 else rng.choice(len(search.gram), size, replace=False)
        chosen = search.swapped(chosen, len(search.gram))
        for extra in KICKS:
            chosen = search.kicked(chosen, extra, len(search.gram))
        found.append(chosen)
    return found[int(np.argmax(search.captured(np.array(found))))]
