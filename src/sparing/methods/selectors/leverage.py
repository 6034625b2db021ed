"""Leverage score sampling of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.methods.selectors.filling import Filling, order_of_draws
from sparing.results import Reference, Selection
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Leverage:
    """Sampling by leverage: RSF-Select with RandSampling [boutsidis2011, Table 2].

    Parameters
    ----------
    distinct : bool
        Draw until ``n_columns`` columns are distinct. Otherwise draw ``n_columns`` times, as the paper does; repeated
        draws count once, so fewer columns are returned.

    Notes
    -----
    **Guarantee.** For regression on r > 144 k ln(20k) draws, with probability .7 [boutsidis2011, Theorem 2]; see
    docs/errata.md for its root. Further draws only add columns, so it also holds for ``distinct=True``. There is no
    guarantee for fewer columns.
    **Differs from the paper.** With ``distinct=True`` a column in the span of earlier ones is replaced by another draw.
    If no column with positive probability is left, columns with the largest residual are added. Weights are not needed,
    because they do not change the span.
    """

    distinct: bool = True

    reference: ClassVar = Reference("boutsidis2011", "Table 2")

    def select(self, task: Task, run: Run) -> Selection:
        """Return columns drawn with probabilities |v_i|^2 / k."""
        view, target = task.gram, task.target
        odds = np.einsum("ij,ij->i", target.basis, target.basis)  # step 3
        odds[view.gram_diagonal() <= 0] = 0.0  # constant columns may carry rounding
        if not self.distinct and not task.rules:
            drawn = np.unique(run.rng.choice(len(odds), size=task.n_nonzero, p=odds / odds.sum()))  # steps 5 to 8
            return Selection(drawn, view.gram_columns(drawn))
        filling = Filling(task)
        filling.offer(order_of_draws(odds, run.rng))
        if self.distinct:
            filling.fill_up()
        return filling.selection()
