"""Steepest swaps of many supports in lockstep: one stacked decomposition serves all of them.

An objective scores all swaps of a support at once by lower bounds of their gains, so that a swap with a positive score
is a gain for sure. Near an optimum, where the scores see nothing, sharper bounds of the best few swaps are computed.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sparing.results import Array, Indices
from sparing.run import Budget, Run

GROWTH = 1e-10
"""Share of a value that a step must gain; less may be rounding."""


class SwapObjective(Protocol):
    """Values of supports (rows of an integer array), evaluated many at a time."""

    size: int

    def fitted(self, supports: Indices) -> tuple[Array, Any]:
        """Values, and what scores of swaps need, with one entry for each support along its first axis."""

    def swap_gains(self, supports: Indices, state: Any, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gain of every swap (S, r, c): the c-th candidate in place of the r-th feature.

        ``candidates`` (S, c) are all features where they are not given; a feature of the support itself gains -inf.
        """

    def sharper_values(self, supports: Indices, state: Any, slots: Indices, taken: Indices) -> Array:
        """Lower bounds of the values after some swaps of each support (S, c), sharper than their scores and dearer."""


class Descent:
    """Supports that climb together, each until no swap gains.

    Parameters
    ----------
    objective : SwapObjective
    supports : ndarray of int of shape (S, r)
    shortlist : int
        Candidates that a support keeps looking at after one look at all of them, until they fail.
    refined : int
        Swaps that are looked at more closely before a support counts as a local optimum.
    """

    def __init__(self, objective: SwapObjective, supports: Indices, *, shortlist: int, refined: int) -> None:
        self.objective, self.refined = objective, refined
        self.supports = supports.copy()
        self.values, self._state = objective.fitted(self.supports)
        n_supports, size = supports.shape
        self._at_once = np.full(n_supports, max(1, size // 4))
        self._short = np.zeros((n_supports, min(max(shortlist, size // 2), objective.size)), dtype=np.intp)
        self._has_short = np.zeros(n_supports, dtype=bool)

    def run(self, budget: Budget) -> None:
        """Climb until all have arrived, or time is up."""
        active = np.arange(len(self.supports))
        while len(active) and not budget.expired:
            arrived = [self._step(active[~self._has_short[active]], look_at_all=True)]
            arrived.append(self._step(np.setdiff1d(active[self._has_short[active]], arrived[0]), look_at_all=False))
            active = np.setdiff1d(active, arrived[0])

    def _step(self, who: Indices, *, look_at_all: bool) -> Indices:
        """One step of some supports; returns those that are local optima."""
        if len(who) == 0:
            return who
        gains, candidates = self._gains(who, look_at_all)
        least = GROWTH * self.values[who]
        several, n_swaps = _swapped(self.supports[who], gains, candidates, least, self._at_once[who])
        stuck = n_swaps == 0
        moved = who[~stuck]
        if len(moved):
            failed = ~self._accept(moved, several[~stuck])
            self._at_once[moved[failed]] = np.maximum(self._at_once[moved[failed]] // 2, 1)
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
        """Scores of swaps with the shortlist of each support, which a look at all candidates makes anew."""
        state = tuple(part[who] for part in self._state)
        if not look_at_all:
            return self.objective.swap_gains(self.supports[who], state, self._short[who]), self._short[who]
        gains = self.objective.swap_gains(self.supports[who], state)
        width = self._short.shape[1]
        order = np.argpartition(-gains.max(axis=1), width - 1, axis=1)[:, :width]
        self._short[who], self._has_short[who] = order, True
        return np.take_along_axis(gains, order[:, None, :], axis=2), order

    def _accept(self, who: Indices, proposed: Indices) -> NDArray[np.bool_]:
        """Take what gains; says for which supports it did."""
        values, state = self.objective.fitted(proposed)
        better = values > self.values[who] * (1 + GROWTH)
        chosen = who[better]
        self.supports[chosen], self.values[chosen] = proposed[better], values[better]
        for part, new in zip(self._state, state, strict=True):
            part[chosen] = new[better]
        return better

    def _refine(self, who: Indices, gains: Array, candidates: Indices) -> NDArray[np.bool_]:
        """Look more closely at the most promising swaps of supports without a good one; which of them gain?"""
        count = min(self.refined, gains[0].size)
        places = np.argpartition(-gains.reshape(len(who), -1), count - 1, axis=1)[:, :count]
        slots, columns = np.unravel_index(places, gains.shape[1:])
        taken = np.take_along_axis(candidates, columns, axis=1)
        scores = np.take_along_axis(gains.reshape(len(who), -1), places, axis=1)
        possible = scores > -np.inf
        supports = self.supports[who]
        taken = np.where(possible, taken, np.take_along_axis(supports, slots, axis=1))  # no swap at all
        state = tuple(part[who] for part in self._state)
        sharper = self.objective.sharper_values(supports, state, slots, taken)
        values = np.where(possible, np.maximum(sharper, self.values[who, None] + scores), -np.inf)
        rows, best = np.arange(len(who)), values.argmax(axis=1)
        supports[rows, slots[rows, best]] = taken[rows, best]
        return self._accept(who, supports)


def local_optimum(objective: SwapObjective, support: Indices, run: Run) -> Indices:
    """Where the steepest swaps of one support lead to."""
    descent = Descent(objective, support[None], shortlist=run.effort.shortlist, refined=run.effort.refined)
    descent.run(run.budget)
    return cast(Indices, descent.supports[0])


def _swapped(
    supports: Indices, gains: Array, candidates: Indices, least: Array, at_once: Indices
) -> tuple[Indices, Indices]:
    """Supports after up to ``at_once`` swaps of different features, the best first; and how many there were."""
    out, count = supports.copy(), np.zeros(len(supports), dtype=np.intp)
    slots = gains.argmax(axis=1)  # what each candidate would best take the place of
    best = np.take_along_axis(gains, slots[:, None, :], axis=1)[:, 0]
    order = np.argsort(-best, axis=1)[:, : 4 * int(at_once.max(initial=1))]
    for s in range(len(supports)):
        used = set[int]()
        for j in order[s]:
            if best[s, j] <= least[s] or len(used) == at_once[s]:
                break
            if (slot := int(slots[s, j])) not in used:
                used.add(slot)
                out[s, slot] = candidates[s, j]
        count[s] = len(used)
    return out, count
