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
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH

STEP_GAIN = 1e-10
"""Share of a value that a step must gain; less may be rounding."""


class SwapObjective(Protocol):
    """Values of supports (rows of an integer array), evaluated many at a time.

    A row holds the supports of ``blocks`` components side by side, of the same length; a feature stands in a component
    once. A feature that is swapped in is evaluated within the component that receives it.
    """

    size: int
    blocks: int

    def fitted(self, supports: Indices, before: Any = None) -> tuple[Array, Any]:
        """Values and everything needed to score swaps, with one entry for each support along the first axis.

        ``before`` is the result of :meth:`kept` for the states from which these supports were derived.
        """

    def kept(self, state: Any, same: NDArray[np.bool_]) -> Any:
        """The part of the states that can be reused when only these slots (S, R) stay the same: an array (S, ...), or
        None."""

    def swap_gains(self, supports: Indices, state: Any, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gain of every swap (S, R, c): the c-th candidate in place of the R-th feature.

        ``candidates`` (S, c), or (S, blocks, c) where there are several, are all features where they are not given; a
        feature that the component has already gains -inf.
        """

    def sharper_values(self, supports: Indices, state: Any, slots: Indices, taken: Indices) -> Array:
        """Lower bounds of the values after some swaps of each support (S, c): tighter than the scores, and more
        expensive."""


class Descent:
    """Supports that climb together, each until no swap gains.

    Parameters
    ----------
    objective : SwapObjective
    supports : ndarray of int of shape (S, R)
    before : array, optional
        What was kept of the states that they came from.
    shortlist : int
        Candidates that a support tries again after one evaluation of all features, until they fail.
    refined : int
        Swaps that are looked at more closely before a support counts as a local optimum.
    growth : float
        Share of its value that a step must gain.
    rules : Rules
        Which features a support may have, and which it must: swaps that break them are not made.
    optima : set of bytes, optional
        Supports of one component known to be local optima of this objective; those found now are added.
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
        optima: set[bytes] | None = None,
    ) -> None:
        self.objective, self.refined, self.growth, self.rules = objective, refined, growth, rules
        self._optima: set[bytes] = set() if optima is None else optima
        self._twins = dict[int, int]()
        self.supports = supports.copy()
        self.values, self._state = objective.fitted(self.supports, before)
        n_supports, n_slots = supports.shape
        size = n_slots // objective.blocks
        self._at_once = np.full(n_supports, max(1, n_slots // 4))
        width = min(max(shortlist, size // 2), objective.size)
        self._short = np.zeros((n_supports, objective.blocks, width), dtype=np.intp)
        self._has_short = np.zeros(n_supports, dtype=bool)
        self.arrived, self._stuck = np.zeros(n_supports, dtype=bool), np.zeros(n_supports, dtype=bool)
        self._promising = np.zeros((3, n_supports, min(refined, n_slots * width)))

    def run(self, budget: Budget, *, race: bool = False, at_most: float | None = None) -> None:
        """Climb until all have converged or time is up; in a race only the better half continues after some steps.

        Supports without a good swap wait until all are without one, but in a race: one closer look serves all of them.
        """
        active, steps = self._apart(np.arange(len(self.supports))), 0
        most = SEARCH.steps_per_slot * self.supports.shape[1] if self.objective.blocks > 1 else np.inf
        most = most if at_most is None else min(most, at_most)
        while len(active) and steps < most and not budget.expired:
            if race and steps in SEARCH.halved and len(active) > 1:
                reached = np.sort(self.values)[::-1][max(1, len(self.supports) >> (SEARCH.halved.index(steps) + 1)) - 1]
                active = active[self.values[active] >= reached]
            steps += 1
            climbing = active[~self._stuck[active]]
            self._step(climbing[~self._has_short[climbing]], look_at_all=True)
            self._step(climbing[self._has_short[climbing]], look_at_all=False)
            stuck = self._stuck[active]
            if stuck.all() or (race and steps <= max(SEARCH.halved)):
                self._look_closer(active[stuck])
            active = self._apart(active)
        for twin, first in reversed(self._twins.items()):
            self.supports[twin], self.values[twin], self.arrived[twin] = (
                part[first] for part in (self.supports, self.values, self.arrived)
            )

    def _apart(self, active: Indices) -> Indices:
        """Those that still climb, without those that have met another or a known optimum: these end alike."""
        if self.objective.blocks > 1:  # of several components loadings count as well
            return active[~self.arrived[active]]
        going, met = list[int](), dict[bytes, int]()
        for one, support in zip(active.tolist(), np.sort(self.supports[active], axis=1), strict=True):
            place = support.tobytes()
            if self.arrived[one] or place in self._optima:
                self.arrived[one] = True
                self._optima.add(place)
            elif place in met:
                self._twins[one] = met[place]
            else:
                met[place] = one
                going.append(one)
        return np.array(going, dtype=np.intp)

    @property
    def kept(self) -> Any:
        """The reusable part of all states."""
        return self.objective.kept(self._state, np.ones(self.supports.shape, dtype=bool))

    def _step(self, who: Indices, *, look_at_all: bool) -> None:
        """One step of some supports; remembers those without a good swap among all, and their most promising ones."""
        if len(who) == 0:
            return
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
        if look_at_all and stuck.any():
            self._stuck[who[stuck]] = True
            self._promising[:, who[stuck]] = self._most_promising(who[stuck], gains[stuck], candidates[stuck])

    def _gains(self, who: Indices, look_at_all: bool) -> tuple[Array, Indices]:
        """Scores (S, blocks, r, c) of swaps with the shortlist of each component, which is renewed when all swaps are
        scored."""
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
        self._short[who], self._has_short[who] = order, 2 * width < self.objective.size
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
        """Accept improvements; returns a mask of the supports that improved."""
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

    def _most_promising(self, who: Indices, gains: Array, candidates: Indices) -> Array:
        """Slots, features that take their places, and scores of the best swaps: (3, S, c)."""
        count = self._promising.shape[2]
        flat = gains.reshape(len(who), -1)
        places = np.argpartition(-flat, count - 1, axis=1)[:, :count] if count else np.zeros((len(who), 0), np.intp)
        blocks, slots, columns = np.unravel_index(places, gains.shape[1:])
        rows, slots = np.arange(len(who))[:, None], slots + blocks * gains.shape[2]
        taken, scores = candidates[rows, blocks, columns], flat[rows, places]
        unchanged = self.supports[who][rows, slots]
        return np.array([slots, np.where(scores > -np.inf, taken, unchanged), scores])

    def _look_closer(self, who: Indices) -> None:
        """Judge the most promising swaps of supports without a good one more closely; the rest are local optima."""
        slots, taken = self._promising[:2, who].astype(np.intp)
        scores, rows, supports = self._promising[2, who], np.arange(len(who)), self.supports[who]
        self._stuck[who], self.arrived[who] = False, True
        if scores.size == 0:  # nobody, or no closer looks
            return
        sharper = self.objective.sharper_values(supports, tuple(part[who] for part in self._state), slots, taken)
        values = np.where(scores > -np.inf, np.maximum(sharper, self.values[who, None] + scores), -np.inf)
        best = values.argmax(axis=1)
        supports[rows, slots[rows, best]] = taken[rows, best]
        self.arrived[who] = ~self._accept(who, supports)


def local_optimum(objective: SwapObjective, support: Indices, run: Run, rules: Rules = NO_RULES) -> Indices:
    """The local optimum that the steepest swaps lead to from one support."""
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
    best = gains.max(axis=2).reshape(n_supports, -1)
    slots = (slots + size * np.arange(blocks)[:, None]).reshape(n_supports, -1)
    features = candidates.reshape(n_supports, -1)
    most = min(4 * int(at_once.max(initial=1)), best.shape[1])
    rows = np.arange(n_supports)[:, None]
    order = np.argpartition(-best, most - 1, axis=1)[:, :most]
    order = order[rows, np.argsort(-best[rows, order], axis=1)]
    ranked = (part[rows, order].tolist() for part in (best, slots, features))
    for s, (gain, slot, feature) in enumerate(zip(*ranked, strict=True)):
        used = dict[int, int]()
        for g, i, j in zip(gain, slot, feature, strict=True):
            if g <= least[s] or len(used) == at_once[s]:
                break
            used.setdefault(i, j)
        if used:
            out[s, list(used)] = list(used.values())
        count[s] = len(used)
    return out, count
