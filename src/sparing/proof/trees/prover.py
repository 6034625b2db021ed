"""Proof that no r features have a larger value: successive targets are refuted, small sizes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.rounding import EPS, rounded_up
from sparing.objectives.variance import RayleighObjective
from sparing.proof.relaxations.fantope import cutting_directions, simple_directions
from sparing.proof.trees.probing import LEAST_GAP, least_gap
from sparing.proof.trees.refuter import Refuter, Step
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Bound, Indices
from sparing.run import Budget
from sparing.search.local import LocalSearch

START_SEARCH = LocalSearch(starts=8, finalists=2, perturbations=0)


@dataclass(frozen=True)
class Proof:
    """The best support found, and an upper bound. ``steps`` can be refuted again, each with those before it."""

    support: Indices
    value: float
    bound: float
    steps: tuple[Step, ...]
    nodes: int


class Prover(Refuter):
    """Chooses the targets: above the best support known, which gets better on the way."""

    def __init__(
        self,
        view: DataMatrix,
        *,
        direct: int = LIMITS.direct_features,
        max_dense: int = LIMITS.dense_features,
        pair_work: float = np.inf,
        first_share: float = SCHEDULES.first_share,
    ) -> None:
        super().__init__(view, max_dense=max_dense, pair_work=pair_work)
        self.direct, self.first_share, self.objective = direct, first_share, RayleighObjective(self.view)

    def prove(self, size: int, support: Indices, rng: np.random.Generator, *, max_nodes: int, budget: Budget) -> Proof:
        """Improve the support, and refute values above its own, as far as nodes and time allow.

        An interruption from the keyboard ends the search and keeps its result.
        """
        nested = self.view.is_psd and self.view.n_features > self.direct
        sizes = range(1, size + 1) if nested else (size,)
        known: dict[int, Indices] = {size: support}
        try:
            for _ in range(LIMITS.passes if nested else 1):  # what could not be proved may be with what is left
                before = len(self.steps)
                for t in sizes:
                    part = 1.0 if t == size else SCHEDULES.attempt_share
                    left = int(part * (max_nodes - self.nodes))
                    known[t] = self._settle(t, self._begin(t, known), rng, left, budget.share(part))
                    spent = budget.expired or self.nodes >= max_nodes
                    if spent or self._proved(size, known[size]):
                        break
                if spent or len(self.steps) == before or self._proved(size, known[size]):
                    break
        except KeyboardInterrupt:
            budget.interrupt()
        best = known[size]
        value = self._value(best)
        bound = rounded_up(max(self.most_of(size), value), self.view)
        return Proof(np.sort(best), value, bound, tuple(self.steps), self.nodes)

    def _proved(self, size: int, best: Indices) -> bool:
        """Is nothing above the best, up to rounding?"""
        return self.most_of(size) <= self._value(best) * (1 + 2 * self.tight)

    def _value(self, support: Indices) -> float:
        return self.objective.solve(support)[0] if len(support) else -np.inf

    def _begin(self, size: int, known: dict[int, Indices]) -> Indices:
        """A support to begin with: the best known, or one more feature than the best of the size before."""
        starts = [known[size]] if len(known.get(size, ())) else []
        if size - 1 in known or not starts:
            starts.append(self.objective.improved(self.objective.grown(size, known.get(size - 1)), 50)[1])
        return max(starts, key=self._value)

    def _settle(self, size: int, best: Indices, rng: np.random.Generator, max_nodes: int, budget: Budget) -> Indices:
        """Prove the best support of one size, or reduce the gap; returns the support, or a better one if one was
        found."""
        spent, probing = self.nodes, self.can_probe(size)
        if self._proved(size, best):
            return best
        part = self.first_share if probing else 0.6
        first = max(int(part * max_nodes), min(LIMITS.first_nodes, int(0.8 * max_nodes)))
        best, refuted = self._attempt(size, best, 0.0, rng, first, budget.share(part))
        if probing and not refuted:
            left = max_nodes - (self.nodes - spent)
            best = self._narrow(size, best, int(0.6 * left), budget.share(0.6))
            left = max_nodes - (self.nodes - spent)
            return self._attempt(size, best, 0.0, rng, left, budget)[0] if left > first else best
        gaps, share = SCHEDULES.target_gaps, SCHEDULES.attempt_share
        at, step = gaps.index(0.05), -1
        while not refuted and 0 <= at < len(gaps) and not budget.expired and self.nodes - spent < max_nodes:
            value = self._value(best)
            if value * (1 + gaps[at]) >= self.most_of(size) and step < 0:
                at -= 1  # proved already by what is known of other sizes
                continue
            left = max_nodes - (self.nodes - spent)
            best, closed = self._attempt(size, best, gaps[at], rng, int(share * left) + 1, budget.share(share))
            if closed and step > 0:
                break
            if not closed and step < 0 and at < gaps.index(0.05):
                break
            if not closed:
                step = 1
            at += step
        return best

    def _narrow(self, size: int, best: Indices, max_nodes: int, budget: Budget) -> Indices:
        """Reduce the gap by duals: of all features, and of the remaining features given each of them."""
        A, end = self.view.gram(), self.nodes + max_nodes
        while self.nodes < end and not budget.expired:
            value = self._value(best)
            floors = self.floors(size, value)
            found = least_gap(A, size, value, floors, max_nodes=end - self.nodes, budget=budget)
            self.nodes += 1 + found.nodes
            if np.isfinite(found.target):
                self.learn(size, found.target + LEAST_GAP * max(abs(value), self.scale), probing=True)
                self._report(size, value, budget)
            if found.support is None:
                break
            better = self.objective.improved(self.objective.grown(size, found.support), 50)[1]
            if self._value(better) <= value:
                break
            best = better
        return best

    def _attempt(
        self, size: int, best: Indices, gap: float, rng: np.random.Generator, max_nodes: int, budget: Budget
    ) -> tuple[Indices, bool]:
        """Refute values above the best by the gap; a support that reaches one becomes the best, and the next value is
        refuted."""
        spent = self.nodes
        while True:
            value = self._value(best)
            step = max(gap, self.tight) * max(abs(value), self.scale)
            target = max(value + step, float(np.nextafter(value, np.inf)))
            better = self._nearby(size, target, rng, budget)
            if len(better) == 0:
                left = max_nodes - (self.nodes - spent)
                outcome = self.refute(size, target, max_nodes=left, budget=budget)
                self.nodes += outcome.nodes
                if outcome.support is None:
                    if outcome.refuted:
                        self.learn(size, target)
                    self._report(size, value, budget)
                    return best, outcome.refuted
                better = outcome.support
            self.nodes += 1
            grown = self.objective.improved(self.objective.grown(size, better), 50)[1]
            if budget.expired or self._value(grown) <= value + 0.5 * step:  # it reaches the target by rounding alone
                return (grown if self._value(grown) > value else best), False
            best = grown

    def _nearby(self, size: int, target: float, rng: np.random.Generator, budget: Budget) -> Indices:
        """A support above the target, from a quick search among many features that are left; or none."""
        if self.view.n_features <= self.direct or size < 2:
            return np.zeros(0, dtype=np.intp)
        features = self.candidates(size, target, self.floors(size, target), budget)
        if features is None or len(features) < size:
            return np.zeros(0, dtype=np.intp)
        few = self.max_dense // 3
        if len(features) > few and self.table is not None:
            strongest = np.argsort(-self.table.strength(size), kind="stable")[:few]
            features = np.sort(self.table.features[strongest])
        elif len(features) > few:
            features = np.sort(features[np.argsort(-self.own[features], kind="stable")[:few]])
        if len(features) < size:
            return np.zeros(0, dtype=np.intp)
        inside = self.objective.restricted(features)
        leading = np.zeros((len(features), 0))
        found = START_SEARCH.search(inside, size, leading, rng, budget=budget)
        return features[found] if inside.solve(found)[0] >= target else features[:0]

    def _report(self, size: int, value: float, budget: Budget) -> None:
        bound = self.most_of(size)
        gap = max(1 - value / bound, 0.0) if bound > 0 and np.isfinite(bound) else 1.0
        unit = self.view.square_unit / max((self.view.n_samples or 2) - 1, 1)
        self.said = (
            f"{size} feature{'s' if size > 1 else ''}: variance {value * unit:.6g} found, {bound * unit:.6g} not "
            f"exceeded, gap {gap:.2%}"
        )
        budget.say(f"{self.said}, {self.nodes} nodes")


REACHED = 1e-7
"""A bound within this share of the best support is reached by it."""


REWRITTEN = 5e-7
"""Share by which values may differ where data were written to a file with eight digits."""


def as_bound(proof: Proof) -> Bound:
    """The bound, with the steps that prove it."""
    reached = proof.bound - proof.value <= REACHED * abs(proof.value)
    found = (proof.support,)
    return Bound(proof.bound, "branch_and_bound", "branch and bound", "always", proof.steps, reached, supports=found)


def refuted_again(view: DataMatrix, n_nonzero: int, steps: Any, *, max_dense: int = LIMITS.dense_features) -> float:
    """The bound again: every target is refuted again, and a target that cannot be refuted is dropped.

    A target just above the best value may be just below it where data were written with eight digits: then a little
    more is refuted in its place.
    """
    refuter = Refuter(view, max_dense=max_dense)
    for size, target, probing in steps:
        for level in (float(target), float(target) + REWRITTEN * abs(float(target))):
            step = int(size), level
            if refuter.refute(*step, max_nodes=LIMITS.recheck_nodes, budget=Budget(), probing=bool(probing)).refuted:
                refuter.learn(*step, probing=bool(probing))
                break
    return rounded_up(refuter.most_of(n_nonzero), view)


def bound_of_one_component(A: Array, size: int) -> float:
    """Upper bound on x'Ax over unit x with this number of nonzeros, for any symmetric A, by a search of limited
    size."""
    values = np.linalg.eigvalsh(A)
    shift = max(-float(values[0]), 0.0)  # the same for all unit x
    view = view_of_gram(A + shift * np.eye(len(A)))
    start = np.zeros(0, dtype=np.intp)
    if values[-1] > values[0]:  # a start that is not the best costs more nodes than the search for a good one
        _, directions = cutting_directions(A, size, simple_directions(len(A), size), Budget(), 0)
        start = np.flatnonzero(directions[0])
    start = RayleighObjective(view).grown(size, start)
    nodes = int(min(LIMITS.single_nodes, LIMITS.single_work / len(A)))
    prover = Prover(view, first_share=SCHEDULES.single_share)
    proof = prover.prove(size, start, np.random.default_rng(0), max_nodes=nodes, budget=Budget())
    rounding = 8 * len(A) * EPS * float(np.abs(values).max())
    return min(proof.bound - shift, float(values[-1])) + rounding
