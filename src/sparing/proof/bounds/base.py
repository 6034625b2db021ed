"""The protocol of bounds, and the hypotheses and witnesses that their checks ask about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numpy as np

from sparing.effort import ProofEffort
from sparing.proof_limits import SECONDS
from sparing.results import Array, Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


class BoundMethod(Protocol):
    """A frozen dataclass whose fields are its settings; all of them have defaults, with which ``check`` is run.

    ``objective`` is the quantity that it bounds: ``loss`` or ``variance``. ``witnesses``, where it is there, are the
    records that its witness is made of; ``iterates``, where it is there and true, says that a check rests on an
    iteration where the spectrum is not exact; ``scales``, likewise, that it takes a share of its steps where the effort
    has only that, ``proves`` that it is a search that may end with the value proved, and ``continues`` that it is a
    :class:`ContinuedBound`.
    """

    name: ClassVar[str]
    objective: ClassVar[str]
    reference: ClassVar[Reference]

    def applies(self, task: Task) -> bool:
        """Is its hypothesis met, and is it the one to ask?"""

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one slow core with all of its steps, estimated from counts; the policy shares them out by it."""

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its witness; None if it cannot help."""

    def check(self, task: Task, witness: Any) -> float:
        """The bound again from the data and the witness alone; infinite where the witness proves nothing."""


Begun = TypeVar("Begun")


@dataclass
class Kept:
    """The search that one pass of a proof leaves to the next."""

    search: Any = None

    def begun(self, begin: Callable[[], Begun]) -> Begun:
        """The search so far, or a new one."""
        if self.search is None:
            self.search = begin()
        return cast(Begun, self.search)


class ContinuedBound(BoundMethod, Protocol):
    """A bound whose search can go on where it stopped: then only what is new takes time."""

    continues: ClassVar[bool]

    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The same; calls for the same task and incumbent go on with the search that is kept."""


def eigen_seconds(n_features: int) -> float:
    """One eigendecomposition of a matrix of so many features, with what goes with it."""
    return SECONDS.eigen_setup + SECONDS.eigen * math.pow(n_features, 2.5)


def as_floats(witness: Any, *shape: int) -> Array | None:
    """An array of this shape as numbers that do not wrap round (|-128| is -128 in eight bits); None for all others."""
    return np.asarray(witness, dtype=np.float64) if fits(witness, *shape) else None


Check = Callable[..., float]


def valid_for(
    *,
    one: bool = False,
    nonnegative: bool = False,
    orthogonal: bool = False,
    disjoint: bool = False,
    each: bool = False,
) -> Callable[[Check], Check]:
    """A check of a bound on variances that returns infinity if its hypothesis does not hold.

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
