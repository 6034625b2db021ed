"""The search for several components together, each with separate features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sparing.linalg.truncation import unit_columns
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.joint_starts import JointStarts, scattered_components
from sparing.results import Array, Spectrum
from sparing.run import Run
from sparing.search.iterated import search, several_at_once
from sparing.search_limits import SEARCH

TRANSFER_GAIN = 1e-9
"""Share of the variance that moving features between components must gain."""


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
        self.deflations, self.n_shared = iter(goal.deflations), 0

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
        best, elite, found = list[Array](), [first], list[LevelFound]()
        for level in self.context.levels():
            if found and level.budget.expired:
                break
            given = [_in_places(H, self.goal.sizes) for H in known[len(found) :][:1] if H.shape[1] == self.goal.blocks]
            tried = [] if found else [first]
            if not level.budget.expired:
                elite, more = self._level(elite, given if known else self._from_anywhere(len(found), level), level)
                tried += more
            best = [self.goal.best(tried, self.spectrum, at_least=[*best, *given])]
            found.append(LevelFound(self.goal.ordered(best[0]), tried))
        return found

    def _level(self, elite: list[Array], known: list[Array], run: Run) -> tuple[list[Array], list[Array]]:
        """The best result of a search from known results and new starts, and all results that it found."""
        goal, effort, n_slots = self.goal, run.effort, sum(self.goal.sizes)
        affordable = effort.joint_affordable(n_slots, goal.n_features)
        if effort.below is not None and affordable < 1:
            return elite, []
        more = list(self._starts(int(np.clip(affordable, 2, effort.joint_starts)), affordable, run))
        descents = int(np.clip(goal.descents_share * affordable, 0, effort.joint_descents))
        found = self._searched(goal, [*elite[: 1 + int(affordable)], *known, *more], descents, run)
        found = self._transferred(found, run)
        best = [H for H, _ in found]
        if found:
            run.budget.say(f"joint search: {found[0][1] / goal.view.total:.4%} of the variance")
        return best, goal.feasible([*(goal.refitted(H, run) for H in best[:1]), *best[1:], *more])

    def _transferred(self, found: list[tuple[Array, float]], run: Run) -> list[tuple[Array, float]]:
        """The same after moves of features between components, where numbers may differ, while some gain."""
        since = 0
        for _ in range(run.effort.joint_transfers):
            best = [H for H, _ in found[: SEARCH.moving]]
            trials = [] if run.budget.expired else [trial for H in best for trial in self.goal.transfers(H, run.rng)]
            further = self._searched(self.goal, [*best, *trials], 0, run) if trials else []
            if not further or since > 1:
                break
            since = 0 if further[0][1] > found[0][1] * (1 + TRANSFER_GAIN) else since + 1
            found = sorted([*further, *found], key=lambda pair: -pair[1])[: len(found)]
        return found

    def _searched(
        self, goal: JointVariances, starts: Sequence[Array], descents: int, run: Run
    ) -> list[tuple[Array, float]]:
        """Directions that a search from these leads to, and their values, the best first."""
        goal = goal.fitting(starts)
        images = np.split(goal.view.gram_matmat(np.concatenate(starts, axis=1)), len(starts), axis=1)
        reached = [goal.captured(H, AH) for H, AH in zip(starts, images, strict=True)]
        order = np.argsort(-np.array(reached), kind="stable")
        rows, loadings = zip(*(goal.slots(starts[i], images[i]) for i in order), strict=True)
        plan = several_at_once(goal, descents, run.effort)
        found = search(goal, np.array(rows), np.array(loadings), run, plan)
        best = [(unit_columns(goal.directions_of(one)), one.value) for one in found]
        return [(H, value) for H, value in best if H.shape[1] == goal.blocks]

    def _starts(self, count: int, affordable: float, run: Run) -> Iterator[Array]:
        """Alternately a truncated rotation, a partition of features among components, and sequential components."""
        for number in range(count):
            if run.budget.expired:
                return
            if number % 4 == 1:
                times = int(run.effort.joint_shared * min(1.0, affordable / SEARCH.shared_starts))
                start = self.starts.shared(self.n_shared, times, run)
                self.n_shared += 1
            elif number % 4 == 3:
                start = self._sequential()
            else:
                start = next(self.rotations)
            if start.shape[1] == self.goal.blocks and start.any(axis=0).all():
                yield start

    def _from_anywhere(self, number: int, run: Run) -> list[Array]:
        """Components that principal components do not lead to; used from the second effort level on."""
        if number != 1:
            return []
        goal = self.goal
        found = scattered_components(goal.view, goal.blocks, max(goal.sizes), goal.ridge, run)
        return [goal.cut(found)] if found.shape[1] == goal.blocks else []

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
