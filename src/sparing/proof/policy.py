"""Which bounds are computed for a result: by cost, until its value is proved or the effort is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

from sparing.linalg.variance import symmetric_total
from sparing.proof.bounds import BOUNDS, BoundMethod
from sparing.results import PROVED, Bound, Encoder
from sparing.run import EXHAUSTIVE, Run
from sparing.task import Task

SEARCHES = ("branch_and_bound", "nonnegative_branch_and_bound")
"""What an exact solver has done already."""


def prove(task: Task, incumbent: Encoder, run: Run) -> list[Bound]:
    """Bounds that hold for the problem, the simplest first.

    Free ones are always computed. With a time limit those that the effort pays for come first, then all again without
    any other limit than time. An interruption keeps what is proved so far, where a certificate says that there was one:
    those of losses do not.
    """
    computed, is_enough = _known(task, incumbent), cache(partial(_enough, task, incumbent))
    skipped = SEARCHES if computed else ()
    try:
        for method, limits in _in_turn(task, run):
            if method.cost(task) > 0 and (run.budget.expired or any(map(is_enough(), computed))):
                break
            if method.name in skipped and limits.effort is not EXHAUSTIVE:
                continue
            if (bound := method.bound(task, incumbent, limits)) is not None:
                computed.append(bound)
    except KeyboardInterrupt:
        if not computed or task.problem.objective == "loss":
            raise
        run.budget.interrupt()
    return computed


def _in_turn(task: Task, run: Run) -> Iterator[tuple[BoundMethod, Run]]:
    """Bounds that apply with what they may spend, the cheapest first.

    A bound that can do with fewer steps gets fewer where all of them cost too much: their share falls with the square
    of the cost, so that the time falls, too, until it is not worth while.
    """
    methods = [kind() for kind in BOUNDS.values() if kind.objective == task.problem.objective]
    applicable = sorted((each for each in methods if each.applies(task)), key=lambda method: method.cost(task))
    allowed = run.effort.proof
    for method in applicable:
        if (cost := method.cost(task)) <= allowed.cost:
            yield method, run
        elif getattr(method, "scales", False) and (share := (allowed.cost / cost) ** 2) >= allowed.least_share:
            yield method, replace(run, effort=replace(run.effort, proof=replace(allowed, share=share)))
    if run.budget.deadline is not None:
        unlimited = replace(run, effort=EXHAUSTIVE)
        yield from ((method, unlimited) for method in applicable if method.cost(task) > 0)


def _known(task: Task, incumbent: Encoder) -> list[Bound]:
    """What the solver proved on its way, where it is about this problem."""
    known = incumbent.single_bounds.get(task.n_nonzero) if task.problem.is_single else None
    return [] if known is None or (known.nonnegative and not task.problem.nonnegative) else [known]


def _enough(task: Task, incumbent: Encoder) -> Callable[[Bound], bool]:
    """Does a bound leave nothing to be better: neither results nor other bounds?"""
    if task.problem.objective == "loss":
        return lambda bound: bound.reached or bound.value >= incumbent.loss * (1 - PROVED)
    value = symmetric_total(task.gram, incumbent.components.T)
    return lambda bound: bound.reached or bound.value <= value * (1 + PROVED)
