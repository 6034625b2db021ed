"""Sum of single-component bounds, for orthogonal components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sparing.effort import ProofEffort
from sparing.proof.bounds.base import BoundMethod, Hypothesis
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class EachAlone(BoundMethod):
    """k times the bound of a single component [fan1949, Theorem 1], orthogonal components only.

    The variance of orthogonal components is the sum of theirs. Components at an angle can have more, by directions
    between them that none of them has.

    Parameters
    ----------
    single : Bound
        For one component with the number of features of each of these.
    """

    single: Bound | None = None

    name: ClassVar = "each_alone"
    hypothesis: ClassVar = Hypothesis("variance", components="several", orthogonal=True, separate=True)
    reference: ClassVar = Reference("fan1949", "Theorem 1")

    def _suits(self, task: Task) -> bool:
        """Where one component alone is bounded."""
        return self.single is not None

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Zero: the bounds of single components are known."""
        return 0.0

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with that of one component in its witness."""
        problem, single = task.problem, self.single
        if single is None or not self.applies(task):
            return None
        value = problem.n_components * single.value
        method = f"{problem.n_components} times {single.method}"
        return Bound(value, self.name, method, single.strength, (single.name, single.witness))

    def _again(self, task: Task, witness: Any) -> float:
        """The bound of one component again, times their number."""
        from sparing.proof.bounds import BOUNDS  # which imports this module

        name, inner = witness
        alone = replace(task.problem, n_components=1, shared_support=True, orthogonal=False, disjoint=False)
        return float(task.problem.n_components * BOUNDS[name]().check(replace(task, problem=alone), inner))
