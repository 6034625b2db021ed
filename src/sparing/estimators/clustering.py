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
            raise ValueError("X has n_samples=1; clusters need at least 2 samples. Pass more rows.")
        scaled = flag("scale", self.scale)
        table = read_table(rows, scale=scaled, missing=self._missing, plain=self._own(), names=self._names())
        self.scale_ = table.scale
        return check_varies(table)

    def _check_settings(self) -> None:
        """Settings that have nothing to do with X."""
        count("max_iter", self.max_iter)
        count("n_permutations", self.n_permutations)
        if not is_number(self.tol) or self.tol < 0:
            raise ValueError(f"tol={self.tol!r} must be a number of at least 0, such as 1e-6.")
        if self.n_features is not None and not self._by_name("auto"):
            raise ValueError(
                f"weight_bound={self.weight_bound!r} and n_features={self.n_features!r} were both given; each decides "
                "how many features are used. Leave weight_bound='auto' with n_features, or n_features=None with "
                "weight_bound."
            )
        k = self.n_clusters
        if self._by_name("fewest") and (k is None or (is_whole(k) and k == 1)):
            raise ValueError(
                f"weight_bound='fewest' looks for few features that give the same clusters, which n_clusters={k!r} "
                "does not say how many of. Pass n_clusters of at least 2, or weight_bound='auto'."
            )

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
                raise ValueError(
                    f"n_features={self.n_features!r}, but X has {varying} features that are not constant. Pass an "
                    f"integer between 1 and {varying}, or None to let weight_bound decide."
                )
            wanted = int(self.n_features)
            bound, found = bound_for_count(solve, lambda fit: fit.weights, wanted, p, run.budget)
            if found.n_used == wanted:
                return bound, found, []
            if run.budget.expired:
                note = (
                    f"n_features={wanted} was asked for, but time_limit ended the search at weight_bound={bound:.6g}, "
                    f"which uses {found.n_used}. A larger time_limit gets closer."
                )
            else:
                note = (
                    f"n_features={wanted} was asked for, but no bound gives exactly that many: "
                    f"weight_bound={bound:.6g} uses {found.n_used}, and a slightly larger one more than {wanted}. "
                    "Features that tie enter together."
                )
            return bound, found, [note]
        if not self._by_name("auto", "fewest"):
            if not is_number(self.weight_bound) or not 1 <= self.weight_bound <= math.sqrt(p) * (1 + 1e-12):
                raise ValueError(
                    f"weight_bound={self.weight_bound!r} must be a number between 1 (one feature) and sqrt(n_features) "
                    f"= {p**0.5:.4g} (all features), 'auto' to choose it by permutations, or 'fewest' for fewer "
                    "features that give the same clusters. To say how many features are used pass n_features instead."
                )
            bound = float(self.weight_bound)
            return bound, solve(bound), []
        observed: list[Fit] = []

        def compared(data: Table, bounds: Array) -> tuple[Array, Indices]:
            criteria, fits = path(data, bounds)
            if data is table:
                observed.extend(fits)
            return criteria, np.array([fit.n_used for fit in fits])

        search = permutation_gap(table, bound_grid(p), compared, self.n_permutations, run.rng, run.budget)
        short, notes = search.n_permutations < self.n_permutations, []
        if short:
            done = search.n_permutations
            used = "the bound is chosen from those" if done else "the bound in the middle of those tried is used"
            notes.append(
                f"time_limit ended the search for weight_bound after {done} of {self.n_permutations} permutations; "
                f"{used}. A larger time_limit, fewer n_permutations, or a weight_bound of your own avoids this."
            )
        bound, found = search.bound, solve(search.bound)
        if self._by_name("fewest") and not run.budget.expired:
            bound, found, agreements = fewest_agreeing(
                search.bounds, observed, (bound, found), solve, labels, run.budget
            )
            search = replace(search, agreements=agreements)
        if self._by_name("fewest") and run.budget.expired and not short:
            notes.append(
                f"time_limit ended the search for the fewest features; weight_bound={bound:.6g} is the smallest known "
                "to give the same clusters. A larger time_limit may find a smaller one."
            )
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
