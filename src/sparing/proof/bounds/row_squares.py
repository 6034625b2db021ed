"""The Frobenius norm: the r strongest rows bound every eigenvalue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.gram import DataMatrix
from sparing.linalg.rounding import rounded_up
from sparing.linalg.rows import by_rows, squares, sum_of_largest
from sparing.proof.bounds.row_sums import ROWS_LIMIT
from sparing.proof.hypotheses import valid_for
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class RowSquares:
    """lambda_max(A_S)^2 <= |A_S|_F^2 <= the r largest f_i, one component [golub1996, Sec. 2.3].

    f_i = A_ii^2 + the r - 1 largest A_ij^2 is the most that row i adds to any block of r rows and columns. For x >= 0
    only positive A_ij count, as in ``RowSums``.
    """

    reference: ClassVar = Reference("golub1996", "Sec. 2.3, the Frobenius norm bounds the 2-norm")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound, for one component and not too many features."""
        if task.problem.n_components != 1 or task.gram.n_features > ROWS_LIMIT:
            return None
        return Bound(recompute(task.gram, task.problem, None), "row sums of squares", "always", recompute)


@valid_for(one=True)
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The bound again, from the data."""
    r, sign = problem.n_nonzero, problem.nonnegative
    most = by_rows(view, lambda rows, own: squares(rows, own, r, nonnegative=sign))
    return rounded_up(math.sqrt(sum_of_largest(most, r)), view)
