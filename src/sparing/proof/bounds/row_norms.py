"""Bounds by rows of A: Gershgorin's circles and the Frobenius norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.effort import ProofEffort
from sparing.linalg.rounding import rounded_up
from sparing.linalg.rows import by_rows, squares, sum_of_largest, sums
from sparing.proof.bounds.base import BoundMethod, Hypothesis
from sparing.proof_limits import LIMITS, SECONDS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


class _RowNorm(BoundMethod):
    """A bound that needs every row of A once."""

    name: ClassVar[str]
    words: ClassVar[str]
    hypothesis: ClassVar = Hypothesis("variance", components="one")

    def _suits(self, task: Task) -> bool:
        """For not too many features."""
        return task.gram.n_features <= LIMITS.row_features

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds to read all rows of A."""
        view = task.gram
        n = 0 if view.has_gram else view.n_samples or 0
        return (SECONDS.row + SECONDS.space * n) * float(view.n_features) ** 2

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound, for one component and not too many features."""
        if not self.applies(task):
            return None
        return Bound(self.check(task, None), self.name, self.words, "always")


@dataclass(frozen=True)
class RowSums(_RowNorm):
    """lambda_max(A_S) <= max over i of A_ii + the r - 1 largest |A_ij| [golub1996, Theorem 7.2.1], one component.

    The maximum is over *all* rows: a bound that leaves out rows, even of features that are fixed already, is wrong. For
    x >= 0 only positive A_ij count: x'Ax is at most x'Bx for A with its negative off-diagonal entries set to 0.
    """

    name: ClassVar = "row_sums"
    words: ClassVar = "row sums"
    reference: ClassVar = Reference("golub1996", "Theorem 7.2.1, circles of Gershgorin")

    def _again(self, task: Task, witness: Any) -> float:
        """The bound again, from the data."""
        r, sign = task.problem.n_nonzero, task.problem.nonnegative
        return rounded_up(
            float(by_rows(task.gram, lambda rows, own: sums(rows, own, r, nonnegative=sign)).max()), task.gram
        )


@dataclass(frozen=True)
class RowSquares(_RowNorm):
    """lambda_max(A_S)^2 <= |A_S|_F^2 <= the r largest f_i, one component [golub1996, Sec. 2.3].

    f_i = A_ii^2 + the r - 1 largest A_ij^2 is the most that row i adds to any block of r rows and columns. For x >= 0
    only positive A_ij count, as in ``RowSums``.
    """

    name: ClassVar = "row_squares"
    words: ClassVar = "row sums of squares"
    reference: ClassVar = Reference("golub1996", "Sec. 2.3, the Frobenius norm bounds the 2-norm")

    def _again(self, task: Task, witness: Any) -> float:
        """The bound again, from the data."""
        r, sign = task.problem.n_nonzero, task.problem.nonnegative
        most = by_rows(task.gram, lambda rows, own: squares(rows, own, r, nonnegative=sign))
        return rounded_up(math.sqrt(sum_of_largest(most, r)), task.gram)
