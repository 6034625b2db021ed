"""What all encoding estimators share once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Imputed, Rows, StandardizedRows, as_matrix, as_rows
from sparing.estimators.inputs import checked_rows, features_named
from sparing.gram import DataMatrix
from sparing.results import Array, Indices


class HasSupport:
    """What is fitted to a few features can say which."""

    support_: Indices
    n_features_in_: int

    def get_support(self, indices: bool = False) -> Any:
        """Which features are used.

        Parameters
        ----------
        indices : bool, default=False
            Sorted indices instead of a mask.

        Returns
        -------
        ndarray of bool of shape (n_features,), or of int with ``indices``
        """
        check_is_fitted(self)
        if indices:
            return self.support_
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask


class FillsGaps:
    """What stands for missing values is learned at fit, and used on new data as well."""

    imputation_: Array

    def _learn_imputation(self, view: DataMatrix) -> None:
        """Keep what takes the place of missing values; forget that of an earlier fit."""
        self.__dict__.pop("imputation_", None)
        if view.imputation is not None:
            self.imputation_ = view.imputation

    def _filled(self, rows: Rows) -> Rows:
        """New rows without what is missing."""
        return Imputed(rows, self.imputation_) if hasattr(self, "imputation_") else rows


class EncodingEstimator(FillsGaps, HasSupport, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scores from a few features, and the best linear way back."""

    components_: Array
    decoder_: Array
    mean_: Array
    scale_: Array

    def transform(self, X: Any) -> Array:
        """Scores of the samples: centred, scaled X times ``components_.T``.

        Score j reads only the features of component j.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        view, rows = self._new_view(X)
        return in_precision_of(rows, self._scores(view))

    def inverse_transform(self, X: Any) -> Array:
        """Data rebuilt from scores by the best linear decoder.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rows = as_rows(X)
        scores = as_matrix(rows)
        if scores.shape[1] != len(self.decoder_):
            raise errors.wrong_n_features(scores.shape[1], len(self.decoder_), "inverse_transform")
        return in_precision_of(rows, scores @ (self.decoder_ * self.scale_) + self.mean_)

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the variance of X around ``mean_`` that survives encoding and decoding; 1 is all of it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        view, _ = self._new_view(X)
        total = view.total
        if total == 0:
            return 1.0
        if not np.isfinite(total):
            raise errors.out_of_scale(float(1 / view.unit))
        scores, G = self._scores(view), self.decoder_
        kept = 2 * np.sum(scores * view.matmat(G.T)) - np.sum((scores.T @ scores) * (G @ G.T))
        return float(kept / total)

    def _new_view(self, X: Any) -> tuple[StandardizedRows, Rows]:
        check_is_fitted(self)
        rows = self._filled(checked_rows(self, X, reset=False))
        with features_named(self):
            return StandardizedRows(rows, mean=self.mean_, deviation=self.scale_), rows

    def _scores(self, view: StandardizedRows) -> Array:
        return view.columns(self.support_) @ self.components_[:, self.support_].T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "mean"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def in_precision_of(rows: Rows, values: Array) -> Array:
    """Values as float32 where the rows are, unless one of them is too large for that."""
    fits = rows.dtype == np.float32 and np.abs(values).max(initial=0.0) <= np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values
