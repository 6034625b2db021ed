"""Which bounds are computed for a result: by cost, until its value is proved, or the effort or the time is spent."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from sparing.effort import Effort, ProofEffort
from sparing.linalg.variance import symmetric_total
from sparing.proof.bounds import BOUNDS, BoundMethod
from sparing.proof.bounds.base import ContinuedBound, Kept
from sparing.proof_limits import LIMITS
from sparing.results import PROVED, Bound, Encoder
from sparing.run import Run
from sparing.task import Task

SEARCHES = ("branch_and_bound", "nonnegative_branch_and_bound")
"""Searches by refuted targets, which an exact solver has done already."""

TIGHTER = 1e-9
"""Share by which a bound has to change to count as tighter."""


def prove(task: Task, incumbent: Encoder, run: Run) -> list[Bound]:
    """Bounds that hold for the problem, the simplest first.

    Free ones are always computed. Others come in passes, one for each effort up to that of the run, the least first: so
    more effort computes all that less effort does, and never proves less about a result. With a time limit all come
    again with twice their steps, four times, and so on, until time is over, the value is proved, or more steps change
    nothing. An interruption keeps what is proved so far, where a certificate says that there was one: those of losses
    do not.
    """
    proof = _Proof(task, incumbent, run)
    skipped = SEARCHES if proof.bounds else ()
    try:
        proof.compute_free()
        for level in run.levels():
            proof.compute(level, skipped)
        factor, unchanged = 1, 0
        while run.budget.deadline is not None and not proof.is_over and unchanged < LIMITS.unchanged_rounds:
            factor *= 2
            longer = replace(run.effort, proof=run.effort.proof.times(factor))
            unchanged = 0 if proof.compute(replace(run, effort=longer)) else unchanged + 1
    except KeyboardInterrupt:
        if not proof.bounds or task.problem.objective == "loss":
            raise
        run.budget.interrupt()
    return proof.bounds


def unspent(task: Task, effort: Effort) -> float:
    """What the effort has left where all bounds of a problem are computed: among thousands of features nearly all."""
    spent = 0.0
    for method in _methods(task):
        anew = (effort,) if isinstance(method, ContinuedBound) else effort.levels  # or it goes on
        spent += sum(method.cost(task, level.proof) for level in anew)
    return max(effort.proof.cost - spent, 0.0)


class _Proof:
    """What is proved so far about a result, and what has been spent on it."""

    def __init__(self, task: Task, incumbent: Encoder, run: Run) -> None:
        self.task, self.incumbent, self.run, self.bounds = task, incumbent, run, _known(task, incumbent)
        self.methods, self.spent, self.spent_on = _methods(task), 0.0, dict[str, float]()
        self.kept = {method.name: Kept() for method in self.methods if isinstance(method, ContinuedBound)}
        self.is_loss, self.value = task.problem.objective == "loss", math.nan

    @property
    def is_over(self) -> bool:
        """Is there no time left, or nothing to prove?"""
        return self.run.budget.expired or any(map(self._is_enough, self.bounds))

    def compute_free(self) -> None:
        """All bounds that cost next to nothing: they have no steps."""
        for method in self.methods:
            if method.cost(self.task, self.run.effort.proof) == 0:
                self._learn(method.bound(self.task, self.incumbent, self.run))

    def compute(self, level: Run, skipped: Collection[str] = ()) -> bool:
        """All bounds that an effort pays for beside what is spent, the cheapest first; is any of them tighter than it
        was?

        A bound that would cost more than is left takes a share of its steps, where it can do with fewer. One that would
        have no more steps than before is not repeated; one that can go on where it stopped costs only what is new.
        """
        effort, tighter = level.effort.proof, False
        efforts = {method.name: replace(effort, cost=self._left(method, effort)) for method in self.methods}
        costs = {method.name: method.cost(self.task, efforts[method.name]) for method in self.methods}
        for method in self._in_order(costs):
            cost, left = costs[method.name], self._left(method, effort)
            share = 1.0 if cost <= left else left / cost
            is_new = cost > 0 and (math.isinf(left) or share * cost > self.spent_on.get(method.name, 0.0))
            if method.name in skipped or not is_new:
                continue
            if self.is_over:
                break
            if share < 1 and not (method.scales and share >= effort.least_share):
                continue
            part = replace(level.effort, proof=replace(efforts[method.name], share=share))
            bound = self._computed(method, replace(level, effort=part))
            if bound is not None:
                self.spent += share * cost - self._done(method)
                self.spent_on[method.name] = share * cost
            tighter |= self._learn(bound)
        return tighter

    def _in_order(self, costs: Mapping[str, float]) -> list[BoundMethod]:
        """The tightest first, if more steps make it tighter, then the cheapest; after a proof no other is needed.

        A search for a proof that ended without one is a bound like others; one by refuted targets may long stay as it
        is.
        """
        sign = -1 if self.is_loss else 1
        tightest = min(self.bounds, key=lambda bound: sign * bound.value).name if self.bounds else ""

        def rank(method: BoundMethod) -> tuple[bool, float]:
            is_new = method.name not in self.spent_on
            worth = LIMITS.proof_worth if is_new and method.proves else 1.0
            goes_on = method.name == tightest and method.name in self.kept and method.name not in SEARCHES
            return not goes_on, (costs[method.name] - self._done(method)) / worth

        return sorted(self.methods, key=rank)

    def _done(self, method: BoundMethod) -> float:
        """Seconds of the search so far, where it can go on."""
        return self.spent_on.get(method.name, 0.0) if method.name in self.kept else 0.0

    def _left(self, method: BoundMethod, effort: ProofEffort) -> float:
        """Seconds that an effort leaves for a bound, with those of its search so far."""
        return effort.cost if math.isinf(effort.cost) else max(effort.cost - self.spent, 0.0) + self._done(method)

    def _computed(self, method: BoundMethod, run: Run) -> Bound | None:
        """The bound, by the search of an earlier pass where it can go on."""
        if isinstance(method, ContinuedBound):
            return method.bound(self.task, self.incumbent, run, self.kept[method.name])
        return method.bound(self.task, self.incumbent, run)

    def _learn(self, bound: Bound | None) -> bool:
        """Keep a bound that is tighter than others of its name, or that came upon an answer."""
        if bound is None:
            return False
        others = [other for other in self.bounds if other.name == bound.name]
        slack, sign = TIGHTER * abs(bound.value), -1 if self.is_loss else 1
        tighter = all(sign * bound.value < sign * other.value - slack for other in others)
        self.bounds = [other for other in self.bounds if not tighter or other.name != bound.name or other.supports]
        if tighter or bound.supports:
            self.bounds.append(bound)
        return tighter

    def _is_enough(self, bound: Bound) -> bool:
        """Does a bound leave nothing to be better: neither results nor other bounds?"""
        if math.isnan(self.value):
            view, H = self.task.gram, self.incumbent.components.T
            self.value = self.incumbent.loss if self.is_loss else symmetric_total(view, H)
        proved = self.value * (1 - PROVED) <= bound.value if self.is_loss else bound.value <= self.value * (1 + PROVED)
        return bound.reached or proved


def _methods(task: Task) -> list[BoundMethod]:
    """The bounds that apply to a problem."""
    return [method for kind in BOUNDS.values() if (method := kind()).applies(task)]


def _known(task: Task, incumbent: Encoder) -> list[Bound]:
    """The bound that the solver proved, if it is about this problem."""
    known = incumbent.single_bounds.get(task.n_nonzero) if task.problem.is_single else None
    return [] if known is None or (known.nonnegative and not task.problem.nonnegative) else [known]
