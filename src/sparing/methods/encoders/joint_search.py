"""The search for several components together, each with separate features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sparing.linalg.truncation import unit_columns
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.joint_starts import JointStarts
from sparing.results import Array, Spectrum
from sparing.run import Run
from sparing.search.iterated import Found, search, several_at_once
from sparing.search_limits import SEARCH

TRANSFER_GAIN = 1e-9
"""Share of the variance that moving features between components must gain."""


Optimum = tuple[Array, float]
"""Directions that a search has ended at, and their value."""


class LevelFound(NamedTuple):
    """State of a search after one level of effort: the best result so far, and the directions found at this level."""

    best: Array
    tried: list[Array]


class JointSearch:
    """One search in the levels of the effort: each level continues from the results of the levels below.

    A level does not depend on the levels above, so that a search of less effort is part of every longer one.

    Parameters
    ----------
    goal : JointVariances
    starts : JointStarts
        Where to start; searches of one fit share them.
    spectrum : Spectrum
    run : Run
    """

    def __init__(self, goal: JointVariances, starts: JointStarts, spectrum: Spectrum, run: Run) -> None:
        self.goal, self.starts, self.spectrum, self.context = goal, starts, spectrum, run
        self.deflations, self.n_shared, self.scattered = iter(goal.deflations), 0, False

    def run(self, known: Sequence[Array] = ()) -> list[LevelFound]:
        """The directions of largest joint variance found by each level; at least one, even if time is up.

        ``known`` are answers of another search that these may not be below, one for each level.
        """
        first = self._sequential()
        if first.shape[1] < self.goal.blocks:  # nothing is left for further components
            self.goal = self.goal.fewer(first.shape[1])
            if first.shape[1] < self.goal.blocks or first.shape[1] < 2:
                return [LevelFound(self.goal.ordered(first), [first])]
            self.starts = self.starts.of(self.goal, self.spectrum)
        self.rotations = self.starts.rotations()
        best, optima, found = list[Array](), list[Optimum](), list[LevelFound]()
        for level in self.context.levels():
            if found and level.budget.expired:
                break
            given = [_in_places(H, self.goal.sizes) for H in known[len(found) :][:1] if H.shape[1] == self.goal.blocks]
            tried = [] if found else [first]
            if not level.budget.expired:
                optima, more = self._level(optima, [*tried, *given], level)
                tried += more
            best = [self.goal.best(tried, self.spectrum, at_least=[*best, *given])]
            found.append(LevelFound(self.goal.ordered(best[0]), tried))
        return found

    def _level(self, optima: list[Optimum], known: list[Array], run: Run) -> tuple[list[Optimum], list[Array]]:
        """The best results of a search from known ones and from new starts, and all results that it found."""
        goal, effort, n_slots = self.goal, run.effort, sum(self.goal.sizes)
        affordable = effort.joint_affordable(n_slots, goal.n_features)
        if effort.below is not None and affordable < 1:
            return optima, []
        fewest = 2 if effort.below is None else 3  # one of each kind
        count = int(np.clip(affordable, fewest, effort.joint_starts))
        more = list(self._starts(count, affordable, run))
        descents = int(np.clip(goal.descents_share * affordable, 0, effort.joint_descents))
        found = self._searched(goal, [*known, *more], descents, run, optima[: 1 + int(affordable)])
        found = self._transferred(found, run)
        best = [H for H, _ in found]
        if found:
            run.budget.say(f"joint search: {found[0][1] / goal.view.total:.4%} of the variance")
        overlapping = goal.overlapping(best)
        fitted = [goal.refitted(H, run) if number == 0 or overlapping[number] else H for number, H in enumerate(best)]
        return found, goal.feasible([*fitted, *more])

    def _transferred(self, found: list[Optimum], run: Run) -> list[Optimum]:
        """The same after moves of features between components, where numbers may differ, while some gain."""
        since = 0
        for _ in range(run.effort.joint_transfers):
            best = found[: SEARCH.moving]
            trials = [] if run.budget.expired else [trial for H, _ in best for trial in self.goal.transfers(H, run.rng)]
            further = self._searched(self.goal, trials, 0, run, best) if trials else []
            if not further or since > 1:
                break
            since = 0 if further[0][1] > found[0][1] * (1 + TRANSFER_GAIN) else since + 1
            found = sorted([*further, *found], key=lambda pair: -pair[1])[: len(found)]
        return found

    def _searched(
        self, goal: JointVariances, starts: Sequence[Array], descents: int, run: Run, optima: Sequence[Optimum] = ()
    ) -> list[Optimum]:
        """Directions that a search from these leads to, and their values, the best first; local optima are known."""
        goal = goal.fitting([*starts, *(H for H, _ in optima)])
        H, images = goal.with_images(starts)
        order = np.argsort(-goal.captured(H, images), kind="stable")
        rows, loadings = zip(*(goal.slots(starts[i], images[i]) for i in order), strict=True)
        known = [Found(row, value, x) for H, value in optima for row, x in [goal.slots(H, H)]]
        plan = several_at_once(goal, descents, run.effort)
        found = search(goal, np.array(rows), np.array(loadings), run, plan, known)
        best = [(unit_columns(goal.directions_of(one)), one.value) for one in found]
        return [(H, value) for H, value in best if H.shape[1] == goal.blocks]

    def _starts(self, count: int, affordable: float, run: Run) -> Iterator[Array]:
        """Truncated rotations; every fourth is a partition of features among components while there are some, every
        fourth sequential components or, above the least effort, components from anywhere."""
        least = run.effort.below is None
        others = {1: self._shared(affordable, run)}
        others |= {3: self._sequences()} if least else {0: self._from_anywhere(run)}
        for number in range(count):
            if run.budget.expired:
                return
            start = next(others.get(number % 4, iter(())), None)
            start = next(self.rotations) if start is None else start
            if start.shape[1] == self.goal.blocks and start.any(axis=0).all():
                yield start

    def _shared(self, affordable: float, run: Run) -> Iterator[Array]:
        """A few partitions of features among components."""
        times = int(run.effort.joint_shared * min(1.0, affordable / SEARCH.shared_starts))
        for _ in range(SEARCH.joint_partitions):
            self.n_shared += 1
            yield self.starts.shared(self.n_shared - 1, times, run)

    def _sequences(self) -> Iterator[Array]:
        """Sequential components, with one deflation after the other."""
        for deflation in self.deflations:
            yield self.starts.sequential(deflation, self.context)

    def _from_anywhere(self, run: Run) -> Iterator[Array]:
        """Components that principal components do not lead to, once."""
        if not self.scattered:
            self.scattered = True
            yield from map(self.goal.cut, self.starts.scattered(self.goal.ridge, run))

    def _sequential(self) -> Array:
        """Sequential components, with the next of the deflations."""
        deflation = next(self.deflations, None)
        if deflation is None:
            return np.zeros((self.goal.n_features, 0))
        return self.starts.sequential(deflation, self.context)


def _in_places(H: Array, sizes: Sequence[int]) -> Array:
    """Directions in another order: those with most features where most are allowed."""
    placed = np.empty_like(H)
    placed[:, np.argsort([-size for size in sizes], kind="stable")] = H[
        :, np.argsort(-np.count_nonzero(H, axis=0), kind="stable")
    ]
    return placed
