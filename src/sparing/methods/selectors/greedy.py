"""The default selector: greedy selection on the principal components, then a search for better supports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.linalg import encoder_on
from sparing.linalg.rounding import first_largest
from sparing.objectives.shared import CapturedVariance, prices_of
from sparing.objectives.span import Spanning
from sparing.results import Array, Indices, Reference, Selection, Spectrum
from sparing.rules import NO_RULES, Rooms, Rules
from sparing.run import Run
from sparing.search.iterated import search_all
from sparing.search_limits import SEARCH
from sparing.task import Target, Task

NEGLIGIBLE, TARGET_ROUNDING = 1e-9, 1e-15
"""Forward selection stops if gains are below this share of PCA's loss, or are rounding errors of the target."""

VISIBLE = 1e-9
"""The search runs only if more than this share of the target is not spanned yet."""

RELIABLE = 1e-4
"""If PCA's loss is a smaller share of the total than this, candidates are compared again by their loss."""


@dataclass(frozen=True)
class Greedy:
    """Choose the columns that best span the principal components [farahat2013, Sec. 4], then search for better ones.

    ||X - X_{C,k}||^2 <= ||X - X_k||^2 + ||T - CC^+T||^2 for T = X V_k, so forward selection adds the column that spans
    most of the remaining T. Starting from there, and from selections with other weights of the components, iterated
    local search swaps columns while the loss itself decreases; :class:`~sparing.effort.Effort` sets how long.

    Parameters
    ----------
    swaps : bool
        Improve the greedy choice by swaps. If False, columns are nested: each prefix is the choice of fewer columns.

    Notes
    -----
    **Differs from the paper.** The target is the scores of the principal components, not X itself, and selection runs
    in blocks within pools. To span what PCA spans, this is both faster and better than greedy selection on X.
    """

    swaps: bool = True

    reference: ClassVar = Reference("farahat2013", "Sec. 4")
    searches: ClassVar = True  # its choice depends on the effort

    def select(self, task: Task, run: Run) -> Selection:
        """Run nested forward selection, then the search. Without the search ``columns`` are in order of choice."""
        known, rules = task.gram.cached(), task.rules
        ways = [None] if rules.costs is None else [None, prices_of(rules.costs)]
        grows = [grown(task.gram, known, task.n_nonzero, task.target, rules, prices) for prices in ways]
        chosen, left = min(grows, key=lambda one: one[1])
        if self.swaps and left > VISIBLE * float(np.trace(task.target.gram)) and len(chosen) > len(rules.required):
            chosen = _improved(known, chosen, left, task, run)
        return Selection(chosen, known.gram_columns(chosen))


def _improved(known: DataMatrix, chosen: Indices, left: float, task: Task, run: Run) -> Indices:
    """The best support of a search from the given one; each effort continues from the answer of the level below."""
    target, rules, d, size = task.target, task.rules, known.n_features, len(chosen)
    if rules.has_budget:  # a budget may allow more, cheaper features; unused slots stay empty
        size = min(task.n_nonzero, 2 * size + run.effort.spare_slots)
    empty = size - len(rules.required) if rules.has_budget else 0
    supports = np.append(chosen, np.arange(d, d + size - len(chosen)))[None]
    for effort in (level.for_shared(size) for level in run.effort.levels if not run.budget.expired):
        if left <= effort.worthwhile * _least_loss(target):
            continue
        at_once = known.n_features <= SEARCH.looked * effort.working_set  # squares of so few features are cheap
        level, by_loss = replace(run, effort=effort), effort.by_loss or at_once
        problem = CapturedVariance(known, target, by_loss=by_loss, rules=rules, empty=empty, work=effort.outside_work)
        for _ in range(effort.populations):  # independent, so that none draws the others into its optimum
            if run.budget.expired:
                break
            starts = problem.starts(size, effort.starts, effort.working_set, run.rng)
            if len(starts):  # rules may exclude all of them
                supports = np.vstack([supports, search_all(problem, starts, level)])
        supports = search_all(problem, supports, level)
    best: Indices = supports[0][supports[0] < d]
    if not isinstance(target, Spectrum) or target.tail > RELIABLE * target.total:
        return best
    return best if _loss_on(known, best, target) <= _loss_on(known, chosen, target) else chosen


