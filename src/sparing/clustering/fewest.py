"""The fewest features that give nearly the same clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sparing.results import Array, Indices
from sparing.run import Budget

AGREEMENT = 0.9
"""Adjusted Rand index from which on two clusterings count as the same."""

BISECTIONS = 4
"""Bounds tried between the last of the grid that disagrees and the first that agrees: a twentieth of a step is left."""

Fit = TypeVar("Fit")


def fewest_agreeing(
    bounds: Array,
    fits: Sequence[Fit],
    chosen: tuple[float, Fit],
    solve: Callable[[float], Fit],
    labels: Callable[[Fit], Indices],
    budget: Budget,
) -> tuple[float, Fit, Array]:
    """The smallest bound whose clusters agree with those of a chosen one, the fit to it, and agreements on the grid.

    Where features say much the same, a permutation gap grows with every one of them, while a few give the same groups.

    Parameters
    ----------
    bounds, fits : ndarray, sequence
        The grid, in rising order, and quick fits to it, which say where it is worth to look closer.
    chosen : (float, Fit)
        A bound of the grid and the fit to it.
    """
    (best, found), goal = chosen, labels(chosen[1])
    agreements = np.array([adjusted_rand_score(goal, labels(fit)) for fit in fits])

    def agreeing(bound: float) -> Fit | None:
        fit = solve(bound)
        agreement = float(adjusted_rand_score(goal, labels(fit)))
        budget.say(f"weight_bound: {bound:.4g} agrees by {agreement:.3f}")
        return fit if agreement >= AGREEMENT and not budget.expired else None

    for bound in [1.0, *bounds[(bounds < best) & (agreements >= AGREEMENT)]]:
        if budget.expired:
            break
        if (fit := agreeing(float(bound))) is not None:
            best, found = float(bound), fit
            break
    low = max([1.0, *bounds[bounds < best]])
    for _ in range(BISECTIONS):
        if budget.expired or best <= low:
            break
        middle = math.sqrt(low * best)
        if (fit := agreeing(middle)) is None:
            low = middle
        else:
            best, found = middle, fit
    return best, found, agreements
