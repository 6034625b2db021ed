"""A bound for x >= 0 in the space of samples: the test of optimality in every wedge of a plane.

Let A = C'C with columns a_i. For x >= 0 a support S of r features reaches the maximum over unit z of the sum over S of
(a_i'z)_+^2. Take two directions of the space of samples, cut their plane into wedges, and look at the z of one wedge
only, which is where h'z >= 0 and k'z >= 0 for the normals h and k of its two rays. Then

1. a_i'z <= p_i'z for every p_i = a_i + s h + t k with s, t >= 0: what a feature has against the wedge can be taken off;
2. z'(hk' + kh')z >= 0, which any multiple u >= 0 of hk' + kh' may pay for;
3. with Y_i >= 0 and Y_i >= p_i p_i' - rho I nothing exceeds r rho + lambda_max(sum Y_i + u (hk' + kh')).

All of s, t, u, rho and Y_i are proposals, one ``eigvalsh`` a wedge makes a bound of any of them, and the largest of the
wedges' bounds holds everywhere. A feature that the wedge is likely to use keeps p_i = a_i, so that it sees where in the
wedge z is, and (2) keeps z inside: what is lost is of second order in the angle. Others become as short as they can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sparing.effort import ProofEffort
from sparing.gram import DataMatrix
from sparing.linalg.rounding import EPS, TINY, rounded_up
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds import direct_optimality as plain
from sparing.proof.bounds.base import BoundMethod, Hypothesis, as_floats
from sparing.proof.sphere.cones import half_angle, normals, room, shortened, turns
from sparing.proof_limits import LIMITS, SCHEDULES, SECONDS
from sparing.results import Array, Bound, Encoder, Reference
from sparing.run import Budget, Run
from sparing.task import Task

N_STARTS = SCHEDULES.first_wedges * (1 + len(SCHEDULES.wedge_rhos) * len(SCHEDULES.wedge_spreads))
"""Looks at the starts in all of the first wedges."""


class Proof(NamedTuple):
    """Witness of the bound of one wedge: rho, X by its eigenvectors (columns) and eigenvalues, and u."""

    rho: float
    basis: Array
    weights: Array
    paid: float


class Cover(NamedTuple):
    """Witness of the bound: the plane (two columns), its rays in order, and a proof for the wedge after each ray.

    C and s are those of A <= C'C + s I; C is None if it is the data matrix itself.
    """

    plane: Array
    rays: Array
    proofs: tuple[Proof, ...]
    factor: Array | None = None
    shift: float = 0.0


@dataclass(frozen=True)
class NonnegativeOptimality(BoundMethod):
    """x'Ax <= the largest r rho + lambda_max(sum Y_i + u (hk' + kh')) of all wedges, for one component x >= 0.

    After the test of [daspremont2008, Sec. on conditions for optimality].

    The unconstrained test ignores signs: z and -z are equivalent, and features with opposite signs support each other.
    In a wedge of directions they do not. Wedges are halved where the bound is highest.

    Parameters
    ----------
    max_cells, max_iter : int, optional
        Maximum number of wedges, and of steps in each, instead of the number that ``effort`` sets; fewer where each is
        much work.

    Notes
    -----
    **Differs from the paper.** It has no signs and one direction only; its conditions are the case of a single wedge
    without normals. The plane is that of the two leading directions in the space of samples.
    """

    max_cells: int | None = None
    max_iter: int | None = None

    name: ClassVar = "nonnegative_optimality"
    hypothesis: ClassVar = Hypothesis("variance", components="one", nonnegative=True)
    scales: ClassVar = True
    witnesses: ClassVar = (Cover, Proof)
    reference: ClassVar = Reference("daspremont2008", "Sec. on conditions for optimality; in wedges, for x >= 0")

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of the steps in cones; with few features the doubly nonnegative dual is sharper."""
        view = task.gram
        long = min(4 * task.n_nonzero / view.n_features, 1.0)
        each = SECONDS.wedge_setup + SECONDS.wedge * long * plain.look(view)
        return (effort.wedges * effort.wedge_steps + N_STARTS) * each

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its wedges, for one nonnegative component in a space of few dimensions."""
        problem = task.problem
        factored = _factored(task.gram) if self.applies(task) else None
        if factored is None:
            return None
        C, shift, own = factored
        with single_threaded_blas(float(len(C)) ** 2 * C.shape[1]):
            effort = run.effort.proof
            looks = int(effort.share * (effort.wedges * effort.wedge_steps + N_STARTS)) - N_STARTS
            most = max(effort.part(effort.wedges), SCHEDULES.first_wedges)
            cells = most if self.max_cells is None else self.max_cells
            steps = max(looks // most, 1) if self.max_iter is None else self.max_iter
            search = _Search(C, problem.n_nonzero, steps, effort.wedge_work, run.budget, _reached(C, incumbent))
            witness = Cover(search.plane, *search.covered(cells), C if own else None, shift)
            value = self.check(task, witness)
        return Bound(value, self.name, "the test of optimality in wedges, for nonnegative loadings", "always", witness)

    def _again(self, task: Task, witness: Any) -> float:
        """The bound again, from the data and the wedges: all of them prove something as long as they close a circle."""
        two, around, proofs, factor, shift = witness
        if (known := plain.rebuilt(task.gram, factor, shift)) is None:
            return math.inf
        C, rest = known
        plane, rays = as_floats(two, len(C), 2), as_floats(around, len(around), 2)
        if plane is None or rays is None or not len(proofs) == len(rays) > 0:
            return math.inf
        ends = np.roll(rays, -1, axis=0)
        if not (turns(rays, ends) > 0).all():
            return math.inf
        lengths = plain.lengths_of(C)
        bounds = [
            _at(C, lengths, plane, np.array(wedge), proof, task.problem.n_nonzero)[0]
            for *wedge, proof in zip(rays, ends, proofs, strict=True)
        ]
        return rounded_up(max(bounds) + rest, task.gram) if np.isfinite(bounds).all() else math.inf


def _factored(view: DataMatrix) -> tuple[Array, float, bool] | None:
    """C and s with A <= C'C + s I, and whether C had to be computed; None if it would be too large."""
    d, n = view.n_features, view.n_samples
    if view.has_rows and n is not None and n < d:
        if not 2 <= n <= LIMITS.wedge_dimensions or n * d > LIMITS.space_entries or n * n * d > LIMITS.space_work:
            return None
        return plain.samples_of(view), 0.0, False
    if not 2 <= d <= LIMITS.witness_features:
        return None
    values, vectors = np.linalg.eigh(view.gram())
    shift = max(float(values[max(d - LIMITS.kept_dimensions - 1, 0)]), 0.0)  # leaves as many above as are kept
    kept = values - shift > d * EPS * float(np.abs(values).max())
    kept[-2:] = True  # at least a plane
    return np.sqrt(np.maximum(values[kept] - shift, 0.0))[:, None] * vectors[:, kept].T, shift, True


