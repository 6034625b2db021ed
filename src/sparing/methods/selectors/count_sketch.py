"""Dual set selection on a count sketch: a cost that is linear in the nonzeros, without an iteration for PCA."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from sparing import errors
from sparing.linalg.theorem_bounds import count_sketch_rows
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.subspace import count_sketched
from sparing.methods.settings import check_settings
from sparing.results import Reference, Selection
from sparing.run import Run
from sparing.task import Task

LEAST_ROWS = 300
"""Rows of a sketch where neither their number nor an accuracy is given, or six for each column if that is more."""


@dataclass(frozen=True)
class CountSketch:
    """Dual set selection with V_k from a count sketch: input-sparsity time [magdonismail2015, Theorem 6].

    Comment 4 there: the algorithm "can also be made to run in input-sparsity time". The sketch takes one addition for
    each nonzero, the residuals that the dual set needs one product A V (4k multiplications for each), and the rest is
    work on m x d numbers.

    Parameters
    ----------
    rows : int, optional
        Rows m of the sketch.
    accuracy : float, optional
        Instead of ``rows``: as many as the promise below needs to hold with e = ``accuracy`` < 1.
    start : DualSet
        What selects on the sketched V_k.

    Notes
    -----
    **Guarantee.** For r > k and e = (k + 3 sqrt(k) + 1) sqrt(80 / m) < 1 the loss is at most
    (1 + e)/(1 - e) (1 + 1/(1 - sqrt(k/r))^2) times PCA's with probability 0.9: see
    ``sparing.linalg.theorem_bounds.count_sketch_error``. Without ``rows`` and ``accuracy`` the sketch has 300 rows or
    six for each column, which was enough on all data measured and is too few for the theorem.
    **Differs from the paper.** It only says that it can be done. Where X has no more than m rows it is its own sketch.
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
                f"accuracy={self.accuracy:g} is outside (0, 1): the promise of a count sketch needs an error below 1. "
                "Pass a number such as 0.5, or rows instead."
            )
        if self.rows is not None and self.accuracy is not None:
            raise ValueError("Both rows and accuracy were given; only one can be set. Pass one of them.")

    def select(self, task: Task, run: Run) -> Selection:
        """The dual set's columns for the V_k of the sketch."""
        k = task.target.basis.shape[1]
        n_rows = max(_n_rows(self, k, task.n_nonzero), k)
        if not task.gram.has_rows or (task.gram.n_samples or 0) <= n_rows:
            return self.start.select(task, run)
        return self.start.select(replace(task, target=count_sketched(task.gram, k, n_rows, run.rng)), run)


def promise_of_sketch(selector: CountSketch, n_components: int, n_columns: int, n_samples: int) -> str | None:
    """The promise that its selection keeps, by the name of ``sparing.linalg.theorem_bounds.selection_promise``."""
    if selector.start.sketch is not None:
        return None
    n_rows = _n_rows(selector, n_components, n_columns)
    return "dual_set" if n_samples <= n_rows else f"count_sketch of {n_rows} rows"


def _n_rows(selector: CountSketch, n_components: int, n_columns: int) -> int:
    """Rows of the sketch."""
    if selector.accuracy is not None:
        return count_sketch_rows(n_components, selector.accuracy)
    return max(LEAST_ROWS, 6 * n_columns) if selector.rows is None else selector.rows
