"""Iterated local search for several components with supports of their own.

As :mod:`sparing.search.iterated`, with loadings beside the supports: the value of a support depends on the loadings
that were reached on it, so what is known of them goes along wherever a support goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sparing.results import Array, Indices
from sparing.run import Run
from sparing.search.descent import Descent, SwapObjective
from sparing.search.iterated import ANYWHERE, ELITE, NEARBY, PERTURBED, POPULATION, SAME

NOTICED = 1e-8
"""Share of a value that a step must gain: by less, loadings that still converge would let supports change forever."""

RENEWED = 2
"""One in so many new supports has a component begun anew."""


class Found(NamedTuple):
    """A local optimum: its row of slots, its value, and its loadings."""

    support: Indices
    value: float
    loadings: Array


class BlockObjective(SwapObjective, Protocol):
    """An objective of several components; its last features, ``padding``, are nothing and stay where they are."""

    padding: int

    def renewed(self, supports: Indices, state: Any, rng: np.random.Generator) -> tuple[Indices, Array]:
        """Each support with a component begun anew, and loadings to start from."""


class JointProblem(Protocol):
    """Supports of several components among all features of a view."""

    blocks: int
    usable: NDArray[np.bool_]

    def on(self, features: Indices) -> BlockObjective:
        """The objective of a working set, in memory."""

    def outside(self, supports: Indices, loadings: Array) -> Array:
        """What each component gains by each feature (rows of d), -inf for its own; by one product with A."""


class Elite:
    """The best local optima found so far, each once, whatever the order of features and components."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.found: dict[tuple[Any, ...], Found] = {}
        self.ended: dict[tuple[Any, ...], int] = {}

    def admit(self, supports: Indices, values: Array, loadings: Array) -> None:
        """Remember where descents ended."""
        parts = np.sort(supports.reshape(len(supports), self.blocks, -1), axis=2).tolist()
        for support, part, value, x in zip(supports, parts, values.tolist(), loadings, strict=True):
            place = tuple(sorted(map(tuple, part)))
            self.ended[place] = self.ended.get(place, 0) + 1
            if place not in self.found or value > self.found[place].value:
                self.found[place] = Found(support, value, x)

    @property
    def best(self) -> list[Found]:
        """The best few, best first."""
        return sorted(self.found.values(), key=lambda found: -found.value)[:ELITE]

    @property
    def settled(self) -> float:
        """Share of descents that ended where another did: what is left to be found is the rest, by Good and Turing."""
        descents = sum(self.ended.values())
        return 1 - sum(count == 1 for count in self.ended.values()) / descents if descents > POPULATION else 0.0


def search_joint(
    problem: JointProblem, starts: Indices, loadings: Array, run: Run, *, descents: int, working_set: int
) -> list[Found]:
    """The best supports that descents from the starts, and from what becomes of their ends, lead to; best first.

    Starts race: half of them is left behind after a few steps. Working sets are selected anew, from what all features
    could add to the best so far, until that brings nothing; then descents go on from crossovers, perturbations and
    supports with a component begun anew, and working sets are selected once more.
    """
    elite, effort = Elite(problem.blocks), run.effort
    usable = np.flatnonzero(problem.usable)
    batches = _batches(descents)
    for number in range(effort.joint_working_sets):
        features = _working_set(problem, starts, loadings, usable, working_set)
        objective = problem.on(features)
        best = elite.best[0].value if elite.found else -np.inf
        race = not elite.found
        _descend(elite, objective, features, starts, loadings, run, race=race)
        looked_at_all = np.isin(usable, features).all()
        gained = elite.best[0].value > best * (1 + SAME)
        if not gained or looked_at_all or number == effort.joint_working_sets - 2:
            count = next(batches, 0)
            while count and elite.settled <= 1 - effort.unseen and not run.budget.expired:
                children, x = _offspring(objective, features, elite.best, count, run.rng)
                _descend(elite, objective, features, children, x, run, race=False)
                count = next(batches, 0)
            gained = gained or elite.best[0].value > best * (1 + SAME)
        starts, loadings = (np.array(part) for part in zip(*((f.support, f.loadings) for f in elite.best), strict=True))
        if not gained or looked_at_all or run.budget.expired:
            break
    return elite.best


