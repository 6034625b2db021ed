"""Iterated local search on a population: descents in lockstep, an elite, crossovers and perturbations.

The one driver of the library. It knows supports and an objective, no linear algebra and no data. The value of several
components depends on the loadings that were reached on their supports, so these go along wherever supports go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle
from math import comb
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sparing.effort import Effort
from sparing.linalg.rounding import first_largest
from sparing.results import Array, Indices
from sparing.rules import Rules
from sparing.run import Run
from sparing.search.descent import STEP_GAIN, Descent, SwapObjective
from sparing.search.offspring import BlockObjective, offspring_of_one, offspring_of_several
from sparing.search_limits import SEARCH

Softer = Sequence[SwapObjective]
DIRECTLY: Softer = ()

SAME = 1e-10
"""Share of a value by which a round must better it."""


class Problem(Protocol):
    """Supports among all features of a view: working sets in memory, and scores of the features outside.

    ``usable`` says which features may be in a support; those from ``n_features`` on are empty slots, of which a support
    has some where a budget may be spent on fewer features than it has slots. ``blocks`` components have supports of
    their own, side by side in one row.
    """

    blocks: int
    usable: NDArray[np.bool_]
    n_features: int
    rules: Rules

    def on(self, features: Indices) -> SwapObjective:
        """The objective of a working set, in memory."""

    def outside(self, supports: Indices, width: int, loadings: Array | None = None) -> Array:
        """The score of each feature (columns) for some of the supports or their components (rows): one product with A.

        -inf for features that are there already, and for others that are not among the ``width`` best.
        """


@dataclass(frozen=True)
class Plan:
    """Settings of one search.

    Attributes
    ----------
    working_sets, patience : int
        Working sets one after the other, and how many without any gain before it ends.
    width, rows : int
        Features that each row of scores brings to a working set, and how many rows there are, roughly.
    descents : int
        Crossovers and perturbations: in every working set, or in all once a working set brings nothing.
    in_every_set : bool
    growth : float
        Share of its value that a step must gain.
    race : bool
        Half of the supports that a working set begins with is left behind after a few steps.
    work : float
        Entries of Gram rows that the steps of one descent read at most: every step fits all components anew.
    unseen : float
        It ends where no larger share of descents ended at an optimum of their own.
    together : int
        Crossovers and perturbations that climb together. Minimum number of descents for an estimate of the optima not
        yet found.
    """

    working_sets: int
    patience: int
    width: int
    rows: int
    descents: int
    in_every_set: bool = True
    growth: float = STEP_GAIN
    race: bool = False
    work: float = np.inf
    unseen: float = 0.0
    together: int = SEARCH.population


class Found(NamedTuple):
    """A local optimum: its row of slots, its value, and its loadings if they are stored."""

    support: Indices
    value: float
    loadings: Array | None = None


class Elite:
    """The best local optima found so far, each once, whatever the order of features and components."""

    def __init__(self, blocks: int, trusted: int) -> None:
        self.blocks, self.trusted = blocks, trusted
        self.found: dict[tuple[Any, ...], Found] = {}
        self.ended: dict[tuple[Any, ...], int] = {}

    def admit(self, supports: Indices, values: Array, loadings: Array | None, arrived: NDArray[np.bool_]) -> None:
        """Remember where descents ended, and which of these ends are local optima."""
        parts = np.sort(supports.reshape(len(supports), self.blocks, -1), axis=2)
        for number, (part, value) in enumerate(zip(parts, values.tolist(), strict=True)):
            place = tuple(sorted(map(tuple, part.tolist())))
            if arrived[number]:
                self.ended[place] = self.ended.get(place, 0) + 1
            if place not in self.found or value > self.found[place].value:
                kept = (part.ravel(), value) if loadings is None else (supports[number], value, loadings[number])
                self.found[place] = Found(*kept)

    @property
    def best(self) -> list[Found]:
        """The best few, best first."""
        return sorted(self.found.values(), key=lambda found: -found.value)[: SEARCH.elite]

    @property
    def rows(self) -> tuple[Indices, Array | None]:
        """Their supports, and their loadings if they are stored."""
        best = self.best
        x = None if best[0].loadings is None else np.array([found.loadings for found in best])
        return np.array([found.support for found in best]), x

    @property
    def value(self) -> float:
        """The best value; none at first."""
        return max((found.value for found in self.found.values()), default=-np.inf)

    @property
    def unseen(self) -> float:
        """Share of descents that ended where no other did: the Good-Turing estimate of the optima not yet found."""
        descents = sum(self.ended.values())
        return sum(count == 1 for count in self.ended.values()) / descents if descents > self.trusted else 1.0


class _WorkingSet:
    """Some features, and descents among them."""

    def __init__(self, problem: Problem, features: Indices, elite: Elite, plan: Plan, run: Run) -> None:
        self.features, self.elite, self.plan, self.run = features, elite, plan, run
        self.objective, self.rules = problem.on(features), problem.rules.restricted(features, problem.n_features)
        self.optima = set[bytes]()

    def descend(
        self, starts: Indices, loadings: Array | None, ways: Sequence[Softer] = (DIRECTLY,), *, race: bool = False
    ) -> None:
        """Climb from some supports, and store the local optima reached.

        Each way is a climb of its own, by softer objectives on the way to a constraint; ways after the first are for
        ends all over the place.
        """
        effort, budget, inside = self.run.effort, self.run.budget, np.searchsorted(self.features, starts)
        limits: dict[str, Any] = {"shortlist": effort.shortlist, "refined": effort.refined}
        limits |= {"growth": self.plan.growth, "rules": self.rules}
        for number, way in enumerate(ways):
            if number and (not way or self.elite.unseen <= self.plan.unseen):
                break
            supports, x = inside, loadings
            for easier in way:
                descent = Descent(easier, supports, x, **limits)
                descent.run(budget, at_most=SEARCH.soft_steps)
                supports, x = descent.supports, descent.kept
            descent = Descent(self.objective, supports, x, optima=self.optima, **limits)
            descent.run(
                budget, race=race, at_most=max(SEARCH.least_steps, self.plan.work / (starts.size * len(self.features)))
            )
            self.elite.admit(self.features[descent.supports], descent.values, descent.kept, descent.arrived)

    @property
    def softer(self) -> Softer:
        """Objectives on the way to a constraint, which pay if components need one another's features."""
        softer: Softer = getattr(self.objective, "softer", DIRECTLY) if self.run.effort.below else DIRECTLY
        return softer

    def iterate(self, counts: Iterator[int], *, settle: bool) -> None:
        """Climb in batches from crossovers and perturbations of the best supports, until few new optima are found.

        Every other batch comes to a constraint by softer objectives.
        """
        for number, ways in enumerate(cycle([(DIRECTLY,), (self.softer,)])):
            tried = number > 0 or bool(self.softer)  # starts that climbed in one way only may agree on less
            if self.run.budget.expired or (settle and tried and self.elite.unseen <= self.plan.unseen):
                break
            if (count := next(counts, 0)) == 0:
                break
            supports, loadings = self.elite.rows
            inside = np.searchsorted(self.features, supports)
            if loadings is None:
                children, x = offspring_of_one(self.objective, inside, count, self.rules, self.run.rng), None
            else:
                several = cast(BlockObjective, self.objective)
                children, x = offspring_of_several(several, inside, loadings, count, self.run.rng)
            self.descend(self.features[children], x, ways)


