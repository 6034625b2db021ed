"""Uniform sampling of columns: the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparing.methods.selectors.filling import Filling
from sparing.results import Reference, Selection
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Uniform:
    """Uniformly random columns: the baseline "rnd" of [boutsidis2011, Table 3].

    Notes
    -----
    **Guarantee.** None: only few columns may matter.
    **Differs from the paper.** Constant columns, and columns in the span of those drawn before, are not drawn.
    """

    reference: ClassVar = Reference("boutsidis2011", "Table 3")

    def select(self, task: Task, run: Run) -> Selection:
        """Return the first ``n_columns`` columns of a random order that are neither constant nor dependent."""
        filling = Filling(task)
        order = run.rng.permutation(task.gram.n_features)
        filling.offer(order[filling.open()[order]])
        return filling.selection()
