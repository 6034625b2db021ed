"""The certificate of an encoder's information loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sparing.certificates.certificate import Certificate
from sparing.data import Preprocessing
from sparing.linalg import information_loss_of
from sparing.linalg.theorem_bounds import PROJECTED, adaptive_factor, dual_set_factor, theorem_11_bound
from sparing.results import Bound, Encoder, Guarantee, Reference, Spectrum
from sparing.task import Task

CONTRADICTION = 1e-7
"""A bound above a loss by more than this share of it, and of the total, is no rounding."""


def certify_loss(
    task: Task,
    found: Encoder,
    bounds: Sequence[Bound],
    preprocessing: Preprocessing,
    *,
    theorem: str | None = None,
) -> Certificate:
    """Recompute the loss from data and loadings, and set the best bound beside it.

    ``theorem`` names the one of [magdonismail2015] whose hypothesis the fit kept: "6(i)" where dual set selection chose
    or was the safeguard, "6(ii)" where adaptive sampling chose shared features, "11" where it chose those of
    each component.
    """
    view, spectrum, problem = task.gram, task.spectrum, task.problem
    value = information_loss_of(view, found.components)
    best = max(bounds, key=lambda bound: bound.value)
    unit = view.square_unit
    if best.value > value * (1 + CONTRADICTION) + CONTRADICTION * spectrum.total:
        raise RuntimeError(
            f"The bound by {best.method} ({best.value * unit:.10g}) is above a loss that was reached "
            f"({value * unit:.10g}), which cannot be: this is a fault of sparing. Please report it with the data; "
            "certify=False gives the components without a certificate."
        )
    return Certificate(
        problem=problem,
        value=value * unit,
        witness=replace(best, value=min(best.value, value) * unit),
        pca_value=spectrum.least_loss * unit,
        pca_error=(spectrum.most_loss - spectrum.least_loss) * unit,
        total=spectrum.total * unit,
        support=found.support,
        loadings=found.loadings,
        preprocessing=preprocessing,
        nothing=spectrum.nothing * unit,
        guarantees=_promised(theorem, found, spectrum, problem.n_nonzero, spectrum.loss_ratio(value)),
    )


def _promised(
    theorem: str | None, found: Encoder, spectrum: Spectrum, n_nonzero: int, measured: float
) -> tuple[Guarantee, ...]:
    """What a theorem says about this fit, where its hypothesis holds and PCA loses anything at all."""
    k, r = spectrum.rank, n_nonzero
    if theorem is None or spectrum.tail <= spectrum.nothing:
        return ()
    claim, strength = f"Loss over PCA's loss for {r} features", "in expectation"
    if theorem == "6(i)" and r > k:
        claim, limit = f"{claim} by deterministic selection", dual_set_factor(k, r)
        strength = "always" if spectrum.exact and len(found.support) == r else "numerical"
    elif theorem == "6(ii)" and r > k:
        claim, limit = f"{claim} by adaptive sampling", adaptive_factor(k, r, PROJECTED)
    elif theorem == "11" and (counts := np.count_nonzero(found.loadings, axis=1)).min() > 5 and len(counts) == k:
        epsilon = float((5 * np.arange(1, k + 1) / (counts - 5)).max())  # the smallest whose counts these reach
        limit = float(theorem_11_bound(spectrum.values, spectrum.total, epsilon)[-1]) / spectrum.least_loss
        claim = "Loss over PCA's loss for components chosen one by one"
    else:
        return ()
    return (Guarantee(claim, limit, measured, strength, Reference("magdonismail2015", f"Theorem {theorem}")),)
