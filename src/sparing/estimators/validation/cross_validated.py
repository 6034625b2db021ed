"""Cross-validation of an estimator: every fold selects its features again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from sparing.certificates.sentences import counted
from sparing.data import Rows, standardized
from sparing.estimators.base import ViewEstimator
from sparing.estimators.new_data import full_rows
from sparing.estimators.validation.folds import (
    NOTHING_TRANSFERS,
    Fold,
    folds_of,
    named_rows,
    over_folds,
    standard_error,
    transfers,
    warn_nothing_transfers,
)
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.results import Array, Indices


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Shares of the variance of held-out samples that an estimator keeps, by fold.

    Print it for a summary. Shares refer to squared deviations from the means of the training samples: 0 is the share of
    these means, 1 is everything, and there is no lower limit.

    Attributes
    ----------
    unread : ndarray of shape (n_folds,)
        Share of the features that are not read, predicted from those that are: an unbiased estimate, because no value
        enters its own prediction. For a regressor, share of the targets.
    everything : ndarray of shape (n_folds,)
        Share of all features, including those that are read.
    pca, pca_everything : ndarray of shape (n_folds,)
        The same for PCA with the same number of components. It reads every feature, including those that it predicts.
        For a regressor, share of the targets by regression on the principal components.
    in_sample : ndarray of shape (n_folds,)
        Like ``everything``, for the training samples.
    kept, kept_se : float
        Mean of ``unread`` over the folds, and its standard error.
    pca_kept : float
        Mean of ``pca``.
    supports : list of ndarray
        The features that each fold reads.
    n_samples, n_features : int
    """

    unread: Array
    everything: Array
    pca: Array
    pca_everything: Array
    in_sample: Array
    supports: list[Indices] = field(repr=False)
    folds: list[Fold] = field(repr=False)
    n_components: int
    n_samples: int
    n_features: int
    of_targets: bool = False

    @property
    def kept(self) -> float:
        """Mean share of the features that are not read, over the folds."""
        return float(self.unread.mean())

    @property
    def kept_se(self) -> float:
        """Standard error of ``kept``."""
        return float(standard_error(self.unread, self.folds))

    @property
    def pca_kept(self) -> float:
        """Mean share that PCA keeps of the same features, over the folds."""
        return float(self.pca.mean())

    @property
    def transfers(self) -> bool:
        """Whether ``kept`` is above zero by more than two standard errors."""
        return transfers(self.kept, self.kept_se)

    def __str__(self) -> str:
        read = np.mean([len(support) for support in self.supports])
        what = "the targets" if self.of_targets else "the features not read"
        first = (
            f"New samples: {read:,.0f} of {counted(self.n_features, 'feature')} keep {self.kept:.1%} +- "
            f"{self.kept_se:.1%} of the variance of {what} ({len(self.unread)} folds, "
            f"{counted(self.n_samples, 'sample')})."
        )
        by = "regression on it" if self.of_targets else "it"
        pca = f"PCA with {counted(self.n_components, 'component')} reads everything: {by} keeps {self.pca_kept:.1%}."
        return "\n".join([first, pca, *([] if self.transfers else [f"{NOTHING_TRANSFERS}."])])


def cross_validated(
    estimator: Any, X: Any, y: Any = None, *, cv: Any = 5, groups: Any = None, n_jobs: int | None = None
) -> HeldOut:
    """Share of the variance of new samples that an estimator keeps, compared with PCA.

    Every fold chooses its features and computes means and scales again; features chosen once, on all samples, would
    look too good. The honest number is that of the features that are not read.

    Parameters
    ----------
    estimator : SparseEncoder, ColumnSelector, SparsePCA, NonnegativeSparsePCA, DoublySparseEncoder, SparsePCARegressor
        Not fitted, or fitted: its parameters are used. Its ``time_limit`` is that of each fold's fit.
    X : array-like, sparse matrix, data frame, Dask array or rows of ``open_data``, of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Targets of a regressor.
    cv : int, splitter of scikit-learn or pairs of indices, default=5
        A number means that many folds of shuffled samples. Samples that belong together, such as those of one patient,
        need ``GroupKFold`` and ``groups``; series in time need ``TimeSeriesSplit``.
    groups : array-like of shape (n_samples,), optional
    n_jobs : int, optional
        Number of folds to run in parallel, as in scikit-learn. Folds of a Dask array run one after the other, because
        its scheduler already runs in parallel.

    Returns
    -------
    HeldOut
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparing import SparseEncoder, cross_validated
    >>> print(cross_validated(SparseEncoder(2, n_nonzero=4, scale=True, effort="quick"), load_wine().data))
    New samples: 4 of 13 features keep 38.2% +- 1.8% of the variance of the features not read (5 folds, 178 samples).
    PCA with 2 components reads everything: it keeps 48.6%.
    """
    if not isinstance(estimator, ViewEstimator):
        raise TypeError(
            f"cross_validated was given a {type(estimator).__name__}; it needs an encoder, a ColumnSelector, a sparse "
            "PCA or a SparsePCARegressor of sparing. For a pipeline, pass its last step and the transformed samples."
        )
    if getattr(estimator, "precomputed", False):
        raise ValueError(
            "cross_validated needs samples, but a covariance has none. Pass the samples themselves, with "
            "precomputed=False."
        )
    if y is None and _predicts(estimator):
        raise ValueError(f"{type(estimator).__name__} predicts targets: pass them as y, one for each sample of X.")
    rows = named_rows(X)
    folds = folds_of(cv, rows.shape[0], y, groups)
    targets = None if y is None else np.asarray(y)
    found = over_folds(
        _judged, ((estimator, rows, targets, *fold) for fold in folds), n_jobs if rows.is_local else None
    )
    unread, everything, pca, pca_everything, in_sample = np.array([shares for shares, _, _ in found]).T
    warn_nothing_transfers(float(unread.mean()), float(standard_error(unread, folds)))
    return HeldOut(
        unread,
        everything,
        pca,
        pca_everything,
        in_sample,
        supports=[support for _, support, _ in found],
        folds=folds,
        n_components=max(k for _, _, k in found),
        n_samples=rows.shape[0],
        n_features=rows.shape[1],
        of_targets=_predicts(estimator),
    )


