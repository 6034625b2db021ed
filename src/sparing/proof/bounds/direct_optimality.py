"""A bound in the space of samples, from one matrix for each feature: cheap for few samples and any number of features.

Let A = C'C with columns a_i, z a unit vector, rho >= 0. A support S of r features reaches at most
max over z of sum over S of (a_i'z)^2 <= r rho + max over z of sum over all i of ((a_i'z)^2 - rho)_+, and where
Y_i >= 0 and Y_i >= a_i a_i' - rho I (in the order of matrices) that is at most r rho + lambda_max(sum Y_i).

Y_i = c w w' serves for every unit w with (a'w)^2 > |a|^2 - rho, where c = rho (|a|^2 - rho) / ((a'w)^2 - |a|^2 + rho):
rho I + c ww' >= aa' holds if and only if a'(rho I + c ww')^-1 a <= 1, by Sherman and Morrison
|a|^2 - c (a'w)^2 / (rho + c) <= rho, solved for c. w = a/|a| always serves, with c = |a|^2 - rho; with |a|^2 <= rho
nothing is needed. So directions are only proposals: c makes a bound of any of them.

The best w for a positive definite X, in the sense of tr(X Y_i), is (kappa I + rho X)^-1 a with kappa the positive root
of a'X(kappa I + rho X)^-1 a = 1. For X -> xx' it becomes the paper's two formulas: for features with (a_i'x)^2 > rho
Y_i = B_i xx'B_i / x'B_i x, B_i = a_i a_i' - rho I, and for others w is the part of a_i orthogonal to x.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sparing.effort import ProofEffort
from sparing.gram import DataMatrix
from sparing.gram.base import CACHE_ENTRIES
from sparing.linalg.rounding import EPS, TINY, rounded_up
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds.base import BoundMethod, Hypothesis, as_floats
from sparing.proof_limits import LIMITS, SCHEDULES, SECONDS
from sparing.results import Array, Bound, Encoder, Reference
from sparing.run import Budget, Run
from sparing.task import Task

LEAST_WEIGHT = 1e-18
"""Eigenvalues of X are kept above this, relative to the largest."""


class Dominance(NamedTuple):
    """Witness of the bound: rho, X by its eigenvectors (columns) and eigenvalues, and C and s with A <= C'C + s I.

    C is None if it is the data matrix itself.
    """

    rho: float
    basis: Array
    weights: Array
    factor: Array | None = None
    shift: float = 0.0


@dataclass(frozen=True)
class DirectOptimality(BoundMethod):
    """x'Ax <= r rho + lambda_max(sum Y_i) [daspremont2008, Sec. on conditions for optimality], one component.

    The paper tests one solution: X = xx' for its direction x in the space of samples. Where the test succeeds the gap
    is zero. Where it does not, X and rho are improved by steps that multiply; every one of them gives a bound, and they
    approach that of the paper's semidefinite relaxation. A is never formed: n^2 d operations a step for n samples.

    Parameters
    ----------
    max_iter : int, optional
        Maximum number of steps after the test, instead of the number that ``effort`` sets; fewer if each is expensive.

    Notes
    -----
    **Differs from the paper.** X is not only xx'. For a matrix A the smallest eigenvalue is taken off first, which a
    unit vector adds again: it sharpens the relaxation.
    """

    max_iter: int | None = None

    name: ClassVar = "direct_optimality"
    hypothesis: ClassVar = Hypothesis("variance", components="one")
    scales: ClassVar = True
    witnesses: ClassVar = (Dominance,)
    reference: ClassVar = Reference("daspremont2008", "Sec. on conditions for optimality")

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of steps of size n x n x d and of eigenvalues; more if many features need a Y_i.

        The same in wedges comes first where loadings are nonnegative.
        """
        d, n = task.gram.n_features, task.gram.n_samples
        if task.problem.nonnegative and d > LIMITS.witness_features and n is not None and n <= LIMITS.wedge_dimensions:
            return math.inf
        long = min(4 * task.n_nonzero / d, 1.0)
        each = SECONDS.look_setup + look(task.gram) * (SECONDS.look + SECONDS.long_look * long)
        return (effort.optimality_tests + effort.optimality_steps) * each

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with rho and X, for one component in a space of few dimensions."""
        factored = _factored(task.gram) if self.applies(task) else None
        if factored is None:
            return None
        C, shift, own = factored
        with single_threaded_blas(float(len(C)) ** 2 * C.shape[1]):
            effort = run.effort.proof
            steps = effort.part(effort.optimality_steps) if self.max_iter is None else self.max_iter
            tests, work = effort.part(effort.optimality_tests), effort.optimality_work
            rho, basis, weights = searched(C, task.n_nonzero, incumbent, steps, run.budget, work, tests)
            witness = Dominance(rho, basis, weights, C if own else None, shift)
            value = self.check(task, witness)
        return Bound(value, self.name, "the test of optimality in the space of samples", "always", witness)

    def _again(self, task: Task, witness: Any) -> float:
        """The bound again, from the data, rho and X; it is valid for every rho, X, C and s."""
        rho, basis, weights, factor, shift = witness
        if (known := rebuilt(task.gram, factor, shift)) is None:
            return math.inf
        C, rest = known
        value, _, _ = bound_at(C, max(float(rho), 0.0), basis, weights, task.problem.n_nonzero)
        return rounded_up(value + rest, task.gram)


def look(view: DataMatrix) -> float:
    """Operations of one look, where the space of samples or of features is small."""
    n = min(view.n_samples or view.n_features, view.n_features)
    return float(n) ** 2 * (view.n_features + 4 * n)


def rebuilt(view: DataMatrix, factor: Any, shift: Any) -> tuple[Array, float] | None:
    """C, and an upper bound on A - C'C; None for a C of another shape."""
    if factor is None:
        return samples_of(view), 0.0
    A, s = view.gram(), float(shift)
    if (C := as_floats(factor, len(factor), len(A))) is None:
        return None
    values = np.linalg.eigvalsh(A - s * np.eye(len(A)) - C.T @ C)  # C'C may be anything: what it lacks counts
    products = float(np.vdot(C, C)) + abs(s) + float(np.abs(A).max() + np.abs(values).max())
    return C, s + max(float(values[-1]), 0.0) + 8 * sum(C.shape) * EPS * products


