"""The search for several components together, each with features of its own choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.rotation import varimax
from sparing.linalg.signs import first_largest
from sparing.linalg.truncation import unit_columns
from sparing.methods.encoders.disjoint import anywhere, perturbed
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.sequential import FirstOnce, sequential_directions
from sparing.methods.solvers import Solver
from sparing.results import Array, Spectrum
from sparing.run import SEARCH, Run
from sparing.search.iterated import search, several_at_once
from sparing.search.sharing import settled
from sparing.search.truncated_power import pool_of, truncated_powers, unit_vectors

ROUGH = 1e-4
"""Share of the variance that a step of a start must gain: the search goes on from there."""

OVERLAP = 0.1
"""Share of a direction, at least, that no other has, to start from it beside them."""

TRANSFER_GAIN = 1e-9
"""Share of the variance that moving features between components must gain."""


class LevelFound(NamedTuple):
    """What a search has after one level of effort: the best so far, and directions that this level came upon."""

    best: Array
    tried: list[Array]


class JointSearch:
    """One search, in as many levels as the effort has: each goes on from what those below have found.

    What a level does depends on nothing above it, so that a search of less effort is a part of each longer one.

    Parameters
    ----------
    goal : JointVariances
    solver : Solver
        Finds components one after the other, for starts.
    spectrum : Spectrum
    run : Run
    """

    def __init__(self, goal: JointVariances, solver: Solver, spectrum: Spectrum, run: Run) -> None:
        self.goal, self.context = goal, run
        self.pool, self.view, self.spectrum = np.arange(goal.n_features), goal.view, spectrum
        wanted = max(SEARCH.promising, SEARCH.places * sum(goal.sizes))
        if wanted < goal.n_features:  # starts only: all other features come in when working sets are selected
            self.pool = pool_of(goal.view, wanted, spectrum.basis)
            self.spectrum = replace(spectrum, basis=spectrum.basis[self.pool])
        if wanted < goal.n_features or not goal.view.has_gram:  # hundreds of products follow
            block = goal.view.restricted(self.pool)
            self.view = view_of_gram(block.gram(), is_psd=block.is_psd, psd_slack=block.psd_slack)
        self.solver = FirstOnce(solver, self.view)
        self.deflations = iter(goal.deflations)
        self.rotated = np.zeros((len(self.pool), 0))
        self.shared: tuple[float, Array] | None = None

    def run(self, known: Sequence[Array] = ()) -> list[LevelFound]:
        """The directions of largest joint variance found by each level; one at least, whatever the time.

        ``known`` are answers of another search that these may not be below, one for each level.
        """
        first = self._sequential()
        if first.shape[1] < self.goal.blocks:  # nothing is left for further components
            self.goal = self.goal.fewer(first.shape[1])
            if first.shape[1] < self.goal.blocks or first.shape[1] < 2:
                return [LevelFound(self.goal.ordered(first), [first])]
        basis = self.spectrum.basis[:, : self.goal.blocks]
        self.rotations = rotations(basis, self.goal.cut, self.context.rng)
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
        """The best that a search from what is known, and from more starts, leads to; and all that it came upon."""
        goal, effort, n_slots = self.goal, run.effort, sum(self.goal.sizes)
        affordable = effort.joint_affordable(n_slots, goal.n_features)
        if effort.below is not None and affordable < 1:
            return elite, []
        more = list(self._starts(int(np.clip(affordable, 2, effort.joint_starts)), affordable, run))
        descents = int(np.clip(affordable, 0, effort.joint_descents))
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
        """By turns a rotation cut to size, features shared out among components, components one after the other."""
        for number in range(count):
            if run.budget.expired:
                return
            if number % 4 == 1:
                times = int(run.effort.joint_shared * min(1.0, affordable / SEARCH.shared_starts))
                self.shared = _shared_out(self.view, self.shared, self.rotated, self.goal.sizes, times, run)
                start = self._scattered(self.shared[1])
            elif number % 4 == 3:
                start = self._sequential()
            else:
                self.rotated = next(self.rotations)
                start = self._scattered(self.rotated)
            if start.shape[1] == self.goal.blocks and start.any(axis=0).all():
                yield start

    def _from_anywhere(self, number: int, run: Run) -> list[Array]:
        """Components that principal components do not lead to; for the first effort above the least."""
        if number != 1:
            return []
        goal = self.goal
        found = scattered_components(goal.view, goal.blocks, max(goal.sizes), goal.ridge, run)
        return [goal.cut(found)] if found.shape[1] == goal.blocks else []

    def _sequential(self) -> Array:
        """Components one after the other, by the next of the deflations."""
        deflation = next(self.deflations, None)
        if deflation is None:
            return np.zeros((self.goal.n_features, 0))
        sizes, run = self.goal.sizes, self.context
        return self._scattered(sequential_directions(self.solver, deflation, self.view, self.spectrum, sizes, run))

    def _scattered(self, H: Array) -> Array:
        """Directions among all features."""
        out = np.zeros((self.goal.n_features, H.shape[1]))
        out[self.pool] = H
        return out


def scattered_components(view: DataMatrix, n_components: int, n_nonzero: int, ridge: float, run: Run) -> Array:
    """Components among those that truncated power reaches from single features anywhere; fewer where all are alike.

    Principal components lead to few of them: where variances are alike, features that go together may matter to none.
    """
    usable = view.gram_diagonal() > 0
    count = int(
        np.clip(SEARCH.joint_scattered_entries // view.n_features, SEARCH.joint_scattered_kept, SEARCH.joint_scattered)
    )
    chosen = run.rng.permutation(np.flatnonzero(usable))[:count]
    limits: dict[str, Any] = {"settled": 2, "budget": run.budget, "allowed": usable[:, None]}
    firsts = [
        truncated_powers(view, unit_vectors(view.n_features, some), n_nonzero, max_iter=1, **limits)
        for some in np.array_split(chosen, -(-len(chosen) // SEARCH.joint_scattered_kept))
    ]
    kept = max(SEARCH.joint_scattered_kept, 6 * n_components)
    found = together(view, np.column_stack(firsts), kept, ridge)
    found = truncated_powers(view, found, n_nonzero, max_iter=SEARCH.joint_scattered_steps, **limits)
    return together(view, found, n_components, ridge)


def together(view: DataMatrix, directions: Array, count: int, ridge: float) -> Array:
    """Of unit directions (columns) one after the other, each the one that adds most to what those before it capture."""
    C, W = directions.T @ directions, directions.T @ view.gram_matmat(directions)
    chosen = list[int]()
    for _ in range(min(count, len(C))):
        along = np.linalg.solve(C[np.ix_(chosen, chosen)] + ridge * np.eye(len(chosen)), C[chosen])
        left = 1 + ridge - np.einsum("ij,ij->j", C[chosen], along)
        added = np.diagonal(W) - 2 * np.einsum("ij,ij->j", along, W[chosen])
        added = added + np.einsum("ij,ij->j", along, W[np.ix_(chosen, chosen)] @ along)
        worth = np.where(left > OVERLAP, added / np.maximum(left, OVERLAP), -np.inf)
        if not (worth > 0).any():
            break
        chosen.append(first_largest(worth))
    return directions[:, chosen]


def _in_places(H: Array, sizes: Sequence[int]) -> Array:
    """Directions in another order: those with most features where most are allowed."""
    placed = np.empty_like(H)
    placed[:, np.argsort([-size for size in sizes], kind="stable")] = H[
        :, np.argsort(-np.count_nonzero(H, axis=0), kind="stable")
    ]
    return placed


def _shared_out(
    view: DataMatrix, known: tuple[float, Array] | None, start: Array, sizes: list[int], times: int, run: Run
) -> tuple[float, Array]:
    """Directions without a common feature and their variance: features shared out, and again after perturbations."""
    reached, best = known or settled(view, start, sizes, np.asarray, ROUGH, run.budget)
    for number in range(times):
        if run.budget.expired or not best.any(axis=0).all():
            break
        again = perturbed(best, run.rng) if (number + 1) % SEARCH.drawn else anywhere(view, len(sizes), run.rng)
        value, H = settled(view, again, sizes, np.asarray, ROUGH, run.budget)
        if value > reached:
            reached, best = value, H
    return reached, best


def rotations(
    V: Array, cut: Callable[[Array], Array], rng: np.random.Generator, *, named: bool = True
) -> Iterator[Array]:
    """Rotations of the principal components cut to size, without end: varimax and none, if ``named``, then random."""
    k = V.shape[1]
    for number in count(0 if named else 2):
        rotated = varimax(V) if number == 0 else V if number == 1 else V @ np.linalg.qr(rng.standard_normal((k, k)))[0]
        for _ in range(SEARCH.polar_steps):
            left, _, right = np.linalg.svd(V.T @ cut(rotated))
            rotated = V @ (left @ right)
        yield unit_columns(cut(rotated))
