"""Dual set selection on a count sketch: linear cost in the number of nonzeros, without an iterative PCA."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from sparing import errors
from sparing.linalg.theorem_bounds import count_sketch_rows
from sparing.methods.base import check_settings
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.subspace import count_sketched
from sparing.results import Premise, Reference, Selection
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class CountSketch:
    """Dual set selection with V_k from a count sketch: input-sparsity time [magdonismail2015, Theorem 6].

    Comment 4 there: the algorithm "can also be made to run in input-sparsity time". The sketch takes one addition per
    nonzero. The residuals for the dual set take one product A V (4k multiplications per nonzero). All other work is on
    m x d numbers.

    Parameters
    ----------
    rows : int, optional
        Number of rows m of the sketch.
    accuracy : float, optional
        Alternative to ``rows``: use enough rows for the guarantee below with e = ``accuracy`` < 1.
    start : DualSet
        The selection on the sketched V_k.

    Notes
    -----
    **Guarantee.** For r > k and e = (k + 3 sqrt(k) + 1) sqrt(80 / m) < 1 the loss is at most
    (1 + e)/(1 - e) (1 + 1/(1 - sqrt(k/r))^2) times PCA's with probability 0.9: see
    ``sparing.linalg.theorem_bounds.count_sketch_error``. Without ``rows`` and ``accuracy`` the sketch has 300 rows, or
    six per selected column if that is more. This was enough on all measured data but is too few for the theorem.
    **Differs from the paper.** It only states that this is possible. If X has at most m rows, X itself is the sketch.
    Targets other than principal components are used as they are.
    """

    rows: int | None = None
    accuracy: float | None = None
    start: DualSet = field(default_factory=DualSet)

    reference: ClassVar = Reference("magdonismail2015", "Theorem 6")

    def __post_init__(self) -> None:
        check_settings(self)
        if not isinstance(self.start, DualSet):
            raise errors.unknown_choice("start", self.start, ["DualSet()"])
        if self.rows is not None and self.rows < 1:
            raise errors.not_positive("rows", self.rows)
        if self.accuracy is not None and not 0 < self.accuracy < 1:
            raise ValueError(
                f"accuracy={self.accuracy:g} is outside (0, 1): the guarantee of a count sketch needs an error below "
                "1. Pass a number such as 0.5, or rows instead."
            )
        if self.rows is not None and self.accuracy is not None:
            raise ValueError("Both rows and accuracy were given; only one can be set. Pass one of them.")

    def select(self, task: Task, run: Run) -> Selection:
        """Return the columns of the dual set for the V_k of the sketch."""
        k = task.target.basis.shape[1]
        n_rows = max(_n_rows(self, k, task.n_nonzero), k)
        if not task.gram.has_rows or (task.gram.n_samples or 0) <= n_rows:
            return self.start.select(task, run)
        return self.start.select(replace(task, target=count_sketched(task.gram, k, n_rows, run.rng)), run)


def promise_of_sketch(selector: CountSketch, n_components: int, n_columns: int, n_samples: int) -> Premise | None:
    """The guarantee of this selection, as ``sparing.linalg.theorem_bounds.selection_promise`` knows it."""
    if selector.start.sketch is not None:
        return None
    n_rows = _n_rows(selector, n_components, n_columns)
    return Premise("dual_set") if n_samples <= n_rows else Premise("count_sketch", n_rows)


def _n_rows(selector: CountSketch, n_components: int, n_columns: int) -> int:
    """Number of rows of the sketch."""
    if selector.accuracy is not None:
        return count_sketch_rows(n_components, selector.accuracy)
    least, for_each = SEARCH.sketch_rows
    return max(least, for_each * n_columns) if selector.rows is None else selector.rows