def _factored(view: DataMatrix) -> tuple[Array, float, bool] | None:
    """C and s with A = C'C + s I, and whether C had to be computed; None if it would be too large."""
    d, n = view.n_features, view.n_samples
    if view.has_rows and n is not None and n < d:
        small = n <= LIMITS.space_dimensions and n * d <= LIMITS.space_entries and n * n * d <= LIMITS.space_work
        return (samples_of(view), 0.0, False) if small else None
    if d > LIMITS.space_dimensions:
        return None
    values, vectors = np.linalg.eigh(view.gram())
    shift = max(float(values[0]), 0.0)
    kept = values - shift > d * EPS * float(np.abs(values).max())
    kept[-1] = True  # at least one dimension
    return np.sqrt(np.maximum(values[kept] - shift, 0.0))[:, None] * vectors[:, kept].T, shift, True


def samples_of(view: DataMatrix) -> Array:
    """X itself."""
    return view.columns(np.arange(view.n_features))


def lengths_of(C: Array) -> Array:
    """Squared lengths of the columns."""
    return np.asarray(np.einsum("ij,ij->j", C, C))


def searched(
    C: Array, r: int, incumbent: Any, max_iter: int, budget: Budget, work: float = math.inf, n_tests: int = 10**9
) -> tuple[float, Array, Array]:
    """rho and X of a small bound: the paper's test at some rho, then steps from the best of them.

    Of the places to begin at most ``n_tests`` are looked at, evenly spread.
    """
    x, reached = _direction(C, incumbent)
    basis = np.linalg.qr(np.column_stack([x, np.eye(len(C))]))[0]
    best, value = (math.inf, 0.0, basis, np.ones(len(C))), math.inf
    starts = _starts(C, x, r)
    for at in np.unique(np.linspace(0, len(starts) - 1, min(n_tests, len(starts))).round().astype(int)):
        rho, spread = starts[at]
        weights = np.append(1.0, np.full(len(C) - 1, spread))
        value, _, _ = bound_at(C, rho, basis, weights, r)
        if value < best[0]:
            best = value, rho, basis, weights
        if budget.expired or best[0] <= reached * (1 + 1e-9):
            return best[1:]
    most = SCHEDULES.most_rho * float(lengths_of(C).max())
    rho, logarithm = min(best[1], most), (basis * np.log(np.maximum(best[3], 1e-3))) @ basis.T
    for step in range(int(min(max_iter, work / (len(C) * C.size)))):
        exponents, basis = np.linalg.eigh(logarithm)
        exponents = np.maximum(exponents - exponents[-1], math.log(LEAST_WEIGHT))
        weights = np.exp(exponents) / np.exp(exponents).sum()
        value, M, used = bound_at(C, rho, basis, weights, r)
        if value < best[0]:
            best = value, rho, basis, weights
        if budget.expired or best[0] <= reached * (1 + 1e-9):
            break
        pace = 1 / (1 + step / SCHEDULES.cooling_steps)
        logarithm = (basis * exponents) @ basis.T + pace * M / max(float(np.linalg.norm(M, 2)), TINY)
        rho = min(rho * math.exp(min(max(0.3 * pace * (used - r) / r, -0.2), 0.2)), most)
    return best[1:]


