"""What all bounds have in common, and what their checks ask of a problem and of a witness."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar, cast

import numpy as np

from sparing.effort import ProofEffort
from sparing.proof_limits import SECONDS
from sparing.results import Array, Bound, Encoder, Problem, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Hypothesis:
    """The problems for which the inequality of a bound holds.

    Attributes
    ----------
    objective : str
        The quantity that it bounds: ``loss`` or ``variance``.
    components : str
        How many it is about: ``any`` number, ``one`` or ``several``.
    nonnegative, orthogonal, disjoint : bool
        It is about such components only; disjoint ones are orthogonal.
    separate : bool
        Features are counted for each component, not for all together.
    """

    objective: Literal["loss", "variance"]
    components: Literal["any", "one", "several"] = "any"
    nonnegative: bool = False
    orthogonal: bool = False
    disjoint: bool = False
    separate: bool = False

    def holds(self, problem: Problem) -> bool:
        """Is this one of them?"""
        k = problem.n_components
        return (
            problem.objective == self.objective
            and {"any": True, "one": k == 1, "several": k > 1}[self.components]
            and (problem.nonnegative or not self.nonnegative)
            and (problem.is_orthogonal or not self.orthogonal)
            and (problem.disjoint or not self.disjoint)
            and not (problem.shared_support and self.separate)
        )


class BoundMethod(ABC):
    """A frozen dataclass whose fields are its settings; all of them have defaults, with which ``check`` is run.

    ``witnesses`` are the records that its witness is made of; ``iterates`` says that a check rests on an iteration
    where the spectrum is not exact, ``scales`` that it takes a share of its steps where the effort has only that, and
    ``proves`` that it is a search that may end with the value proved.
    """

    name: ClassVar[str]
    hypothesis: ClassVar[Hypothesis]
    reference: ClassVar[Reference]
    witnesses: ClassVar[tuple[type, ...]] = ()
    iterates: ClassVar[bool] = False
    scales: ClassVar[bool] = False
    proves: ClassVar[bool] = False

    def applies(self, task: Task) -> bool:
        """Does its hypothesis hold, and is it a bound to ask for?"""
        return self.hypothesis.holds(task.problem) and self._suits(task)

    def check(self, task: Task, witness: Any) -> float:
        """The bound again from the data and the witness alone; infinite where the witness proves nothing."""
        return self._again(task, witness) if self.hypothesis.holds(task.problem) else math.inf

    @abstractmethod
    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one slow core with all of its steps, estimated from counts; the policy shares them out by it."""

    @abstractmethod
    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its witness; None if it cannot help."""

    def _suits(self, task: Task) -> bool:
        """Is it one to ask for where its hypothesis holds: not too large, and not worse than others always are?"""
        return True

    @abstractmethod
    def _again(self, task: Task, witness: Any) -> float:
        """``check`` where the hypothesis holds."""


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


class ContinuedBound(BoundMethod):
    """A bound whose search can go on where it stopped: then only what is new takes time."""

    @abstractmethod
    def bound(self, task: Task, incumbent: Encoder, run: Run, kept: Kept | None = None) -> Bound | None:
        """The same; calls for the same task and incumbent go on with the search that is kept."""


def eigen_seconds(n_features: int) -> float:
    """One eigendecomposition of a matrix of so many features, with what goes with it."""
    return SECONDS.eigen_setup + SECONDS.eigen * math.pow(n_features, 2.5)


def as_floats(witness: Any, *shape: int) -> Array | None:
    """An array of this shape as numbers that do not wrap round (|-128| is -128 in eight bits); None for all others."""
    return np.asarray(witness, dtype=np.float64) if fits(witness, *shape) else None


def fits(matrix: Any, *shape: int) -> bool:
    """Is a witness an array of this shape, and finite? One that is broadcast would prove something else."""
    return np.shape(matrix) == shape and bool(np.isfinite(matrix).all())
