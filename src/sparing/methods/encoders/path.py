"""The loss for every number of features, from one selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.signs import first_largest
from sparing.linalg.span import independent_columns
from sparing.methods.selectors.greedy import Greedy
from sparing.objectives.shared import CapturedVariance, SharedCapture
from sparing.results import Array, Indices, Selection, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search.descent import Descent
from sparing.task import Task


@dataclass(frozen=True)
class Path:
    """Supports of 1, 2, 3, ... features, from as many as are required on, and the loss of the best encoder on each."""

    supports: list[Indices]
    losses: Array


def nested_path(
    view: DataMatrix, spectrum: Spectrum, n_columns: int, rng: np.random.Generator, rules: Rules = NO_RULES
) -> Path:
    """Greedy choices are nested, so one selection serves every number of features."""
    found = Greedy(swaps=False).select(Task.of_columns(view, n_columns, spectrum, rules), Run(rng))
    first = max(len(rules.required), 1)
    supports = [np.sort(found.columns[:size]) for size in range(first, len(found.columns) + 1)]
    return Path(supports, nested_losses(found, spectrum)[first - 1 :])


def nested_losses(found: Selection, spectrum: Spectrum) -> Array:
    """Losses of the prefixes of a selection, from the leading blocks of one small matrix.

    A required feature may depend on others: it changes no loss.
    """
    kept = np.sort(independent_columns(found.inside())[0])
    if len(kept) < len(found.columns):
        losses = nested_losses(Selection(found.columns[kept], found.gram_columns[:, kept]), spectrum)
        so_far = np.isin(np.arange(len(found.columns)), kept).cumsum()
        return cast(Array, np.append(spectrum.total, losses)[so_far])
    R = linalg.cholesky(found.inside(), check_finite=False)  # in the order of choice: prefixes stay prefixes
    inverse = linalg.solve_triangular(R, np.eye(len(R)), check_finite=False)
    G = found.squares(inverse)
    tops = [np.linalg.eigvalsh(G[:m, :m])[-spectrum.rank :].sum() for m in range(1, len(G) + 1)]
    return np.maximum(spectrum.total - np.array(tops), 0.0)


def improved_path(
    view: DataMatrix,
    spectrum: Spectrum,
    n_columns: int,
    run: Run,
    *,
    most_loss: float | None = None,
    rules: Rules = NO_RULES,
) -> Path:
    """The nested path, improved by swaps at each number of features; losses never rise along it.

    All descents run in one working set, selected around the nested choices, and read no more of X.
    """
    known = view.cached()
    found = Greedy(swaps=False).select(Task.of_columns(known, n_columns, spectrum, rules), run.unlimited())
    first, losses = max(len(rules.required), 1), nested_losses(found, spectrum)
    if most_loss is not None:
        fits = losses[first - 1 :] <= most_loss
        n_columns = int(fits.argmax()) + first if fits.any() else len(losses)
    order, losses = found.columns[:n_columns], losses[first - 1 : n_columns]
    features, objective = _working_set(known, spectrum, order, run, rules)
    inside = rules.restricted(features, known.n_features)
    supports, captured = neighbouring_descents(objective, np.searchsorted(features, order), run, inside)
    better = spectrum.total - captured < losses
    chosen = [features[np.sort(s)] if b else np.sort(order[: len(s)]) for s, b in zip(supports, better, strict=True)]
    return Path(chosen, np.maximum(np.minimum(spectrum.total - captured, losses), 0.0))


def _working_set(
    known: DataMatrix, spectrum: Spectrum, order: Indices, run: Run, rules: Rules
) -> tuple[Indices, SharedCapture]:
    """The features with promising swaps into nested choices of 1, 2, 4, ... columns, and all those choices."""
    problem, first = CapturedVariance(known, spectrum, rules=rules), max(len(rules.required), 1)
    features = np.flatnonzero(problem.usable)
    sizes = [size for size in 2 ** np.arange(len(order).bit_length()) if first <= size < len(order)] + [len(order)]
    if len(features) > len(sizes) * run.effort.working_set:
        width = run.effort.working_set
        scores = [problem.outside(order[None, :size], width)[0] for size in sizes]
        near = [np.argpartition(-score, width)[:width] for score in scores]
        features = np.intersect1d(np.union1d(np.concatenate(near), order), features)
    return features, problem.on(features)


def neighbouring_descents(
    objective: SharedCapture, order: Indices, run: Run, rules: Rules = NO_RULES
) -> tuple[list[Indices], Array]:
    """Supports of 1, 2, 3, ... features and what they capture: descents from nested choices and from neighbours.

    Each number starts from one feature more than the best of one fewer on the way up, and from one fewer than the best
    of one more on the way down.
    """

    def climbed(starts: Sequence[Indices]) -> tuple[Indices, float]:
        """Where the best of the starts leads to."""
        counts = {"shortlist": run.effort.shortlist, "refined": run.effort.refined}
        descent = Descent(objective, np.array(starts), **counts, rules=rules)
        descent.run(run.budget)
        best = first_largest(descent.values)
        return descent.supports[best], float(descent.values[best])

    first = max(len(rules.required), 1)
    found = [climbed([order[:first]])]
    for size in range(first + 1, len(order) + 1):
        more = objective.extended(found[-1][0])
        found.append(climbed([order[:size], *([more] if not rules or rules.permits(more) else [])]))
    for place in range(len(found) - 2, -1, -1):
        fewer = objective.pruned(found[place + 1][0], rules.required)
        if (trial := climbed([fewer]))[1] > found[place][1]:
            found[place] = trial
    return [support for support, _ in found], np.array([value for _, value in found])
