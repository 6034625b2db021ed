"""Iterated local search on a population: descents in lockstep, an elite, crossovers and perturbations.

The one driver of the library. It knows supports and an objective, no linear algebra and no data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparing.results import Array, Indices
from sparing.run import Run
from sparing.search.descent import Descent, SwapObjective

POPULATION = 16
"""Supports that climb together: more gain little, and cost cache where supports are long."""

ELITE = 8
"""Distinct local optima that new supports are made of; perturbing only the best was worst."""

NEARBY, ANYWHERE = 12, 0.25
"""Replacements of a feature that a perturbation prefers, and the share of features that come from anywhere."""

SAME = 1e-9
"""Share of a value by which another working set must better it."""

PERTURBED = (2, 6)
"""Features that a perturbation replaces, at least and at most."""


class Elite:
    """The best local optima found so far, each once."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, ...], float] = {}
        self.ended: dict[tuple[int, ...], int] = {}

    def admit(self, supports: Indices, values: Array) -> None:
        """Remember where descents ended."""
        for support, value in zip(np.sort(supports, axis=1).tolist(), values.tolist(), strict=True):
            place = tuple(support)
            self.found[place] = value
            self.ended[place] = self.ended.get(place, 0) + 1

    @property
    def supports(self) -> Indices:
        """The best few, best first."""
        best = sorted(self.found, key=self.found.__getitem__, reverse=True)[:ELITE]
        return np.array(best, dtype=np.intp)

    @property
    def best(self) -> float:
        """The best value."""
        return max(self.found.values())

    @property
    def unseen(self) -> float:
        """Share of descents that ended where no other did: what is still to be found, by Good and Turing."""
        return sum(count == 1 for count in self.ended.values()) / sum(self.ended.values())


def iterated_search(objective: SwapObjective, starts: Indices, run: Run, *, descents: int) -> tuple[Indices, Array]:
    """The best supports that descents from the starts, and from what becomes of their ends, lead to; best first."""
    elite, spent, population = Elite(), 0, starts
    while True:
        descent = Descent(objective, population, shortlist=run.effort.shortlist, refined=run.effort.refined)
        descent.run(run.budget)
        elite.admit(descent.supports, descent.values)
        spent += len(population)
        settled = spent > POPULATION and elite.unseen <= run.effort.unseen
        if spent >= descents or settled or run.budget.expired:
            break
        population = _offspring(objective, elite.supports, min(POPULATION, descents - spent), run.rng)
    supports = elite.supports
    return supports, np.array([elite.found[tuple(support)] for support in supports.tolist()])


def _offspring(objective: SwapObjective, elite: Indices, count: int, rng: np.random.Generator) -> Indices:
    """New supports: by turns a crossover of two of the elite, or one of them with some features replaced."""
    _, state = objective.fitted(elite)
    scores = objective.swap_gains(elite, state)  # (S, r, c)
    nearby = np.argsort(-scores, axis=2)[:, :, :NEARBY]
    children = []
    for number in range(count):
        first, second = rng.integers(len(elite), size=2)
        if number % 2 and first != second:
            children.append(_crossed(elite[first], elite[second], rng))
        else:
            children.append(_perturbed(elite[first], nearby[first], objective.size, rng))
    return np.array(children)


def _crossed(first: Indices, second: Indices, rng: np.random.Generator) -> Indices:
    """What two supports have in common, and some of what only one of them has."""
    common, others = np.intersect1d(first, second), np.setxor1d(first, second)
    return np.concatenate([common, rng.choice(others, len(first) - len(common), replace=False)])


def _perturbed(support: Indices, nearby: Indices, n_features: int, rng: np.random.Generator) -> Indices:
    """A few features replaced, mostly by good replacements of their own."""
    child, size = support.copy(), len(support)
    least, most = PERTURBED
    for slot in rng.choice(size, min(int(rng.integers(least, most + 1)), size), replace=False):
        options = np.arange(n_features) if rng.random() < ANYWHERE else nearby[slot]
        options = np.setdiff1d(options, child)
        if len(options):
            child[slot] = rng.choice(options)
    return child


def search_all(
    objective_on: Callable[[Indices], SwapObjective],
    outside: Callable[[Indices], Array],
    starts: Indices,
    run: Run,
    *,
    descents: int,
) -> Indices:
    """The best support among all features, by searches in working sets that are selected anew until nothing improves.

    ``objective_on(features)`` is the objective of a working set in memory; ``outside(supports)`` has the best swap
    estimate of every feature for each support (S, d), by one product with A.
    """
    supports, best = starts, -np.inf
    for number in range(run.effort.working_sets):
        scores = outside(supports[:ELITE])
        width = min(run.effort.working_set, scores.shape[1])
        near = np.argpartition(-scores, width - 1, axis=1)[:, :width]
        features = np.union1d(near[np.take_along_axis(scores, near, axis=1) > -np.inf], supports)
        inside, first = np.searchsorted(features, supports), number == 0
        count = len(inside) if first else descents
        found, values = iterated_search(objective_on(features), inside, run, descents=count)
        supports = features[found]
        if run.budget.expired or (not first and values[0] <= best * (1 + SAME)):
            break
        best = float(values[0])
    return supports
