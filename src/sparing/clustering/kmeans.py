"""Sparse k-means: features are weighted by how well they separate the clusters [witten2010, Sec. 3]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from sparing.clustering.weights import uniform
from sparing.data.values import Table, dense, inner, is_sparse
from sparing.effort import DEFAULT
from sparing.linalg.rounding import BETTER
from sparing.linalg.soft_threshold import bound_for_nonzeros, l1_l2_maximiser
from sparing.results import Array, Indices
from sparing.run import Budget
from sparing.search.truncated_power import distinct_ranks
from sparing.search_limits import SEARCH

DISTANCE_ROUNDING = 1e-12
"""Squared distances below this share of the squared norms of both points are rounding errors."""


@dataclass(frozen=True)
class Partition:
    """Clusters, their best weights, and the weighted sum of squares between clusters, sum_j w_j a_j."""

    labels: Indices
    weights: Array
    criterion: float
    criteria: tuple[float, ...]
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of updates of the weights."""
        return len(self.criteria)

    @property
    def n_used(self) -> int:
        """Number of features with positive weight."""
        return int(np.count_nonzero(self.weights))


def means_of(X: Any, labels: Indices, n_clusters: int) -> tuple[Array, Array]:
    """Means of the clusters (zero for empty ones) and numbers of members."""
    members = np.zeros((len(labels), n_clusters))
    members[np.arange(len(labels)), labels] = 1.0
    counts = members.sum(axis=0)
    return np.asarray((X.T @ members).T) / np.maximum(counts, 1.0)[:, None], counts


def between(table: Table, labels: Indices, n_clusters: int) -> Array:
    """a_j: the sum of squares between clusters, feature by feature."""
    means, counts = means_of(table.values, labels, n_clusters)
    overall = counts @ means / counts.sum()
    return np.asarray(counts @ (means - overall) ** 2)


@dataclass(frozen=True)
class WeightedSamples:
    """Samples with squared distances sum_j w_j (x_ij - x_i'j)^2; the weights are applied to centres, so X is not
    copied."""

    values: Any
    weights: Array

    @classmethod
    def of(cls, table: Table, w: Array) -> WeightedSamples:
        """Make it from the features of positive weight, copied if they are few."""
        support = np.flatnonzero(w)
        if len(support) <= SEARCH.copied_share * len(w):
            return cls(table.values[:, support], w[support])
        return cls(table.values, w)

    def norms(self) -> Array:
        """Weighted sums of squares of every sample."""
        if is_sparse(self.values):
            return np.asarray(self.values.power(2) @ self.weights)
        return np.asarray(np.einsum("ij,ij,j->i", self.values, self.values, self.weights))

    def scores(self, centers: Array) -> tuple[Array, Array]:
        """Squared distances from every centre minus the norms of the samples, and the norms of the centres."""
        weighted = centers * self.weights
        sizes = np.einsum("kj,kj->k", centers, weighted)
        scores: Array = sizes - 2.0 * np.asarray(self.values @ weighted.T)
        return scores, sizes

    def sample(self, i: int) -> Array:
        """Values of sample i."""
        return np.asarray(dense(self.values[[i]])[0])


def weighted_squares(table: Table, centers: Array, w: Array) -> Array:
    """sum_j w_j (x_ij - m_kj)^2 for samples i and centres k, from differences, which keeps all digits."""
    out = np.zeros((table.shape[0], len(centers)))
    for J, C, _ in table.blocks(np.flatnonzero(w)):
        block = dense(C)
        for k, center in enumerate(centers):
            out[:, k] += np.square((block - center[J]) * np.sqrt(w[J])).sum(axis=1)
    return out


def lloyd(samples: WeightedSamples, labels: Indices, n_clusters: int, budget: Budget | None = None) -> Indices:
    """Labels of k-means from the means of given clusters, until no sample moves or time is up.

    A cluster that loses all members restarts at the sample farthest from its mean.
    """
    norms = samples.norms()
    for _ in range(SEARCH.lloyd_turns):
        if budget is not None and budget.expired:
            break
        means, counts = means_of(samples.values, labels, n_clusters)
        scores, sizes = samples.scores(means)
        scores[:, counts == 0] = np.inf
        moved = np.argmin(scores, axis=1)
        rounding = DISTANCE_ROUNDING * (norms + sizes[labels] + sizes[moved])
        stay = scores[np.arange(len(labels)), labels] <= scores[np.arange(len(labels)), moved] + rounding
        moved = np.where(stay & (counts[labels] > 0), labels, moved)  # rounding errors move no sample
        for k in np.flatnonzero(np.bincount(moved, minlength=n_clusters) == 0):
            distances = norms + scores[np.arange(len(moved)), moved]
            crowded = np.bincount(moved, minlength=n_clusters)[moved] > 1
            farthest = int(np.argmax(np.where(crowded, distances, -np.inf)))
            if crowded[farthest] and distances[farthest] > DISTANCE_ROUNDING * (
                norms[farthest] + sizes[moved[farthest]]
            ):
                moved[farthest] = k
        if (moved == labels).all():
            break
        labels = moved
    return labels


