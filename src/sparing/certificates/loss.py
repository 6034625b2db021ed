"""Certificates of the information loss: of an encoder with its best decoder, and of an encoder with a given one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from sparing.certificates.certificate import Certificate
from sparing.certificates.rules import CONTRADICTION
from sparing.certificates.sentences import can_keep, counted, of_pca, percent_kept, who
from sparing.data import Preprocessing
from sparing.gram import DataMatrix
from sparing.linalg import information_loss_of
from sparing.linalg.eigen import is_solved_densely
from sparing.linalg.loss import REBUILT_ENTRIES, RESIDUAL_ENTRIES, TINY_LOSS
from sparing.linalg.theorem_bounds import (
    SelectionPromise,
    iterative_bound,
    rank_revealing_factor,
    selection_promise,
)
from sparing.results import ZERO_LOSS, Array, Bound, Encoder, Guarantee, Indices, Premise, Reference, Spectrum
from sparing.task import Task


def certify_loss(
    task: Task,
    found: Encoder,
    bounds: Sequence[Bound],
    preprocessing: Preprocessing,
    *,
    premise: Premise | None = None,
    asked: Spectrum | None = None,
) -> Certificate:
    """Recompute the loss from data and loadings, and compare it with the best bound.

    ``premise`` has the one of ``PROMISES`` whose hypothesis the fit kept: ``dual_set`` where dual set selection chose
    or was the safeguard, ``adaptive`` or ``derandomised`` where adaptive sampling chose. For components with features
    of their own these were chosen one by one. ``asked`` are as many principal components as were asked for, where these
    are more than the problem has.
    """
    view, spectrum = task.gram, task.spectrum
    value = information_loss_of(view, found.components)
    best = max(bounds, key=lambda bound: bound.value)
    unit = view.square_unit
    if best.value > value * (1 + CONTRADICTION) + CONTRADICTION * spectrum.total:
        raise RuntimeError(
            f"The bound by {best.method} ({best.value * unit:.10g}) is above a loss that was reached "
            f"({value * unit:.10g}), which is impossible: this is a bug in sparing. Please report it with the data; "
            "certify=False gives the components without a certificate."
        )
    return Certificate(
        **_measured(task, found, best, value, asked),
        preprocessing=preprocessing,
        nothing=spectrum.nothing * unit,
        guarantees=_promised(premise, found.support, found.loadings, task, spectrum.loss_ratio(value)),
    )


def _measured(task: Task, found: Encoder, best: Bound, value: float, asked: Spectrum | None) -> dict[str, Any]:
    """The contents of every certificate of a loss, in the units of X: value, best bound and PCA's loss."""
    spectrum, unit = task.spectrum, task.gram.square_unit
    return {
        "problem": task.problem,
        "value": value * unit,
        "witness": replace(best, value=min(best.value, value) * unit),
        "pca_value": spectrum.least_loss * unit,
        "pca_error": (spectrum.most_loss - spectrum.least_loss) * unit,
        "total": spectrum.total * unit,
        "support": found.support,
        "loadings": found.loadings,
        **compared(asked or spectrum, task.gram, unit),
    }


def compared(asked: Spectrum, view: DataMatrix, unit: float) -> dict[str, Any]:
    """The reference: variance of the principal components with its error, and number of samples."""
    return {
        "n_asked": asked.rank,
        "pca_variance": float(asked.most_variance * unit),
        "pca_variance_error": float((asked.most_variance - asked.least_variance) * unit),
        "n_samples": view.signal.n_samples,
    }


def _promised(
    premise: Premise | None, support: Indices, loadings: Array, task: Task, measured: float
) -> tuple[Guarantee, ...]:
    """The statement of a theorem about this fit, if its hypothesis holds and PCA's loss is not zero."""
    spectrum, problem = task.spectrum, task.problem
    k, r = spectrum.rank, problem.n_nonzero
    kept = selection_promise(premise)
    if kept is None or spectrum.tail <= spectrum.nothing:
        return ()
    if problem.shared_support:
        where, claim, exact = kept.where, f"Loss over PCA's loss for {r} features by {kept.words}", spectrum.exact
        used = loadings.any(axis=0)
        rows = spectrum.basis[support[used]]
        limit = rank_revealing_factor(rows, task.gram.n_features) if kept.revealing else kept.factor(k, r)
        exact = exact and (kept.revealing or int(used.sum()) == r)
    else:
        where, claim = "11", f"Loss over PCA's loss for components chosen one by one by {kept.words}"
        limit, exact = _one_by_one(kept, len(loadings), task), is_solved_densely(task.gram, 1)
    if not math.isfinite(limit):
        return ()
    strength = kept.chance or ("always" if exact else "numerical")
    return (Guarantee(claim, limit, measured, strength, _cited(where), premise),)


def _cited(where: str) -> Reference:
    """The theorem of that number, or the place where the bound of rank-revealing columns is."""
    return Reference("boutsidis2011", where) if "Sec." in where else Reference("magdonismail2015", f"Theorem {where}")


