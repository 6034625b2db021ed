"""What both sparse clusterings share: checks, the choice of the bound, the weighted dissimilarity."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.clustering import (
    Dissimilarity,
    GapSearch,
    SquaredDifferences,
    Table,
    bound_for_count,
    bound_grid,
    check_varies,
    fewest_agreeing,
    permutation_gap,
    read_table,
)
from sparing.errors import clustering as sentences
from sparing.estimators.base import HasSupport
from sparing.estimators.inputs import checked_rows
from sparing.estimators.parameters import count, flag, is_whole
from sparing.results import Array, Indices
from sparing.run import Run


class Weighted(Protocol):
    """A fit to one bound."""

    @property
    def weights(self) -> Array:
        """Of the features."""

    @property
    def n_used(self) -> int:
        """Features of positive weight."""


Fit = TypeVar("Fit", bound=Weighted)


def is_number(value: Any) -> bool:
    """A finite real number; True and False are none."""
    kinds = (int, float, np.integer, np.floating)
    try:
        return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


class ClusteringEstimator(HasSupport, ClusterMixin, BaseEstimator):
    """Clusters in weighted features."""

    n_clusters: Any
    weight_bound: Any
    n_features: int | None
    scale: bool
    n_permutations: int
    max_iter: int
    tol: float

    feature_weights_: Array
    scale_: Array
    bound_search_: GapSearch

    _missing: ClassVar[bool] = False

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
        given = self.scale_ if self.scale else False
        own = self._own()
        table = read_table(rows, scale=given, missing=self._missing, plain=own, keep=own, names=self._names())
        D = self._dissimilarity(table)
        return D.weighted(self.feature_weights_) * D.in_units_of_x

    def _dissimilarity(self, table: Table) -> Dissimilarity:
        return SquaredDifferences(table)

    def _own(self) -> bool:
        """Is the dissimilarity a function of the user's?"""
        return False

    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", ())

    def _table(self, X: Any) -> Table:
        """Checked data of a fit."""
        self.__dict__.pop("bound_search_", None)  # of an earlier fit
        rows = checked_rows(self, X, reset=True)
        if rows.shape[0] < 2:
            raise sentences.one_sample()
        scaled = flag("scale", self.scale)
        table = read_table(rows, scale=scaled, missing=self._missing, plain=self._own(), names=self._names())
        self.scale_ = table.scale
        return check_varies(table)

    def _check_settings(self) -> None:
        """Settings that have nothing to do with X."""
        count("max_iter", self.max_iter)
        count("n_permutations", self.n_permutations)
        if not is_number(self.tol) or self.tol < 0:
            raise sentences.bad_tolerance("tol", self.tol)
        if self.n_features is not None and not self._by_name("auto"):
            raise sentences.two_bounds(self.weight_bound, self.n_features)
        k = self.n_clusters
        if self._by_name("fewest") and (k is None or (is_whole(k) and k == 1)):
            raise sentences.fewest_needs_clusters(k)

    def _by_name(self, *names: str) -> bool:
        return isinstance(self.weight_bound, str) and self.weight_bound in names

    def _bounded(
        self,
        table: Table,
        solve: Callable[[float], Fit],
        path: Callable[[Table, Array], tuple[Array, list[Fit]]],
        labels: Callable[[Fit], Indices],
        run: Run,
    ) -> tuple[float, Fit, list[str]]:
        """The bound that the parameters ask for, the fit to it, and what is to be said about it.

        ``solve(bound)`` fits to one bound; ``path(table, bounds)`` quickly to many, and says what a permutation gap is
        to compare; ``labels(fit)`` are the clusters of a fit.
        """
        p = table.shape[1]
        if self.n_features is not None:
            varying = int(np.count_nonzero(table.varying))
            if not is_whole(self.n_features) or not 1 <= self.n_features <= varying:
                raise sentences.bad_n_features(self.n_features, varying)
            wanted = int(self.n_features)
            bound, found = bound_for_count(solve, lambda fit: fit.weights, wanted, p, run.budget)
            if found.n_used == wanted:
                return bound, found, []
            return bound, found, [sentences.n_features_missed(wanted, found.n_used, bound, run.budget.expired)]
        if not self._by_name("auto", "fewest"):
            if not is_number(self.weight_bound) or not 1 <= self.weight_bound <= math.sqrt(p) * (1 + 1e-12):
                raise sentences.bad_weight_bound(self.weight_bound, p)
            bound = float(self.weight_bound)
            return bound, solve(bound), []
        observed: list[Fit] = []

        def compared(data: Table, bounds: Array) -> tuple[Array, Indices]:
            criteria, fits = path(data, bounds)
            if data is table:
                observed.extend(fits)
            return criteria, np.array([fit.n_used for fit in fits])

        search = permutation_gap(table, bound_grid(p), compared, self.n_permutations, run.rng, run.budget)
        short = search.n_permutations < self.n_permutations
        notes = [sentences.permutations_cut_short(search.n_permutations, self.n_permutations)] if short else []
        bound, found = search.bound, solve(search.bound)
        if self._by_name("fewest") and not run.budget.expired:
            bound, found, agreements = fewest_agreeing(
                search.bounds, observed, (bound, found), solve, labels, run.budget
            )
            search = replace(search, agreements=agreements)
        if self._by_name("fewest") and run.budget.expired and not short:
            notes.append(sentences.fewest_cut_short(bound))
        self.bound_search_ = search
        return bound, found, notes

    def _warn(self, notes: list[str]) -> None:
        """One warning for all that is not quite as asked for."""
        if notes:
            warnings.warn(" ".join(notes), errors.SparingWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._missing
        return tags