def search(
    problem: Problem, starts: Indices, loadings: Array | None, run: Run, plan: Plan, optima: Sequence[Found] = ()
) -> list[Found]:
    """The best supports found by descents from the starts and from crossovers and perturbations of the results, best
    first.

    Each round selects a working set anew, from what all features could add to the best supports so far; descents there
    go on from these, then from crossovers and perturbations of them. It ends where a few rounds bring nothing, or
    where nearly all descents end at known optima and another working set has brought nothing. Nothing climbs from local
    optima that are known, until a working set is selected anew.
    """
    usable, elite = np.flatnonzero(problem.usable), Elite(problem.blocks, plan.together)
    since, left = 0, batches(plan.descents, plan.together)
    for found in optima:
        elite.admit(found.support[None], np.array([found.value]), _stacked(found.loadings), np.ones(1, dtype=bool))
    for number in range(plan.working_sets):
        around = (starts, loadings) if number else _before(optima, starts, loadings)
        features, best = _working_set(problem, *around, usable, plan), elite.value if number else -np.inf
        inside, known = _WorkingSet(problem, features, elite, plan, run), elite.unseen <= plan.unseen
        inside.descend(starts, loadings, race=plan.race)
        if number == 0 and inside.softer and elite.unseen > plan.unseen:  # from some of each: these climbs take long
            rows, x = _before(optima[: plan.together // 2], starts, loadings)
            first = slice(plan.together)
            inside.descend(rows[first], None if x is None else x[first], (inside.softer,), race=plan.race)
        all_seen, gained = bool(np.isin(usable, features).all()), elite.value > best * (1 + SAME)
        if plan.in_every_set:
            inside.iterate(batches(0 if known and not gained else plan.descents, plan.together), settle=False)
        elif not gained or all_seen or number == plan.working_sets - 2:
            inside.iterate(left, settle=True)
        since = 0 if elite.value > best * (1 + SAME) else since + 1
        starts, loadings = elite.rows
        settled = elite.unseen <= plan.unseen and (since > 0 or all_seen)
        if run.budget.expired or since >= plan.patience or settled or (all_seen and not plan.in_every_set):
            break
    return elite.best


def _stacked(loadings: Array | None) -> Array | None:
    return None if loadings is None else loadings[None]


def _before(optima: Sequence[Found], starts: Indices, loadings: Array | None) -> tuple[Indices, Array | None]:
    """Rows and loadings of known optima, and after them those of starts."""
    rows = np.array([*(found.support for found in optima), *starts])
    if loadings is None:
        return rows, None
    return rows, np.array([*(found.loadings for found in optima if found.loadings is not None), *loadings])


class _Several(Protocol):
    blocks: int
    width: int


def several_at_once(problem: _Several, descents: int, effort: Effort) -> Plan:
    """The plan for several components: starts race, and descents go on once a working set brings nothing."""
    width = max(problem.width, effort.joint_working_set // problem.blocks)
    return Plan(
        effort.joint_working_sets,
        1,
        width,
        problem.blocks,
        descents,
        in_every_set=False,
        growth=SEARCH.noticed,
        race=True,
        work=effort.joint_work,
        unseen=effort.joint_unseen,
        together=SEARCH.joint_population,
    )


def search_all(problem: Problem, starts: Indices, run: Run) -> Indices:
    """The best supports of one component, or of the support that all share, best first; if there are few, all are
    tried."""
    usable, size, effort = np.flatnonzero(problem.usable), starts.shape[1], run.effort
    if size >= len(usable):
        return starts
    n_empty, rules = int((usable >= problem.n_features).sum()), problem.rules
    if n_supports(len(usable) - n_empty, n_empty, len(rules.required), size) <= effort.enumerated:
        inside = rules.restricted(usable, problem.n_features)
        return usable[best_of_all(problem.on(usable), inside, n_empty, size)][None]
    width = max(1, min(effort.working_set, SEARCH.working_entries // (SEARCH.looked * len(problem.usable))))
    plan = Plan(
        effort.working_sets, effort.patience, width, SEARCH.looked, effort.descents_of(size), unseen=effort.unseen
    )
    return np.array([found.support for found in search(problem, starts, None, run, plan)])


def _working_set(problem: Problem, supports: Indices, loadings: Array | None, usable: Indices, plan: Plan) -> Indices:
    """The features of the best supports, and those with the most promising swaps into the first of them."""
    if len(usable) <= plan.rows * plan.width:
        return np.union1d(usable, supports).astype(np.intp)
    scores = problem.outside(supports[: SEARCH.looked] if loadings is None else supports, plan.width, loadings)
    width = min(plan.width, scores.shape[1])
    near = np.argpartition(-scores, width - 1, axis=1)[:, :width]
    promising = near[np.take_along_axis(scores, near, axis=1) > -np.inf]
    empty = np.arange(problem.n_features, len(problem.usable))
    return np.union1d(promising, np.append(supports.ravel(), empty)).astype(np.intp)


def n_supports(n_real: int, n_empty: int, n_required: int, size: int) -> int:
    """How many supports there are at most: the required features, some of the other real ones, and empty slots."""
    n_slots = size - n_required
    return sum(comb(n_real - n_required, n_slots - unused) for unused in range(min(n_empty, n_slots) + 1))


def best_of_all(objective: SwapObjective, rules: Rules, n_empty: int, size: int) -> Indices:
    """The support of this size with the largest value, by trying all; the last ``n_empty`` features are empty slots."""
    n_real, required = objective.size - n_empty, rules.required
    others, n_slots = np.setdiff1d(np.arange(n_real), required), size - len(required)
    supports = np.array(
        [
            (*required, *some, *range(n_real, n_real + unused))
            for unused in range(min(n_empty, n_slots) + 1)
            for some in combinations(others, n_slots - unused)
        ],
        dtype=np.intp,
    )
    supports = supports[rules.permitted(supports)] if rules else supports
    parts = np.array_split(supports, -(-len(supports) // SEARCH.together))
    return cast(Indices, supports[first_largest(np.concatenate([objective.fitted(part)[0] for part in parts]))])


def batches(count: int, together: int) -> Iterator[int]:
    """Sizes of the batches in which a number of descents runs."""
    for first in range(0, count, together):
        yield min(together, count - first)
