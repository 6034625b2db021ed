"""The certificate of an auto-encoder whose decoder is its own, not the best one for its scores."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from sparing.certificates.certificate import Certificate
from sparing.data import Preprocessing
from sparing.gram import DataMatrix
from sparing.linalg.loss import RESIDUAL_ENTRIES, STRIP_ENTRIES, TINY_LOSS
from sparing.linalg.theorem_bounds import doubly_sparse_factor
from sparing.results import ZERO_LOSS, Array, Bound, Encoder, Guarantee, Indices, Reference, Spectrum
from sparing.task import Task


@dataclass(frozen=True, eq=False, kw_only=True)
class ReconstructionCertificate(Certificate):
    """As :class:`Certificate`; ``value`` is what the decoder built on the data points ``rows`` loses.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the data points.
    row_weights : ndarray of shape (n_components, len(rows))
        The decoder is these weights times the centred and scaled data points, in the units of X.
    n_samples : int
    """

    rows: Indices
    row_weights: Array
    n_samples: int

    def _value_on(self, view: DataMatrix) -> float:
        """What is lost again, with the decoder built anew from the data points of the view."""
        if (view.n_samples or 0) <= self.rows.max():
            raise ValueError(
                f"X has {view.n_samples or 0} sample(s), but this certificate is about a decoder built on data point "
                f"{self.rows.max()}. Pass the data of the fit, with their rows in the same order."
            )
        decoder = self.row_weights @ _rows_of(view, self.rows)
        return reconstruction_loss(view, self.components, decoder)

    def _unlike(self, view: DataMatrix, value: float, pca: Spectrum, unit: float) -> str | None:
        if (view.n_samples or 0) != self.n_samples:
            return f": it is about {self.n_samples} data points, here are {view.n_samples or 0}"
        return super()._unlike(view, value, pca, unit)

    def _promise_again(self, claimed: Guarantee, view: DataMatrix, pca: Spectrum) -> Guarantee | None:
        """Theorem 6(i) on both sides; for how many data points, which may be more than are used, it says itself."""
        named = re.search(r" and (\d+) data points ", claimed.claim)
        if named is None or not len(self.rows) <= int(named[1]) <= self.n_samples:
            return None
        again = _promises(pca, 0.0, self.problem.n_nonzero, int(named[1]))
        measured = max(self.value / self.pca_value, 1.0) if self.pca_value > 0 else math.inf
        return replace(again[0], measured=measured) if again else None

    def _lines(self) -> list[str]:
        first, *rest = super()._lines()
        points = f"{len(self.rows)} of {self.n_samples} data points"
        return [first, f"That is with every sample rebuilt as a combination of {points}.", *rest]


def reconstruction_loss(view: DataMatrix, components: Array, decoder: Array) -> float:
    """``||X - X H G||^2`` for any k x d components H' and decoder G; from residuals where it is tiny."""
    images = view.gram_matmat(components.T)  # A H
    kept = 2 * np.sum(images.T * decoder) - np.sum((components @ images) * (decoder @ decoder.T))
    loss, n = max(view.total - float(kept), 0.0), view.n_samples or 0
    if loss >= TINY_LOSS * view.total or n * view.n_features > RESIDUAL_ENTRIES:
        return loss
    scores = view.matmat(components.T)
    loss, width = 0.0, max(1, STRIP_ENTRIES // n)
    for first in range(0, view.n_features, width):
        strip = np.arange(first, min(first + width, view.n_features))
        loss += float(np.square(view.columns(strip) - scores @ decoder[:, strip]).sum())
    return loss


def certify_reconstruction(
    task: Task,
    found: Encoder,
    rows: Indices,
    row_weights: Array,
    bounds: Sequence[Bound],
    preprocessing: Preprocessing,
    *,
    promised_rows: int | None = None,
) -> ReconstructionCertificate:
    """Recompute what encoder and decoder lose together, and set the best bound beside it.

    ``row_weights`` are in the units of X. ``promised_rows`` is the number of data points asked for, where the fit kept
    the hypothesis of Theorem 6(i) on both sides: dual set selection was its safeguard.
    """
    view, spectrum, problem = task.gram, task.spectrum, task.problem
    value = reconstruction_loss(view, found.components, row_weights @ _rows_of(view, rows))
    best, unit = max(bounds, key=lambda bound: bound.value), view.square_unit
    return ReconstructionCertificate(
        problem=problem,
        value=value * unit,
        witness=replace(best, value=min(best.value, value) * unit),
        pca_value=spectrum.least_loss * unit,
        pca_error=(spectrum.most_loss - spectrum.least_loss) * unit,
        total=spectrum.total * unit,
        support=found.support,
        loadings=found.loadings,
        preprocessing=preprocessing,
        guarantees=_promises(spectrum, value, problem.n_nonzero, promised_rows),
        rows=rows,
        row_weights=row_weights,
        n_samples=view.n_samples or 0,
    )


def _promises(spectrum: Spectrum, value: float, n_nonzero: int, n_rows: int | None) -> tuple[Guarantee, ...]:
    """Theorem 6(i) for features and for data points, where there are more of both than components."""
    k = spectrum.rank
    if n_rows is None or min(n_nonzero, n_rows) <= k or spectrum.tail < ZERO_LOSS * spectrum.total:
        return ()
    return (
        Guarantee(
            claim=f"Loss over PCA's loss for {n_nonzero} features and {n_rows} data points by deterministic selection",
            limit=doubly_sparse_factor(k, n_nonzero, n_rows),
            measured=spectrum.loss_ratio(value),
            strength="always" if spectrum.exact else "numerical",
            reference=Reference("magdonismail2015", "Theorem 6, comment 5"),
        ),
    )


def _rows_of(view: DataMatrix, rows: Indices) -> Array:
    """Centred and scaled data points, in the units of X."""
    return cast(Array, view.transposed().columns(rows).T * np.sqrt(view.square_unit))
