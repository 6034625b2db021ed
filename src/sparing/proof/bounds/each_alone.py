"""Orthogonal components have no more together than each could have alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sparing.gram import DataMatrix
from sparing.proof.hypotheses import valid_for
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class EachAlone:
    """k times what no single component has [fan1949, Theorem 1], orthogonal components only.

    The variance of orthogonal components is the sum of theirs. Components at an angle can have more, by directions
    between them that none of them has.

    Parameters
    ----------
    single : Bound
        For one component with as many features as each of these may have.
    """

    single: Bound

    reference: ClassVar = Reference("fan1949", "Theorem 1")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with that of one component in its witness."""
        problem = task.problem
        if problem.n_components == 1 or not problem.orthogonal or problem.shared_support:
            return None
        single = self.single
        value = problem.n_components * single.value
        method = f"{problem.n_components} times {single.method}"
        return Bound(value, method, single.strength, recompute, (single.check, single.witness))


@valid_for(orthogonal=True, each=True)
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The bound of one component again, times their number."""
    check, inner = witness
    alone = replace(problem, n_components=1, shared_support=True, orthogonal=False, disjoint=False)
    return float(problem.n_components * check(view, alone, inner))
