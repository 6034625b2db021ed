"""The best of several candidate directions as one component, with loadings refitted or kept."""

from __future__ import annotations

import numpy as np

from sparing.linalg.rounding import first_largest
from sparing.objectives.variance import RayleighObjective, component_of
from sparing.results import Array, Component, Indices
from sparing.search_limits import SEARCH


def best_component(objective: RayleighObjective, candidates: Array, *, refit: bool) -> Component:
    """The candidate (column) of largest quotient, with the best loadings on its support or with its own.

    Features that the quotient has no use for are left out. Where nothing remains the single feature of largest
    variance is the answer, so that there always is one.
    """
    V = np.where(objective.usable[:, None], candidates, 0.0)
    V = V[:, V.any(axis=0)]
    if V.shape[1] == 0:
        V = np.eye(len(V), 1, -first_largest(np.where(objective.usable, objective.view.gram_diagonal(), -np.inf)))
    best, J = (_refitted if refit else _kept)(objective, V)
    return Component(J[best.support], best.loadings, best.variance)


def _refitted(objective: RayleighObjective, V: Array) -> tuple[Component, Indices]:
    """The best of all supports, each with its best loadings; its features are positions in the indices returned with
    it."""
    local, J = _gathered(objective, np.flatnonzero(V.any(axis=1)))
    supports = {tuple(np.flatnonzero(v).tolist()): None for v in V[J].T}
    components = [local.component(np.array(support, dtype=np.intp)) for support in supports]
    return components[first_largest(np.array([component.variance for component in components]))], J


def _kept(objective: RayleighObjective, V: Array) -> tuple[Component, Indices]:
    """The best candidate, evaluated with one product with A for all candidates."""
    below = V if objective.metric is None else objective.metric.matmat(V)
    values = np.einsum("ij,ij->j", V, objective.view.gram_matmat(V)) / np.einsum("ij,ij->j", V, below)
    best = first_largest(values)
    support = np.flatnonzero(V[:, best])
    return component_of(support, V[support, best], float(values[best])), np.arange(len(V))


def _gathered(objective: RayleighObjective, J: Indices) -> tuple[RayleighObjective, Indices]:
    """The same problem on the features J alone, while they are few and a matrix of them is less than the data."""
    if len(J) > SEARCH.gathered_features or objective.wide(J):
        return objective, np.arange(objective.view.n_features)
    return objective.restricted(J), J