def _direction(C: Array, incumbent: Any) -> tuple[Array, float]:
    """The incumbent's direction in the space of samples, and its variance there; without one the longest column's."""
    if incumbent is None:
        x, reached = C[:, int(lengths_of(C).argmax())], -math.inf
    else:
        x = C[:, incumbent.support] @ incumbent.loadings[0] / np.linalg.norm(incumbent.loadings[0])
        reached = float(x @ x)
    length = float(np.linalg.norm(x))
    return (x / length, reached) if length > 0 else (np.eye(len(C))[0], reached)


def _starts(C: Array, x: Array, r: int) -> list[tuple[float, float]]:
    """Values of rho and spreads of X: between the r-th and the next (a_i'x)^2 for the test, then around them."""
    seen = np.sort(np.square(x @ C))[::-1]
    inside, outside = float(seen[min(r, len(seen)) - 1]), float(seen[r]) if r < len(seen) else 0.0
    tests = [(float(rho), SCHEDULES.test_spread) for rho in np.linspace(outside, inside, 14)[1:-1]]
    trivial = [(float(lengths_of(C).max()), 1.0)]  # no Y_i is needed: r times the largest variance
    return tests + trivial + [(inside * 2.0**power, spread) for power in range(-3, 3) for spread in SCHEDULES.spreads]


def bound_at(C: Array, rho: float, basis: Array, weights: Array, r: int) -> tuple[float, Array, float]:
    """The bound at rho and X, rounded conservatively; M = sum Y_i; and the number of features that X uses at the price
    rho."""
    n, d = C.shape
    M, trace, used = np.zeros((n, n)), 0.0, 0.0
    lengths = lengths_of(C)
    slack = 8 * (n + 2) * EPS  # relative error of scalar products, with room
    for a, lengths_a in _chunks(C, lengths, rho, slack):
        w, used_a = _proposed(basis.T @ a, weights, rho)
        w, used = basis @ w, used + used_a
        squares = np.maximum(np.einsum("ij,ij->j", w, w), TINY)
        room = np.square(np.einsum("ij,ij->j", a, w)) / squares - lengths_a + rho - slack * lengths_a
        over = lengths_a * (1 + slack) - rho
        poor = ~(room > slack * lengths_a)  # no more than rounding: the safe direction instead
        w[:, poor], squares[poor], room[poor] = a[:, poor], np.maximum(lengths_a[poor], TINY), 1.0
        c = np.where(poor, over, rho * over / room) * (1 + slack)
        M += (w * (c / squares)) @ w.T
        trace += float(c.sum())
    values = np.linalg.eigvalsh(M)
    return float(values[-1]) + r * rho + (2 * (n + d) + 8 * n) * EPS * trace, M, used


def _chunks(C: Array, lengths: Array, rho: float, slack: float) -> Iterator[tuple[Array, Array]]:
    """Columns longer than rho, some at a time, with their squared lengths."""
    long = np.flatnonzero(lengths * (1 + slack) > rho)
    width = max(CACHE_ENTRIES // len(C), 16)
    for first in range(0, len(long), width):
        part = long[first : first + width]
        yield C[:, part], lengths[part]


def _proposed(g: Array, weights: Array, rho: float) -> tuple[Array, float]:
    """(kappa I + rho X)^-1 a for columns g = U'a, in the basis U; and the total usage of the columns."""
    top = float(weights.max())
    if rho <= 0 or top <= 0:
        return g, float(g.shape[1])
    D = np.maximum(weights[:, None] / top, LEAST_WEIGHT)
    weighted = D * np.square(g)
    kappa = np.maximum((weighted - rho * D).max(axis=0), 0.0)
    for _ in range(SCHEDULES.root_finding_steps):  # for 1/phi, which is concave and nearly straight
        inverse = 1 / (kappa + rho * D)
        terms = weighted * inverse
        phi = terms.sum(axis=0)
        kappa += np.maximum(phi * (phi - 1) / np.maximum((terms * inverse).sum(axis=0), TINY), 0.0)
    w = g / (kappa + rho * D)
    seen = D * np.square(w)
    return w, top * float(((D * seen).sum(axis=0) / np.maximum(seen.sum(axis=0), TINY)).sum())