def _predicts(estimator: Any) -> bool:
    return hasattr(estimator, "predict")


def _judged(
    estimator: Any, rows: Rows, y: Array | None, train: Indices, test: Indices
) -> tuple[tuple[float, ...], Indices, int]:
    """The shares of one fold, the features that it reads, and its number of components."""
    model = clone(estimator)
    if "certify" in model.get_params(deep=False):
        model.set_params(certify=False)
    learning, new = rows.chosen(train), rows.chosen(test)
    model.fit(learning, *([] if y is None or not _predicts(model) else [y[np.unique(train)]]))
    known, view = new_view(model, learning), new_view(model, new)
    k = model.n_components if _predicts(model) else len(model._linear[0])
    pca = top_spectrum(known, min(k, known.n_features), np.random.default_rng(0)).basis
    if _predicts(model):
        assert y is not None
        kept = _of_targets(model, (known, view), pca, (y[np.unique(train)], y[np.unique(test)]), (learning, new))
        return kept, model.support_, pca.shape[1]
    unread = np.delete(np.arange(view.n_features), model.support_)
    everything = np.arange(view.n_features)
    loadings, decoder = model._linear
    ours = residuals(view, view.columns(model.support_) @ loadings.T, decoder)
    theirs = residuals(view, view.matmat(pca), pca.T)
    before = residuals(known, known.columns(model.support_) @ loadings.T, decoder)
    shares = [share_kept(view, left, part) for left in (ours, theirs) for part in (unread, everything)]
    return (*shares, share_kept(known, before, everything)), model.support_, k


def new_view(model: Any, rows: Rows) -> DataMatrix:
    """Rows centred and scaled as by a fitted model."""
    return standardized(model._filled(full_rows(model, rows)), mean=model.mean_, deviation=model.scale_)


def residuals(view: DataMatrix, scores: Array, decoder: Array) -> Array:
    """Residual sums of squares of each feature for a decoder (k x d) and scores (n x k), in one pass."""
    products = view.rmatmat(scores)
    rebuilt = np.einsum("ij,ij->j", decoder, (scores.T @ scores) @ decoder)
    left: Array = view.gram_diagonal() - 2 * np.einsum("ij,ji->i", products, decoder) + rebuilt
    return left


def share_kept(view: DataMatrix, left: Array, features: Indices) -> float:
    """Explained share of the squares of some features; 0 if they are zero."""
    total = float(view.gram_diagonal()[features].sum())
    return 1.0 - float(left[features].sum()) / total if total > 0 else 0.0


def _of_targets(
    model: Any, views: tuple[DataMatrix, DataMatrix], pca: Array, targets: tuple[Array, Array], rows: tuple[Rows, Rows]
) -> tuple[float, ...]:
    """Shares of the variance of targets, about their means in training, by a regressor and by PCA regression."""
    Y = [part.reshape(len(part), -1).astype(np.float64) for part in targets]
    mean = Y[0].mean(axis=0) if model.fit_intercept else np.zeros(Y[0].shape[1])
    scores = [view.matmat(pca) for view in views]
    by_pca = scores[1] @ np.linalg.lstsq(scores[0], Y[0] - mean, rcond=None)[0] + mean
    before, ours = (model.predict(part).reshape(len(part_of), -1) for part, part_of in zip(rows, Y, strict=True))
    kept = [_r2(Y[1], ours, mean), _r2(Y[1], by_pca, mean), _r2(Y[0], before, mean)]
    return kept[0], kept[0], kept[1], kept[1], kept[2]


def _r2(Y: Array, predicted: Array, mean: Array) -> float:
    total = float(np.square(Y - mean).sum())
    return 1.0 - float(np.square(Y - predicted).sum()) / total if total > 0 else 0.0