def grown(
    view: DataMatrix,
    known: DataMatrix,
    n_columns: int,
    target: Target,
    rules: Rules = NO_RULES,
    prices: Array | None = None,
) -> tuple[Indices, float]:
    """Blocked forward selection, and how much of the target it does not span; ``known`` stores Gram columns.

    Exact within each pool of the most promising columns, with one product X'X[:, J] for each block but the last.
    Required columns come first; gains are divided by ``prices``.
    """
    state = Spanning(target.cross, known.gram_diagonal(), n_columns)
    state.extend(rules.required, known.gram_columns(rules.required))
    dependent = np.setdiff1d(rules.required, state.chosen)  # required, although they add nothing to the others
    size, rooms = n_columns - len(dependent), rules.rooms(1, known.n_features) if rules else None
    floor = max(NEGLIGIBLE * _least_loss(target), TARGET_ROUNDING * float(np.trace(target.gram)))
    n_blocks = 1 if known.has_gram else 4 if (known.n_samples or 0) <= 512 else 2
    ends = np.ceil(np.arange(1, n_blocks + 1) * size / n_blocks).astype(int)
    chosen, captured = np.array(state.chosen, dtype=np.intp), state.captured
    while len(chosen) < size:
        end = int(ends[ends > len(state.chosen)][0])
        pool = _pool(known, state, None if rooms is None else rooms.open()[0])
        inside = state.restricted(pool, end)
        candidates = _Candidates(pool, rooms, prices)
        _grow(inside, view.restricted(pool) if len(pool) < view.n_features else view, end, floor, candidates)
        chosen, captured = pool[inside.chosen], inside.captured
        added = chosen[len(state.chosen) :]
        if len(added) == 0 or len(chosen) == size:
            break
        state.extend(added, known.gram_columns(added))
    return np.append(dependent, chosen), max(float(np.trace(target.gram)) - captured, 0.0)


class _Candidates:
    """Columns of a pool that may still be added, and the prices that divide their gains."""

    def __init__(self, pool: Indices, rooms: Rooms | None, prices: Array | None) -> None:
        self._pool, self._rooms = pool, rooms
        self._prices = None if prices is None else prices[pool]

    def best(self, gains: Array, floor: float) -> int | None:
        """The column with the largest gain for its price, if any gains more than ``floor``."""
        worth = gains if self._rooms is None else np.where(self._rooms.open()[0, self._pool], gains, 0.0)
        worth = worth if self._prices is None else np.where(worth > floor, worth / self._prices, 0.0)
        best = first_largest(worth)
        return best if worth[best] > 0 and gains[best] > floor else None

    def take(self, j: int) -> None:
        """Add one of them."""
        if self._rooms is not None:
            self._rooms.take(self._pool[j : j + 1])


def _pool(known: DataMatrix, state: Spanning, allowed: NDArray[np.bool_] | None) -> Indices:
    """The columns with the largest gains and the chosen ones; all columns if A is in memory."""
    d = known.n_features
    affordable = min(SEARCH.grown_entries / (known.n_samples or d), max(d / 5, 1024))
    width = int(max(SEARCH.grown_columns, affordable)) + len(state.chosen)
    if known.has_gram or width >= d:
        return np.arange(d)
    gains = state.gains() if allowed is None else np.where(allowed, state.gains(), 0.0)
    gains[state.chosen] = np.inf
    return np.sort(np.argpartition(-gains, width - 1)[:width])


def _grow(state: Spanning, view: DataMatrix, size: int, floor: float, candidates: _Candidates) -> None:
    """Exact forward selection up to ``size`` columns, or until nothing gains more than ``floor``."""
    while len(state.chosen) < size:
        best = candidates.best(state.gains(), floor)
        if best is None:
            return
        state.add(best, view.gram_columns(np.array([best]))[:, 0])
        candidates.take(best)


def _loss_on(known: DataMatrix, columns: Indices, spectrum: Spectrum) -> float:
    return encoder_on(Selection(columns, known.gram_columns(columns)), spectrum.rank, spectrum.total).loss


def _least_loss(target: Target) -> float:
    """The loss that remains if the target is fully spanned: PCA's loss, or zero for other targets."""
    return target.tail if isinstance(target, Spectrum) else 0.0
