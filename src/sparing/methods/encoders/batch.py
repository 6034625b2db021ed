"""All components on one shared set of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.linalg import encoder_on
from sparing.linalg.theorem_bounds import dual_set_factor
from sparing.methods.base import check_counts
from sparing.methods.selectors import Greedy, Selector
from sparing.results import Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Batch:
    """Choose columns, then the best encoder within their span [magdonismail2015, Sec. 2.2].

    Parameters
    ----------
    selector : Selector, optional
        By default that of the estimator, or greedy.
    safeguard : Selector, optional
        Also run if the loss exceeds the limit of Theorem 6(i), so that the theorem always holds, and if fewer features
        than requested were found although they lose more than PCA. Not used with rules on features, which violate the
        theorem's hypothesis.
    orthonormal : bool
        The paper's orthonormal H: the same features and loss, but correlated scores in no order.
    sketch : int, optional
        Find the directions within the columns from a random projection to this many rows, (1 + eps)-accurate.
    """

    selector: Selector | None = None
    safeguard: Selector | None = None
    orthonormal: bool = False
    sketch: int | None = None

    reference: ClassVar = Reference("magdonismail2015", "Sec. 2.2, CSSP-blackbox encoder")

    def __post_init__(self) -> None:
        if self.sketch is not None:
            check_counts(sketch=self.sketch)

    def encode(self, task: Task, run: Run) -> Encoder:
        """Return the encoder with the smallest loss on the selected features."""
        found = self._chosen(task, run)
        return orthonormalised(found) if self.orthonormal else found

    def _chosen(self, task: Task, run: Run) -> Encoder:
        found = self._encoder_by(self.selector or Greedy(), task, run)
        ratio = task.spectrum.loss_ratio(found.loss)
        run.budget.say(f"{len(found.support)} features: loss ratio {ratio:.4f}")
        complete = len(found.support) == task.n_nonzero or ratio <= 1 + 1e-9
        promised = complete and ratio <= dual_set_factor(task.spectrum.rank, task.n_nonzero)
        if self.safeguard is None or task.rules or promised:
            return found
        other = self._encoder_by(self.safeguard, task, run)
        return other if other.loss < found.loss else found

    def _encoder_by(self, selector: Selector, task: Task, run: Run) -> Encoder:
        rows, d = self.sketch, task.gram.n_features
        sketch = (rows, run.rng) if rows is not None and rows < d else None  # d rows or more save nothing
        found = encoder_on(selector.select(task, run), task.spectrum.rank, task.spectrum.total, sketch=sketch)
        return found.including(task.rules.required)


def orthonormalised(found: Encoder) -> Encoder:
    """Orthonormal loadings with the same span, and the corresponding decoder."""
    Q, T = np.linalg.qr(found.loadings.T)  # loadings = T'Q': the decoder undoes the T' of the scores
    return replace(found, loadings=Q.T, decoder=T @ found.decoder)
