"""The common part of both sparse clusterings: checks, the choice of the bound, the weighted dissimilarity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.clustering import (
    Dissimilarity,
    GapSearch,
    SquaredDifferences,
    bound_for_count,
    bound_grid,
    fewest_agreeing,
    permutation_gap,
)
from sparing.data import Rows
from sparing.data.checkpoint import Checkpoint
from sparing.data.values import Table, read_table
from sparing.estimators.base import FittingEstimator, Found
from sparing.estimators.inputs import checked_rows
from sparing.estimators.parameters import is_number, is_whole
from sparing.results import Array, Indices
from sparing.run import Run


class Weighted(Protocol):
    """A fit to one bound."""

    @property
    def weights(self) -> Array:
        """Weights of the features."""

    @property
    def n_used(self) -> int:
        """Number of features with positive weight."""


Weights = TypeVar("Weights", bound=Weighted)
Solve = Callable[[float], Weights]
Path = Callable[[Table, Array], tuple[Array, list[Weights]]]
Pruned = Callable[[Weights, int], tuple[float, Weights]]


@dataclass(frozen=True)
class ClusteringFit:
    """The checked parameters and data of a fit."""

    table: Table
    run: Run


@dataclass(frozen=True)
class WeightBound:
    """The bound on the weights of an answer, and the warning if it differs from the request."""

    value: float
    notes: list[str] = field(default_factory=list)


class ClusteringEstimator(ClusterMixin, FittingEstimator[ClusteringFit, WeightBound, Found]):
    """Base class for clustering in weighted features."""

    n_clusters: Any
    weight_bound: Any
    n_features: Any
    scale: bool
    n_permutations: int
    max_iter: int
    tol: float
    effort: str

    feature_weights_: Array
    scale_: Array
    bound_search_: GapSearch

    _missing: ClassVar[bool] = False
    _forgotten: ClassVar[tuple[str, ...]] = ("bound_search_", "complementary_")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters and weights of the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            NaN is a missing value in hierarchical clustering.
        y : ignored

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def dissimilarity(self, X: Any) -> Array:
        """How far samples are apart in the weighted features: sum_j w_j d_ii'j.

        Any algorithm that takes a precomputed dissimilarity can cluster by it; ``scipy.spatial.distance.squareform``
        gives the condensed form.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data of the fit, or others with the same features.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            Symmetric, with a zero diagonal, in units of X (squared, where differences are).
        """
        check_is_fitted(self, "feature_weights_")
        rows = checked_rows(self, X, reset=False)
        own = self._own()
        table = self._table(rows, scale=self.scale_ if self.scale else False, plain=own, keep=own)
        D = self._dissimilarity(table)
        return D.weighted(self.feature_weights_) * D.in_units_of_x

    def _dissimilarity(self, table: Table) -> Dissimilarity:
        return SquaredDifferences(table)

    def _own(self) -> bool:
        """Whether the dissimilarity is a user's function."""
        return False

    def _table(self, rows: Rows, **how: Any) -> Table:
        """All rows in memory, standardized; NaN and infinity are errors where they are not missing values."""
        try:
            return read_table(rows, missing=self._missing, **how)
        except errors.NotFiniteError as flaw:
            advice = (
                "Mark values that are not known by NaN: pairs of samples are then compared by the features that both "
                "have."
                if self._missing
                else "Drop those rows, impute them with sklearn.impute.SimpleImputer, or use "
                "SparseHierarchicalClustering, which compares pairs of samples by the features that both have."
            )
            what = errors.nan_or_infinity(flaw.value)
            feature = flaw.named(getattr(self, "feature_names_in_", ())).column
            raise ValueError(
                f"Input X contains {what} (first at row {flaw.row}, feature {feature!r}). {advice}"
            ) from None

    def _prepared(self, X: Any, y: Any, sample_weight: Any, run: Run, checkpoint: Checkpoint | None) -> ClusteringFit:
        self._check_settings()
        rows = checked_rows(self, X, reset=True)
        if rows.shape[0] < 2:
            raise ValueError("X has n_samples=1; clusters need at least 2 samples. Pass more rows.")
        table = self._table(rows, scale=self.scale, plain=self._own())
        self.scale_ = table.scale
        if not table.varying.any():
            raise ValueError(
                "X has no feature in which two samples differ: every feature is constant (or its values are missing), "
                "so no feature can separate clusters. Check that the right rows and columns were passed."
            )
        if (k := self.n_clusters) is not None and (not is_whole(k) or not 1 <= k <= table.shape[0]):
            raise errors.bad_n_clusters(k, table.shape[0])
        return ClusteringFit(table, run)

    def _shortcoming(self, fit: ClusteringFit, task: WeightBound) -> str | None:
        return " ".join(task.notes) or None

    def _check_settings(self) -> None:
        """Check for parameters that exclude one another."""
        if self.n_features is not None and not self._by_name("auto"):
            raise ValueError(
                f"weight_bound={self.weight_bound!r} and n_features={self.n_features!r} were both given; each sets the "
                "number of features. Leave weight_bound='auto' with n_features, or n_features=None with weight_bound."
            )
        k = self.n_clusters
        if self._by_name("fewest") and (k is None or (is_whole(k) and k == 1)):
            raise ValueError(
                f"weight_bound='fewest' looks for few features that give the same clusters and needs their number, but "
                f"n_clusters={k!r}. Pass n_clusters of at least 2, or weight_bound='auto'."
            )

    def _by_name(self, *names: str) -> bool:
        return isinstance(self.weight_bound, str) and self.weight_bound in names

    def _bounded(
        self,
        table: Table,
        solve: Solve[Weights],
        path: Path[Weights],
        labels: Callable[[Weights], Indices],
        pruned: Pruned[Weights],
        run: Run,
    ) -> tuple[WeightBound, Weights]:
        """The bound that the parameters define, and the answer within it.

        ``solve(bound)`` fits to one bound; ``path(table, bounds)`` quickly to many, and returns the criteria for a
        permutation gap; ``labels(found)`` are the clusters of an answer; ``pruned(found, wanted)`` keeps the best
        features.
        """
        p = table.shape[1]
        if self.n_features is not None:
            return self._bound_for_count(table, solve, pruned, run)
        if self._by_name("auto", "fewest"):
            return self._bound_by_gap(table, solve, path, labels, run)
        if not is_number(self.weight_bound) or not 1 <= self.weight_bound <= math.sqrt(p) * (1 + 1e-12):
            raise ValueError(
                f"weight_bound={self.weight_bound!r} must be a number between 1 (one feature) and sqrt(n_features) "
                f"= {p**0.5:.4g} (all features), 'auto' to choose it by permutations, or 'fewest' for fewer "
                "features that give the same clusters. To say how many features are used pass n_features instead."
            )
        bound = float(self.weight_bound)
        return WeightBound(bound), solve(bound)

    def _bound_for_count(
        self, table: Table, solve: Solve[Weights], pruned: Pruned[Weights], run: Run
    ) -> tuple[WeightBound, Weights]:
        """The bound that gives ``n_features`` features."""
        varying = int(np.count_nonzero(table.varying))
        if not is_whole(self.n_features) or not 1 <= self.n_features <= varying:
            raise ValueError(
                f"n_features={self.n_features!r}, but X has {varying} features that are not constant. Pass an "
                f"integer between 1 and {varying}, or None to let weight_bound decide."
            )
        wanted = int(self.n_features)
        value, found = bound_for_count(
            solve, lambda fit: pruned(fit, wanted), lambda fit: fit.weights, wanted, table.shape[1], run.budget
        )
        bound = WeightBound(value)
        if found.n_used != wanted and run.budget.expired:
            bound.notes.append(
                f"n_features={wanted} was requested, but time_limit ended the search at weight_bound={value:.6g}, "
                f"which uses {found.n_used}. Increase time_limit to get closer."
            )
        elif found.n_used != wanted:
            bound.notes.append(
                f"n_features={wanted} was requested, but no bound gives exactly this number: "
                f"weight_bound={value:.6g} uses {found.n_used}, and a slightly larger bound more than {wanted}. Tied "
                "features enter together."
            )
        return bound, found

    def _bound_by_gap(
        self,
        table: Table,
        solve: Solve[Weights],
        path: Path[Weights],
        labels: Callable[[Weights], Indices],
        run: Run,
    ) -> tuple[WeightBound, Weights]:
        """The bound that a permutation gap chooses, or the smallest that gives the same clusters."""
        observed: list[Weights] = []

        def compared(data: Table, bounds: Array) -> tuple[Array, Indices]:
            criteria, fits = path(data, bounds)
            if data is table:
                observed.extend(fits)
            return criteria, np.array([fit.n_used for fit in fits])

        grid, notes = bound_grid(table.shape[1]), list[str]()
        search = permutation_gap(table, grid, compared, self.n_permutations, run.rng, run.budget)
        if (done := search.n_permutations) < self.n_permutations:
            used = "the bound is chosen from those" if done else "the bound in the middle of those tried is used"
            notes.append(
                f"time_limit ended the search for weight_bound after {done} of {self.n_permutations} permutations; "
                f"{used}. Increase time_limit, reduce n_permutations, or set weight_bound to a number."
            )
        value, found = search.bound, solve(search.bound)
        if self._by_name("fewest") and not run.budget.expired:
            known = value, found
            value, found, agreements = fewest_agreeing(search.bounds, observed, known, solve, labels, run.budget)
            search = replace(search, agreements=agreements)
        if self._by_name("fewest") and run.budget.expired and not notes:
            notes.append(
                f"time_limit ended the search for the fewest features; weight_bound={value:.6g} is the smallest known "
                "to give the same clusters. Increase time_limit to find a smaller one."
            )
        self.bound_search_ = search
        return WeightBound(value, notes), found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._missing
        return tags
