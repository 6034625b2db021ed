"""What a bound's proof assumes of its problem, asked again whenever the bound is checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from sparing.task import Task

Check = Callable[..., float]


def valid_for(
    *,
    one: bool = False,
    nonnegative: bool = False,
    orthogonal: bool = False,
    disjoint: bool = False,
    each: bool = False,
) -> Callable[[Check], Check]:
    """A check of a bound on variances that proves nothing, infinity, where its hypothesis does not hold.

    Parameters
    ----------
    one : bool
        It is about one component.
    nonnegative, orthogonal, disjoint : bool
        It is about such components only; disjoint ones are orthogonal.
    each : bool
        Features are counted for each component, not for all together.
    """

    def guard(check: Check) -> Check:
        @wraps(check)
        def guarded(self: Any, task: Task, witness: Any) -> float:
            problem = task.problem
            met = (
                problem.objective == "variance"
                and (not one or problem.n_components == 1)
                and (not nonnegative or problem.nonnegative)
                and (not orthogonal or problem.is_orthogonal)
                and (not each or not problem.shared_support)
                and (not disjoint or problem.disjoint)
            )
            return check(self, task, witness) if met else math.inf

        return guarded

    return guard


def fits(matrix: Any, *shape: int) -> bool:
    """Is a witness an array of this shape, and finite? One that is broadcast would prove something else."""
    return np.shape(matrix) == shape and bool(np.isfinite(matrix).all())
