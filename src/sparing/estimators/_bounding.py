"""Which bounds are worth computing for which problem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparing.bounds import LargestDiagonals, LeadingVariance, RowSquares, RowSums, SemidefiniteDual
from sparing.budget import Budget
from sparing.certificates import Certificate, Problem, VarianceCertificate, certify_variance
from sparing.certificates.variance import single
from sparing.data import DataMatrix, Preparation
from sparing.results import Bound, Encoder, Spectrum

ROWS_OF_GRAM = 500
"""Up to as many features all rows of the Gram matrix are read for a bound, whatever the storage."""

DUAL = 64
"""Up to as many features the semidefinite relaxation takes a fraction of a second."""


def variance_certificate(
    view: DataMatrix,
    found: Encoder,
    spectrum: Spectrum,
    problem: Problem,
    preparation: Preparation,
    rng: np.random.Generator,
    budget: Budget,
) -> VarianceCertificate:
    """The certificate of all components together, with one for each of them."""
    bounds = bounds_on_variance(view, problem, spectrum, found, rng, budget)
    parts = list[Certificate]()
    if len(found.loadings) > 1:
        alone = spectrum.leading(1)
        known: dict[int, list[Bound]] = {}
        for number in range(len(found.loadings)):
            component = single(found, number)
            part = Problem(1, len(component.support), view.n_features, "variance")
            if part.n_nonzero not in known:
                known[part.n_nonzero] = bounds_on_variance(view, part, alone, component, rng, budget)
            parts.append(certify_variance(view, component, alone, known[part.n_nonzero], part, preparation))
    return certify_variance(view, found, spectrum, bounds, problem, preparation, parts=parts)


def bounds_on_variance(
    view: DataMatrix,
    problem: Problem,
    spectrum: Spectrum,
    found: Encoder,
    rng: np.random.Generator,
    budget: Budget,
) -> list[Bound]:
    """All that hold for the problem and are cheap for data of this size."""
    methods: list[Callable[..., Bound | None]] = [LeadingVariance(spectrum).bound, LargestDiagonals().bound]
    if problem.n_components == 1 and view.n_features <= ROWS_OF_GRAM:
        methods += [RowSums().bound, RowSquares().bound]
    if problem.n_components == 1 and view.n_features <= DUAL:
        methods.append(SemidefiniteDual().bound)
    computed = [method(view, problem, found, rng, budget=budget) for method in methods]
    return [bound for bound in computed if bound is not None]
