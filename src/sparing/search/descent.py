"""Steepest swaps of many supports in lockstep: one stacked decomposition serves all of them.

An objective scores all swaps of a support at once by lower bounds of their gains, so that a swap with a positive score
is a gain for sure. Near an optimum, where the scores see nothing, sharper bounds of the best few swaps are computed.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sparing.results import Array, Indices
from sparing.rules import NO_RULES, Rules
from sparing.run import SEARCH, Budget, Run

STEP_GAIN = 1e-10
"""Share of a value that a step must gain; less may be rounding."""


class SwapObjective(Protocol):
    """Values of supports (rows of an integer array), evaluated many at a time.

    A row holds the supports of ``blocks`` components side by side, of the same length; a feature stands in a component
    once. What is swapped in is judged beside the component that it comes to.
    """

    size: int
    blocks: int

    def fitted(self, supports: Indices, before: Any = None) -> tuple[Array, Any]:
        """Values, and what scores of swaps need, with one entry for each support along its first axis.

        ``before`` is what :meth:`kept` gave of the states that these supports came from.
        """

    def kept(self, state: Any, same: NDArray[np.bool_]) -> Any:
        """Of states what is worth keeping when only these slots (S, R) stay the same: an array (S, ...), or None."""

    def swap_gains(self, supports: Indices, state: Any, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gain of every swap (S, R, c): the c-th candidate in place of the R-th feature.

        ``candidates`` (S, c), or (S, blocks, c) where there are several, are all features where they are not given; a
        feature that the component has already gains -inf.
        """

    def sharper_values(self, supports: Indices, state: Any, slots: Indices, taken: Indices) -> Array:
        """Lower bounds of the values after some swaps of each support (S, c), sharper than their scores and dearer."""


