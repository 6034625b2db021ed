"""Greedy on the principal components, then the search for better supports: the default selector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg import encoder_on
from sparing.linalg.signs import first_largest
from sparing.objectives.shared import CapturedVariance
from sparing.objectives.span import Spanning
from sparing.results import Indices, Reference, Selection, Spectrum
from sparing.run import Run
from sparing.search.iterated import LOOKED, search_all
from sparing.task import Target, Task

NEGLIGIBLE, TARGET_ROUNDING = 1e-9, 1e-15
"""Growth ends where gains are below this share of PCA's loss, or are rounding of the target."""

VISIBLE = 1e-9
"""Share of the target that must be left to be spanned, or no search is worth its time."""

RELIABLE = 1e-4
"""Where PCA's loss is a smaller share of the total, captured variances are compared by the loss once more."""

POOL, POOL_ENTRIES = 128, 2.5e5
"""Columns in memory while columns are added, and how many entries there may be beyond that where rows are few."""


@dataclass(frozen=True)
class Greedy:
    """Choose the columns that best span the principal components [farahat2013, Sec. 4], then search for better ones.

    ||X - X_{C,k}||^2 <= ||X - X_k||^2 + ||T - CC^+T||^2 for T = X V_k, so forward selection adds the column that spans
    most of what is left of T. From there, and from choices for other weights of the components, iterated local search
    swaps columns while the loss itself falls; :class:`~sparing.run.Effort` says for how long.

    Parameters
    ----------
    swaps : bool
        Go on from the greedy choice. Without, columns are nested: each prefix is the choice of fewer columns.

    Notes
    -----
    **Differs from the paper.** The target is the scores of the principal components, not X itself; selection runs in
    blocks within pools. For PCA-like spans that is both faster and better than greedy selection on X.
    """

    swaps: bool = True

    reference: ClassVar = Reference("farahat2013", "Sec. 4")
    searches: ClassVar = True  # its choice depends on the effort

    def select(self, task: Task, run: Run) -> Selection:
        """Nested forward selection, then the search; without it the order of ``columns`` is that of choice."""
        known = task.gram.cached()
        chosen, left = grown(task.gram, known, task.n_nonzero, task.target)
        if self.swaps and left > VISIBLE * float(np.trace(task.target.gram)):
            chosen = _improved(known, chosen, left, task.target, run)
        return Selection(chosen, known.gram_columns(chosen))


def _improved(known: DataMatrix, chosen: Indices, left: float, target: Target, run: Run) -> Indices:
    """The best support of a search that starts from the one given; each effort goes on from the answer below it."""
    supports, size = chosen[None], len(chosen)
    by_span, by_loss = (CapturedVariance(known, target, by_loss=flag) for flag in (False, True))
    for effort in run.effort.levels:
        if left <= effort.worthwhile * _least_loss(target):
            continue
        at_once = known.n_features <= LOOKED * effort.working_set  # squares of so few features cost nothing
        level, problem = replace(run, effort=effort), by_loss if effort.by_loss or at_once else by_span
        for _ in range(effort.populations):  # each of its own, so that none draws the others into its optimum
            starts = problem.starts(size, effort.starts, effort.working_set, run.rng)
            supports = np.vstack([supports, search_all(problem, starts, level)])
        supports = search_all(problem, supports, level)
    best: Indices = supports[0]
    if not isinstance(target, Spectrum) or target.tail > RELIABLE * target.total:
        return best
    return best if _loss_on(known, best, target) <= _loss_on(known, chosen, target) else chosen


def grown(view: DataMatrix, known: DataMatrix, n_columns: int, target: Target) -> tuple[Indices, float]:
    """Blocked forward selection, and how much of the target is not spanned by it; ``known`` keeps Gram columns.

    Exact inside each pool of the most promising columns, with one product X'X[:, J] for each block but the last.
    """
    state = Spanning(target.cross, known.gram_diagonal(), n_columns)
    floor = max(NEGLIGIBLE * _least_loss(target), TARGET_ROUNDING * float(np.trace(target.gram)))
    n_blocks = 1 if known.has_gram else 4 if (known.n_samples or 0) <= 512 else 2
    ends = np.ceil(np.arange(1, n_blocks + 1) * n_columns / n_blocks).astype(int)
    while True:
        end = int(ends[ends > len(state.chosen)][0])
        pool = _pool(known, state)
        inside = state.restricted(pool, end)
        _grow(inside, view.restricted(pool) if len(pool) < view.n_features else view, end, floor)
        chosen = pool[inside.chosen]
        added = chosen[len(state.chosen) :]
        if len(added) == 0 or len(chosen) == n_columns:
            return chosen, max(float(np.trace(target.gram)) - inside.captured, 0.0)
        state.extend(added, known.gram_columns(added))


def _pool(known: DataMatrix, state: Spanning) -> Indices:
    """The columns that gain most, and those that are chosen; all of them where A is in memory."""
    d = known.n_features
    width = int(max(POOL, min(POOL_ENTRIES / (known.n_samples or d), max(d / 5, 1024)))) + len(state.chosen)
    if known.has_gram or width >= d:
        return np.arange(d)
    gains = state.gains()
    gains[state.chosen] = np.inf
    return np.sort(np.argpartition(-gains, width - 1)[:width])


def _grow(state: Spanning, view: DataMatrix, size: int, floor: float) -> None:
    """Exact forward selection up to ``size`` columns, or until nothing gains more than ``floor``."""
    while len(state.chosen) < size:
        gains = state.gains()
        best = first_largest(gains)
        if gains[best] <= floor:
            return
        state.add(best, view.gram_columns(np.array([best]))[:, 0])


def _loss_on(known: DataMatrix, columns: Indices, spectrum: Spectrum) -> float:
    return encoder_on(Selection(columns, known.gram_columns(columns)), spectrum.rank, spectrum.total).loss


def _least_loss(target: Target) -> float:
    """What remains even where the target is spanned: PCA's loss, or nothing for other targets."""
    return target.tail if isinstance(target, Spectrum) else 0.0
