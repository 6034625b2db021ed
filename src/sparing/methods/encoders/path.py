"""The loss for every number of features, from one selection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.signs import first_largest
from sparing.methods.selectors.greedy import NOTICEABLE, SMALL, SWAPPING, WORTHWHILE, Greedy, Pool
from sparing.objectives.loss import SharedLoss, captured_by
from sparing.objectives.span import Spanning
from sparing.results import Array, Indices, Selection, Spectrum
from sparing.run import Budget, Run
from sparing.task import Task

SWAPS = 3
"""Swaps tried at each number of features of the improved path."""

LOSS_SWAPS = 4
"""Swaps judged by the loss itself that may follow."""

SCANNED = 256
"""Candidates looked at for each of them."""


@dataclass(frozen=True)
class Path:
    """Supports of 1, 2, 3, ... features and the loss of the best encoder on each."""

    supports: list[Indices]
    losses: Array


def nested_path(view: DataMatrix, spectrum: Spectrum, n_columns: int, rng: np.random.Generator) -> Path:
    """Greedy choices are nested, so one selection serves every number of features."""
    found = Greedy(swaps=False).select(Task.of_columns(view, n_columns, spectrum), Run(rng))
    return Path([np.sort(found.columns[: i + 1]) for i in range(len(found.columns))], nested_losses(found, spectrum))


def nested_losses(found: Selection, spectrum: Spectrum) -> Array:
    """Losses of the prefixes of a selection, from the leading blocks of one small matrix."""
    R = linalg.cholesky(found.inside(), check_finite=False)  # in the order of choice: prefixes stay prefixes
    inverse = linalg.solve_triangular(R, np.eye(len(R)), check_finite=False)
    G = found.squares(inverse)
    tops = [np.linalg.eigvalsh(G[:m, :m])[-spectrum.rank :].sum() for m in range(1, len(G) + 1)]
    return np.maximum(spectrum.total - np.array(tops), 0.0)


def improved_path(
    view: DataMatrix, spectrum: Spectrum, n_columns: int, run: Run, *, max_loss: float | None = None
) -> Path:
    """The nested path, and beside it one that swaps a few columns at each number of features; the better of the two.

    The swapped path runs in one pool and costs no pass over X until its losses are computed together at the end.
    """
    found = Greedy(swaps=False).select(Task.of_columns(view, n_columns, spectrum), run.unlimited())
    nested = nested_losses(found, spectrum)
    if max_loss is not None:
        fits = [spectrum.loss_ratio(loss) <= max_loss for loss in nested]
        n_columns = fits.index(True) + 1 if True in fits else len(nested)
    n_columns = min(n_columns, len(found.columns))
    chosen = _swapped_supports(view, spectrum, found, n_columns, run.budget)
    union = np.unique(np.concatenate([*chosen, found.columns[:n_columns]]))
    if view.n_features <= SMALL:
        union = np.flatnonzero(view.gram_diagonal() > 0)
    known = view.cached(found.columns, found.gram_columns)
    columns = known.gram_columns(union)
    gram, squared = columns[union], columns.T @ columns
    supports = [np.searchsorted(union, found.columns[: i + 1]) for i in range(n_columns)]
    losses = nested[:n_columns].copy()

    def compete(place: int, support: Indices) -> None:
        """Take a support in place of the one so far if it loses less."""
        if set(support) != set(supports[place]) and (loss := _loss(gram, squared, spectrum, support)) < losses[place]:
            supports[place], losses[place] = support, loss

    for place, support in enumerate(chosen):
        compete(place, np.searchsorted(union, support))
    if view.n_features <= SMALL:
        search = SharedLoss(gram, squared, spectrum.rank)
        for place, support in enumerate(_judged_by_loss(search, supports, run.budget)):
            compete(place, support)
    return Path([union[np.sort(support)] for support in supports], losses)


def _loss(gram: Array, squared: Array, spectrum: Spectrum, support: Indices) -> float:
    """What the best encoder on a support loses; no less than anything where its columns depend on one another."""
    try:
        captured = captured_by(gram, squared, spectrum.rank, support[None])[0]
    except np.linalg.LinAlgError:
        return np.inf
    return max(spectrum.total - float(captured), 0.0)


def _judged_by_loss(search: SharedLoss, starts: list[Indices], budget: Budget) -> list[Indices]:
    """For each number of features the better of its start and its neighbours' choices, swapped by the loss itself.

    One more than the best of one fewer on the way up, one fewer than the best of one more on the way down.
    """

    def better(*candidates: Indices) -> Indices:
        best = candidates[first_largest(search.captured(np.array(candidates)))]
        return best if budget.expired else search.swapped(best, LOSS_SWAPS)

    supports = [better(starts[0])]
    for start in starts[1:]:
        supports.append(better(start, search.extended(supports[-1])))
    for place in range(len(supports) - 2, -1, -1):
        supports[place] = better(supports[place], search.pruned(supports[place + 1]))
    return supports


def _swapped_supports(
    view: DataMatrix, spectrum: Spectrum, found: Selection, n_columns: int, budget: Budget
) -> list[Indices]:
    """One column more at a time, and up to three swaps after each, inside one pool that holds the greedy choice."""
    state = Spanning(spectrum.cross, view.gram_diagonal(), n_columns)
    pool = Pool(view, state, SWAPPING, capacity=n_columns + 1, include=found.columns[:n_columns])
    target = float(spectrum.values.sum())
    supports = []
    for size in range(1, n_columns + 1):
        pool.grow(size, 0.0)
        if len(pool.state.chosen) < size:
            supports += [found.columns[:m] for m in range(size, n_columns + 1)]
            break
        excess = max(target - pool.state.captured, 0.0)
        worthwhile = excess > WORTHWHILE * spectrum.tail and not budget.expired
        pool.swap(NOTICEABLE * (spectrum.tail + excess), most=SWAPS if worthwhile else 0, scanned=SCANNED)
        supports.append(pool.candidates[pool.state.chosen])
    return supports
