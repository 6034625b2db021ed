"""Greedy on the principal components, then swaps: the default selector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg import encoder_on
from sparing.linalg.signs import first_largest
from sparing.objectives.loss import SharedLoss
from sparing.objectives.span import Spanning
from sparing.results import Array, Indices, Reference, Selection, Spectrum
from sparing.run import Run
from sparing.task import Target, Task

NEGLIGIBLE, ROUNDING = 1e-9, 1e-15
"""Growth ends where gains are below this share of PCA's loss, or are rounding of the target."""

NOTICEABLE, WORTHWHILE = 1e-5, 5e-4
"""Swaps must gain this share of the loss; they are looked for while the excess over PCA's loss is this share of it."""

RELIABLE = 1e-4
"""Where PCA's loss is a smaller share of the total, searches that compare captured variance are checked by the loss."""

KICK = 6
"""The most columns added, and pruned again, to leave a local optimum of the spanning."""

SMALL, STARTS, KICKS = 64, 6, (2, 4)
"""Up to this many features the last search is among all, with at least so many starts and kicks of these sizes."""

STARTED, EXACTLY = 48, 3e4
"""Features in all starts together, where supports are short; entries up to which all swaps from each are evaluated."""

DOUBT = 1e-11
"""Share of a column's square that may be rounding of products of columns as large as it once was."""


class PoolSize(NamedTuple):
    """Columns of a pool, and how many entries it may have beyond that where rows are few."""

    smallest: int
    entries: float

    def of(self, view: DataMatrix) -> int:
        """Columns of a pool of this kind."""
        d = view.n_features
        return int(max(self.smallest, min(self.entries / (view.n_samples or d), max(d / 5, 1024))))


