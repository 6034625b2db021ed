"""The largest entries of the leading eigenvector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.linalg import top_spectrum
from sparing.linalg.truncation import keep_largest
from sparing.objectives.variance import RayleighObjective
from sparing.results import Component, Reference
from sparing.run import Run
from sparing.search.best_component import best_component
from sparing.search.truncated_power import leading_directions
from sparing.task import Task

PRECISION = 1e-10
"""Error of the leading eigenvalue as a share of PCA's loss, small enough to rank the entries reliably."""


@dataclass(frozen=True)
class MaxComponent:
    """The r largest entries of the leading eigenvector: MaxComp [fountoulakis2016, Sec. 3.1], after [cadima1995].

    Parameters
    ----------
    refit : bool
        Best loadings on these features, the paper's "SVD-based" normalisation. Otherwise the entries themselves at unit
        norm, its "naive" one.

    Notes
    -----
    **Optimises** the angle to the leading eigenvector: no vector with r nonzeros is closer to it. Its variance need not
    be large; on ``datasets.make_hidden_direction`` it is almost zero.
    **Differs from the paper.** Among entries of equal size the first are taken. With a metric the eigenvector is that
    of the numerator, and the metric is used to refit loadings. ``start`` is ignored, because it may be inaccurate.
    """

    refit: bool = True

    reference: ClassVar = Reference("fountoulakis2016", "Sec. 3.1")

    def solve(self, task: Task, run: Run) -> Component:
        """Return the truncated leading eigenvector."""
        view = task.gram
        objective = RayleighObjective(view, task.metric)
        if view.is_psd:
            leading = top_spectrum(view, 1, run.rng, tolerance=PRECISION).basis
        else:
            leading = leading_directions(view, 3, run.rng)[:, :1]  # of three, the top one is not the most negative
        cut = keep_largest(np.where(objective.usable[:, None], leading, 0.0), task.n_nonzero)
        return best_component(objective, cut, refit=self.refit)
