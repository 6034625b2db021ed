"""PCA's own loss: no linear encoder with as many components loses less."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.linalg import top_spectrum
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class PcaLoss:
    """Loss >= ||X - X_k||^2 for every rank-k reconstruction [eckart1936, Theorem 1].

    The numerical error of the computed spectrum is subtracted, so the bound errs on the safe side.
    """

    name: ClassVar = "pca_loss"
    objective: ClassVar = "loss"
    iterates: ClassVar = True  # where the spectrum is not exact; a certificate has to say so
    reference: ClassVar = Reference("eckart1936", "Theorem 1")

    def applies(self, task: Task) -> bool:
        """For every loss."""
        return task.problem.objective == "loss"

    def cost(self, task: Task) -> float:
        """Nothing: the spectrum is known."""
        return 0.0

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The least loss of any encoder; free once the spectrum is known."""
        if not self.applies(task):
            return None
        pca = task.spectrum
        strength = "always" if pca.exact else "numerical"
        return Bound(pca.least_loss, self.name, "PCA's own loss", strength, pca.tail_error)

    def check(self, task: Task, witness: Any) -> float:
        """PCA's loss again, from the data alone, by a tighter iteration from an independent start; of losses only."""
        if task.problem.objective != "loss":
            return math.inf
        fresh = np.random.default_rng(np.random.SeedSequence(entropy=0x5AFE))
        return top_spectrum(task.gram, task.problem.n_components, fresh, tolerance=1e-10).least_loss
