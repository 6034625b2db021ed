"""Choice of the l1 bound on the weights: by a permutation gap [witten2010, Sec. 3.2], or by a number of features."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sparing.data.values import Table
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search_limits import SEARCH

Fit = TypeVar("Fit")


@dataclass(frozen=True)
class GapSearch:
    """The bounds tried, the features used, the gaps with standard errors, the chosen bound and the number of
    permutations.

    ``agreements`` are the adjusted Rand indices between the clusters of every bound and those of the chosen one, if
    requested.
    """

    bounds: Array
    n_features: Indices
    gaps: Array
    errors: Array
    bound: float
    n_permutations: int
    agreements: Array | None = None


def bound_grid(n_features: int) -> Array:
    """Bounds from about one feature to most features, with equal ratios.

    Near sqrt(p) the weights of permuted features are nearly equal and no longer comparable with those of the data, so
    the grid ends below. With very few features it does not, because one of two would always be left out.
    """
    highest = max(0.7 * math.sqrt(n_features), min(math.sqrt(n_features), 1.4))
    return np.geomspace(min(1.2, highest), highest, SEARCH.tried_bounds if highest > 1 else 1)


def permutation_gap(
    table: Table,
    bounds: Array,
    path: Callable[[Table, Array], tuple[Array, Indices]],
    n_permutations: int,
    rng: np.random.Generator,
    budget: Budget,
) -> GapSearch:
    """Choose the bound by the gap between the criterion O and that of independently permuted features.

    gap(c) = log O(c) - mean of log O_b(c) over permutations b. The smallest bound whose gap is within one standard
    error, sd(log O_b) sqrt(1 + 1/B), of the largest is chosen.

    Parameters
    ----------
    path : callable
        ``path(table, bounds)`` returns O and the number of features for every bound.
    """
    observed, counts = path(table, bounds)
    logs = []
    for b in range(0 if budget.expired else n_permutations):
        with table.permuted(rng) as null:
            criteria, _ = path(null, bounds)
        if budget.expired:  # perhaps incomplete
            break
        logs.append(np.log(np.maximum(criteria, np.finfo(float).tiny)))
        budget.say(f"weight_bound: permutation {b + 1} of {n_permutations}")
    if not logs:
        middle = float(bounds[len(bounds) // 2])
        blank = np.full(len(bounds), np.nan)
        return GapSearch(bounds, counts, blank, blank, middle, 0)
    reference = np.array(logs)
    gaps = np.log(np.maximum(observed, np.finfo(float).tiny)) - reference.mean(axis=0)
    spread = reference.std(axis=0, ddof=1) if len(logs) > 1 else np.zeros(len(bounds))
    errors = spread * math.sqrt(1 + 1 / len(logs))
    top = int(np.argmax(gaps))
    chosen = int(np.flatnonzero(gaps >= gaps[top] - errors[top])[0])
    budget.say(f"weight_bound: {bounds[chosen]:.4g}, {counts[chosen]} features, gap {gaps[chosen]:.4f}")
    return GapSearch(bounds, counts, gaps, errors, float(bounds[chosen]), len(logs))


def bound_for_count(
    solve: Callable[[float], Fit],
    pruned: Callable[[Fit], tuple[float, Fit]],
    weights: Callable[[Fit], Any],
    wanted: int,
    n_features: int,
    budget: Budget,
) -> tuple[float, Fit]:
    """The bound whose fit uses ``wanted`` features, by bisection; otherwise the largest smaller number.

    If the number jumps over ``wanted``, because features tie or the fit jumps, the largest bound below is returned. If
    time is up, ``pruned(fit)`` is returned: the best features of a fit with more of them, and their bound.
    """
    low, high = 1.0, math.sqrt(n_features)
    best_bound, best = high, solve(high)
    best_count = int(np.count_nonzero(weights(best)))
    if best_count <= wanted:
        return best_bound, best
    above = best
    if not budget.expired:
        best_bound, best = low, solve(low)
        best_count = int(np.count_nonzero(weights(best)))
    for _ in range(SEARCH.bound_probes):
        if best_count == wanted or high - low <= 1e-9 * high or budget.expired:
            break
        middle = math.sqrt(low * high)
        found = solve(middle)
        got = int(np.count_nonzero(weights(found)))
        budget.say(f"weight_bound: {middle:.6g} uses {got} features")
        if got <= wanted:
            low = middle
            if got >= best_count or best_count > wanted:
                best_bound, best, best_count = middle, found, got
        else:
            high, above = middle, found
    return pruned(above) if best_count != wanted and budget.expired else (best_bound, best)
