"""The loss for every number of features, from one selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from sparing.search.iterated import best_of_all, n_supports
from sparing.task import Task

LONGER_GAIN = 1e-9
"""Share of a loss by which a longer support must better it, where a budget lets it stay shorter."""


ROUNDING_CAPTURED = 1e-11
"""Share of what is captured that rounding may decide: where PCA loses next to nothing, losses differ by less."""


@dataclass(frozen=True)
class Path:
    """Supports of 1, 2, 3, ... features, from as many as are required on, and the loss of the best encoder on each.

    Under a budget they have at most so many.
    """

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


def nested_order(
    view: DataMatrix,
    spectrum: Spectrum,
    n_columns: int,
    rng: np.random.Generator,
    rules: Rules = NO_RULES,
    most_loss: float | None = None,
) -> Indices:
    """Features in the order of greedy choice, required ones first; only as many as keep a loss, where one is given."""
    found = Greedy(swaps=False).select(Task.of_columns(view, n_columns, spectrum, rules), Run(rng))
    if most_loss is None:
        return found.columns
    fits = nested_losses(found, spectrum) <= most_loss
    fits[: len(rules.required) - 1] = False
    return found.columns[: int(fits.argmax()) + 1] if fits.any() else found.columns


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

    All descents run in one working set, selected around the nested choices, and read no more of X. Under a budget the
    greedy choice may spend all of it early: further slots stay empty until cheaper features take them.
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
    """Empty slots behind a greedy choice that a budget ended."""
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
    """Supports of 1, 2, 3, ... features and what they capture: descents from nested choices and from neighbours.

    Each number starts from one feature more than the best of one fewer on the way up, and from one fewer than the best
    of one more on the way down. What is captured never falls: where a budget lets no feature more be of use, a support
    stays as it is. Where all supports of a number are few they are tried. The last ``n_empty`` features stand for none.
    """
    first, effort = max(len(rules.required), 1), run.effort

    def climbed(starts: Sequence[Indices]) -> tuple[Indices, float]:
        """Where the best of the starts leads to."""
        size = len(starts[0])
        if n_supports(objective.size - n_empty, n_empty, len(rules.required), size) <= effort.enumerated:
            best_one = best_of_all(objective, rules, n_empty, size)
            tried = np.array([*starts, best_one])
            values = objective.fitted(tried)[0]
            # what is captured does not tell these apart: the first of them
            alike = values >= values[-1] * (1 - ROUNDING_CAPTURED)
            best = int(alike.argmax())
            return tried[best], float(values[best])
        descent = Descent(objective, np.array(starts), shortlist=effort.shortlist, refined=effort.refined, rules=rules)
        descent.run(run.budget)
        best = first_largest(descent.values)
        return descent.supports[best], float(descent.values[best])

    def extended(support: Indices) -> Indices:
        """One feature more, if the rules have room for any."""
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
