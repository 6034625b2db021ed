"""The methods that all encoding estimators share after the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Rows, as_matrix, as_rows, standardized
from sparing.data.readers.notes import unique_names
from sparing.estimators.base import Algorithm, Fit, Found, ViewEstimator
from sparing.estimators.inputs import features_named, named_or_numbered
from sparing.estimators.new_data import full_rows
from sparing.gram import DataMatrix
from sparing.results import Array, Encoder, Indices
from sparing.task import Task


class LinearScores(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ViewEstimator[Algorithm, Found]):
    """Base class for linear scores of a few features."""

    components_: Array

    def transform(self, X: Any) -> Array:
        """Scores of the samples: centred, scaled X times ``components_.T``.

        Score j reads only the features of component j, and nothing but the features of ``support_`` is needed.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or opened file of shape (n_samples, n_features)
            Or a data frame or file with the features of ``support_`` by name, in any order, further columns ignored; or
            an array of these features alone, in the order of ``support_``. Other features may be missing (NaN).

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        rows, columns = self._support_columns(X)
        return in_precision_of(rows, columns @ self.components_[:, self.support_].T)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class EncodingEstimator(LinearScores[Algorithm, Encoder]):
    """Base class for scores from a few features with the best linear decoder."""

    decoder_: Array
    loss_: float
    loss_ratio_: float
    variance_kept_: float
    feature_r2_: Array
    explained_variance_ratio_: Array
    n_components_: int
    feature_names_out: str

    def _publish(self, fit: Fit[Algorithm], task: Task, found: Encoder) -> None:
        view, spectrum = fit.view, task.spectrum.leading(task.problem.n_components)
        self.components_, self.decoder_, self.support_ = found.components, found.decoder, found.support
        self.mean_, self.scale_ = view.mean, view.scale
        self.loss_, self.loss_ratio_ = found.loss * view.square_unit, spectrum.loss_ratio(found.loss)
        self.variance_kept_ = task.spectrum.variance_kept(found.loss)
        self.feature_r2_ = feature_r2(view, found.explained, found.support, found.decoder, found.loadings)
        self.explained_variance_ratio_ = found.captured / spectrum.total
        self.n_components_ = len(found.loadings)

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
            All features, because a feature that is not measured cannot be compared with its prediction.
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
        rows = self._filled(full_rows(self, X))
        with features_named(self):
            return standardized(rows, mean=self.mean_, deviation=self.scale_), rows

    def _scores(self, view: DataMatrix) -> Array:
        return view.columns(self.support_) @ self.components_[:, self.support_].T

    @property
    def _linear(self) -> tuple[Array, Array]:
        """Loadings on ``support_`` and decoder, of centred and scaled features."""
        return self.components_[:, self.support_], self.decoder_

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the scores, by ``feature_names_out``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, if the model has none.

        Returns
        -------
        ndarray of str
        """
        numbered = super().get_feature_names_out(input_features)
        if self.feature_names_out == "numbered":
            return numbered
        names = named_or_numbered(getattr(self, "feature_names_in_", input_features), self.n_features_in_)
        pairs = zip(self.components_, numbered, strict=True)
        leading = [leading_features(loadings, names) or number for loadings, number in pairs]
        return np.array(unique_names(leading)[0], dtype=object)


def leading_features(loadings: Array, names: Sequence[str]) -> str:
    """The names of the up to three features with the largest loadings, each cut to 40 characters."""
    largest = np.argsort(-np.abs(loadings), kind="stable")[:3].tolist()
    read = [str(names[j]) for j in largest if loadings[j] != 0]
    return "+".join(name if len(name) <= 40 else f"{name[:39]}…" for name in read)


def feature_r2(view: DataMatrix, explained: Array, support: Indices, decoder: Array, loadings: Array) -> Array:
    """How well each feature, without noise, is predicted from readings that may have some.

    The best decoder G of loadings H under noise explains g'S g of a noisy reading, with S = H'AH. For a feature that is
    read, 2 noise_j (H'G)_jj of this is the noise itself.
    """
    explained = explained.copy()
    if view.noise is not None:
        explained[support] -= 2 * view.noise[support] * np.einsum("ij,ij->j", loadings, decoder[:, support])
    return share_explained(explained, view.signal.gram_diagonal())


def share_explained(explained: Array, squares: Array) -> Array:
    """The explained share of the variance of each feature; 1 for a feature without variance."""
    varies = squares > 0
    return np.where(varies, np.minimum(explained / np.where(varies, squares, 1.0), 1.0), 1.0)


def in_precision_of(rows: Rows, values: Array) -> Array:
    """Values as float32 if the rows are, unless one of them is too large."""
    fits = rows.dtype == np.float32 and np.abs(values).max(initial=0.0) <= np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values
