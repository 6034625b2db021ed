"""Refutation of a target for r features: bounds proved for smaller sizes leave few features of thousands.

For positive semidefinite A largest eigenvalues are sub-additive, lambda_max(A_{T+T'}) <= lambda_max(A_T) +
lambda_max(A_T'), so every t features of a support of r that reaches a target have at least the target less what r - t
features can have: a floor that most single features and pairs stay below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.gram import DataMatrix, view_of_columns
from sparing.linalg.rounding import EPS
from sparing.linalg.rows import sum_of_largest
from sparing.proof.trees.probing import LEAST_GAP, probed
from sparing.proof.trees.schur_tree import Outcome, SchurTree, best_shift
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget

REFUTED_MARGIN = 1e-10
"""Margin added to a refuted target, far above rounding error."""

Step = tuple[int, float, bool]
"""A number of features, a target that no so many reach, and whether probing was needed to refute it."""


class Refuter:
    """Known bounds on the sparse components of one view, and the targets that they refute."""

    def __init__(
        self,
        view: DataMatrix,
        *,
        max_dense: int = LIMITS.dense_features,
        pair_work: float = np.inf,
    ) -> None:
        self.view, self.max_dense = view.cached(), max_dense
        self.pair_work = self._allowed = pair_work
        self.own = self.view.gram_diagonal()
        self.scale = float(np.abs(self.own).max(initial=0.0))
        # what centring leaves in X makes the same variance differ from one way of computing it to another
        self.tight = max(LEAST_GAP, 8 * self.view.rounding_error / np.sqrt(self.scale)) if self.scale > 0 else LEAST_GAP
        self.most: dict[int, float] = {}  # what no so many features exceed
        self.steps: list[Step] = []
        self.said = ""  # the last report
        self.nodes = 0
        self.table: PairTable | None = None
        if self.view.n_features <= LIMITS.probed_features:  # no component has more than the largest eigenvalue
            values = np.linalg.eigvalsh(self.view.gram())
            self.most[self.view.n_features] = float(values[-1] + 8 * len(values) * EPS * np.abs(values).max())

    def allow(self, pair_work: float) -> None:
        """So much work for pairs, with what is spent already."""
        self.pair_work, self._allowed = self.pair_work + pair_work - self._allowed, pair_work

    def most_of(self, size: int) -> float:
        """The lowest upper bound for this number of features, also from other sizes if A is positive semidefinite.

        x'Ax = |sum x_i b_i|^2 for A = B'B; the t largest of its r terms are at least t/r of the sum.
        """
        known = [self.most.get(size, np.inf), self.most.get(self.view.n_features, np.inf)]
        if self.view.is_psd:
            low = self.view.psd_slack
            known += [most + low * (other - size) for other, most in self.most.items() if other > size]
            known += [(most + low) * size / other for other, most in self.most.items() if other < size]
            known.append((sum_of_largest(self.own, size) + size * low) * (1 + REFUTED_MARGIN))
        return min(known)

    def refute(self, size: int, target: float, *, max_nodes: int, budget: Budget, probing: bool = False) -> Outcome:
        """Search for a support of this size that reaches the target, or prove that there is none."""
        if not (1 <= size <= self.view.n_features and np.isfinite(target)):
            return Outcome(None, False, 0)
        if self.own.max() >= target:
            return Outcome(np.array([int(self.own.argmax())], dtype=np.intp), False, 0)
        floors = self.floors(size, target)
        if probing and self.can_probe(size):
            return probed(self.view.gram(), size, target, floors, max_nodes=max_nodes, budget=budget)
        features = self.candidates(size, target, floors, budget)
        if features is None:
            return Outcome(None, False, 1)
        if len(features) < size or size == 1:
            return Outcome(None, True, 1)
        if len(features) > self.max_dense:
            return self._by_leaders(features, size, target, floors, max_nodes, budget)
        tree = SchurTree(self.view.restricted(features).gram(), size, target, floors, said=self.said)
        return _renumbered(tree.search(max_nodes, budget), features)

    def learn(self, size: int, target: float, *, probing: bool = False) -> None:
        """A target was refuted: keep it."""
        self.steps.append((size, target, probing))
        self.most[size] = min(self.most.get(size, np.inf), target + REFUTED_MARGIN * max(self.scale, abs(target)))

    def can_probe(self, size: int) -> bool:
        """Are there few enough features to probe each of them?"""
        return size >= 2 and self.view.n_features <= LIMITS.probed_features

    def floors(self, size: int, target: float) -> Array:
        """A lower bound on the value of t features of a support that reaches the target."""
        floors = np.full(size + 1, -np.inf)
        if self.view.is_psd:
            for t in range(1, size):
                floor = (
                    target
                    - self.most_of(size - t)
                    - self.view.psd_slack
                    - REFUTED_MARGIN * max(self.scale, abs(target))
                )
                floors[t] = floor if floor > 0 else -np.inf
        return floors

    def candidates(self, size: int, target: float, floors: Array, budget: Budget) -> Indices | None:
        """Features that may be in a support that reaches the target; None if there are too many to decide."""
        features = np.flatnonzero(self.own >= (floors[1] if size > 1 else target))
        if len(features) <= self.max_dense or size < 2:
            return features
        level = target if size == 2 else floors[2]
        table = self._pairs(features, level, budget) if level > 0 else None
        return None if table is None else table.useful(size, target)

    def _pairs(self, features: Indices, level: float, budget: Budget) -> PairTable | None:
        """The pairs of these features that reach a level, from those known already where possible."""
        known = None if self.table is None else self.table.at(level, features)
        if known is not None:
            return known
        work = float(len(features)) ** 2 * ((self.view.n_samples or 0) + SCHEDULES.pair_multiplications)
        inside = self._inside(features) if work <= self.pair_work else None
        if inside is not None:
            for lower in (SCHEDULES.pair_level * level, level):
                self.pair_work -= work
                if (table := pairs_reaching(inside, features, lower, budget)) is not None:
                    self.table = table
                    break
        return None if self.table is None else self.table.at(level, features)

    def _inside(self, features: Indices) -> DataMatrix | None:
        """These features alone: their columns or their matrix, whichever is smaller; None if both are large."""
        view, count = self.view.origin, len(features)
        if count > LIMITS.pair_features or (not view.has_gram and (view.n_samples or 0) * count**2 > LIMITS.pair_work):
            return None
        if not view.has_gram and view.has_rows and (view.n_samples or 0) * count <= LIMITS.gathered_entries:
            return view_of_columns(view.columns(features))
        return view.restricted(features) if view.has_gram or count**2 <= LIMITS.gathered_entries else None

    def _by_leaders(
        self, features: Indices, size: int, target: float, floors: Array, max_nodes: int, budget: Budget
    ) -> Outcome:
        """One search for each feature with its partners, the strongest first; later searches leave it out."""
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
            if len(group) > LIMITS.dense_features or budget.expired or nodes >= max_nodes:
                return Outcome(None, False, nodes)
            A = self.view.origin.restricted(features[group]).gram()
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


@dataclass(frozen=True)
class PairTable:
    """Entries A_ij, i != j, of pairs whose larger eigenvalue reaches ``level``; sorted by i, then falling by size.

    ``features`` is a sorted array of the features considered; ``rows`` and ``columns`` are positions in it.
    """

    features: Indices
    own: Array
    level: float
    rows: Indices
    columns: Indices
    entries: Array

    def at(self, level: float, features: Indices) -> PairTable | None:
        """For another level and other features; None if they are not in this table."""
        if level < self.level or not np.isin(features, self.features, assume_unique=True).all():
            return None
        place = np.full(len(self.features), -1, dtype=np.intp)
        place[np.searchsorted(self.features, features)] = np.arange(len(features))
        short = level - self.own
        kept = short[self.rows] * short[self.columns] <= np.square(self.entries)
        kept |= (short[self.rows] <= 0) | (short[self.columns] <= 0)
        kept &= (place[self.rows] >= 0) & (place[self.columns] >= 0)
        at = np.flatnonzero(kept)
        rows, columns = place[self.rows[at]], place[self.columns[at]]
        return PairTable(features, self.own[place >= 0], level, rows, columns, self.entries[at])

    def strength(self, size: int) -> Array:
        """Upper bounds on the contribution of each feature to the squared Frobenius norm of a block of ``size``
        features."""
        return np.square(self.own) + _beside(self.rows, np.square(self.entries), len(self.features), size)

    def partners(self, place: int) -> Indices:
        """Places of the features that may be with the one in this place."""
        ends = np.searchsorted(self.rows, [place, place + 1])
        return self.columns[ends[0] : ends[1]]

    def useful(self, size: int, target: float) -> Indices:
        """Features that may be among ``size`` with lambda_max of at least ``target``, to a fixed point.

        As in :class:`SchurTree`, from lists in place of a matrix; the target is positive.
        """
        rows, columns, squares = self.rows, self.columns, np.square(self.entries)
        alive = np.ones(len(self.features), dtype=bool)
        while True:
            beside = _beside(rows, squares, len(alive), size)
            left = alive & (np.bincount(rows, minlength=len(alive)) >= size - 1)
            if left.sum() < size:
                return self.features[:0]
            for shift in (0.0, best_shift(self.own[left], beside[left], size)):
                strength = np.where(left, np.square(self.own - shift) + beside, 0.0)
                strongest = np.partition(strength, len(left) - size)[len(left) - size :]
                left &= strength + strongest[1:].sum() >= (target - shift) ** 2
            if left.sum() == alive.sum():
                return np.asarray(self.features[alive])
            alive = left
            kept = np.flatnonzero(alive[rows] & alive[columns])
            rows, columns, squares = rows[kept], columns[kept], squares[kept]


def pairs_reaching(inside: DataMatrix, features: Indices, level: float, budget: Budget) -> PairTable | None:
    """All pairs of these features at a level, from blocks of rows of A; None if there are too many or time is up.

    ``inside`` is the view of these features alone.
    """
    own = inside.gram_diagonal()
    short = level - own
    found, count = [], 0
    for at in range(0, len(features), SCHEDULES.pair_rows):
        block = np.arange(at, min(at + SCHEDULES.pair_rows, len(features)))
        G = inside.gram_columns(block)[at:].T  # each pair once: columns from the block on
        reaching = np.multiply.outer(short[block], short[at:]) <= np.square(G)
        reaching |= (short[block] <= 0)[:, None] | (short[at:] <= 0)
        reaching[:, : len(block)] &= ~np.tri(len(block), dtype=bool)
        i, j = np.nonzero(reaching)
        found.append((i + at, j + at, G[i, j]))
        count += len(i)
        if 2 * count > LIMITS.listed_pairs or budget.expired:
            return None
    i, j, entries = (np.concatenate(part) for part in zip(*found, strict=True))
    rows, columns, entries = np.append(i, j), np.append(j, i), np.append(entries, entries)
    order = np.lexsort((-np.abs(entries), rows))
    return PairTable(features, own, level, rows[order], columns[order], entries[order])


def _beside(rows: Indices, squares: Array, count: int, size: int) -> Array:
    """The sum of the ``size - 1`` largest squares of each row, which come first."""
    first = np.arange(len(rows)) - np.searchsorted(rows, np.arange(count))[rows] < size - 1
    return np.asarray(np.bincount(rows[first], squares[first], minlength=count))
