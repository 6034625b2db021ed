"""Bounds by principal components: no encoder loses less, no component has more variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.effort import ProofEffort
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds.base import BoundMethod, Hypothesis
from sparing.results import Bound, Encoder, Reference, Spectrum
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class PcaLoss(BoundMethod):
    """Loss >= ||X - X_k||^2 for every rank-k reconstruction [eckart1936, Theorem 1].

    The numerical error of the computed spectrum is subtracted, so the bound errs on the safe side.
    """

    name: ClassVar = "pca_loss"
    hypothesis: ClassVar = Hypothesis("loss")
    iterates: ClassVar = True  # where the spectrum is not exact; a certificate has to say so
    reference: ClassVar = Reference("eckart1936", "Theorem 1")

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Zero: the spectrum is known."""
        return 0.0

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The least loss of any encoder; free once the spectrum is known."""
        if not self.applies(task):
            return None
        pca = task.spectrum
        strength = "always" if pca.exact else "numerical"
        return Bound(pca.least_loss, self.name, "PCA's own loss", strength, pca.tail_error)

    def _again(self, task: Task, witness: Any) -> float:
        """PCA's loss again, from the data alone, by a tighter iteration from an independent start."""
        return _fresh_spectrum(task, tolerance=1e-10).least_loss


@dataclass(frozen=True)
class LeadingVariance(BoundMethod):
    """tr((H'H)^-1 H'AH) <= the sum of the k largest eigenvalues, for all H with k columns [fan1949, Theorem 1].

    The numerical error of the computed eigenvalues is added: Ritz values themselves come from below and bound nothing.
    Only for positive semidefinite A.
    """

    name: ClassVar = "leading_variance"
    hypothesis: ClassVar = Hypothesis("variance")
    iterates: ClassVar = True  # where the spectrum is not exact; a certificate has to say so
    reference: ClassVar = Reference("fan1949", "Theorem 1")

    def _suits(self, task: Task) -> bool:
        """For a positive semidefinite A."""
        return task.gram.is_psd

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Zero: the spectrum is known."""
        return 0.0

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The most that any k directions explain; free once the spectrum is known."""
        if not self.applies(task):
            return None
        pca = task.spectrum
        strength = "always" if pca.exact else "numerical"
        value = _largest(task.gram, pca, task.problem.n_components)
        return Bound(value, self.name, "PCA's own variance", strength, pca.tail_error)

    def _again(self, task: Task, witness: Any) -> float:
        """The same from the data alone, by a tighter iteration from an independent start."""
        if not task.gram.is_psd:
            return math.inf
        return _largest(task.gram, _fresh_spectrum(task, tolerance=1e-8), task.problem.n_components)


def _fresh_spectrum(task: Task, *, tolerance: float) -> Spectrum:
    """PCA again, from a start that no fit has."""
    rng = np.random.default_rng(np.random.SeedSequence(entropy=0x5AFE))
    return top_spectrum(task.gram, task.problem.n_components, rng, tolerance=tolerance)


def _largest(view: DataMatrix, spectrum: Spectrum, n_components: int) -> float:
    """Sum of the largest eigenvalues; those that the spectrum leaves out are rounding errors."""
    most = spectrum.most_variance
    return rounded_up(most if spectrum.rank >= n_components else max(most, spectrum.total), view)