def seeded(samples: WeightedSamples, n_clusters: int, rng: np.random.Generator) -> Indices:
    """Labels by the nearest of ``n_clusters`` samples, drawn in proportion to squared distances (k-means++)."""
    norms = samples.norms()
    n = len(norms)
    nearest, labels = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
    for k in range(n_clusters):
        mass = float(nearest.sum())
        if mass == 0:  # no further sample differs from those drawn
            break
        i = int(rng.choice(n, p=nearest / mass)) if k else int(rng.integers(n))
        scores, size = samples.scores(samples.sample(i)[None, :])
        sums = norms + size[0]
        distances = norms + scores[:, 0]
        distances[distances < DISTANCE_ROUNDING * sums] = 0.0
        closer = distances < nearest
        nearest, labels = np.where(closer, distances, nearest), np.where(closer, k, labels)
    return labels


def alternate_clusters(
    table: Table, n_clusters: int, bound: float, labels: Indices, *, tol: float, max_iter: int, budget: Budget
) -> Partition:
    """w <- best weights for a, clusters <- k-means from the current clusters; sum_j w_j a_j never decreases.

    It stops if no sample moves, or if an iteration adds less than ``tol`` of the criterion.
    """
    w, value = _suited(table, labels, n_clusters, bound)
    criteria, converged = [value], False
    while len(criteria) < max_iter and not budget.expired:
        moved = lloyd(WeightedSamples.of(table, w), labels, n_clusters, budget)
        update, value = _suited(table, moved, n_clusters, bound)
        if (moved == labels).all() or value <= criteria[-1]:
            converged = True
            break
        labels, w = moved, update
        criteria.append(value)
        if value - criteria[-2] <= tol * value:
            converged = True
            break
    return Partition(labels, w, criteria[-1], tuple(criteria), converged)


def _suited(table: Table, labels: Indices, n_clusters: int, bound: float) -> tuple[Array, float]:
    a = between(table, labels, n_clusters)
    w = l1_l2_maximiser(a, bound)
    return w, float(a @ w)


def pruned_clusters(table: Table, n_clusters: int, found: Partition, wanted: int) -> tuple[float, Partition]:
    """The same clusters with their best weights on ``wanted`` features, and the bound of these weights."""
    a = between(table, found.labels, n_clusters)
    bound = bound_for_nonzeros(a, wanted)
    w = l1_l2_maximiser(a, bound)
    value = float(a @ w)
    return bound, replace(found, weights=w, criterion=value, criteria=(*found.criteria, value), converged=False)


def spread_features(table: Table, bound: float) -> Array:
    """Equal weights for the features of largest variance, twice the number that the bound allows."""
    labels = np.arange(table.shape[0])
    overall, _ = means_of(table.values, np.zeros_like(labels), 1)
    squares = inner(table.values, table.values) - len(labels) * overall[0] ** 2
    many = min(2 * math.ceil(bound * bound), table.shape[1])
    w = np.zeros(table.shape[1])
    w[np.argsort(distinct_ranks(squares))[:many]] = uniform(many, bound)
    return w


def best_clusters(
    table: Table,
    n_clusters: int,
    bound: float,
    rng: np.random.Generator,
    *,
    n_init: int,
    tol: float,
    max_iter: int,
    budget: Budget,
    known: Sequence[Indices] = (),
    fresh: int = DEFAULT.reseedings,
    singles: int = 0,
) -> Partition:
    """The best of several starts: ``known`` clusters, and k-means in all features or those of largest variance.

    An answer is final if ``fresh`` new seedings of k-means in its weighted features do not improve it. If the bound
    allows only few features, there are many local optima that k-means in all features does not reach. Then the clusters
    by each of the ``singles`` best separating features are starts, and the same number of :func:`drifted` ones.
    """

    def begun(w: Array) -> Indices:
        """Run k-means with these weights from a new seeding."""
        samples = WeightedSamples.of(table, w)
        return lloyd(samples, seeded(samples, n_clusters, rng), n_clusters, budget)

    def settled(labels: Indices) -> Partition:
        found = alternate_clusters(table, n_clusters, bound, labels, tol=tol, max_iter=max_iter, budget=budget)
        failures = 0
        while failures < fresh and found.n_iter < max_iter and not budget.expired:
            again = begun(found.weights)
            if _suited(table, again, n_clusters, bound)[1] <= found.criterion * (1 + BETTER):
                failures += 1
                continue
            more = max_iter - found.n_iter
            better = alternate_clusters(table, n_clusters, bound, again, tol=tol, max_iter=more, budget=budget)
            found = Partition(
                better.labels, better.weights, better.criterion, found.criteria + better.criteria, better.converged
            )
            failures = 0
        return found

    begin = uniform(table.shape[1], bound), spread_features(table, bound)
    best: Partition | None = None
    for start in range(len(known) + n_init):
        if best is not None and budget.expired:
            break
        found = settled(known[start] if start < len(known) else begun(begin[(start - len(known)) % 2]))
        if best is None or found.criterion > best.criterion * (1 + BETTER):
            best = found
    assert best is not None  # there is always at least one start
    walks = (drifted(table, n_clusters, bound, rng, budget) for _ in range(singles))
    cheap = chain(single_clusters(table, n_clusters, 0 if budget.expired else singles), walks)
    for labels in cheap:
        if budget.expired:
            break
        found = alternate_clusters(table, n_clusters, bound, labels, tol=tol, max_iter=max_iter, budget=budget)
        if found.criterion > best.criterion * (1 + BETTER):
            best = settled(found.labels)
    return best


