"""Sparse feature weights from dissimilarities: the leading sparse component of D [witten2010, Sec. 4]."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from sparing.clustering.dissimilarity import Dissimilarity
from sparing.effort import DEFAULT
from sparing.linalg.rounding import BETTER
from sparing.linalg.soft_threshold import bound_for_nonzeros, l1_l2_maximiser
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search.truncated_power import distinct_ranks
from sparing.search_limits import SEARCH


@dataclass(frozen=True)
class Weighting:
    """Weights, their criterion u'Dw, and the history of the iteration."""

    weights: Array
    criterion: float
    criteria: tuple[float, ...]
    change: float
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of updates of the weights."""
        return len(self.criteria) - 1

    @property
    def n_used(self) -> int:
        """Number of features with positive weight."""
        return int(np.count_nonzero(self.weights))


def uniform(n_features: int, bound: float) -> Array:
    """Equal weights within both bounds."""
    return np.full(n_features, min(1.0 / math.sqrt(n_features), bound / n_features))


def alternate(
    D: Dissimilarity,
    bound: float,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    budget: Budget | None = None,
    narrow: float = SEARCH.narrow_ratio,
) -> Weighting:
    """u <- Dw / |Dw|, w <- best weights for (D'u)_+, until w changes by less than ``tol`` of its norm.

    Each half is solved exactly, so u'Dw never decreases. It equals |Dw| = sqrt(w'D'Dw), so u itself is not needed. If
    fewer than one in ``narrow`` features are in use, some iterations use only these features, which is cheap; the
    alternation stops only if an iteration on all features changes nothing. There is always at least one iteration.
    """
    w, change, converged = start, np.inf, False
    pull = D.normal(w)
    criteria = [_root(w, pull)]
    while len(criteria) <= max_iter and (len(criteria) == 1 or not (budget is not None and budget.expired)):
        update = l1_l2_maximiser(np.maximum(pull, 0.0), bound)
        size = float(np.linalg.norm(update))
        change = float(np.linalg.norm(update - w)) / size if size > 0 else 0.0
        w = update
        if change <= max(tol, 1e-14):  # a smaller change is a rounding error
            converged = True
        elif not D.is_quick and narrow * np.count_nonzero(w) < len(w):
            J = np.flatnonzero(w)
            turns = min(SEARCH.inner_turns, max_iter - len(criteria))
            inner = alternate(D.restricted(J), bound, w[J], tol=tol, max_iter=turns, budget=budget, narrow=narrow)
            criteria.extend(inner.criteria[:-1])
            w = np.zeros_like(w)
            w[J] = inner.weights
        pull = D.normal(w)
        criteria.append(_root(w, pull))
        if converged:
            break
    return Weighting(w, criteria[-1], tuple(criteria), change, converged)


def _root(w: Array, pull: Array) -> float:
    return math.sqrt(max(float(w @ pull), 0.0))


def starts(D: Dissimilarity, bound: float, singles: int = DEFAULT.single_starts) -> Iterator[Array]:
    """Starting points: equal weights as in the paper, equal weights of the largest features, and each of these alone.

    With few features the alternation stops near its starting point, up to a fifth below the best value.
    """
    yield uniform(D.n_features, bound)
    order = np.argsort(distinct_ranks(D.sizes()))
    many = min(2 * math.ceil(bound * bound), D.n_features)
    if many < D.n_features:
        w = np.zeros(D.n_features)
        w[order[:many]] = uniform(many, bound)
        yield w
    for j in order[: min(math.ceil(singles * min(SEARCH.tight_bound / bound, 1.0) ** 2), D.n_features - 1)]:
        w = np.zeros(D.n_features)
        w[j] = 1.0
        yield w


def best_weights(
    D: Dissimilarity,
    bound: float,
    *,
    tol: float,
    max_iter: int,
    budget: Budget | None = None,
    begin: Iterable[Array] | None = None,
    narrow: float = SEARCH.narrow_ratio,
    singles: int = DEFAULT.single_starts,
) -> Weighting:
    """The best result of several starts, or of the given ones."""
    best: Weighting | None = None
    for start in starts(D, bound, singles) if begin is None else begin:
        if best is not None and budget is not None and budget.expired:
            break
        found = alternate(D, bound, start, tol=tol, max_iter=max_iter, budget=budget, narrow=narrow)
        if best is None or found.criterion > best.criterion * (1 + BETTER):
            best = found
    assert best is not None  # there is always at least one start
    return best


def pruned_weights(D: Dissimilarity, found: Weighting, wanted: int) -> tuple[float, Weighting]:
    """The weights after one more update on ``wanted`` features, and their bound."""
    pull = np.maximum(D.normal(found.weights), 0.0)
    bound = bound_for_nonzeros(pull, wanted)
    w = l1_l2_maximiser(pull, bound)
    value = _root(w, D.normal(w))
    return bound, replace(found, weights=w, criterion=value, criteria=(*found.criteria, value), converged=False)


def weight_path(
    D: Dissimilarity, bounds: Array, *, tol: float, max_iter: int, budget: Budget | None = None
) -> list[Weighting]:
    """Weights for every bound, in ascending order: each starts from the result of the next larger bound and from large
    features."""
    found: list[Weighting] = []
    for bound in bounds[::-1]:
        begin = list(islice(starts(D, float(bound)), 2))
        if found:
            begin[0] = l1_l2_maximiser(found[-1].weights, float(bound))
        if found and budget is not None and budget.expired:  # an incomplete path is not used; only its length matters
            found.append(replace(found[-1], weights=begin[0], converged=False))
            continue
        found.append(best_weights(D, float(bound), tol=tol, max_iter=max_iter, budget=budget, begin=begin))
    return found[::-1]


def spread(D: Dissimilarity, found: Weighting) -> float:
    """Standard deviation of the weighted dissimilarities over pairs: how much close and distant pairs differ.

    A permutation gap should measure this. The criterion itself is mostly the mean dissimilarity, to which all features
    add, so its gap is largest for a few redundant features (five of NCI60's 6830 genes).
    """
    return float(squareform(D.weighted(found.weights), checks=False).std())


Fit = TypeVar("Fit")


def fewest_agreeing(
    bounds: Array,
    fits: Sequence[Fit],
    chosen: tuple[float, Fit],
    solve: Callable[[float], Fit],
    labels: Callable[[Fit], Indices],
    budget: Budget,
) -> tuple[float, Fit, Array]:
    """The smallest bound whose clusters agree with those of the chosen bound, its fit, and the agreements on the grid.

    With correlated features a permutation gap grows with each of them, although a few give the same groups.

    Parameters
    ----------
    bounds, fits : ndarray, sequence
        The grid, in ascending order, and its quick fits, which show where a closer search is worthwhile.
    chosen : (float, Fit)
        A bound of the grid and its fit.
    """
    (best, found), goal = chosen, labels(chosen[1])
    agreements = np.array([adjusted_rand_score(goal, labels(fit)) for fit in fits])

    def agreeing(bound: float) -> Fit | None:
        fit = solve(bound)
        agreement = float(adjusted_rand_score(goal, labels(fit)))
        budget.say(f"weight_bound: {bound:.4g} agrees by {agreement:.3f}")
        return fit if agreement >= SEARCH.same_clusters and not budget.expired else None

    for bound in [1.0, *bounds[(bounds < best) & (agreements >= SEARCH.same_clusters)]]:
        if budget.expired:
            break
        if (fit := agreeing(float(bound))) is not None:
            best, found = float(bound), fit
            break
    low = max([1.0, *bounds[bounds < best]])
    for _ in range(SEARCH.bound_bisections):
        if budget.expired or best <= low:
            break
        middle = math.sqrt(low * best)
        if (fit := agreeing(middle)) is None:
            low = middle
        else:
            best, found = middle, fit
    return best, found, agreements
