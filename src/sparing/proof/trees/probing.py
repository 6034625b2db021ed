"""Probing: a semidefinite dual for each feature, before the search, for data in which all features look similar.

Noise, and weak signals in it, have no rows that stand out, so that sums of rows refute little. A semidefinite dual
refutes more: for every symmetric Y with zero diagonal no unit x with m nonzeros exceeds

    lambda_max(G - Y) + (m - 1) max|Y_ij|,

because x'Yx is at most max|Y_ij| (|x|_1^2 - |x|_2^2). With one feature fixed what is left is a problem of r - 1
features on a Schur complement G (``schur_tree.py``), which differs from A by one rank: a few iterations of the
alternating direction method from where it ended for A itself. A refuted feature is removed for good, which makes the
next problems smaller, and the surviving features are few enough for the tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.linalg.threads import single_threaded_blas
from sparing.proof.relaxations.stepwise import Relaxation
from sparing.proof.trees.schur_tree import Mask, Node, Outcome, SchurTree
from sparing.proof_limits import SCHEDULES
from sparing.results import Array, Indices
from sparing.run import Budget

LEAST_GAP = 1e-9
"""How far above the best value a target is at least, as a share of it: far more than rounding."""


@dataclass(frozen=True)
class ProbingLimits:
    """Limits of probing, after which the tree searches the rest.

    Attributes
    ----------
    rounds : tuple of int
        Iterations for one feature, round after round: those that are easily refuted first, so that the problem becomes
        smaller.
    patience : int
        A round ends when this fraction of the remaining features, one in so many, have failed one after the other.
    left_to_tree : int
        So few features are left to the tree at once.
    not_inside : int
        Minimum number of features for which a search beside each of them pays off.
    """

    rounds: tuple[int, ...] = (6, 12, 25)
    patience: int = 6
    left_to_tree: int = 50
    not_inside: int = 110


USUAL_LIMITS = ProbingLimits()


@dataclass
class _Meter:
    """Remaining work of one call."""

    max_nodes: int
    budget: Budget
    nodes: int = 0

    @property
    def empty(self) -> bool:
        return self.nodes >= self.max_nodes or self.budget.expired

    def step(self, relaxation: Relaxation, m: int, *, balance: bool = False) -> None:
        self.nodes += 1 + SCHEDULES.step_nodes * len(relaxation) ** 2 // SCHEDULES.node_entries
        relaxation.step(m, balance=balance)


class _Root(SchurTree):
    """The tree, used only to list the features that survive at its root."""

    def left(self) -> tuple[Node, Indices | None]:
        (root,) = self._open
        node, support = self._reduced(self._floored(root()))
        return node, None if support is None else np.sort(np.array(support, dtype=np.intp))


class _Probes:
    """Features that may be among m of G that reach the target, with the iterate for all of them."""

    def __init__(
        self,
        whole: Relaxation,
        alive: Indices,
        allowed: Mask,
        m: int,
        target: float,
        meter: _Meter,
        limits: ProbingLimits = USUAL_LIMITS,
    ) -> None:
        self.whole, self.alive, self.allowed = whole, alive, allowed
        self.m, self.target, self.meter, self.limits = m, target, meter, limits
        self.support: Indices | None = None
        self._look()

    def round(self, most: int, enough: int, *, inside: bool = False) -> None:
        """Probe the features, those that the relaxation uses least first, until few are left or many fail."""
        failed = gone = 0
        for feature in self.alive[np.argsort(np.diagonal(self.whole.Z), kind="stable")]:
            p = int(np.searchsorted(self.alive, feature))
            if self.meter.empty or len(self.alive) <= enough or failed > len(self.alive) // self.limits.patience:
                return
            if self._refuted(p, most, inside):
                self._keep(np.delete(np.arange(len(self.alive)), p))
                failed, gone = 0, gone + 1
            elif self.support is not None:
                return
            else:
                failed += 1
            if gone > len(self.alive) // SCHEDULES.refreshed_share:
                gone = 0
                self._refresh()

    def rest(self, floors: Array, max_nodes: int) -> Outcome:
        """Search the rest with the tree."""
        if self.support is not None or len(self.alive) < self.m:
            return Outcome(self.support, self.support is None, 0)
        left = min(max_nodes, self.meter.max_nodes - self.meter.nodes)
        found = SchurTree(self.whole.G, self.m, self.target, floors).search(left, self.meter.budget)
        self.meter.nodes += found.nodes
        return found if found.support is None else Outcome(self.alive[found.support], False, found.nodes)

    def _refuted(self, p: int, most: int, inside: bool) -> bool:
        """Can no support with the feature in place p reach the target?"""
        m, beside = self.m - 1, np.flatnonzero(self.allowed[p])
        if len(beside) < m:
            return True
        probe = self.whole.fix(p, beside, self.target)
        for count in range(1, most + 1):
            if self.meter.empty:
                return False
            self.meter.step(probe, m)
            if count > 1 and probe.refutes(m, self.target):
                return True
            far = dict(SCHEDULES.hopeless).get(count)
            if far and not inside and not probe.refutes(m, self.target + far * abs(self.target)):
                return False
        return inside and self._refuted_inside(p, beside, probe)

    def _refuted_inside(self, p: int, beside: Indices, probe: Relaxation) -> bool:
        """The same by probing the other features, then the tree for those that survive."""
        allowed = self.allowed[beside[:, None], beside]
        inner = _Probes(probe, self.alive[beside], allowed, self.m - 1, self.target, self.meter, self.limits)
        inner.round(self.limits.rounds[0], self.limits.left_to_tree)
        outcome = inner.rest(np.full(self.m, -np.inf), SCHEDULES.inside_nodes)
        if outcome.support is not None:
            self.support = np.append(outcome.support, self.alive[p])
        return outcome.refuted

    def _keep(self, places: Indices) -> None:
        self.alive, self.whole = self.alive[places], self.whole.keep(places)
        self.allowed = self.allowed[places[:, None], places]

    def _refresh(self) -> None:
        """Remove refuted features from the iterate."""
        for count in range(SCHEDULES.refresh_steps):
            if not self.meter.empty:
                self.meter.step(self.whole, self.m - 1, balance=count == SCHEDULES.refresh_steps - 1)
        self._look()

    def _look(self) -> None:
        """The iterate may refute all that is left."""
        if self.whole.refutes(self.m, self.target):
            self._keep(np.zeros(0, dtype=np.intp))


class Prober:
    """Successive targets for ``size`` features of A: the iterate for all features serves all of them.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    size : int
        At least 2 and at most d.
    floors : ndarray of shape (size + 1,)
        As ``SchurTree`` takes them; those of a target hold for every higher one.
    limits : ProbingLimits
    """

    def __init__(self, A: Array, size: int, floors: Array, limits: ProbingLimits = USUAL_LIMITS) -> None:
        self.A, self.size, self.floors, self.limits = A, size, floors, limits
        self._whole: Relaxation | None = None
        self.bound = np.inf  # what nothing exceeds, by the dual of all features

    def refute(self, target: float, *, max_nodes: int, budget: Budget) -> Outcome:
        """Does any support reach the target?"""
        meter = _Meter(max_nodes, budget, 1)
        node, support = _Root(self.A, self.size, target, self.floors).left()
        if support is not None or len(node.free) == 0:
            return Outcome(support, support is None, meter.nodes)
        whole = self.begin(meter)
        if self.bound < target:  # a recheck of that very bound must end here
            return Outcome(None, True, meter.nodes)
        limits = self.limits
        whole = Relaxation.of(node.G) if len(node.free) <= limits.left_to_tree else whole.keep(node.free)
        probes = _Probes(whole, node.free, node.allowed, self.size, target, meter, limits)
        if self.size > 2:
            for most in limits.rounds:
                probes.round(most, limits.left_to_tree)
            probes.round(limits.rounds[0], limits.not_inside, inside=True)
        if not meter.empty:
            budget.say(f"{self.size} features: {len(probes.alive)} of {len(self.A)} not refuted by probing")
        outcome = probes.rest(self.floors, max_nodes)
        support = None if outcome.support is None else np.sort(outcome.support)
        return Outcome(support, outcome.refuted, meter.nodes)

    def begin(self, meter: _Meter) -> Relaxation:
        """The iterate for all features, where probes start from, and the bound it gives."""
        if self._whole is None:
            whole = Relaxation.of(self.A)
            for count in range(1, SCHEDULES.root_steps + SCHEDULES.one_less_steps + 1):
                if meter.empty:
                    return whole
                meter.step(whole, self.size - (count > SCHEDULES.root_steps), balance=count % SCHEDULES.look_every == 0)
                if count == SCHEDULES.root_steps:
                    self.bound = whole.value(self.size)
            self._whole = whole
        return self._whole

    def likely(self, value: float, meter: _Meter) -> float:
        """A target that probing can probably refute: the median over some features after a few iterations."""
        whole, m = self.begin(meter), self.size - 1
        order = np.argsort(np.diagonal(whole.Z), kind="stable")
        bounds = []
        for p in order[:: 1 + len(order) // SCHEDULES.sampled_features]:
            probe = whole.fix(int(p), np.delete(np.arange(len(order)), p), max(self.bound, value))
            for _ in range(SCHEDULES.sample_steps):
                if not meter.empty:
                    meter.step(probe, m)
            bounds.append(probe.value(m))
        return float(np.median(bounds))


def probed(
    A: Array,
    size: int,
    target: float,
    floors: Array,
    *,
    max_nodes: int,
    budget: Budget,
    limits: ProbingLimits = USUAL_LIMITS,
) -> Outcome:
    """Does any support of ``size`` features of A reach the target? By the dual, by probing, by the tree on the rest.

    Parameters are those of ``Prober`` and of ``SchurTree``.
    """
    with single_threaded_blas():
        return Prober(A, size, floors, limits).refute(target, max_nodes=max_nodes, budget=budget)


@dataclass(frozen=True)
class Narrowed:
    """No support reaches ``target`` (infinite if nothing is proved); ``support`` has more than the best known."""

    target: float
    support: Indices | None
    nodes: int


def least_gap(A: Array, size: int, value: float, floors: Array, *, max_nodes: int, budget: Budget) -> Narrowed:
    """The lowest target above ``value`` that can be refuted with this number of nodes.

    The dual of all features is the first one. The duals of some features after a few iterations determine the next
    target: near their median most features are refuted. Then lower ones, as long as they can be refuted.

    Parameters are those of ``Prober``; the floors are those of ``value`` itself.
    """
    prober, meter = Prober(A, size, floors), _Meter(max_nodes, budget)
    own = np.diagonal(A)
    if own.max() > value:
        return Narrowed(np.inf, np.array([int(own.argmax())], dtype=np.intp), 0)
    with single_threaded_blas():
        guess = prober.likely(value, meter)
        unit = max(abs(value), abs(float(own.max())))
        failed, proved = 0.0, prober.bound - value
        gap = min(max(SCHEDULES.first_gap * (guess - value), LEAST_GAP * unit), SCHEDULES.next_gap * proved)
        while not meter.empty and LEAST_GAP * unit <= gap <= SCHEDULES.closest_gap * proved:
            left = int(SCHEDULES.target_share * (max_nodes - meter.nodes)) + 1
            outcome = prober.refute(value + gap, max_nodes=left, budget=budget.share(SCHEDULES.target_share))
            meter.nodes += outcome.nodes
            if outcome.support is not None:
                return Narrowed(value + proved, outcome.support, meter.nodes)
            if outcome.refuted:
                proved = gap
                lower = max(SCHEDULES.next_gap * proved, (failed + proved) / 2)
                gap = lower if proved > SCHEDULES.small_gap * unit else LEAST_GAP * unit
            else:
                failed, gap = gap, (gap + proved) / 2
    return Narrowed(value + proved, None, meter.nodes)
