"""The variance of principal components: no directions with as many have more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.rounding import rounded_up
from sparing.proof.hypotheses import valid_for
from sparing.results import Bound, Encoder, Reference, Spectrum
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class LeadingVariance:
    """tr((H'H)^-1 H'AH) <= the sum of the k largest eigenvalues, for all H with k columns [fan1949, Theorem 1].

    The numerical error of the computed eigenvalues is added: Ritz values themselves come from below and bound nothing.
    Only for positive semidefinite A.
    """

    spectrum: Spectrum

    reference: ClassVar = Reference("fan1949", "Theorem 1")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The most that any k directions explain; free once the spectrum is known."""
        if not task.gram.is_psd:
            return None
        strength = "always" if self.spectrum.exact else "numerical"
        value = _largest(task.gram, self.spectrum, task.problem.n_components)
        return Bound(value, "PCA's own variance", strength, recompute, self.spectrum.tail_error)


def _largest(view: DataMatrix, spectrum: Spectrum, n_components: int) -> float:
    """A spectrum with fewer components than asked for left out what is rounding: everything is explained then."""
    most = spectrum.most_variance
    return rounded_up(most if spectrum.rank >= n_components else max(most, spectrum.total), view)


@valid_for()
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The same from the data alone, by a tighter iteration from an independent start."""
    if not view.is_psd:
        return math.inf
    fresh = np.random.default_rng(np.random.SeedSequence(entropy=0x5AFE))
    return _largest(view, top_spectrum(view, problem.n_components, fresh, tolerance=1e-8), problem.n_components)


recompute.__dict__["iterates"] = True  # where the spectrum is not exact; a certificate has to say so
