"""Gershgorin's circles: the strongest row bounds every eigenvalue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.gram import DataMatrix
from sparing.linalg.rounding import rounded_up
from sparing.linalg.rows import by_rows, sums
from sparing.proof.hypotheses import valid_for
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task

ROWS_LIMIT = 3000
"""The most features whose rows are all looked at."""


@dataclass(frozen=True)
class RowSums:
    """lambda_max(A_S) <= max over i of A_ii + the r - 1 largest |A_ij| [golub1996, Theorem 7.2.1], one component.

    The maximum is over *all* rows: a bound that leaves out rows, even of features that are fixed already, is wrong. For
    x >= 0 only positive A_ij count: x'Ax is at most x'Bx for A with its negative entries beside the diagonal set to 0.
    """

    reference: ClassVar = Reference("golub1996", "Theorem 7.2.1, circles of Gershgorin")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound, for one component and not too many features."""
        if task.problem.n_components != 1 or task.gram.n_features > ROWS_LIMIT:
            return None
        return Bound(recompute(task.gram, task.problem, None), "row sums", "always", recompute)


@valid_for(one=True)
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The bound again, from the data."""
    r, sign = problem.n_nonzero, problem.nonnegative
    return rounded_up(float(by_rows(view, lambda rows, own: sums(rows, own, r, nonnegative=sign)).max()), view)
