"""Proof that no r features reach more: targets refuted one after the other, small sizes first.

For positive semidefinite A largest eigenvalues are sub-additive, lambda_max(A_{T+T'}) <= lambda_max(A_T) +
lambda_max(A_T'), so every t features of a support of r that reaches a target have at least the target less what r - t
features can have: a floor that most single features and pairs stay below. That makes few features of thousands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix, Remembered
from sparing.data.gathered import Gathered
from sparing.linalg.rounding import EPS, rounded_up
from sparing.linalg.rows import sum_of_largest
from sparing.results import Array, Indices
from sparing.search.local import LocalSearch
from sparing.search.pair_table import PairTable, pairs_reaching
from sparing.search.probing import least_gap, probed
from sparing.search.quotient import Quotient
from sparing.search.schur_tree import Outcome, SchurTree

DIRECT = 1000
"""Up to as many features the size asked for is refuted at once; with more the smaller sizes come first."""

DENSE, PARTNERS = 1500, 1500
"""The most features whose matrix a search holds: all that are left, or the partners of one."""

PROBED = 500
"""The most features that are probed one by one where the search alone leaves a gap."""

PAIRS = 20_000
"""The most features of which all pairs are looked at."""

PAIR_WORK = 3e11
"""Multiplications for that at most, half a minute."""

GATHERED = 2**24
"""Entries at most of their columns, or of their matrix (128 MiB)."""

SLACK = 0.95
"""Pairs are kept for a level lower by this factor, so that the next targets find them too."""

TIGHT, ROUNDING = 1e-9, 1e-10
"""How far above the best a target is at least; and what is added to a refuted one, far more than rounding can do."""

GAPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5)
"""Targets above the best that are tried where the best itself is not proved, by turns from the middle."""

FIRST, FEW = 0.1, 400
"""What the search for a proof may spend at first where probing comes next; and nodes that it always has."""

PASSES = 4
"""How often all sizes are looked at, while something new is proved."""

PART = 1 / 3
"""What one attempt of several may spend of what is left."""

QUICK = LocalSearch(starts=8, finalists=2, kicks=0)

Step = tuple[int, float, bool]
"""A number of features, a target that no so many reach, and whether probing was needed to refute it."""


@dataclass(frozen=True)
class Proof:
    """The best support found, and what nothing exceeds. ``steps`` can be refuted again, each with those before it."""

    support: Indices
    value: float
    bound: float
    steps: tuple[Step, ...]
    nodes: int


class Prover:
    """What is proved about the sparse components of one view, and what is known that helps to prove more."""

    def __init__(self, view: DataMatrix) -> None:
        self.view = view if isinstance(view, Remembered) else Remembered(view)
        self.quotient = Quotient(self.view)
        self.own = self.view.gram_diagonal()
        self.scale = float(np.abs(self.own).max(initial=0.0))
        # what centring leaves in X makes the same variance differ from one way of computing it to another
        self.tight = max(TIGHT, 8 * self.view.noise / np.sqrt(self.scale)) if self.scale > 0 else TIGHT
        self.most: dict[int, float] = {}  # what no so many features exceed
        self.steps: list[Step] = []
        self._said = ""  # the last report
        self.nodes = 0
        self._table: PairTable | None = None
        if self.view.n_features <= PROBED:  # no component has more than the largest eigenvalue
            values = np.linalg.eigvalsh(self.view.gram())
            self.most[self.view.n_features] = float(values[-1] + 8 * len(values) * EPS * np.abs(values).max())

    def prove(self, size: int, support: Indices, rng: np.random.Generator, *, max_nodes: int, budget: Budget) -> Proof:
        """Improve the support, and refute what is above it, as far as nodes and time allow.

        An interruption from the keyboard ends the search and keeps what it has.
        """
        nested = self.view.is_psd and self.view.n_features > DIRECT
        sizes = range(1, size + 1) if nested else (size,)
        known: dict[int, Indices] = {size: support}
        try:
            for _ in range(PASSES if nested else 1):  # what could not be proved may be with what is left
                before = len(self.steps)
                for t in sizes:
                    best = known.get(t, support[:0])
                    if t > 1 and nested and self._value(grown := self._start(t, known[t - 1])) > self._value(best):
                        best = grown
                    part = 1.0 if t == size else PART
                    left = int(part * (max_nodes - self.nodes))
                    known[t] = self._settle(
                        t, best if len(best) else self._start(t, best), rng, left, budget.share(part)
                    )
                    if budget.expired or self._proved(size, known[size]):
                        break
                if len(self.steps) == before or budget.expired or self._proved(size, known[size]):
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

    def most_of(self, size: int) -> float:
        """The least that is proved about so many features, by other sizes too where A is positive semidefinite.

        x'Ax = |sum x_i b_i|^2 for A = B'B; of its r terms the t largest have t/r of the sum at least.
        """
        known = [self.most.get(size, np.inf), self.most.get(self.view.n_features, np.inf)]
        if self.view.is_psd:
            low = self.view.shortfall
            known += [most + low * (other - size) for other, most in self.most.items() if other > size]
            known += [(most + low) * size / other for other, most in self.most.items() if other < size]
            known.append((sum_of_largest(self.own, size) + size * low) * (1 + ROUNDING))
        return min(known)

    def refute(self, size: int, target: float, *, max_nodes: int, budget: Budget, probing: bool = False) -> Outcome:
        """Does any support of so many features reach the target?"""
        if not (1 <= size <= self.view.n_features and np.isfinite(target)):
            return Outcome(None, False, 0)
        if self.own.max() >= target:
            return Outcome(np.array([int(self.own.argmax())], dtype=np.intp), False, 0)
        floors = self._floors(size, target)
        if probing and self._can_probe(size):
            return probed(self.view.gram(), size, target, floors, max_nodes=max_nodes, budget=budget)
        features = self._candidates(size, target, floors, budget)
        if features is None:
            return Outcome(None, False, 1)
        if len(features) < size or size == 1:
            return Outcome(None, True, 1)
        if len(features) > DENSE:
            return self._by_leaders(features, size, target, floors, max_nodes, budget)
        tree = SchurTree(self.view.restricted(features).gram(), size, target, floors, said=self._said)
        return _renumbered(tree.search(max_nodes, budget), features)

    def learn(self, size: int, target: float, *, probing: bool = False) -> None:
        """A target was refuted: keep it."""
        self.steps.append((size, target, probing))
        self.most[size] = min(self.most.get(size, np.inf), target + ROUNDING * max(self.scale, abs(target)))

    def _value(self, support: Indices) -> float:
        return self.quotient.solve(support)[0] if len(support) else -np.inf

    def _start(self, size: int, smaller: Indices) -> Indices:
        """A support to begin with: one more feature than the best of the size before."""
        return self.quotient.improved(self.quotient.grown(size, smaller if len(smaller) else None), 50)[1]

    def _settle(self, size: int, best: Indices, rng: np.random.Generator, max_nodes: int, budget: Budget) -> Indices:
        """Prove the best support of one size, or bring the gap down; the support, a better one where one was found."""
        spent, probing = self.nodes, self._can_probe(size)
        if self._proved(size, best):
            return best
        part = FIRST if probing else 0.6
        first = max(int(part * max_nodes), min(FEW, int(0.8 * max_nodes)))
        best, refuted = self._attempt(size, best, 0.0, rng, first, budget.share(part))
        if probing and not refuted:
            left = max_nodes - (self.nodes - spent)
            best = self._narrow(size, best, int(0.6 * left), budget.share(0.6))
            left = max_nodes - (self.nodes - spent)
            return self._attempt(size, best, 0.0, rng, left, budget)[0] if left > first else best
        at, step = GAPS.index(0.05), -1
        while not refuted and 0 <= at < len(GAPS) and not budget.expired and self.nodes - spent < max_nodes:
            value = self._value(best)
            if value * (1 + GAPS[at]) >= self.most_of(size) and step < 0:
                at -= 1  # proved already by what is known of other sizes
                continue
            left = max_nodes - (self.nodes - spent)
            best, closed = self._attempt(size, best, GAPS[at], rng, int(PART * left) + 1, budget.share(PART))
            if closed and step > 0:
                break
            if not closed and step < 0 and at < GAPS.index(0.05):
                break
            if not closed:
                step = 1
            at += step
        return best

    def _can_probe(self, size: int) -> bool:
        return size >= 2 and self.view.n_features <= PROBED

    def _narrow(self, size: int, best: Indices, max_nodes: int, budget: Budget) -> Indices:
        """Bring the gap down by duals: of all features, and of what is left beside each of them."""
        A, end = self.view.gram(), self.nodes + max_nodes
        while self.nodes < end and not budget.expired:
            value = self._value(best)
            floors = self._floors(size, value)
            found = least_gap(A, size, value, floors, max_nodes=end - self.nodes, budget=budget)
            self.nodes += 1 + found.nodes
            if np.isfinite(found.target):
                self.learn(size, found.target + TIGHT * max(abs(value), self.scale), probing=True)
                self._report(size, value, budget)
            if found.support is None:
                break
            better = self.quotient.improved(self.quotient.grown(size, found.support), 50)[1]
            if self._value(better) <= value:
                break
            best = better
        return best

    def _attempt(
        self, size: int, best: Indices, gap: float, rng: np.random.Generator, max_nodes: int, budget: Budget
    ) -> tuple[Indices, bool]:
        """Refute what is above the best by the gap; whatever reaches it becomes the best, and its like is refuted."""
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
            grown = self.quotient.improved(self.quotient.grown(size, better), 50)[1]
            if budget.expired or self._value(grown) <= value + 0.5 * step:  # it reaches the target by rounding alone
                return (grown if self._value(grown) > value else best), False
            best = grown

    def _nearby(self, size: int, target: float, rng: np.random.Generator, budget: Budget) -> Indices:
        """A support above the target, from a quick search among many features that are left; or none."""
        if self.view.n_features <= DIRECT or size < 2:
            return np.zeros(0, dtype=np.intp)
        features = self._candidates(size, target, self._floors(size, target), budget)
        if features is None or len(features) < size:
            return np.zeros(0, dtype=np.intp)
        if len(features) > DENSE // 3 and self._table is not None:
            strongest = np.argsort(-self._table.strength(size), kind="stable")[: DENSE // 3]
            features = np.sort(self._table.features[strongest])
        elif len(features) > DENSE // 3:
            features = np.sort(features[np.argsort(-self.own[features], kind="stable")[: DENSE // 3]])
        if len(features) < size:
            return np.zeros(0, dtype=np.intp)
        inside = self.quotient.restricted(features)
        leading = np.zeros((len(features), 0))
        found = QUICK.search(inside, size, leading, rng, budget=budget)
        return features[found] if inside.solve(found)[0] >= target else features[:0]

    def _report(self, size: int, value: float, budget: Budget) -> None:
        bound = self.most_of(size)
        gap = max(1 - value / bound, 0.0) if bound > 0 and np.isfinite(bound) else 1.0
        unit = self.view.square_unit / max((self.view.n_samples or 2) - 1, 1)
        self._said = (
            f"{size} feature{'s' if size > 1 else ''}: variance {value * unit:.6g} found, {bound * unit:.6g} not "
            f"exceeded, gap {gap:.2%}"
        )
        budget.say(f"{self._said}, {self.nodes} nodes")

    def _floors(self, size: int, target: float) -> Array:
        """What t features of a support that reaches the target have at least."""
        floors = np.full(size + 1, -np.inf)
        if self.view.is_psd:
            for t in range(1, size):
                floor = target - self.most_of(size - t) - self.view.shortfall - ROUNDING * max(self.scale, abs(target))
                floors[t] = floor if floor > 0 else -np.inf
        return floors

    def _candidates(self, size: int, target: float, floors: Array, budget: Budget) -> Indices | None:
        """Features that may be in a support that reaches the target; nothing where they are too many to tell."""
        features = np.flatnonzero(self.own >= (floors[1] if size > 1 else target))
        if len(features) <= DENSE or size < 2:
            return features
        level = target if size == 2 else floors[2]
        table = self._pairs(features, level, budget) if level > 0 else None
        return None if table is None else table.useful(size, target)

    def _pairs(self, features: Indices, level: float, budget: Budget) -> PairTable | None:
        """The pairs of these features that reach a level, from those known already where possible."""
        known = None if self._table is None else self._table.at(level, features)
        if known is not None:
            return known
        inside = self._inside(features)
        if inside is not None:
            for lower in (SLACK * level, level):
                if (table := pairs_reaching(inside, features, lower, budget)) is not None:
                    self._table = table
                    break
        return None if self._table is None else self._table.at(level, features)

    def _inside(self, features: Indices) -> DataMatrix | None:
        """These features alone: their columns or their matrix, whichever is smaller; nothing where both are large."""
        view, count = self.view.base, len(features)
        if count > PAIRS or (not view.has_gram and (view.n_samples or 0) * count**2 > PAIR_WORK):
            return None
        if not view.has_gram and view.has_rows and (view.n_samples or 0) * count <= GATHERED:
            return Gathered(view.columns(features))
        return view.restricted(features) if view.has_gram or count**2 <= GATHERED else None

    def _by_leaders(
        self, features: Indices, size: int, target: float, floors: Array, max_nodes: int, budget: Budget
    ) -> Outcome:
        """One search for each feature with its partners, the strongest first; it is gone from those that follow."""
        table = self._pairs(features, target if size == 2 else floors[2], budget)
        if table is None:
            return Outcome(None, False, 0)
        nodes, alive = 0, np.ones(len(features), dtype=bool)
        for place in np.argsort(-table.strength(size), kind="stable"):
            partners = table.partners(int(place))
            group = np.append(place, partners[alive[partners]])
            alive[place] = False
            if len(group) < size:
                continue
            if len(group) > PARTNERS or budget.expired or nodes >= max_nodes:
                return Outcome(None, False, nodes)
            A = self.view.base.restricted(features[group]).gram()
            outcome = SchurTree(A, size, target, floors, leader=0).search(max_nodes - nodes, budget)
            nodes += outcome.nodes
            if not outcome.refuted:
                found = _renumbered(outcome, features[group])
                return Outcome(found.support, False, nodes)
        return Outcome(None, True, nodes)


def _renumbered(outcome: Outcome, features: Indices) -> Outcome:
    if outcome.support is None:
        return outcome
    return Outcome(np.sort(features[outcome.support]), False, outcome.nodes)