def drifted(table: Table, n_clusters: int, bound: float, rng: np.random.Generator, budget: Budget) -> Indices:
    """The best clusters of a run that seeds k-means again whenever weights change, as the paper's algorithm does.

    The criterion may decrease meanwhile, which escapes local optima for moves of single samples.
    """
    w, best, labels = uniform(table.shape[1], bound), -math.inf, np.zeros(table.shape[0], dtype=np.intp)
    for _ in range(SEARCH.drift_turns):
        samples = WeightedSamples.of(table, w)
        found = lloyd(samples, seeded(samples, n_clusters, rng), n_clusters, budget)
        update, value = _suited(table, found, n_clusters, bound)
        if value > best:
            best, labels = value, found
        if budget.expired or np.abs(update - w).sum() <= SEARCH.drift_change * np.abs(w).sum():
            break
        w = update
    return labels


def single_clusters(table: Table, n_clusters: int, count: int) -> list[Indices]:
    """Clusters by k-means in a single feature, for the ``count`` features with the largest sums of squares between
    clusters."""
    if count == 0:
        return []
    a = np.concatenate([_divided(dense(C), n_clusters)[1] for _, C, _ in table.blocks()])
    order = np.argsort(distinct_ranks(a))[:count]
    return list(_divided(table.columns(order), n_clusters)[0].T)


def _divided(C: Array, n_clusters: int) -> tuple[Indices, Array]:
    """Labels (n x p) by k-means in each column separately, starting at quantiles; and the sums of squares between
    clusters."""
    n, p = C.shape
    places = ((np.arange(n_clusters) + 0.5) / n_clusters * n).astype(np.intp)
    centers, overall = np.sort(C, axis=0)[places], C.mean(axis=0)
    for _ in range(SEARCH.single_turns):
        nearest, labels = np.full((n, p), np.inf), np.zeros((n, p), dtype=np.intp)
        for k, center in enumerate(centers):
            distance = np.abs(C - center)
            labels[distance < nearest] = k
            np.minimum(nearest, distance, out=nearest)
        counts = np.stack([(labels == k).sum(axis=0) for k in range(n_clusters)])
        sums = np.stack([np.where(labels == k, C, 0.0).sum(axis=0) for k in range(n_clusters)])
        centers = np.divide(sums, counts, out=centers.copy(), where=counts > 0)
    return labels, np.asarray((counts * np.square(centers - overall)).sum(axis=0))


def cluster_path(
    table: Table,
    n_clusters: int,
    bounds: Array,
    rng: np.random.Generator,
    *,
    tol: float,
    max_iter: int,
    budget: Budget,
) -> list[Partition]:
    """Clusters for every bound, in ascending order: each starts from the result of the next larger bound, in two
    rounds."""
    found: list[Partition] = []
    for bound in bounds[::-1]:
        if found and budget.expired:  # an incomplete path is not used; only its length matters
            found.append(replace(found[-1], converged=False))
            continue
        known = [found[-1].labels] if found else []
        found.append(
            best_clusters(
                table,
                n_clusters,
                float(bound),
                rng,
                n_init=1 if known else 3,
                tol=tol,
                max_iter=max_iter,
                budget=budget,
                known=known,
                fresh=1,
            )
        )
    found.reverse()
    for place in range(
        1, 0 if budget.expired else len(bounds)
    ):  # the result of a smaller bound may suit a larger one, too
        labels = found[place - 1].labels
        other = alternate_clusters(
            table, n_clusters, float(bounds[place]), labels, tol=tol, max_iter=max_iter, budget=budget
        )
        if other.criterion > found[place].criterion:
            found[place] = other
    return found
