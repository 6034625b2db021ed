"""Choice of the bound on the weights: by a permutation gap [witten2010, Sec. 3.2], or by a number of features."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sparing.clustering.table import Table
from sparing.results import Array, Indices
from sparing.run import SEARCH, Budget

Fit = TypeVar("Fit")


@dataclass(frozen=True)
class GapSearch:
    """Bounds tried, features used, gaps and their standard errors; the bound chosen, and permutations done.

    ``agreements`` are adjusted Rand indices of the clusters of every bound with those of the one chosen, where these
    were asked for.
    """

    bounds: Array
    n_features: Indices
    gaps: Array
    errors: Array
    bound: float
    n_permutations: int
    agreements: Array | None = None


def bound_grid(n_features: int) -> Array:
    """Bounds from about one feature to most, in equal ratios.

    Close to sqrt(p) weights of permuted features are nearly equal, and no longer comparable with those of the data.
    With very few features there is nothing below, and one of two would be left out whatever the data say.
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
    """Where a criterion O exceeds most that of data whose features were permuted, each on its own.

    gap(c) = log O(c) - mean of log O_b(c) over permutations b. The smallest bound is chosen whose gap is within one
    standard error of the largest: sd(log O_b) sqrt(1 + 1/B) there.

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
        if budget.expired:  # perhaps cut short in the middle
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
    """The bound whose fit uses ``wanted`` features, by bisection; else the most that are fewer.

    Where the number jumps over ``wanted``, because features tie or the fit does, the largest bound below is returned.
    Where time is up, so is ``pruned(fit)``: the features that suit a fit with more of them best, and their bound.
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
