"""Which bounds are computed for a result: by cost, until its value is proved, or the effort or the time is spent."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from sparing.effort import ProofEffort
from sparing.linalg.variance import symmetric_total
from sparing.proof.bounds import BOUNDS, BoundMethod
from sparing.proof_limits import LIMITS
from sparing.results import PROVED, Bound, Encoder
from sparing.run import Run
from sparing.task import Task

SEARCHES = ("branch_and_bound", "nonnegative_branch_and_bound")
"""What an exact solver has done already."""

TIGHTER = 1e-9
"""Share by which a bound has to change to count as tighter."""


def prove(task: Task, incumbent: Encoder, run: Run) -> list[Bound]:
    """Bounds that hold for the problem, the simplest first.

    Free ones are always computed. With a time limit those that the effort pays for come first; then all again with
    twice their steps, four times, and so on, until time is over, the value is proved, or more steps change nothing.
    An interruption keeps what is proved so far, where a certificate says that there was one: those of losses do not.
    """
    proof = _Proof(task, incumbent, run)
    try:
        proof.compute(run.effort.proof, skipped=SEARCHES if proof.bounds else ())
        factor, unchanged = 1, 0
        while run.budget.deadline is not None and not proof.is_over and unchanged < LIMITS.unchanged_rounds:
            factor *= 2
            unchanged = 0 if proof.compute(run.effort.proof.times(factor)) else unchanged + 1
    except KeyboardInterrupt:
        if not proof.bounds or task.problem.objective == "loss":
            raise
        run.budget.interrupt()
    return proof.bounds


def unspent(task: Task, effort: ProofEffort) -> float:
    """Cost that remains of the effort after all bounds of a problem: nearly all with thousands of features."""
    methods = [method for kind in BOUNDS.values() if kind.objective == task.problem.objective for method in (kind(),)]
    return max(effort.cost - sum(method.cost(task, effort) for method in methods if method.applies(task)), 0.0)


class _Proof:
    """Bounds that are proved so far about a result."""

    def __init__(self, task: Task, incumbent: Encoder, run: Run) -> None:
        self.task, self.incumbent, self.run, self.bounds = task, incumbent, run, _known(task, incumbent)
        kinds = [kind() for kind in BOUNDS.values() if kind.objective == task.problem.objective]
        self.methods = [method for method in kinds if method.applies(task)]
        self.is_loss, self.value = task.problem.objective == "loss", math.nan

    @property
    def is_over(self) -> bool:
        """Is there no time left, or nothing to prove?"""
        return self.run.budget.expired or any(map(self._is_enough, self.bounds))

    def compute(self, effort: ProofEffort, skipped: Collection[str] = ()) -> bool:
        """Compute the bounds that the effort allows, the cheapest first; return whether any is tighter than before.

        A bound that would cost more than is left takes a share of its steps, where it can do with fewer.
        """
        left, tighter = effort.cost, False
        priced = [(method.cost(self.task, effort), method) for method in self.methods if method.name not in skipped]
        for cost, method in sorted(priced, key=_rank):
            if cost > 0 and self.is_over:
                break
            share = 1.0 if cost <= left else left / cost
            if share < 1 and not (getattr(method, "scales", False) and share >= effort.least_share):
                continue
            part = replace(self.run.effort, proof=replace(effort, share=share))
            if (bound := method.bound(self.task, self.incumbent, replace(self.run, effort=part))) is not None:
                left = left if math.isinf(left) else left - share * cost
                tighter |= self._learn(bound)
        return tighter

    def _learn(self, bound: Bound) -> bool:
        """Keep a bound that is tighter than others of its name, or that came upon an answer."""
        others = [other for other in self.bounds if other.name == bound.name]
        slack, sign = TIGHTER * abs(bound.value), -1 if self.is_loss else 1
        tighter = all(sign * bound.value < sign * other.value - slack for other in others)
        self.bounds = [other for other in self.bounds if not tighter or other.name != bound.name or other.supports]
        if tighter or bound.supports:
            self.bounds.append(bound)
        return tighter

    def _is_enough(self, bound: Bound) -> bool:
        """Whether a bound proves the result optimal, so that no other bound is needed."""
        if math.isnan(self.value):
            view, H = self.task.gram, self.incumbent.components.T
            self.value = self.incumbent.loss if self.is_loss else symmetric_total(view, H)
        proved = self.value * (1 - PROVED) <= bound.value if self.is_loss else bound.value <= self.value * (1 + PROVED)
        return bound.reached or proved


def _rank(priced: tuple[float, BoundMethod]) -> float:
    """The cheapest come first; after a proof no other is needed."""
    cost, method = priced
    return cost / LIMITS.proof_worth if getattr(method, "proves", False) else cost


def _known(task: Task, incumbent: Encoder) -> list[Bound]:
    """The bound that the solver proved, if it is about this problem."""
    known = incumbent.single_bounds.get(task.n_nonzero) if task.problem.is_single else None
    return [] if known is None or (known.nonnegative and not task.problem.nonnegative) else [known]
