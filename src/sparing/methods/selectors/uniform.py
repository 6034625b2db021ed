"""Columns drawn blindly: what every other selector has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.methods.selectors.filling import Filling
from sparing.results import Reference, Selection
from sparing.run import Budget

if TYPE_CHECKING:
    from sparing.methods.selectors import Target


@dataclass(frozen=True)
class Uniform:
    """Random columns, each as likely as the others: the baseline "rnd" of [boutsidis2011, Table 3].

    Notes
    -----
    **Guarantee.** None: the columns that matter may be few.
    **Differs from the paper.** Constant columns, and columns in the span of those drawn before, are not drawn.
    """

    reference: ClassVar = Reference("boutsidis2011", "Table 3")

    def select(
        self, view: DataMatrix, n_columns: int, target: Target, rng: np.random.Generator, *, budget: Budget
    ) -> Selection:
        """The first ``n_columns`` columns of a random order that are not constant and not dependent."""
        filling = Filling(view, n_columns, target)
        order = rng.permutation(view.n_features)
        filling.offer(order[filling.open()[order]])
        return filling.selection()
