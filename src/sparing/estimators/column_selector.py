"""Unsupervised feature selection as a step of a pipeline."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from sparing import errors
from sparing.data import Rows, as_matrix, as_rows
from sparing.estimators.base import Fit, FittingEstimator, ViewEstimator
from sparing.estimators.encoding import in_precision_of, share_explained
from sparing.estimators.feature_rules import Counted
from sparing.estimators.new_data import support_columns, support_rows
from sparing.estimators.parameters import checked_components, count, resolved
from sparing.linalg import top_spectrum
from sparing.linalg.span import DEPENDENT
from sparing.methods.encoders import Batch
from sparing.methods.selectors import SELECTORS, DualSet, Greedy
from sparing.results import Array, Encoder, Indices
from sparing.run import Run
from sparing.task import Task


@dataclass(eq=False, repr=False)
class ColumnSelector(SelectorMixin, ViewEstimator[Batch, Encoder]):
    """Select the features from which the principal components of all features are rebuilt best.

    A feature-selection transformer that needs no labels: ``transform`` returns columns of X as they are, and
    ``inverse_transform`` predicts the others from them. The features are those of a :class:`SparseEncoder`
    [magdonismail2015, Sec. 2.2].

    Parameters
    ----------
    n_features_to_select : int, default=10
        Number of features to keep. Fewer are kept only if no further feature would add anything, with a warning.
    n_components : int or None, default=2
        Number of principal components that the features should explain. None: the same number as features, which are
        then chosen to predict all others.
    include, exclude : names, indices or a mask, optional
        Features that must be read, and features that must not be read. An excluded feature is still predicted and
        counts in ``variance_kept_``.
    costs : array-like of shape (n_features,) or dict by name, with max_cost : float, optional
        Cost of each feature, and budget for all features that are read. At most ``n_features_to_select`` features are
        read.
    groups : labels of shape (n_features,) or dict by name, with max_per_group : int or dict by label, optional
        Maximum number of features read from one group. The label None means no group.
    noise_variance : float, array-like of shape (n_features,), dict by name, "auto" or None, default=None
        Variance of independent noise on every reading, in squared units of X (after ``scale``; with it, shares of a
        feature's variance). Features and decoder are then the best for readings with this noise, as with real sensors;
        the same number for all features shrinks predictions as ridge regression does. "auto": the multiple of the mean
        variance, of 0, .03, .1, .3, 1, 3 and 10, that keeps most variance of unread features in held-out samples (5
        folds). It improves predictions of new samples if features outnumber samples.
    selector : str or a selector, default="auto"
        How features are chosen; as in :class:`SparseEncoder`.
    center, scale : bool, default=True, False
        Judge features after subtracting means and dividing by standard deviations (n - 1). ``transform`` does neither.
    missing : {"error", "mean"}, default="error"
        How to treat NaN: raise an error, or replace it by the mean of its feature (``imputation_``) while features are
        chosen. ``transform`` leaves NaN unchanged.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of search and proof when there is no time limit.
    time_limit : float, optional
        Seconds after which the best features so far are kept.
    random_state : int, Generator, RandomState or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    support_ : ndarray of int
        Sorted indices of the features kept; ``get_support()`` gives the mask.
    ranking_ : ndarray of int
        The same features, the most useful first: each adds most to those before it.
    variance_kept_ : float
        Share of the variance of PCA's ``n_components`` components that is explained by the same number of components on
        these features alone, at most 1.
    feature_r2_ : ndarray of shape (n_features,)
        How well ``inverse_transform`` predicts each feature: 1 - residual variance / variance. 1 for those kept and
        for constant ones. With noise: each feature without noise, predicted from noisy readings.
    noise_variance_ : float or ndarray of shape (n_features,)
        Variance of the assumed noise; 0 for none.
    decoder_ : ndarray of shape (len(support_), n_features)
        Least-squares prediction of centred features from those kept.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature; zero without ``center``.
    loss_ratio_ : float
        Loss of ``n_components`` components that read only these features, divided by PCA's loss (at least 1).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sparing import ColumnSelector
    >>> kept = ColumnSelector(n_features_to_select=2, random_state=0).fit(load_iris(as_frame=True).data)
    >>> list(kept.get_feature_names_out())
    ['sepal length (cm)', 'petal length (cm)']
    """

    n_features_to_select: int = 10
    n_components: int | None = 2
    include: Any = None
    exclude: Any = None
    costs: Any = None
    max_cost: float | None = None
    groups: Any = None
    max_per_group: Any = None
    noise_variance: Any = None
    selector: Any = "auto"
    center: bool = True
    scale: bool = False
    missing: str = "error"
    effort: str = "default"
    time_limit: float | None = None
    random_state: Any = 0
    verbose: bool = False

    _optional: ClassVar[tuple[str, ...]] = ("n_components",)

    def _counts(self, n_features: int, n_samples: int | None) -> tuple[int, int]:
        wanted = min(count("n_features_to_select", self.n_features_to_select), n_features)
        return wanted if self.n_components is None else checked_components(self.n_components, n_features), wanted

    def _counted(self, n_features: int, n_samples: int | None) -> Counted:
        wanted = self._counts(n_features, n_samples)[1]
        return Counted("n_features_to_select", wanted, wanted)

    def _solve(self, fit: Fit[Batch]) -> tuple[Task, Encoder]:
        pca = top_spectrum(fit.view, fit.n_components, fit.run.rng)
        task = Task.of_components(fit.view, pca.leading(fit.n_nonzero), fit.n_nonzero, rules=fit.rules)
        return replace(task, target=pca), fit.algorithm.encode(task, fit.run)

    def _publish(self, fit: Fit[Batch], task: Task, found: Encoder) -> None:
        spectrum = task.spectrum.leading(task.problem.n_components)
        self.support_, self.loss_ratio_ = found.support, spectrum.loss_ratio(found.loss)
        self.variance_kept_ = task.spectrum.variance_kept(found.loss)
        self.ranking_ = _by_worth(replace(task, target=spectrum), found.support, fit.run)
        view, used = fit.view, found.support
        columns = view.gram_columns(used)
        inverse = np.linalg.pinv(columns[used], rtol=DEPENDENT, hermitian=True)
        weights = inverse @ columns.T  # of centred, scaled features
        self.feature_r2_ = share_explained(np.einsum("ij,ji->i", columns, weights), view.signal.gram_diagonal())
        self.mean_, self.scale_ = view.mean, view.scale
        self.decoder_ = weights * view.scale / view.scale[used][:, None]
        self.decoder_[:, used] = np.eye(len(used))
        clean = view.signal.gram_diagonal()[used]
        own = np.zeros(len(used)) if view.noise is None else view.noise[used]
        self.feature_r2_[used] = 1.0 - np.divide(own, clean, out=np.zeros(len(used)), where=clean > 0)

    def _shortcoming(self, fit: Fit[Batch], task: Task) -> str | None:
        wanted, n_features = self.n_features_to_select, fit.view.n_features
        if wanted > n_features:
            return f"n_features_to_select={wanted} was requested, but X has only {n_features} features."
        if (got := len(self.support_)) < wanted and not fit.rules.has_budget:
            return (
                f"n_features_to_select={wanted} was requested, but {got} feature(s) already keep what PCA keeps, or "
                f"the others depend on them: {got} are kept. Increase n_components to keep more of X."
            )
        return None

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X unchanged.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or opened file of shape (n_samples, n_features)
            Or only the features of ``support_``: as in :meth:`SparseEncoder.transform`.

        Returns
        -------
        ndarray, sparse matrix or data frame of shape (n_samples, len(support_))
        """
        check_is_fitted(self)
        if isinstance(X, Rows):
            places = np.arange(len(self.support_))
            parts = support_rows(self, X).run(lambda block: [block.columns(places)], operator.add)
            kept = np.concatenate(parts)
            return kept if self.missing == "mean" else as_matrix(kept)
        chosen = support_columns(self, X)
        stored: Any = chosen.source if isinstance(chosen, Rows) else chosen
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn tests for NaN by summing all numbers
            return check_array(stored, accept_sparse="csr", dtype=None, ensure_all_finite=self.missing != "mean")

    def inverse_transform(self, X: Any) -> Any:
        """Predict all features from the selected ones by least squares; the selected ones are returned unchanged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, len(support_))

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rows = as_rows(X)
        kept = as_matrix(rows)
        if kept.shape[1] != len(self.support_):
            raise errors.wrong_n_features(kept.shape[1], len(self.support_), "inverse_transform")
        predicted = (kept - self.mean_[self.support_]) @ self.decoder_ + self.mean_
        predicted[:, self.support_] = kept
        return in_precision_of(rows, predicted)

    @property
    def _linear(self) -> tuple[Array, Array]:
        """Loadings on ``support_`` and decoder, of centred and scaled features."""
        return np.eye(len(self.support_)), self.decoder_ * self.scale_[self.support_][:, None] / self.scale_

    def _algorithm(self) -> Batch:
        if isinstance(self.selector, str) and self.selector == "auto":
            return Batch(Greedy(), safeguard=DualSet())
        return Batch(resolved("selector", SELECTORS, "select", self.selector, also=("auto",)))

    def _get_support_mask(self) -> Any:
        return FittingEstimator.get_support(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _by_worth(task: Task, support: Indices, run: Run) -> Indices:
    """The support in the order of forward selection; features that add nothing come last."""
    pca = task.spectrum
    target = replace(pca, basis=pca.basis[support], cross=pca.cross[support])
    inside = Task.of_columns(task.gram.restricted(support), len(support), target)
    order = Greedy(swaps=False).select(inside, run.unlimited()).columns
    return np.concatenate([support[order], np.delete(support, order)])