def _reached(C: Array, incumbent: Any) -> float:
    """A variance that is known to be possible."""
    if incumbent is None:
        return 0.0
    z = C[:, incumbent.support] @ incumbent.loadings[0]
    return float(z @ z) / float(incumbent.loadings[0] @ incumbent.loadings[0])


def _at(C: Array, lengths: Array, plane: Array, wedge: Array, proof: Proof, r: int) -> tuple[float, Array, float]:
    """The bound of a wedge, rounded against us; sum Y_i + u (hk' + kh'); how many features X would use at this rho."""
    (n, d), rho, paid = C.shape, max(float(proof.rho), 0.0), max(float(proof.paid), 0.0)
    long = np.flatnonzero(lengths * (1 + 8 * (n + 2) * EPS) > rho)  # others need no Y_i
    top = proof.basis[:, int(np.argmax(proof.weights))]
    h, k = (plane @ normals(wedge)).T
    P, errors = shortened(C[:, long], plane, wedge, top, SCHEDULES.clear_share * math.sqrt(rho))
    _, M, used = plain.bound_at(P, rho, proof.basis, proof.weights, r)
    sizes = float(np.trace(M)) + 2 * paid * float(np.vdot(plane, plane) * np.prod(np.linalg.norm(wedge, axis=1)))
    M += paid * (np.outer(h, k) + np.outer(k, h))
    rounding = (2 * (n + d) + 8 * n + 16) * EPS * sizes + r * float(errors.max(initial=0.0))
    return float(np.linalg.eigvalsh(M)[-1]) + r * rho + rounding, M, used


