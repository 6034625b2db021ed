"""The Frobenius norm: the r strongest rows bound every eigenvalue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.linalg.rounding import rounded_up
from sparing.linalg.rows import by_rows, squares, sum_of_largest
from sparing.proof.hypotheses import valid_for
from sparing.proof_effort import LIMITS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class RowSquares:
    """lambda_max(A_S)^2 <= |A_S|_F^2 <= the r largest f_i, one component [golub1996, Sec. 2.3].

    f_i = A_ii^2 + the r - 1 largest A_ij^2 is the most that row i adds to any block of r rows and columns. For x >= 0
    only positive A_ij count, as in ``RowSums``.
    """

    name: ClassVar = "row_squares"
    objective: ClassVar = "variance"
    reference: ClassVar = Reference("golub1996", "Sec. 2.3, the Frobenius norm bounds the 2-norm")

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
        return Bound(self.check(task, None), self.name, "row sums of squares", "always")

    @valid_for(one=True)
    def check(self, task: Task, witness: Any) -> float:
        """The bound again, from the data."""
        r, sign = task.problem.n_nonzero, task.problem.nonnegative
        most = by_rows(task.gram, lambda rows, own: squares(rows, own, r, nonnegative=sign))
        return rounded_up(math.sqrt(sum_of_largest(most, r)), task.gram)
