"""Iterated local search on a population: descents in lockstep, an elite, crossovers and perturbations.

The one driver of the library. It knows supports and an objective, no linear algebra and no data.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.signs import first_largest
from sparing.results import Array, Indices
from sparing.run import Run
from sparing.search.descent import Descent, SwapObjective

POPULATION = 16
"""Supports that climb together: more gain little, and cost cache where supports are long."""

ELITE = 8
"""Distinct local optima that new supports are made of; perturbing only the best was worst."""

NEARBY, ANYWHERE = 12, 0.25
"""Replacements of a feature that a perturbation prefers, and the share of features that come from anywhere."""

LOOKED = 4
"""Of these, the supports around which a working set is selected."""

SAME = 1e-10
"""Share of a value by which a round must better it."""

WORKING_ENTRIES = 2**22
"""Numbers in the Gram columns of a working set, at most (32 MiB): fewer features where columns are long."""

TOGETHER = 2048
"""Supports evaluated together where all are tried."""

PERTURBED = (2, 6)
"""Features that a perturbation replaces, at least and at most."""


class Problem(Protocol):
    """Supports among all features of a view: working sets in memory, and a look at what is outside."""

    usable: NDArray[np.bool_]

    def on(self, features: Indices) -> SwapObjective:
        """The objective of a working set, in memory."""

    def outside(self, supports: Indices, width: int) -> Array:
        """The score of each feature's best swap into each support (S, d), by one product with A.

        -inf for features of the support, and for others that are not among the ``width`` best.
        """


class Elite:
    """The best local optima found so far, each once."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, ...], float] = {}
        self.ended: dict[tuple[int, ...], int] = {}

    def search(self, objective: SwapObjective, features: Indices, starts: Indices, run: Run) -> None:
        """Climb inside a working set, from supports there and then from crossovers and perturbations of the best."""
        self.descend(objective, features, starts, run)
        for count in batches(run.effort.descents_of(starts.shape[1])):
            if run.budget.expired:
                break
            inside = np.searchsorted(features, self.supports)
            self.descend(objective, features, features[_offspring(objective, inside, count, run.rng)], run)

    def descend(self, objective: SwapObjective, features: Indices, starts: Indices, run: Run) -> None:
        """Climb from some supports inside a working set, and remember where that ended."""
        inside, effort = np.searchsorted(features, starts), run.effort
        descent = Descent(objective, inside, shortlist=effort.shortlist, refined=effort.refined)
        descent.run(run.budget)
        ends = np.sort(features[descent.supports], axis=1)
        for support, value in zip(ends.tolist(), descent.values.tolist(), strict=True):
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
        """The best value; none at first."""
        return max(self.found.values(), default=-np.inf)

    @property
    def unseen(self) -> float:
        """Share of descents that ended where no other did: what is still to be found, by Good and Turing."""
        descents = sum(self.ended.values())
        return sum(count == 1 for count in self.ended.values()) / descents if descents > POPULATION else 1.0


def search_all(problem: Problem, starts: Indices, run: Run) -> Indices:
    """The best supports that descents from the starts, and from what becomes of their ends, lead to; best first.

    Each round selects a working set anew, from what all features could add to the best supports so far; descents there
    go on from these, then from crossovers and perturbations of them. It ends where a few rounds bring nothing, or
    where nearly all descents end at known optima and another working set has brought nothing.
    """
    usable, size = np.flatnonzero(problem.usable), starts.shape[1]
    if size >= len(usable):
        return starts
    if comb(len(usable), size) <= run.effort.enumerated:
        return usable[_best_of_all(problem.on(usable), size)][None]
    elite, effort, supports, since = Elite(), run.effort, starts, 0
    for _ in range(effort.working_sets):
        features = _working_set(problem, supports, usable, effort.working_set)
        best = elite.best
        elite.search(problem.on(features), features, supports, run)
        supports, since = elite.supports, 0 if elite.best > best * (1 + SAME) else since + 1
        settled = elite.unseen <= effort.unseen and (since > 0 or len(features) == len(usable))
        if run.budget.expired or since >= effort.patience or settled:
            break
    return supports


def _working_set(problem: Problem, supports: Indices, usable: Indices, width: int) -> Indices:
    """The features of the best supports, and those with the most promising swaps into the first of them."""
    width = max(1, min(width, WORKING_ENTRIES // (LOOKED * len(problem.usable))))
    if len(usable) <= LOOKED * width:
        return usable
    scores = problem.outside(supports[:LOOKED], width)
    near = np.argpartition(-scores, width - 1, axis=1)[:, :width]
    promising = near[np.take_along_axis(scores, near, axis=1) > -np.inf]
    return np.union1d(promising, supports).astype(np.intp)


def _best_of_all(objective: SwapObjective, size: int) -> Indices:
    """The support of this size with the largest value, by trying all of them."""
    supports = np.array(list(combinations(range(objective.size), size)), dtype=np.intp)
    parts = np.array_split(supports, -(-len(supports) // TOGETHER))
    return cast(Indices, supports[first_largest(np.concatenate([objective.fitted(part)[0] for part in parts]))])


def batches(count: int) -> Iterator[int]:
    """A number of descents, as many at a time as climb together."""
    for first in range(0, count, POPULATION):
        yield min(POPULATION, count - first)


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
