"""Joint search under a constraint or with a total of features: starts, improvement, perturbations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.rotation import varimax
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.methods.deflation import Deflation, GeneralizedDeflation
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.joint import REFITS, Alternation, ConstrainedAlternation, VarianceAlternation
from sparing.results import Array, Spectrum
from sparing.run import Budget, Run

if TYPE_CHECKING:
    from sparing.methods.encoders.joint_variance import JointVariance

SWEEPS, TRANSFERS = 30, 100

ROTATIONS = 10
"""Steps that bring a rotation of the principal components and its cut to size closer to one another."""

LARGE = 60
"""Features of a component from which each start costs noticeably more: fewer are tried, but always one."""

CHARGES = (-0.9, -0.7, 0.0, 2.0, 9.0, 99.0)
"""Rising charges for breaking a constraint, on the way to keeping it exactly."""

KEPT_SOLUTIONS = 4
"""Distinct solutions that perturbations start from."""

PATIENCE = 60
"""Perturbations without any gain after which no more are tried."""

PRUNED, WEAK = 0.3, 0.05
"""Share of its features that a component gives up when perturbed; loadings far above WEAK are seldom among them."""

DISTINCT, ROUGH = 1e-9, 1e-4
"""Relative gains that count: between solutions, and between sweeps on the way to one."""


class JointSearch:
    """One run: starts, improvement, perturbations."""

    def __init__(self, config: JointVariance, view: DataMatrix, spectrum: Spectrum, sizes: list[int], run: Run) -> None:
        self.config, self.view, self.spectrum, self.sizes, self.context = config, view, spectrum, sizes, run
        self.rng, self.budget = run.rng, run.budget
        self.n_features = len(spectrum.cross)  # of the whole: the more there are, the less is spent on each start
        ridge = ridge_for(config, spectrum)
        self.free = VarianceAlternation(view, ridge, run.budget)
        self.goal = goal_of(config, view, ridge, run.budget)
        self.pool: list[tuple[float, Array]] = []  # distinct local optima, best first

    def run(self) -> Array:
        """The best directions found."""
        config, budget, expensive = self.config, self.budget, (max(self.sizes) / LARGE) ** 2
        each = self.n_features * len(self.sizes) * (1 + expensive)
        affordable = max(1, int(self.context.effort.joint_work / each))
        first = self._sequential(config.solver, config.constraint or GeneralizedDeflation())
        if first.shape[1] < len(self.sizes):  # nothing is left for further components
            return self.goal.ordered(first)
        self._offer(self.goal.improve(first, SWEEPS, self.sizes, growth=ROUGH))
        effort = self.context.effort
        starts, perturbations = effort.joint_rotations, effort.joint_perturbations
        if config.constraint is not None:  # it leaves many local optima
            starts, perturbations = 2 * starts, 7 * perturbations
        for start in self._rotations(min(starts, affordable)):
            if budget.expired:
                break
            if config.constraint is not None:  # features of their own are orthogonal; supports grow from there
                self._offer(self._improved(disjoint(start), counts(start) if config.total else self.sizes))
            if config.constraint is not None or config.total:
                start = self._toward_constraint(self.free.improve(start, SWEEPS, growth=ROUGH))
            self._offer(self._improved(start, counts(start)))
            budget.say(f"joint start: best {self.pool[0][0] / self.spectrum.total:.4%} of the variance")
        best, since = self.pool[0][0], 0
        for rotation in range(min(perturbations, affordable)):
            since = since + 1 if self.pool[0][0] <= best else 0
            best = self.pool[0][0]
            if budget.expired or since > PATIENCE:
                break
            _, H = self.pool[int(self.rng.integers(len(self.pool)))]
            start = self._exchanged(H) if rotation % 3 == 2 else self._pruned(H)
            self._offer(self._improved(start, counts(H) if config.total else self.sizes))
        best_of_all = self.pool[0][1]
        finished = self.goal.improve(best_of_all, SWEEPS, counts(best_of_all))
        return self.goal.ordered(self.goal.refit(finished, REFITS))

    def _sequential(self, solver: Solver, deflation: Deflation) -> Array:
        return sequential_directions(solver, deflation, self.view, self.spectrum, self.sizes, self.context)

    def _offer(self, H: Array | None) -> None:
        """Keep a local optimum if it is new and among the best."""
        if H is None:
            return
        value = self.goal.captured(H)
        if all(abs(value - known) > DISTINCT * known for known, _ in self.pool):
            self.pool = sorted([*self.pool, (value, H)], key=lambda pair: -pair[0])[:KEPT_SOLUTIONS]

    def _toward_constraint(self, H: Array) -> Array:
        """Directions that keep the constraint better and better."""
        if (constraint := self.config.constraint) is not None:
            for charge in CHARGES:
                charging = ConstrainedAlternation(self.view, constraint.deflate, charge, self.budget)
                H = charging.improve(H, 10, counts(H) if self.config.total else self.sizes)
        return H

    def _improved(self, H: Array, sizes: list[int]) -> Array | None:
        """A local optimum of the goal with at most these counts; none where the constraint cannot be kept."""
        if H.shape[1] < len(sizes):
            return None
        if not isinstance(self.goal, ConstrainedAlternation):
            H = self.free.improve(H, SWEEPS, sizes, growth=ROUGH)
            return self.free.transferred(H, TRANSFERS) if self.config.total else H
        kept = self.goal.started(self.goal.ordered(H))
        return None if kept is None else self.goal.improve(kept, SWEEPS, matched(sizes, kept), growth=ROUGH)

    def _rotations(self, n_starts: int) -> Iterator[Array]:
        """Rotations of the principal components cut to size."""
        V, k = self.spectrum.basis, len(self.sizes)
        for rotation in range(n_starts):
            if rotation == 0:
                rotated = varimax(V)
            elif rotation == 1:
                rotated = V
            else:
                rotated = V @ np.linalg.qr(self.rng.standard_normal((k, k)))[0]
            for _ in range(ROTATIONS):
                left, _, right = np.linalg.svd(V.T @ self._cut(rotated))
                rotated = V @ (left @ right)
            start = unit_columns(self._cut(rotated))
            if start.shape[1] == k:
                yield start

    def _cut(self, loadings: Array) -> Array:
        """Each column to its size, or all of them together to the total."""
        if not self.config.total:
            return keep_largest(loadings, self.sizes)
        surely = keep_largest(loadings, 1)
        rest = keep_largest((loadings - surely).reshape(-1, 1), sum(self.sizes) - len(self.sizes))
        return surely + rest.reshape(loadings.shape)

    def _pruned(self, H: Array) -> Array:
        """Directions without some of their weaker features, drawn by chance: room for others."""
        H = H.copy()
        for x in H.T:
            support = np.flatnonzero(x)
            odds = 1.0 / (np.abs(x[support]) + WEAK)
            n_out = self.rng.binomial(len(support) - 1, PRUNED)
            x[self.rng.choice(support, n_out, replace=False, p=odds / odds.sum())] = 0.0
        return unit_columns(H)

    def _exchanged(self, H: Array) -> Array:
        """Directions, one of them with half of its features exchanged by chance."""
        H = H.copy()
        x = H[:, int(self.rng.integers(H.shape[1]))]
        support, others = np.flatnonzero(x), np.flatnonzero((x == 0) & (self.view.gram_diagonal() > 0))
        n_new = min((len(support) + 1) // 2, len(others))
        x[self.rng.choice(support, n_new, replace=False)] = 0.0
        x[self.rng.choice(others, n_new, replace=False)] = WEAK
        return unit_columns(H)


def counts(H: Array) -> list[int]:
    """Nonzeros of each column."""
    return [int(count) for count in np.count_nonzero(H, axis=0)]


def matched(sizes: list[int], H: Array) -> list[int]:
    """The sizes in the order of the columns, which may have changed: the largest for the one with most nonzeros."""
    out = [0] * len(sizes)
    for place, size in zip(np.argsort(counts(H), kind="stable"), sorted(sizes), strict=True):
        out[int(place)] = size
    return out


def disjoint(H: Array) -> Array:
    """Each feature only where its loading is largest."""
    size = np.abs(H)
    return np.where(size == size.max(axis=1, keepdims=True), H, 0.0)


def ridge_for(config: JointVariance, spectrum: Spectrum) -> float:
    """The guard, far below what the least component is worth: else a second copy of the first would pay."""
    return min(config.ridge, 0.1 * float(spectrum.values[-1] / spectrum.values[0]))


def goal_of(config: JointVariance, view: DataMatrix, ridge: float, budget: Budget) -> Alternation:
    """The criterion to be maximised."""
    if config.constraint is None:
        return VarianceAlternation(view, ridge, budget)
    return ConstrainedAlternation(view, config.constraint.deflate, budget=budget)
