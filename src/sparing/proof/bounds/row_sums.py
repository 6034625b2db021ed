"""Gershgorin's circles: the strongest row bounds every eigenvalue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.linalg.rounding import rounded_up
from sparing.linalg.rows import by_rows, sums
from sparing.proof.hypotheses import valid_for
from sparing.proof_effort import LIMITS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class RowSums:
    """lambda_max(A_S) <= max over i of A_ii + the r - 1 largest |A_ij| [golub1996, Theorem 7.2.1], one component.

    The maximum is over *all* rows: a bound that leaves out rows, even of features that are fixed already, is wrong. For
    x >= 0 only positive A_ij count: x'Ax is at most x'Bx for A with its negative entries beside the diagonal set to 0.
    """

    name: ClassVar = "row_sums"
    objective: ClassVar = "variance"
    reference: ClassVar = Reference("golub1996", "Theorem 7.2.1, circles of Gershgorin")

    def applies(self, task: Task) -> bool:
        """For one component and not too many features."""
        return task.problem.is_single and task.gram.n_features <= LIMITS.row_features

    def cost(self, task: Task) -> float:
        """All rows of A are read."""
        return 0.45 * (task.gram.n_features / 1000) ** 2

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound, for one component and not too many features."""
        if not self.applies(task):
            return None
        return Bound(self.check(task, None), self.name, "row sums", "always")

    @valid_for(one=True)
    def check(self, task: Task, witness: Any) -> float:
        """The bound again, from the data."""
        r, sign = task.problem.n_nonzero, task.problem.nonnegative
        return rounded_up(
            float(by_rows(task.gram, lambda rows, own: sums(rows, own, r, nonnegative=sign)).max()), task.gram
        )