def _one_by_one(kept: SelectionPromise, n_found: int, task: Task) -> float:
    """The recursion of Theorem 11 over PCA's loss; infinite if it guarantees only that some variance is kept."""
    spectrum, counts = task.spectrum, task.sizes
    if not n_found == len(counts) == spectrum.rank:
        return math.inf
    most = float(iterative_bound(spectrum.values, spectrum.total, [kept.factor(1, count) for count in counts])[-1])
    return most / spectrum.least_loss if most < spectrum.total else math.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class ReconstructionCertificate(Certificate):
    """As :class:`Certificate`; ``value`` is the loss of the decoder built on the data points ``rows``.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the data points.
    row_weights : ndarray of shape (n_components, len(rows))
        The decoder is these weights times the centred and scaled data points, in the units of X, each multiplied by the
        root of its sample weight.
    """

    rows: Indices
    row_weights: Array

    def _value_on(self, view: DataMatrix) -> float:
        """Recompute the loss, with the decoder rebuilt from the data points of the view."""
        if (view.n_samples or 0) <= self.rows.max():
            raise ValueError(
                f"X has {view.n_samples or 0} sample(s), but this certificate is about a decoder built on data point "
                f"{self.rows.max()}. Pass the data of the fit, with their rows in the same order."
            )
        decoder = self.row_weights @ _rows_of(view, self.rows)
        return reconstruction_loss(view, self.components, decoder)

    def _unlike(self, view: DataMatrix, value: float, pca: Spectrum, unit: float) -> str | None:
        if (view.n_samples or 0) != self.n_samples:
            return f": it is about {self.n_samples} data points, but X has {view.n_samples or 0}"
        return super()._unlike(view, value, pca, unit)

    def _promise_again(self, claimed: Guarantee, view: DataMatrix, pca: Spectrum) -> Guarantee | None:
        """A theorem on features and data points; its premise has the number of data points, which may exceed those
        used."""
        premise = claimed.premise
        if premise is None or not len(self.rows) <= premise.number <= (self.n_samples or 0):
            return None
        again = _two_sided(premise, pca, 0.0, self.problem.n_nonzero)
        measured = max(self.value / self.pca_value, 1.0) if self.pca_value > 0 else math.inf
        return replace(again[0], measured=measured) if again else None

    def _lines(self) -> list[str]:
        verb = "keeps" if len(self.loadings) == 1 else "keep"
        rebuilt = f"rebuilt from {len(self.rows):,} of these {counted(self.n_samples or 0, 'sample')}"
        first = f"{who(self)}, {rebuilt}, {verb} {percent_kept(self.variance_kept)} of {of_pca(self)}."
        return [first, *filter(None, [can_keep(self)])]


def reconstruction_loss(view: DataMatrix, components: Array, decoder: Array) -> float:
    """``||X - X H G||^2`` for any k x d components H' and decoder G; computed from residuals if it is tiny."""
    images = view.gram_matmat(components.T)  # A H
    kept = 2 * np.sum(images.T * decoder) - np.sum((components @ images) * (decoder @ decoder.T))
    loss, n = max(view.total - float(kept), 0.0), view.n_samples or 0
    if loss >= TINY_LOSS * view.total or n * view.n_features > RESIDUAL_ENTRIES:
        return loss
    scores = view.matmat(components.T)
    loss, width = 0.0, max(1, REBUILT_ENTRIES // n)
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
    premise: Premise | None = None,
    asked: Spectrum | None = None,
) -> ReconstructionCertificate:
    """Recompute the joint loss of encoder and decoder, and compare it with the best bound.

    ``row_weights`` are in the units of X. ``premise`` has the one of ``PROMISES`` whose hypothesis the fit kept on both
    sides, and the number of data points asked for.
    """
    view, spectrum, problem = task.gram, task.spectrum, task.problem
    value = reconstruction_loss(view, found.components, row_weights @ _rows_of(view, rows))
    best = max(bounds, key=lambda bound: bound.value)
    return ReconstructionCertificate(
        **_measured(task, found, best, value, asked),
        preprocessing=preprocessing,
        guarantees=_two_sided(premise, spectrum, value, problem.n_nonzero),
        rows=rows,
        row_weights=row_weights,
    )


def _two_sided(premise: Premise | None, spectrum: Spectrum, value: float, n_nonzero: int) -> tuple[Guarantee, ...]:
    """A theorem for features and for data points, where there are more of both than components."""
    k, kept, n_rows = spectrum.rank, selection_promise(premise), 0 if premise is None else premise.number
    if kept is None or min(n_nonzero, n_rows) <= k or spectrum.tail < ZERO_LOSS * spectrum.total:
        return ()
    limit = kept.two_sided(k, n_nonzero, n_rows)
    if not math.isfinite(limit):
        return ()
    strength = kept.chance or ("always" if spectrum.exact else "numerical")
    return (
        Guarantee(
            claim=f"Loss over PCA's loss for {n_nonzero} features and {n_rows} data points by {kept.words}",
            limit=limit,
            measured=spectrum.loss_ratio(value),
            strength=strength,
            reference=Reference("magdonismail2015", "Theorem 6, comment 5"),
            premise=premise,
        ),
    )


def _rows_of(view: DataMatrix, rows: Indices) -> Array:
    """Centred and scaled data points, in the units of X."""
    return cast(Array, view.transposed().columns(rows).T * np.sqrt(view.square_unit))
