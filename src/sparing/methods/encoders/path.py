"""The loss for every number of features, from one selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.rounding import first_largest
from sparing.linalg.span import independent_columns
from sparing.methods.selectors.greedy import Greedy
from sparing.objectives.shared import CapturedVariance, SharedCapture
from sparing.results import Array, Indices, Selection, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search.descent import Descent
from sparing.search.iterated import best_of_all, n_supports
from sparing.task import Task

LONGER_GAIN = 1e-9
"""Relative improvement of the loss that justifies a longer support, if a budget allows a shorter one."""


ROUNDING_CAPTURED = 1e-11
"""Relative differences of captured variance below this are rounding errors: if PCA loses almost nothing, losses differ
by less."""


@dataclass(frozen=True)
class Path:
    """Supports of 1, 2, 3, ... features, starting from the required ones, and the loss of the best encoder on each.

    Under a budget these numbers are upper limits.
    """

    supports: list[Indices]
    losses: Array


def nested_path(
    view: DataMatrix, spectrum: Spectrum, n_columns: int, rng: np.random.Generator, rules: Rules = NO_RULES
) -> Path:
    """The path of one greedy selection: its choices are nested, so it gives every number of features."""
    found = Greedy(swaps=False).select(Task.of_columns(view, n_columns, spectrum, rules), Run(rng))
    first = max(len(rules.required), 1)
    supports = [np.sort(found.columns[:size]) for size in range(first, len(found.columns) + 1)]
    return Path(supports, nested_losses(found, spectrum)[first - 1 :])


def nested_order(
    view: DataMatrix,
    spectrum: Spectrum,
    n_columns: int,
    rng: np.random.Generator,
    rules: Rules = NO_RULES,
    most_loss: float | None = None,
) -> Indices:
    """Features in the order of greedy choice, required ones first; if a loss is given, only the number that it
    needs."""
    found = Greedy(swaps=False).select(Task.of_columns(view, n_columns, spectrum, rules), Run(rng))
    if most_loss is None:
        return found.columns
    fits = nested_losses(found, spectrum) <= most_loss
    fits[: len(rules.required) - 1] = False
    return found.columns[: int(fits.argmax()) + 1] if fits.any() else found.columns


def nested_losses(found: Selection, spectrum: Spectrum) -> Array:
    """Losses of the prefixes of a selection, from the leading blocks of one small matrix.

    A required feature may depend on others; it then leaves the loss unchanged.
    """
    kept = np.sort(independent_columns(found.inside())[0])
    if len(kept) < len(found.columns):
        losses = nested_losses(Selection(found.columns[kept], found.gram_columns[:, kept]), spectrum)
        so_far = np.isin(np.arange(len(found.columns)), kept).cumsum()
        return cast(Array, np.append(spectrum.total, losses)[so_far])
    R = linalg.cholesky(found.inside(), check_finite=False)  # in order of choice, so that prefixes stay prefixes
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
    """The nested path, improved by swaps at each number of features; losses never increase along it.

    All descents run in one working set around the nested choices and read no more of X. The greedy choice may spend a
    budget early; further slots then stay empty until cheaper features fill them.
    """
    known = view.cached()
    found = Greedy(swaps=False).select(Task.of_columns(known, n_columns, spectrum, rules), run.unlimited())
    first, losses = max(len(rules.required), 1), nested_losses(found, spectrum)
    if most_loss is not None and (fits := losses[first - 1 :] <= most_loss).any():
        n_columns = int(fits.argmax()) + first
    order, losses = found.columns[:n_columns], losses[first - 1 : n_columns]
    features, objective = _working_set(known, spectrum, order, run, rules, _spared(n_columns - len(order), rules, run))
    slots = np.searchsorted(features, np.append(order, features[features >= known.n_features]))
    inside = rules.restricted(features, known.n_features)
    n_empty = len(slots) - len(order)
    supports, captured = neighbouring_descents(objective, slots, run, inside, n_empty)
    losses = np.append(losses, np.full(len(captured) - len(losses), losses[-1]))
    better = spectrum.total - captured < losses
    chosen = [features[np.sort(s)] if b else np.sort(order[: len(s)]) for s, b in zip(supports, better, strict=True)]
    losses = np.maximum(np.minimum(spectrum.total - captured, losses), 0.0)
    length = int(np.flatnonzero(losses < losses[-1] * (1 + LONGER_GAIN) + LONGER_GAIN * spectrum.nothing)[0]) + 1
    chosen = [support[support < known.n_features] for support in chosen]
    return Path(chosen[:length], losses[:length]) if rules.has_budget else Path(chosen, losses)


def _spared(unspent: int, rules: Rules, run: Run) -> int:
    """Number of empty slots after a greedy choice that ended because of a budget."""
    return min(unspent, run.effort.spare_slots) if rules.has_budget else 0


def _working_set(
    known: DataMatrix, spectrum: Spectrum, order: Indices, run: Run, rules: Rules, empty: int
) -> tuple[Indices, SharedCapture]:
    """The features with promising swaps into nested choices of 1, 2, 4, ... columns, all those choices, empty slots."""
    problem, first = CapturedVariance(known, spectrum, rules=rules, empty=empty), max(len(rules.required), 1)
    features = np.flatnonzero(problem.usable)
    sizes = [size for size in 2 ** np.arange(len(order).bit_length()) if first <= size < len(order)] + [len(order)]
    if len(features) > len(sizes) * run.effort.working_set:
        width = run.effort.working_set
        scores = [problem.outside(order[None, :size], width)[0] for size in sizes]
        near = [np.argpartition(-score, width)[:width] for score in scores]
        slots = np.arange(known.n_features, len(problem.usable))
        features = np.intersect1d(np.concatenate([*near, order, slots]), features)
    return features, problem.on(features)


def neighbouring_descents(
    objective: SharedCapture, order: Indices, run: Run, rules: Rules = NO_RULES, n_empty: int = 0
) -> tuple[list[Indices], Array]:
    """Supports of 1, 2, 3, ... features and their captured variance, by descents from nested choices and neighbours.

    On the way up, each number starts from the best support of one feature fewer plus one feature; on the way down, from
    the best of one feature more minus one feature. The captured variance never decreases: if a budget makes a further
    feature useless, the support stays the same. If a number has few supports, all are tried. The last ``n_empty``
    features are empty slots.
    """
    first, effort = max(len(rules.required), 1), run.effort

    def climbed(starts: Sequence[Indices]) -> tuple[Indices, float]:
        """The result of a descent from the best start."""
        size = len(starts[0])
        if n_supports(objective.size - n_empty, n_empty, len(rules.required), size) <= effort.enumerated:
            best_one = best_of_all(objective, rules, n_empty, size)
            tried = np.array([*starts, best_one])
            values = objective.fitted(tried)[0]
            # rounding decides between these: take the first
            alike = values >= values[-1] * (1 - ROUNDING_CAPTURED)
            best = int(alike.argmax())
            return tried[best], float(values[best])
        descent = Descent(objective, np.array(starts), shortlist=effort.shortlist, refined=effort.refined, rules=rules)
        descent.run(run.budget)
        best = first_largest(descent.values)
        return descent.supports[best], float(descent.values[best])

    def extended(support: Indices) -> Indices:
        """Add one feature, if the rules allow any."""
        may = replace(rules, required=np.sort(support)).rooms(1, objective.size).open()[0] if rules else None
        return objective.extended(support, may)

    found = [climbed([order[:first]])]
    for size in range(first + 1, len(order) + 1):
        starts = [order[:size]]
        if not run.budget.expired and len(more := extended(found[-1][0])) == size:
            starts.append(more)
        found.append(climbed(starts))
    for place in range(len(found) - 2, -1, -1):
        if run.budget.expired:
            break
        fewer = objective.pruned(found[place + 1][0], rules.required)
        if (trial := climbed([fewer]))[1] > found[place][1]:
            found[place] = trial
    for place in range(1, len(found)):
        if found[place][1] < found[place - 1][1]:
            found[place] = max(climbed([extended(found[place - 1][0])]), found[place - 1], key=lambda one: one[1])
    return [support for support, _ in found], np.array([value for _, value in found])
