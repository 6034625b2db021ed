"""Clusters around means in the few features that separate them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.clustering import (
    Partition,
    best_clusters,
    cluster_path,
    means_of,
    pruned_clusters,
    weighted_squares,
)
from sparing.data import Rows
from sparing.data.checkpoint import Checkpoint
from sparing.data.values import Table
from sparing.estimators.clustering import ClusteringEstimator, ClusteringFit, WeightBound
from sparing.estimators.encoding import in_precision_of
from sparing.estimators.inputs import checked_rows
from sparing.linalg import single_threaded_blas
from sparing.results import Array, Indices
from sparing.run import Run
from sparing.search_limits import SEARCH


@dataclass(eq=False, repr=False)
class SparseKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusteringEstimator[Partition]):
    """k-means in a few weighted features.

    Clusters and weights together maximise the weighted sum of squares between clusters, sum_j w_j a_j, over w >= 0 with
    an l2 norm of at most 1 and an l1 norm of at most ``weight_bound``, which leaves most weights zero [witten2010, Sec.
    3].

    Parameters
    ----------
    n_clusters : int, default=2
        With 1, every weight is zero.
    weight_bound : float, "auto" or "fewest", default="auto"
        Between 1 (one feature) and sqrt(n_features) (all of them). ``auto`` compares the criterion
        with that of data whose features are permuted one by one: the smallest bound whose gap is within one standard
        error of the largest. With correlated features, such as genes, it keeps most of them; ``fewest`` then continues
        to the smallest bound with the same clusters, up to an adjusted Rand index of 0.9.
    n_features : int, optional
        Number of features to use; the bound is found.
    n_init : int or "auto", default="auto"
        Number of starts; the best answer is kept. ``auto`` with ``effort="default"``: 10 by k-means, 20 by the single
        features that divide samples best, and 20 cheap runs that seed k-means again in every iteration.
    scale : bool, default=False
        Divide features by their standard deviations (n - 1) first.
    max_iter, tol : int, float, default=300, 1e-9
        The alternation stops when no sample moves, or when an iteration adds less than ``tol`` of the criterion.
    n_permutations : int, default=10
        For "auto" and "fewest".
    time_limit : float, optional
        Seconds after which the best answer so far is returned.
    effort : {"quick", "default", "thorough"}, default="default"
        How many starts are tried.
    random_state : int, Generator, RandomState or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Numbered in order of first appearance.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of all features, in units of X. Fewer where fewer samples differ in the features used, with a warning.
    feature_weights_ : ndarray of shape (n_features,)
    support_ : ndarray of int
        Sorted indices of the features used; ``get_support()`` gives the mask.
    weight_bound_ : float
    criterion_ : float
        The weighted sum of squares between clusters.
    inertia_ : float
        The weighted sum of squares within clusters.
    n_iter_, converged_ : int, bool
    bound_search_ : GapSearch
        With "auto" or "fewest": bounds tried, numbers of features, gaps and their standard errors; with "fewest", how
        far the clusters of each bound agree with those of the one that "auto" chooses.
    scale_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sparing import SparseKMeans
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 100))
    >>> X[:20, :5] += 2
    >>> model = SparseKMeans(2, n_features=5, random_state=0).fit(X)
    >>> model.support_
    array([0, 1, 2, 3, 4])
    >>> int(model.labels_[:20].sum()), int(model.labels_[20:].sum())
    (0, 20)
    """

    n_clusters: int = 2
    _: KW_ONLY
    weight_bound: Any = "auto"
    n_features: int | None = None
    n_init: int | str = "auto"
    scale: bool = False
    max_iter: int = 300
    tol: float = 1e-9
    n_permutations: int = 10
    time_limit: float | None = None
    effort: str = "default"
    random_state: Any = 0
    verbose: bool = False

    def _prepared(self, X: Any, y: Any, sample_weight: Any, run: Run, checkpoint: Checkpoint | None) -> ClusteringFit:
        fit = super()._prepared(X, y, sample_weight, run, checkpoint)
        if self.n_clusters is None:
            raise errors.bad_n_clusters(None, fit.table.shape[0])
        return replace(fit, table=fit.table.around_medians())

    def _surroundings(self, fit: ClusteringFit) -> AbstractContextManager[None]:
        n, p = fit.table.shape
        return single_threaded_blas(2.0 * n * p * self.n_clusters)

    def _solve(self, fit: ClusteringFit) -> tuple[WeightBound, Partition]:
        table, run, k = fit.table, fit.run, self.n_clusters
        seed = int(run.rng.integers(2**32))  # every bound starts from the same samples
        limits: dict[str, Any] = {"max_iter": self.max_iter, "budget": run.budget}
        auto = self.n_init == "auto"
        starts, singles = (run.effort.clusterings, run.effort.single_starts) if auto else (int(self.n_init), 0)

        def solve(bound: float) -> Partition:
            again, fresh = np.random.default_rng(seed), run.effort.reseedings
            return best_clusters(
                table, k, bound, again, n_init=starts, singles=singles, tol=self.tol, fresh=fresh, **limits
            )

        def path(data: Table, bounds: Array) -> tuple[Array, list[Partition]]:
            again, tol = np.random.default_rng(seed), max(SEARCH.loose_means, self.tol)
            fits = cluster_path(data, k, bounds, again, tol=tol, **limits)
            return np.array([fit.criterion for fit in fits]), fits

        def pruned(found: Partition, wanted: int) -> tuple[float, Partition]:
            return pruned_clusters(table, k, found, wanted)

        return self._bounded(table, solve, path, lambda fit: fit.labels, pruned, run)

    def _publish(self, fit: ClusteringFit, task: WeightBound, found: Partition) -> None:
        table, unit = fit.table, fit.table.unit
        _, first, labels = np.unique(found.labels, return_index=True, return_inverse=True)
        self.labels_ = np.argsort(np.argsort(first))[labels]
        means, _ = means_of(table.values, self.labels_, len(first))
        self.cluster_centers_ = means / unit * table.scale + table.center
        self.feature_weights_, self.weight_bound_ = found.weights, task.value
        self.support_ = np.flatnonzero(found.weights)
        self.criterion_ = found.criterion / unit**2
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        own = weighted_squares(table, means, found.weights)[np.arange(len(labels)), self.labels_]
        self.inertia_ = float(own.sum() / unit**2)

    def _shortcoming(self, fit: ClusteringFit, task: WeightBound) -> str | None:
        if (k := self.n_clusters) == 1:
            return None
        notes = list(task.notes)
        if not self.converged_:
            cure = "a larger time_limit" if fit.run.budget.expired else "a larger max_iter"
            notes.append(
                f"After {self.n_iter_} iterations samples still changed clusters. The best clusters so far are "
                f"returned; {cure} lets them converge."
            )
        if (got := len(self.cluster_centers_)) < k:
            notes.append(
                f"n_clusters={k} was requested, but the features used separate only {got} clusters: {got} "
                "are returned. Increase weight_bound or n_features to separate more samples."
            )
        return " ".join(notes) or None

    def predict(self, X: Any) -> Indices:
        """The nearest cluster of each sample, in the weighted features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(np.argmin(self._distances(X)[0], axis=1))

    def transform(self, X: Any) -> Array:
        """Distances to the centres, in the weighted features: sqrt(sum_j w_j (x_j - m_j)^2), after scaling.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        distances, rows = self._distances(X)
        return in_precision_of(rows, distances)

    def _distances(self, X: Any) -> tuple[Array, Rows]:
        check_is_fitted(self, "feature_weights_")
        rows = checked_rows(self, X, reset=False)
        table = self._table(rows, scale=self.scale_, plain=True, keep=True)
        squares = weighted_squares(table, self.cluster_centers_ / self.scale_, self.feature_weights_)
        return np.sqrt(squares), rows

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
