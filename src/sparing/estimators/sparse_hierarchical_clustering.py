"""A tree of clusters in the few features that separate them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from sparing import errors
from sparing.clustering import (
    Complement,
    Dissimilarity,
    ElementwiseDissimilarity,
    SquaredDifferences,
    Weighting,
    absolute_difference,
    best_weights,
    cut,
    pruned_weights,
    spread,
    tree_of,
    weight_path,
)
from sparing.data.values import Table
from sparing.errors import listed
from sparing.estimators.clustering import ClusteringEstimator, ClusteringFit, WeightBound
from sparing.estimators.parameters import is_number
from sparing.linalg import single_threaded_blas
from sparing.results import Array, Indices
from sparing.run import Run
from sparing.search_limits import SEARCH

DIFFERENCES = ("absolute", "squared")


class Weighed(NamedTuple):
    """A dissimilarity, and the weights of its features."""

    dissimilarity: Dissimilarity
    weighting: Weighting


@dataclass(eq=False, repr=False)
class SparseHierarchicalClustering(ClusteringEstimator[Weighed]):
    """Hierarchical clustering in a few weighted features.

    Samples are compared by sum_j w_j d_ii'j. The weights w >= 0, with an l2 norm of at most 1 and an l1 norm of at most
    ``weight_bound``, maximise the sum of squares of these dissimilarities over all pairs; most weights are zero
    [witten2010, Sec. 4]. The matrix of dissimilarities, pairs by features, is never formed.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters at which the tree is cut. None with a ``distance_threshold``.
    weight_bound : float, "auto" or "fewest", default="auto"
        Between 1 (one feature) and sqrt(n_features) (all of them). ``auto`` compares the spread of the dissimilarities
        with that of data whose features are permuted one by one: the smallest bound whose gap is within one standard
        error of the largest. With correlated features, such as genes, it keeps most of them; ``fewest`` then continues
        to the smallest bound with the same clusters, up to an adjusted Rand index of 0.9.
    n_features : int, optional
        Number of features to use; the bound is found.
    linkage : {"complete", "average", "single", "weighted", "ward"}, default="complete"
        As in SciPy. ``ward`` needs squared differences, and uses their square roots.
    difference : {"squared", "absolute"} or callable, default="squared"
        Dissimilarity of two values of one feature: squared or absolute difference, or ``f(a, b)`` of two arrays that
        broadcast.
    complementary : bool, default=False
        Also find a second clustering, whose dissimilarities are orthogonal to those of the first [witten2010,
        Sec. 4], with the same bound or number of features: ``complementary_``.
    distance_threshold : float, optional
        Instead of ``n_clusters``: clusters are not joined at this height or above.
    scale : bool, default=False
        Divide features by their standard deviations (n - 1) first.
    max_iter, tol : int, float, default=1000, 1e-6
        The alternation ends when weights change by less than ``tol`` of their norm.
    n_permutations : int, default=10
        For "auto" and "fewest".
    time_limit : float, optional
        Seconds after which the best answer so far is returned.
    effort : {"quick", "default", "thorough"}, default="default"
        How many starts are tried.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the permutations; nothing else is random.
    verbose : bool, default=False

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Numbered in order of first appearance.
    feature_weights_ : ndarray of shape (n_features,)
    support_ : ndarray of int
        Sorted indices of the features used; ``get_support()`` gives the mask.
    weight_bound_ : float
    criterion_ : float
        Root of the sum of squared dissimilarities over ordered pairs, which the weights maximise.
    n_iter_, converged_ : int, bool
    children_, distances_, n_leaves_, n_connected_components_, n_clusters_
        The tree, as in scikit-learn's ``AgglomerativeClustering``.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        The same as SciPy has it, for ``scipy.cluster.hierarchy.dendrogram``.
    complementary_ : SparseHierarchicalClustering
        With ``complementary=True``: the second clustering, with all attributes of a fitted one. Its tree is that of the
        orthogonal part, shifted to begin at zero; its ``dissimilarity(X)`` is that of its features as they are.
    bound_search_ : GapSearch
        With "auto" or "fewest": bounds tried, numbers of features, gaps and their standard errors; with "fewest", how
        far the clusters of each bound agree with those of the one that "auto" chooses.
    scale_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    NaN is a missing value: two samples are compared by the features that both have, and their sum is multiplied by p /
    (number of these features), as in R's ``sparcl``. Without any, a pair is as far apart as others are on average.

    Examples
    --------
    >>> import numpy as np
    >>> from sparing import SparseHierarchicalClustering
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 100))
    >>> X[:20, :5] += 4
    >>> model = SparseHierarchicalClustering(2, n_features=5).fit(X)
    >>> model.support_
    array([0, 1, 2, 3, 4])
    >>> int(model.labels_[:20].sum()), int(model.labels_[20:].sum())
    (0, 20)
    """

    n_clusters: int | None = 2
    _: KW_ONLY
    weight_bound: Any = "auto"
    n_features: int | None = None
    linkage: str = "complete"
    difference: Any = "squared"
    complementary: bool = False
    distance_threshold: float | None = None
    scale: bool = False
    max_iter: int = 1000
    tol: float = 1e-6
    n_permutations: int = 10
    time_limit: float | None = None
    effort: str = "default"
    random_state: Any = 0
    verbose: bool = False

    _missing = True

    def _surroundings(self, fit: ClusteringFit) -> AbstractContextManager[None]:
        n, p = fit.table.shape
        return single_threaded_blas(2.0 * n * n * p)

    def _solve(self, fit: ClusteringFit) -> tuple[WeightBound, Weighed]:
        D = self._dissimilarity(fit.table)
        bound, found = self._weights(D, fit.run)
        if found.criterion == 0:  # samples differ, so only a user's function can return zero everywhere
            raise errors.bad_own_dissimilarity("0, or numbers whose squares vanish, for every pair of samples")
        return bound, Weighed(D, found)

    def _weights(self, D: Dissimilarity, run: Run) -> tuple[WeightBound, Weighting]:
        def path(data: Table, bounds: Array) -> tuple[Array, list[Weighting]]:
            other = D if data is D.table else self._dissimilarity(data)
            tol = max(SEARCH.loose_trees, self.tol)
            fits = weight_path(other, bounds, tol=tol, max_iter=self.max_iter, budget=run.budget)
            return np.array([spread(other, fit) for fit in fits]), fits

        def labels(fit: Weighting) -> Indices:
            return cut(tree_of(D.weighted(fit.weights), self.linkage), int(self.n_clusters or 1))

        def pruned(found: Weighting, wanted: int) -> tuple[float, Weighting]:
            return pruned_weights(D, found, wanted)

        return self._bounded(D.table, lambda bound: self._best(D, bound, run), path, labels, pruned, run)

    def _best(self, D: Dissimilarity, bound: float, run: Run) -> Weighting:
        """The best weights within one bound."""
        singles = run.effort.n_single_starts(D.n_samples, D.n_features)
        return best_weights(D, bound, tol=self.tol, max_iter=self.max_iter, budget=run.budget, singles=singles)

    def _publish(self, fit: ClusteringFit, task: WeightBound, found: Weighed) -> None:
        (D, weighting), expired = found, fit.run.budget.expired
        self._publish_tree(D, task.value, weighting)
        if not weighting.converged:
            cure = "a larger time_limit" if expired else "a larger max_iter or tol"
            task.notes.append(
                f"After {weighting.n_iter} iterations the feature weights still changed by {weighting.change:.1e} of "
                f"their size. Those of the last iteration, the best so far, are returned; {cure} lets them converge."
            )
        if self.complementary:
            self._publish_second(fit, task, Complement(D, D.weighted(weighting.weights)))

    def _publish_second(self, fit: ClusteringFit, first: WeightBound, rest: Complement) -> None:
        """The complementary clustering, with the same number of features or the same bound as the first."""
        second = clone(self).set_params(complementary=False)
        for learned in ("n_features_in_", "feature_names_in_", "scale_"):
            if hasattr(self, learned):
                setattr(second, learned, getattr(self, learned))
        if self.n_features is None:
            bound, found = WeightBound(first.value), self._best(rest, first.value, fit.run)
        else:
            bound, found = second._weights(rest, fit.run)
        if found.criterion <= 1e-6 * self.criterion_ / rest.in_units_of_x:
            raise ValueError(
                "complementary=True: nothing is left for a second clustering, because the dissimilarities of all "
                "features are proportional to those of the first. Pass complementary=False."
            )
        second._publish(fit, bound, Weighed(rest, found))
        first.notes.extend(bound.notes)
        self.complementary_ = second

    def _publish_tree(self, D: Dissimilarity, bound: float, found: Weighting) -> None:
        self.feature_weights_, self.weight_bound_ = found.weights, bound
        self.support_ = np.flatnonzero(found.weights)
        self.criterion_ = found.criterion * D.in_units_of_x
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        tree = tree_of(D.weighted(found.weights) * D.in_units_of_x, self.linkage)
        self.linkage_matrix_ = tree
        self.children_, self.distances_ = tree[:, :2].astype(np.intp), tree[:, 2]
        self.n_leaves_, self.n_connected_components_ = len(tree) + 1, 1
        if self.distance_threshold is None:
            self.n_clusters_ = int(self.n_clusters or 1)
        else:
            self.n_clusters_ = int(np.count_nonzero(self.distances_ >= self.distance_threshold)) + 1
        self.labels_ = cut(tree, self.n_clusters_)

    def _check_settings(self) -> None:
        super()._check_settings()
        known = isinstance(self.difference, str) and self.difference in DIFFERENCES
        if not known and not callable(self.difference):
            raise ValueError(
                f"difference={self.difference!r} is not known. Choose one of {listed(DIFFERENCES)}, or pass a function "
                "f(a, b) of two arrays that returns how far a and b are apart, entry by entry."
            )
        if self.linkage == "ward" and (callable(self.difference) or self.difference != "squared"):
            raise ValueError(
                f"linkage={self.linkage!r} joins clusters by their centroids, which difference={self.difference!r} "
                "does not have. Use difference='squared', or linkage 'average', 'complete', 'single' or 'weighted'."
            )
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                f"n_clusters={self.n_clusters!r} and distance_threshold={self.distance_threshold!r}: exactly one of "
                f"them must be given. Pass n_clusters=None with a distance_threshold, or leave distance_threshold=None."
            )
        threshold = self.distance_threshold
        if threshold is not None and (not is_number(threshold) or threshold < 0):
            raise ValueError(
                f"distance_threshold={threshold!r} must be a number of at least 0: clusters are not joined at or above "
                "it. Look at distances_ of a fit with n_clusters=2 for heights of the tree."
            )

    def _dissimilarity(self, table: Table) -> Dissimilarity:
        if callable(self.difference):
            return ElementwiseDissimilarity(table, self.difference)
        if self.difference == "absolute":
            return ElementwiseDissimilarity(table, absolute_difference)
        return SquaredDifferences(table)

    def _own(self) -> bool:
        return callable(self.difference)
