"""What all encoding estimators share once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Rows, as_matrix, as_rows, standardized
from sparing.estimators.base import Algorithm, Fit, ViewEstimator
from sparing.estimators.inputs import checked_rows, features_named
from sparing.gram import DataMatrix
from sparing.results import Array, Encoder
from sparing.task import Task


class EncodingEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ViewEstimator[Algorithm, Encoder]):
    """Scores from a few features, and the best linear way back."""

    components_: Array
    decoder_: Array
    mean_: Array
    scale_: Array
    loss_: float
    loss_ratio_: float
    explained_variance_ratio_: Array
    n_components_: int

    def _publish(self, fit: Fit[Algorithm], task: Task, found: Encoder) -> None:
        view, spectrum = fit.view, task.spectrum
        self.components_, self.decoder_, self.support_ = found.components, found.decoder, found.support
        self.mean_, self.scale_ = view.mean, view.scale
        self.loss_, self.loss_ratio_ = found.loss * view.square_unit, spectrum.loss_ratio(found.loss)
        self.explained_variance_ratio_ = found.captured / spectrum.total
        self.n_components_ = len(found.loadings)

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

    def _new_view(self, X: Any) -> tuple[DataMatrix, Rows]:
        check_is_fitted(self)
        rows = self._filled(checked_rows(self, X, reset=False))
        with features_named(self):
            return standardized(rows, mean=self.mean_, deviation=self.scale_), rows

    def _scores(self, view: DataMatrix) -> Array:
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