GROWING, SWAPPING = PoolSize(128, 2.5e5), PoolSize(192, 4e5)


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
        Columns beside the chosen ones that the last swaps, those judged by the loss itself, may take; all columns where
        they are at most 64, and then no single swap lowers the loss of what is returned.

    Notes
    -----
    **Differs from the paper.** The target is the scores of the principal components, not X itself; selection runs in
    blocks within pools. For PCA-like spans that is both faster and better than greedy selection on X.
    """

    swaps: bool = True
    core: int = 16

    reference: ClassVar = Reference("farahat2013", "Sec. 4")

    def select(self, task: Task, run: Run) -> Selection:
        """Nested forward selection, then swaps; without swaps the order of ``columns`` is that of choice."""
        known = task.gram.cached()
        chosen = self._chosen(known, task, run.rng)  # whose states and pools are gone when all columns are together
        return Selection(chosen, known.gram_columns(chosen))

    def _chosen(self, known: DataMatrix, task: Task, rng: np.random.Generator) -> Indices:
        """The columns, in the order of choice; swaps only where they may gain something."""
        view, target = known.origin, task.target
        state, pool = self._grown(known, task.n_nonzero, target)
        chosen = pool.chosen
        if not self.swaps or not 0 < len(chosen) < view.n_features:
            return chosen
        least, excess = _least_loss(target), max(float(np.trace(target.gram)) - pool.state.captured, 0.0)
        if excess <= WORTHWHILE * least and view.n_features > SMALL:
            return chosen
        if not pool.serves(SWAPPING):
            last = chosen[len(state.chosen) :]
            state.extend(last, known.gram_columns(last))
            pool = Pool(view, state, SWAPPING, capacity=len(chosen))
        del state  # the pool is all that is needed, and a fit should not hold both
        improved = self._improved(known, pool, target, NOTICEABLE * (least + excess), rng)
        return _better(known, target, chosen, improved)

    def _grown(self, known: DataMatrix, n_columns: int, target: Target) -> tuple[Spanning, Pool]:
        """Blocked forward selection: exact inside each pool, one product per block but the last.

        Returns the state of all columns before the last block, and the pool with all that was chosen.
        """
        view = known.origin
        state = Spanning(target.cross, view.gram_diagonal(), n_columns)
        floor = max(NEGLIGIBLE * _least_loss(target), ROUNDING * float(np.trace(target.gram)))
        n_blocks = 1 if view.has_gram else 4 if (view.n_samples or 0) <= 512 else 2
        ends = np.ceil(np.arange(1, n_blocks + 1) * n_columns / n_blocks).astype(int)
        while True:
            ends_at = int(ends[ends > len(state.chosen)][0])
            pool = Pool(view, state, GROWING, capacity=ends_at)
            pool.grow(ends_at, floor)
            added = pool.chosen[len(state.chosen) :]
            if len(added) == 0 or len(pool.chosen) == n_columns:
                return state, pool
            state.extend(added, known.gram_columns(added))

    def _improved(
        self, known: DataMatrix, pool: Pool, target: Target, floor: float, rng: np.random.Generator
    ) -> Indices:
        """Swaps and a kick inside a pool, then swaps judged by the loss itself; no product over all features."""
        size = len(pool.state.chosen)
        pool.swap(floor)
        pool.kick(min(max(1, int(0.3 * size)), KICK), floor)
        if not isinstance(target, Spectrum):
            return pool.chosen
        gains = pool.state.gains()
        others = np.argsort(-gains, kind="stable")[: self.core]
        places = np.concatenate([pool.state.chosen, others[gains[others] > 0]]).astype(np.intp)
        core = pool.candidates[places]
        if known.n_features <= SMALL:
            return _thorough(known, core, size, target.rank, rng)
        del pool
        search = SharedLoss.of(known, core, target.rank)
        return core[search.swapped(np.arange(size), self.core, floor)]


class Pool:
    """The most promising columns of a view, in memory, and the state of the search among them.

    Chosen columns are always in it; all columns are where A is in memory.
    """

    def __init__(
        self,
        view: DataMatrix,
        state: Spanning,
        size: PoolSize,
        *,
        capacity: int,
        include: Indices | None = None,
    ) -> None:
        d = view.n_features
        wanted = state.chosen if include is None else [*state.chosen, *map(int, include)]
        width = size.of(view) + len(wanted)
        if view.has_gram or width >= d:
            self.candidates = np.arange(d)
        else:
            gains = state.gains()
            gains[wanted] = np.inf
            self.candidates = np.sort(np.argpartition(-gains, width - 1)[:width])
        self._whole = view
        self.view = view.restricted(self.candidates) if len(self.candidates) < d else view
        self.state = state.restricted(self.candidates, capacity)

    @property
    def chosen(self) -> Indices:
        """What has been chosen, as columns of the whole."""
        return self.candidates[self.state.chosen]

    def serves(self, size: PoolSize) -> bool:
        """Would a pool of this size hardly be larger?"""
        return len(self.candidates) >= min(0.9 * size.of(self._whole), self._whole.n_features)

    def _add(self, j: int) -> None:
        self.state.add(j, self.view.gram_columns(np.array([j]))[:, 0])

    def grow(self, size: int, floor: float) -> None:
        """Exact forward selection up to ``size`` chosen columns, or until nothing gains more than ``floor``."""
        while len(self.state.chosen) < size:
            gains = self.state.gains()
            best = first_largest(gains)
            if gains[best] <= floor:
                return
            self._add(best)

    def swap(self, floor: float, most: int | None = None, scanned: int | None = None) -> None:
        """Steepest single swaps until none helps, or at most so many.

        After a look at all candidates those that gained most are swapped in while they help, before the next such look.
        """
        among: Indices | None = None
        for _ in range(3 * len(self.state.chosen) if most is None else most):
            gain, slot, taken, gainers = self.state.best_swap(floor, scanned, among)
            if gain <= 0 and among is not None:
                gain, slot, taken, gainers = self.state.best_swap(floor, scanned)
                among = None
            if gain <= 0:
                return
            among = gainers if among is None else among
            self.state.drop(slot)
            self._add(taken)

    def kick(self, extra: int, floor: float) -> None:
        """A few columns more, pruned back and swapped again; undone where that spans less."""
        before, size = self.state, len(self.state.chosen)
        self.state = before.restricted(np.arange(len(self.candidates)), size + extra)
        self.grow(size + extra, floor)
        while len(self.state.chosen) > size:
            self.state.drop(int(np.argmin(self.state.worth())))
        self.swap(floor)
        if self.state.captured <= before.captured:
            self.state = before


def _better(known: DataMatrix, target: Target, before: Indices, after: Indices) -> Indices:
    """The improved choice, unless the loss is so small that searches in squares were led by rounding and it is not."""
    if not isinstance(target, Spectrum) or target.tail > RELIABLE * target.total:
        return after
    losses = [_loss_on(known, J, target) for J in (before, after)]
    return after if losses[1] <= losses[0] else before


def _loss_on(known: DataMatrix, J: Indices, spectrum: Spectrum) -> float:
    return encoder_on(Selection(J, known.gram_columns(J)), spectrum.rank, spectrum.total).loss


def _least_loss(target: Target) -> float:
    """What remains even where the target is spanned: PCA's loss, or nothing for other targets."""
    return target.tail if isinstance(target, Spectrum) else 0.0


def _thorough(known: DataMatrix, likely: Indices, size: int, rank: int, rng: np.random.Generator) -> Indices:
    """The best of all sets where they are few; else of several local optima for the loss, which no swap improves.

    Starts are the first ``size`` likely columns, those that single additions and swaps lead to, and random likely ones.
    """
    varying = np.flatnonzero(known.gram_diagonal() > 0)
    search = SharedLoss.of(known, varying, rank, _doubt(known)[varying])
    best = search.best_of_all(size)
    if best is not None:
        return varying[best]
    likely, found = np.searchsorted(varying, likely), dict[tuple[int, ...], Indices]()
    starts = [likely[:size], search.climbed(size)]
    starts += [rng.choice(likely, size, replace=False) for _ in range(max(STARTS, STARTED // size) - 2)]
    few = size * (len(varying) - size) * size**2 <= EXACTLY
    for chosen in starts:
        chosen = search.settled(chosen) if few else search.swapped(chosen, len(varying))
        if (reached := tuple(np.sort(chosen))) not in found:
            for extra in KICKS:
                chosen = search.perturbed(chosen, extra, len(varying))
            found[reached] = chosen
    ends = np.array(list(found.values()))
    return varying[search.settled(ends[first_largest(search.captured(ends))])]


def _doubt(view: DataMatrix) -> Array:
    """Shares of columns that may be rounding: more where little is left of them after others were taken out."""
    left, whole = view.gram_diagonal(), view.unprojected_diagonal()
    return DOUBT * np.divide(whole, left, out=np.ones_like(left), where=left > 0)