def _batches(count: int) -> Iterator[int]:
    """A number of descents, as many at a time as climb together."""
    for first in range(0, count, POPULATION):
        yield min(POPULATION, count - first)


def _working_set(problem: JointProblem, supports: Indices, loadings: Array, usable: Indices, width: int) -> Indices:
    """The features of supports, and those that components of the first of them gain most by."""
    if len(usable) <= problem.blocks * width:
        return np.union1d(usable, supports)
    scores = problem.outside(supports, loadings)
    width = min(width, scores.shape[1])
    near = np.argpartition(-scores, width - 1, axis=1)[:, :width]
    return np.union1d(near[np.take_along_axis(scores, near, axis=1) > -np.inf], supports).astype(np.intp)


def _descend(
    elite: Elite,
    objective: BlockObjective,
    features: Indices,
    starts: Indices,
    loadings: Array,
    run: Run,
    *,
    race: bool,
) -> None:
    """Climb from some supports inside a working set, and remember where that ended."""
    inside, effort = np.searchsorted(features, starts), run.effort
    descent = Descent(objective, inside, loadings, shortlist=effort.shortlist, refined=effort.refined, growth=NOTICED)
    descent.run(run.budget, race=race)
    elite.admit(features[descent.supports], descent.values, descent.kept)


def _offspring(
    objective: BlockObjective, features: Indices, elite: list[Found], count: int, rng: np.random.Generator
) -> tuple[Indices, Array]:
    """New supports: crossovers of two of the elite, one of them with some features replaced, or a component anew."""
    supports = np.searchsorted(features, np.array([found.support for found in elite]))
    _, state = objective.fitted(supports, np.array([found.loadings for found in elite]))
    scores = objective.swap_gains(supports, state)  # (S, R, c)
    parents = rng.integers(len(elite), size=count)
    rows = supports[parents]
    for child, parent in enumerate(parents.tolist()):
        other = int(rng.integers(len(elite)))
        if child % 2 and other != parent:
            rows[child] = _crossed(supports[parent], supports[other], objective, rng)
        else:
            rows[child] = _perturbed(supports[parent], scores[parent], objective.blocks, rng)
    of_parents = tuple(part[parents] for part in state)
    before = objective.kept(of_parents, rows == supports[parents])
    anew = np.arange(0, count, RENEWED)
    rows[anew], before[anew] = objective.renewed(supports[parents[anew]], tuple(part[anew] for part in of_parents), rng)
    return features[rows], before


def _crossed(first: Indices, second: Indices, objective: BlockObjective, rng: np.random.Generator) -> Indices:
    """What two supports have in common, and some of what only one of them has, in each component.

    Components of the second go with those of the first that they have most features in common with.
    """
    mine, theirs = (part.reshape(objective.blocks, -1) for part in (first, second))
    real = objective.size - objective.padding
    common = np.array([[np.isin(one, other).sum() for other in theirs] for one in mine])
    child = mine.copy()
    for b, partner in zip(*linear_sum_assignment(-common), strict=True):
        only_mine = np.flatnonzero(~np.isin(mine[b], theirs[partner]) & (mine[b] < real))
        only_theirs = np.setdiff1d(theirs[partner][theirs[partner] < real], mine[b])
        count = min(int(rng.integers(len(only_mine) + 1)), len(only_theirs))
        child[b, rng.permutation(only_mine)[:count]] = rng.permutation(only_theirs)[:count]
    return child.ravel()


def _perturbed(support: Indices, scores: Array, blocks: int, rng: np.random.Generator) -> Indices:
    """A few features replaced, mostly by good replacements of their own."""
    child, n_slots = support.copy(), len(support)
    size, (least, most) = n_slots // blocks, PERTURBED
    for slot in rng.choice(n_slots, min(int(rng.integers(least, most + 1)), n_slots), replace=False):
        possible = np.flatnonzero(scores[slot] > -np.inf)
        possible = np.setdiff1d(possible, child[slot // size * size : (slot // size + 1) * size])
        if len(possible):
            nearby = possible[np.argsort(-scores[slot, possible], kind="stable")[:NEARBY]]
            child[slot] = rng.choice(possible if rng.random() < ANYWHERE else nearby)
    return child
