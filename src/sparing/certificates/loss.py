"""The certificate of an encoder's information loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparing.certificates.certificate import Certificate, Problem
from sparing.data import DataMatrix, Preparation
from sparing.linalg import information_loss_of
from sparing.linalg.promises import dual_set_factor
from sparing.results import Bound, Encoder, Guarantee, Reference, Spectrum


def certify_loss(
    view: DataMatrix,
    found: Encoder,
    spectrum: Spectrum,
    bounds: Sequence[Bound],
    problem: Problem,
    preparation: Preparation,
    *,
    guaranteed: bool = False,
) -> Certificate:
    """Recompute the loss from data and loadings, and set the best bound beside it.

    ``guaranteed`` says that the fit kept the hypothesis of Theorem 6(i): dual set selection was its safeguard.
    """
    value = information_loss_of(view, found.components)
    best = max(bounds, key=lambda bound: bound.value)
    unit = view.square_unit
    promises: tuple[Guarantee, ...] = ()
    k, r = spectrum.rank, problem.n_nonzero
    if guaranteed and r > k and spectrum.tail > spectrum.nothing:
        promises = (
            Guarantee(
                claim=f"Loss over PCA's loss for {r} features by deterministic selection",
                limit=dual_set_factor(k, r),
                measured=spectrum.loss_ratio(value),
                strength="always" if spectrum.exact and len(found.support) == r else "numerical",
                reference=Reference("magdonismail2015", "Theorem 6(i)"),
            ),
        )
    return Certificate(
        problem=problem,
        value=value * unit,
        witness=replace(best, value=min(best.value, value) * unit),
        reference_loss=spectrum.least_loss * unit,
        total=spectrum.total * unit,
        support=found.support,
        loadings=found.loadings,
        preparation=preparation,
        nothing=spectrum.nothing * unit,
        guarantees=promises,
    )
