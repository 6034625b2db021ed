"""The loss for every number of features, from one selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.signs import first_largest
from sparing.methods.selectors.greedy import Greedy
from sparing.objectives.shared import CapturedVariance, SharedCapture
from sparing.results import Array, Indices, Selection, Spectrum
from sparing.run import Run
from sparing.search.descent import Descent
from sparing.task import Task


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
    """The nested path, improved by swaps at each number of features; losses never rise along it.

    All descents run in one working set, selected around the nested choices, and read no more of X.
    """
    known = view.cached()
    found = Greedy(swaps=False).select(Task.of_columns(known, n_columns, spectrum), run.unlimited())
    losses = nested_losses(found, spectrum)
    if max_loss is not None:
        fits = [spectrum.loss_ratio(loss) <= max_loss for loss in losses]
        n_columns = fits.index(True) + 1 if True in fits else len(losses)
    order = found.columns[:n_columns]
    features, objective = _working_set(known, spectrum, order, run)
    supports, captured = neighbouring_descents(objective, np.searchsorted(features, order), run)
    better = spectrum.total - captured < losses[: len(order)]
    chosen = [features[np.sort(s)] if b else np.sort(order[: len(s)]) for s, b in zip(supports, better, strict=True)]
    return Path(chosen, np.maximum(np.minimum(spectrum.total - captured, losses[: len(order)]), 0.0))


def _working_set(known: DataMatrix, spectrum: Spectrum, order: Indices, run: Run) -> tuple[Indices, SharedCapture]:
    """The features with promising swaps into nested choices of 1, 2, 4, ... columns, and all those choices."""
    problem = CapturedVariance(known, spectrum)
    features = np.flatnonzero(problem.usable)
    sizes = [size for size in 2 ** np.arange(len(order).bit_length()) if size < len(order)] + [len(order)]
    if len(features) > len(sizes) * run.effort.working_set:
        width = run.effort.working_set
        scores = [problem.outside(order[None, :size], width)[0] for size in sizes]
        near = [np.argpartition(-score, width)[:width] for score in scores]
        features = np.intersect1d(np.union1d(np.concatenate(near), order), features)
    return features, problem.on(features)


def neighbouring_descents(objective: SharedCapture, order: Indices, run: Run) -> tuple[list[Indices], Array]:
    """Supports of 1, 2, 3, ... features and what they capture: descents from nested choices and from neighbours.

    Each number starts from one feature more than the best of one fewer on the way up, and from one fewer than the best
    of one more on the way down.
    """

    def climbed(starts: Sequence[Indices]) -> tuple[Indices, float]:
        """Where the best of the starts leads to."""
        descent = Descent(objective, np.array(starts), shortlist=run.effort.shortlist, refined=run.effort.refined)
        descent.run(run.budget)
        best = first_largest(descent.values)
        return descent.supports[best], float(descent.values[best])

    found = [climbed([order[:1]])]
    for size in range(2, len(order) + 1):
        found.append(climbed([order[:size], objective.extended(found[-1][0])]))
    for place in range(len(found) - 2, -1, -1):
        fewer = objective.pruned(found[place + 1][0])
        if (trial := climbed([fewer]))[1] > found[place][1]:
            found[place] = trial
    return [support for support, _ in found], np.array([value for _, value in found])
