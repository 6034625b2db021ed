"""Varimax rotation of the principal components, then truncation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.linalg.rotation import varimax
from sparing.linalg.span import encoder_with
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.methods.encoders.elastic_net import refitted
from sparing.results import Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Varimax:
    """Varimax rotation [kaiser1958, Sec. 3] of the principal loadings, then truncation [jolliffe2002, Sec. 11.1].

    A baseline: a small loading does not mean that a feature is unimportant [cadima1995].

    Parameters
    ----------
    refit : bool
        Best loadings on each support, by variance. Otherwise those of the rotation.

    Notes
    -----
    **Optimises** the variance of the squared unit loadings over rotations before truncation, and nothing afterwards.
    **Differs from the paper.** Truncation is by count, not by eye or by a share of the largest loading; the refit is
    new.
    """

    refit: bool = True

    reference: ClassVar = Reference("jolliffe2002", "Sec. 11.1")

    def encode(self, task: Task, run: Run) -> Encoder:
        """Return components sorted by variance; counts apply to the rotated components in that order."""
        view, spectrum = task.gram, task.spectrum
        sizes = task.sizes
        rotated = varimax(spectrum.basis)
        variances = np.square(spectrum.basis.T @ rotated).T @ spectrum.values
        H = unit_columns(keep_largest(rotated[:, np.argsort(-variances, kind="stable")], sizes))
        if self.refit:
            H = refitted(view, H)
        variances = np.einsum("ij,ij->j", H, view.gram_matmat(H))
        H = H[:, np.argsort(-variances, kind="stable")]
        support = np.flatnonzero(H.any(axis=1))
        return encoder_with(support, H[support], view.gram_columns(support), spectrum.total)