class Descent:
    """Supports that climb together, each until no swap gains.

    Parameters
    ----------
    objective : SwapObjective
    supports : ndarray of int of shape (S, R)
    before : array, optional
        What was kept of the states that they came from.
    shortlist : int
        Candidates that a support keeps looking at after one look at all of them, until they fail.
    refined : int
        Swaps that are looked at more closely before a support counts as a local optimum.
    growth : float
        Share of its value that a step must gain.
    rules : Rules
        Which features a support may have, and which it must: swaps that break them are not made.
    """

    def __init__(
        self,
        objective: SwapObjective,
        supports: Indices,
        before: Any = None,
        *,
        shortlist: int,
        refined: int,
        growth: float = STEP_GAIN,
        rules: Rules = NO_RULES,
    ) -> None:
        self.objective, self.refined, self.growth, self.rules = objective, refined, growth, rules
        self.supports = supports.copy()
        self.values, self._state = objective.fitted(self.supports, before)
        n_supports, n_slots = supports.shape
        size = n_slots // objective.blocks
        self._at_once = np.full(n_supports, max(1, n_slots // 4))
        width = min(max(shortlist, size // 2), objective.size)
        self._short = np.zeros((n_supports, objective.blocks, width), dtype=np.intp)
        self._has_short = np.zeros(n_supports, dtype=bool)
        self.arrived = np.zeros(n_supports, dtype=bool)

    def run(self, budget: Budget, *, race: bool = False, at_most: float | None = None) -> None:
        """Climb until all have arrived, or time is up; in a race only the better half goes on after some steps."""
        active, steps = np.arange(len(self.supports)), 0
        most = SEARCH.steps_per_slot * self.supports.shape[1] if self.objective.blocks > 1 else np.inf
        most = most if at_most is None else min(most, at_most)
        while len(active) and steps < most and not budget.expired:
            if race and steps in SEARCH.halved and len(active) > 1:
                reached = np.sort(self.values)[::-1][max(1, len(self.supports) >> (SEARCH.halved.index(steps) + 1)) - 1]
                active = active[self.values[active] >= reached]
            steps += 1
            self.arrived[self._step(active[~self._has_short[active]], look_at_all=True)] = True
            active = active[~self.arrived[active]]
            self._step(active[self._has_short[active]], look_at_all=False)

    @property
    def kept(self) -> Any:
        """What is worth keeping of all states."""
        return self.objective.kept(self._state, np.ones(self.supports.shape, dtype=bool))

    def _step(self, who: Indices, *, look_at_all: bool) -> Indices:
        """One step of some supports; returns those that are local optima."""
        if len(who) == 0:
            return who
        gains, candidates = self._gains(who, look_at_all)
        least = self.growth * self.values[who]
        several, n_swaps = _swapped(self.supports[who], gains, candidates, least, self._at_once[who])
        stuck = n_swaps == 0
        moved = who[~stuck]
        if len(moved):
            failed = ~self._accept(moved, several[~stuck])
            most = max(1, self.supports.shape[1] // 4)
            halved, doubled = np.maximum(self._at_once[moved] // 2, 1), np.minimum(2 * self._at_once[moved], most)
            self._at_once[moved] = np.where(failed, halved, doubled)
            again = np.flatnonzero(~stuck)[failed]
            if len(again):  # swaps that gain one by one need not gain together
                one = np.ones(len(again), dtype=np.intp)
                single, _ = _swapped(self.supports[who[again]], gains[again], candidates[again], least[again], one)
                stuck[again] = ~self._accept(who[again], single)  # what was promised was rounding
        self._has_short[who[stuck]] = False
        if not look_at_all or not stuck.any():
            return who[:0]
        arrived = ~self._refine(who[stuck], gains[stuck], candidates[stuck])
        return cast(Indices, who[stuck][arrived])

    def _gains(self, who: Indices, look_at_all: bool) -> tuple[Array, Indices]:
        """Scores (S, blocks, r, c) of swaps with the shortlist of each component, which a look at all makes anew."""
        state, blocks = tuple(part[who] for part in self._state), self.objective.blocks
        shape = (len(who), blocks, self.supports.shape[1] // blocks, -1)
        if not look_at_all:
            short = self._short[who]
            gains = self.objective.swap_gains(self.supports[who], state, short if blocks > 1 else short[:, 0])
            return self._permitted(who, gains.reshape(shape), short), short
        gains = self.objective.swap_gains(self.supports[who], state).reshape(shape)
        gains = self._permitted(who, gains, None)
        width = self._short.shape[2]
        order = np.argpartition(-gains.max(axis=2), width - 1, axis=2)[:, :, :width]
        self._short[who], self._has_short[who] = order, width < self.objective.size
        return np.take_along_axis(gains, order[:, :, None, :], axis=3), order

    def _permitted(self, who: Indices, gains: Array, candidates: Indices | None) -> Array:
        """Scores (S, blocks, r, c) with -inf for swaps that would break a rule."""
        if not self.rules:
            return gains
        n, blocks, size, _ = gains.shape
        everything = np.broadcast_to(np.arange(self.objective.size), (n, blocks, self.objective.size))
        offered = everything if candidates is None else candidates
        parts = self.supports[who].reshape(n, blocks, size)
        masks = [self.rules.swaps(parts[:, block], offered[:, block]) for block in range(blocks)]
        return np.where(np.stack(masks, axis=1), gains, -np.inf)

    def _accept(self, who: Indices, proposed: Indices) -> NDArray[np.bool_]:
        """Take what gains; says for which supports it did."""
        before = self.objective.kept(tuple(part[who] for part in self._state), proposed == self.supports[who])
        values, state = self.objective.fitted(proposed, before)
        better = values > self.values[who] * (1 + self.growth)
        if self.rules.has_limits:  # swaps that keep a limit one by one need not keep it together
            better &= self.rules.within_limits(proposed)
        chosen = who[better]
        self.supports[chosen], self.values[chosen] = proposed[better], values[better]
        for part, new in zip(self._state, state, strict=True):
            part[chosen] = new[better]
        return better

    def _refine(self, who: Indices, gains: Array, candidates: Indices) -> NDArray[np.bool_]:
        """Look more closely at the most promising swaps of supports without a good one; which of them gain?"""
        count = min(self.refined, gains[0].size)
        if count == 0:
            return np.zeros(len(who), dtype=bool)
        flat, rows = gains.reshape(len(who), -1), np.arange(len(who))
        places = np.argpartition(-flat, count - 1, axis=1)[:, :count]
        blocks, slots, columns = np.unravel_index(places, gains.shape[1:])
        slots = slots + blocks * gains.shape[2]
        supports = self.supports[who]
        scores = np.take_along_axis(flat, places, axis=1)
        possible = scores > -np.inf
        taken = candidates[rows[:, None], blocks, columns]
        taken = np.where(possible, taken, np.take_along_axis(supports, slots, axis=1))  # no swap at all
        state = tuple(part[who] for part in self._state)
        sharper = self.objective.sharper_values(supports, state, slots, taken)
        values = np.where(possible, np.maximum(sharper, self.values[who, None] + scores), -np.inf)
        best = values.argmax(axis=1)
        supports[rows, slots[rows, best]] = taken[rows, best]
        return self._accept(who, supports)


def local_optimum(objective: SwapObjective, support: Indices, run: Run, rules: Rules = NO_RULES) -> Indices:
    """Where the steepest swaps of one support lead to."""
    effort = run.effort
    descent = Descent(objective, support[None], shortlist=effort.shortlist, refined=effort.refined, rules=rules)
    descent.run(run.budget)
    return cast(Indices, descent.supports[0])


def _swapped(
    supports: Indices, gains: Array, candidates: Indices, least: Array, at_once: Indices
) -> tuple[Indices, Indices]:
    """Supports after up to ``at_once`` swaps of different features, the best first; and how many there were."""
    out, count = supports.copy(), np.zeros(len(supports), dtype=np.intp)
    n_supports, blocks, size, _ = gains.shape
    slots = gains.argmax(axis=2)  # what each candidate would best take the place of, in each component
    best = np.take_along_axis(gains, slots[:, :, None, :], axis=2)[:, :, 0].reshape(n_supports, -1)
    slots = (slots + size * np.arange(blocks)[:, None]).reshape(n_supports, -1)
    features = candidates.reshape(n_supports, -1)
    most = min(4 * int(at_once.max(initial=1)), best.shape[1])
    order = np.argpartition(-best, most - 1, axis=1)[:, :most]
    order = np.take_along_axis(order, np.argsort(-np.take_along_axis(best, order, axis=1), axis=1), axis=1)
    for s in range(len(supports)):
        used = set[int]()
        for j in order[s]:
            if best[s, j] <= least[s] or len(used) == at_once[s]:
                break
            if (slot := int(slots[s, j])) not in used:
                used.add(slot)
                out[s, slot] = features[s, j]
        count[s] = len(used)
    return out, count
