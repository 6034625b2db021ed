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
"""Gains below this share of the target end the search."""

SMALL, KICKS = 128, (2, 4)
"""Up to this many features the last search also tries kicks of these sizes, judged by the loss itself."""


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
    max_rounds : int
        Renewals of the pool during swaps; each costs at most one product with X.
    core : int
        Columns beside the chosen ones that the last swaps, those judged by the loss itself, may take.

    Notes
    -----
    **Differs from the paper.** The target is the scores of the principal components, not X itself; selection runs in
    blocks within pools. For PCA-like spans that is both faster and better than greedy selection on X.
    """

    swaps: bool = True
    max_rounds: int = 3
    core: int = 32

    reference: ClassVar = Reference("farahat2013", "Sec. 4")

    def select(self, view: DataMatrix, n_columns: int, target: Target, rng: np.random.Generator) -> Selection:
        """Nested forward selection, then swaps; the order of ``columns`` is that of choice."""
        store = GramStore(view)
        state = Spanning(target.cross, view.gram_diagonal())
        floor = NEGLIGIBLE * float(np.trace(target.gram))
        self._grow(store, state, n_columns, floor)
        if self.swaps and 0 < len(state.chosen) < view.n_features:
            state = self._improve(store, state, target, floor)
        chosen = np.array(state.chosen, dtype=np.intp)
        if self.swaps and isinstance(target, Spectrum):
            chosen = self._polish(store, state, target.rank)
        return Selection(chosen, store.columns(chosen))

    def _grow(self, store: GramStore, state: Spanning, n_columns: int, floor: float) -> None:
        """Blocked forward selection: exact inside each pool, one product per block."""
        view = store.view
        n_blocks = 1 if view.has_gram else 4 if (view.n_samples or 0) <= 512 else 2
        for ends_at in np.ceil(np.arange(1, n_blocks + 1) * n_columns / n_blocks).astype(int):
            while len(state.chosen) < ends_at:
                candidates = _most_promising(view, state, smallest=128, entries=2.5e5)
                pool_view, pool = view.restricted(candidates), state.restricted(candidates)
                before = len(pool.chosen)
                _add_best(pool_view, pool, ends_at, floor)
                added = candidates[pool.chosen[before:]]
                if len(added) == 0:
                    return
                state.extend(added, store.columns(added))

    def _improve(self, store: GramStore, state: Spanning, target: Target, floor: float) -> Spanning:
        """Swaps and one kick inside a pool, on renewed pools while that helps."""
        view, size = store.view, len(state.chosen)
        for _ in range(1 if view.has_gram else self.max_rounds):
            candidates = _most_promising(view, state, smallest=192, entries=4e5)
            pool_view, pool = view.restricted(candidates), state.restricted(candidates)
            before = pool.captured
            _swap(pool_view, pool, floor)
            kicked = _kicked(pool_view, pool, size, floor)
            best = kicked if kicked.captured > pool.captured else pool
            if best.captured <= before + floor:
                break
            chosen = candidates[best.chosen]
            state = Spanning(target.cross, view.gram_diagonal())
            state.extend(chosen, store.columns(chosen))
        return state

    def _polish(self, store: GramStore, state: Spanning, rank: int) -> Indices:
        """Swaps judged by the loss itself, within a core of the chosen columns and the best others."""
        gains = state.gains()
        others = np.argsort(-gains, kind="stable")[: self.core]
        core = np.concatenate([state.chosen, others[gains[others] > 0]]).astype(np.intp)
        Z = store.columns(core)
        search = LossCore(Z[core], Z.T @ Z, rank)
        chosen = search.swapped(np.arange(len(state.chosen)), self.core)
        if len(gains) <= SMALL:
            for extra in KICKS:
                chosen = search.kicked(chosen, extra, self.core)
        return core[chosen]


class GramStore:
    """Gram columns of a view, each computed once."""

    def __init__(self, view: DataMatrix) -> None:
        self.view = view
        self._known: dict[int, Array] = {}

    def columns(self, J: Indices) -> Array:
        """``A[:, J]``; what is missing is computed by one product."""
        if self.view.has_gram:
            return self.view.gram_columns(J)
        missing = np.array([j for j in J if int(j) not in self._known], dtype=np.intp)
        if len(missing):
            fresh = self.view.gram_columns(missing)
            self._known.update((int(j), fresh[:, i]) for i, j in enumerate(missing))
        return np.stack([self._known[int(j)] for j in J], axis=1)


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
        gain, slot, taken = pool.best_swap()
        if gain <= floor:
            return
        pool.drop(slot)
        pool.add(taken, pool_view.gram_columns(np.array([taken]))[:, 0])


def _kicked(pool_view: DataMatrix, pool: Spanning, size: int, floor: float) -> Spanning:
    """A copy with 30% more columns, pruned back to ``size`` and swapped again."""
    other = pool.restricted(np.arange(len(pool.left)))
    _add_best(pool_view, other, size + max(1, int(0.3 * size)), floor)
    while len(other.chosen) > size:
        other.drop(int(np.argmin(other.worth())))
    _swap(pool_view, other, floor)
    return other
