"""From directions with zeros to one component: loadings refitted or kept, the best of them chosen."""

from __future__ import annotations

import numpy as np

from sparing.linalg.signs import first_largest
from sparing.results import Array, Component, Indices
from sparing.search.quotient import Quotient, component_of

GATHERED = 4096
"""Features of all candidates together, up to which one read of the data serves them all (128 MiB)."""


def best_component(quotient: Quotient, candidates: Array, *, refit: bool) -> Component:
    """The candidate (column) of largest quotient, with the best loadings on its support or with its own.

    Features that the quotient has no use for are left out. Where nothing remains the single feature of largest
    variance is the answer, so that there always is one.
    """
    V = np.where(quotient.usable[:, None], candidates, 0.0)
    V = V[:, V.any(axis=0)]
    if V.shape[1] == 0:
        V = np.eye(len(V), 1, -first_largest(np.where(quotient.usable, quotient.view.gram_diagonal(), -np.inf)))
    local, J = _gathered(quotient, np.flatnonzero(V.any(axis=1)))
    found: dict[tuple[int, ...], Component] = {}
    for v in V[J].T:
        support = np.flatnonzero(v)
        key = tuple(support.tolist()) if refit else (len(found),)
        if key not in found:
            x = v[support]
            found[key] = local.component(support) if refit else component_of(support, x, local.value(support, x))
    components = list(found.values())
    best = components[first_largest(np.array([component.variance for component in components]))]
    return Component(J[best.support], best.loadings, best.variance)


def _gathered(quotient: Quotient, J: Indices) -> tuple[Quotient, Indices]:
    """The same problem on the features J alone, while they are few."""
    if len(J) > GATHERED:
        return quotient, np.arange(quotient.view.n_features)
    return quotient.restricted(J), J