class _Search:
    """Halves wedges and improves their proofs."""

    def __init__(self, C: Array, r: int, max_iter: int, max_work: float, budget: Budget, reached: float) -> None:
        self.C, self.r, self.max_iter, self.budget, self.reached = C, r, max_iter, budget, reached
        self.plane = np.linalg.eigh(C @ C.T)[1][:, -2:]
        self.lengths, self.work, self.max_work = plain.lengths_of(C), 0.0, max_work
        self.unsigned = Proof(
            *plain.searched(C, r, None, SCHEDULES.unsigned_steps, budget, n_tests=SCHEDULES.unsigned_tests), 0.0
        )
        self.longest = C[:, np.argsort(-self.lengths, kind="stable")[: max(SCHEDULES.wedge_features * r, 1000)]]
        self.most = SCHEDULES.most_rho * float(self.lengths.max(initial=0.0))

    @property
    def spent(self) -> bool:
        return self.work > self.max_work or self.budget.expired

    def _looked_at(self, wedge: Array, proof: Proof) -> tuple[float, Array, float]:
        self.work += len(self.C) ** 2 * (len(self.C) + float(np.count_nonzero(self.lengths > proof.rho)))
        return _at(self.C, self.lengths, self.plane, wedge, proof, self.r)

    def covered(self, max_cells: int) -> tuple[Array, tuple[Proof, ...]]:
        """Rays and proofs, with the highest wedge halved as long as it may be."""
        angles = (np.arange(SCHEDULES.first_wedges) + 0.5) * (2 * math.pi / SCHEDULES.first_wedges)
        rays = np.column_stack([np.cos(angles), np.sin(angles)])
        found = [self._new(np.array(wedge)) for wedge in zip(rays, np.roll(rays, -1, axis=0), strict=True)]
        for _ in range((max_cells - SCHEDULES.first_wedges) // 2):
            at = int(np.argmax([value for value, _ in found]))
            value, proof = found[at]
            if self.spent or value <= self.reached * (1 + 1e-9):
                break
            first, second = rays[at], rays[(at + 1) % len(rays)]
            middle = (first + second) / np.linalg.norm(first + second)
            halves = [self._half(np.array(wedge), value, proof) for wedge in ((first, middle), (middle, second))]
            if max(half[0] for half in halves) >= value:
                break
            rays, found[at : at + 1] = np.insert(rays, at + 1, middle, axis=0), halves
            self.budget.say(f"{len(rays)} wedges: at most {max(value for value, _ in found):.6g}")
        return rays, tuple(proof for _, proof in found)

    def _half(self, wedge: Array, value: float, proof: Proof) -> tuple[float, Proof]:
        """A new start in half a wedge; the proof of the whole wedge if the start is not better."""
        found = self._improved(wedge, self._starts(wedge)[1])
        if found[0] < value or self.spent:
            return found
        return min(found, self._improved(wedge, proof._replace(paid=4 * proof.paid)), key=lambda pair: pair[0])

    def _new(self, wedge: Array) -> tuple[float, Proof]:
        """A proof from the best start."""
        starts = self._starts(wedge)
        values = [self._looked_at(wedge, start)[0] for start in starts if not self.spent]
        return self._improved(wedge, starts[int(np.argmin(values))] if values else starts[0])

    def _starts(self, wedge: Array) -> list[Proof]:
        """The X without signs, and some near a good direction of the wedge."""
        z, rho = self._climbed(wedge)
        basis = np.linalg.qr(np.column_stack([z, np.eye(len(z))]))[0]
        unit = SCHEDULES.paid_share * self.r / (2 * math.sin(half_angle(wedge)) ** 2)
        starts = [self.unsigned._replace(paid=0.1 * unit * self.unsigned.rho)]
        for factor, spread in product(SCHEDULES.wedge_rhos, SCHEDULES.wedge_spreads):
            price = min(factor * rho, self.most)
            starts.append(Proof(price, basis, np.append(1.0, np.full(len(z) - 1, spread)), unit * price))
        return starts

    def _improved(self, wedge: Array, start: Proof) -> tuple[float, Proof]:
        """The best bound of some steps in a wedge, and its witness."""
        r, best, (rho, basis, weights, paid) = self.r, (math.inf, start), start
        logarithm = (basis * np.log(np.maximum(weights / weights.max(), SCHEDULES.least_start))) @ basis.T
        for step in range(max(self.max_iter, 1)):
            exponents, basis = np.linalg.eigh(logarithm)
            exponents = np.maximum(exponents - exponents[-1], math.log(plain.LEAST_WEIGHT))
            weights = np.exp(exponents) / np.exp(exponents).sum()
            proof = Proof(rho, basis, weights, paid)
            value, M, used = self._looked_at(wedge, proof)
            if value < best[0]:
                best = value, proof
            if self.spent or best[0] <= self.reached:
                break
            pace = 1 / (1.25 + step / SCHEDULES.cooling_steps)
            logarithm = (basis * exponents) @ basis.T + pace * M / max(value - r * rho, TINY)
            rho = min(rho * math.exp(min(max(0.3 * pace * (used - r) / r, -0.2), 0.2)), self.most)
            paid *= math.exp(-0.5 * pace * room((basis * weights) @ basis.T, self.plane, wedge))
        return best

    def _climbed(self, wedge: Array) -> tuple[Array, float]:
        """A good direction in this wedge, and the r-th (p_i'z)^2 there; the value of z is stored."""
        z = self.plane @ wedge.sum(axis=0)
        z /= np.linalg.norm(z)
        P, _ = shortened(self.longest, self.plane, wedge, z, math.inf)
        least = 0.0
        for _ in range(SCHEDULES.wedge_climbs):
            entries = np.maximum(z @ P, 0.0)
            chosen = np.argsort(-entries, kind="stable")[: self.r]
            least, moved = float(entries[chosen[-1]]), P[:, chosen] @ entries[chosen]
            length = float(np.linalg.norm(moved))
            if length <= 0:
                break
            z = moved / length
        seen = np.sort(np.maximum(z @ self.longest, 0.0))[::-1][: self.r]
        self.reached = max(self.reached, float(seen @ seen))
        return z, min(max(least**2, 1e-3 * self.most), self.most)
