"""The fewest features that give nearly the same clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sparing.budget import Budget
from sparing.results import Array, Indices

AGREEMENT = 0.9
"""Adjusted Rand index from which on two clusterings count as the same."""

BISECTIONS = 4
"""Bounds tried between the last of the grid that disagrees and the first that agrees: a twentieth of a step is left."""

Fit = TypeVar("Fit")


def adjusted_rand(a: Indices, b: Indices) -> float:
    """Adjusted Rand index of two labellings, numbered from 0: 1 for the same clusters, about 0 for unrelated ones."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1.0)
    together, in_a, in_b = (_pairs(part) for part in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = in_a * in_b / max(_pairs(np.array([len(a)])), 1.0)
    most = (in_a + in_b) / 2
    return 1.0 if most == expected else float((together - expected) / (most - expected))


def _pairs(counts: Array) -> float:
    return float((counts * (counts - 1.0)).sum() / 2)


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
    agreements = np.array([adjusted_rand(goal, labels(fit)) for fit in fits])

    def agreeing(bound: float) -> Fit | None:
        fit = solve(bound)
        agreement = adjusted_rand(goal, labels(fit))
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
