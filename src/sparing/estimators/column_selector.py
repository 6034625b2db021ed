"""The features that say most of what all of them say, as a step of a pipeline."""

from __future__ import annotations

import operator
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Rows, as_matrix
from sparing.data.sources import is_lazy
from sparing.estimators.encoding import FillsGaps, HasSupport
from sparing.estimators.inputs import (
    check_has_variance,
    checked_rows,
    checked_view,
    count,
    fit_context,
    generator_of,
    preprocessing_from,
    resolved,
    restore_on_failure,
)
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders import Batch
from sparing.methods.selectors import SELECTORS, DualSet, Greedy
from sparing.results import Indices, Spectrum
from sparing.run import Budget, Run
from sparing.task import Task


class ColumnSelector(FillsGaps, HasSupport, SelectorMixin, BaseEstimator):
    """Keep the features from which the principal components of all of them are rebuilt best.

    A feature-selection transformer that needs no labels: ``transform`` returns columns of X as they are. The features
    are those of a :class:`SparseEncoder` [magdonismail2015, Sec. 2.2].

    Parameters
    ----------
    n_features_to_select : int, default=10
        Number of features to keep. Fewer are kept only where no further feature would add anything, with a warning.
    n_components : int, default=2
        Number of principal components that the features should tell.
    selector : str or a selector, default="auto"
        How features are chosen; as in :class:`SparseEncoder`.
    center, scale : bool, default=True, False
        Judge features after subtracting means and dividing by standard deviations (n - 1). ``transform`` does neither.
    missing : {"error", "mean"}, default="error"
        What NaN means: a mistake, or a missing value, which the mean of its feature (``imputation_``) then stands for
        while features are judged. ``transform`` leaves NaN as they are.
    random_state : int, Generator, RandomState or None, default=None
    verbose : bool, default=False

    Attributes
    ----------
    support_ : ndarray of int
        Sorted indices of the features kept; ``get_support()`` gives the mask.
    ranking_ : ndarray of int
        The same features, the most useful first: each adds most to those before it.
    loss_ratio_ : float
        What ``n_components`` components lose that read only these features, divided by what PCA loses (at least 1).
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

    support_: Indices
    ranking_: Indices
    n_features_in_: int

    def __init__(
        self,
        n_features_to_select: int = 10,
        n_components: int = 2,
        selector: Any = "auto",
        center: bool = True,
        scale: bool = False,
        missing: str = "error",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.selector = selector
        self.center = center
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.verbose = verbose

    @restore_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ColumnSelector:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers count as that many copies of a row.

        Returns
        -------
        ColumnSelector
        """
        preprocessing = preprocessing_from(self.center, self.scale, missing=self.missing)
        budget, rng, encoder = Budget.of(None, self.verbose), generator_of(self.random_state), self._encoder()
        wanted = count("n_features_to_select", self.n_features_to_select)
        n_components = count("n_components", self.n_components)
        view = checked_view(self, X, preprocessing, sample_weight, budget.say)
        self._learn_imputation(view)
        if n_components > view.n_features:
            raise errors.n_components_too_large(n_components, view.n_features)
        check_has_variance(view, preprocessing.center)
        with fit_context(view, n_components):
            at_most = min(wanted, view.n_features)
            spectrum = top_spectrum(view, min(n_components, at_most), rng)
            found = encoder.encode(Task.of_components(view, spectrum, at_most), Run(rng, budget))
            self.support_, self.loss_ratio_ = found.support, spectrum.loss_ratio(found.loss)
            self.ranking_ = _by_worth(view, found.support, spectrum, rng)
        if wanted > view.n_features:
            message = (
                f"n_features_to_select={wanted} was asked for, but X has {view.n_features} features: no more can be "
                "kept."
            )
            warnings.warn(message, errors.SparingWarning, stacklevel=3)
        elif (got := len(self.support_)) < wanted:
            message = (
                f"n_features_to_select={wanted} was asked for, but {got} feature(s) already give what PCA gives, or "
                f"the others depend on them: {got} are kept. A larger n_components asks for more of X."
            )
            warnings.warn(message, errors.SparingWarning, stacklevel=3)
        return self

    def transform(self, X: Any) -> Any:
        """The columns of X that are kept, as they are.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or opened file of shape (n_samples, n_features)

        Returns
        -------
        ndarray, sparse matrix or data frame of shape (n_samples, len(support_))
        """
        if isinstance(X, Rows):
            check_is_fitted(self)
            parts = checked_rows(self, X, reset=False).run(lambda block: [block.columns(self.support_)], operator.add)
            kept = np.concatenate(parts)
            return kept if self.missing == "mean" else as_matrix(kept)
        if is_lazy(X):
            raise errors.lazy_table(X)
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks for NaN by adding all numbers up
            return super().transform(X)

    def _encoder(self) -> Batch:
        if isinstance(self.selector, str) and self.selector == "auto":
            return Batch(Greedy(), safeguard=DualSet())
        return Batch(resolved("selector", SELECTORS, "select", self.selector, also=("auto",)))

    def _get_support_mask(self) -> Any:
        return self.get_support()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _by_worth(view: DataMatrix, support: Indices, spectrum: Spectrum, rng: np.random.Generator) -> Indices:
    """The support in the order in which forward selection takes it; what adds nothing comes last."""
    target = replace(spectrum, basis=spectrum.basis[support], cross=spectrum.cross[support])
    order = (
        Greedy(swaps=False).select(Task.of_columns(view.restricted(support), len(support), target), Run(rng)).columns
    )
    return np.concatenate([support[order], np.delete(support, order)])
