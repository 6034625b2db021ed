"""The features that say most of what all of them say, as a step of a pipeline."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Rows, as_matrix
from sparing.data.sources import is_lazy
from sparing.estimators.base import Fit, HasSupport, ViewEstimator
from sparing.estimators.inputs import checked_rows
from sparing.estimators.parameters import component_count, count, resolved
from sparing.linalg import top_spectrum
from sparing.methods.encoders import Batch
from sparing.methods.selectors import SELECTORS, DualSet, Greedy
from sparing.results import Encoder, Indices
from sparing.run import Run
from sparing.task import Task


class ColumnSelector(SelectorMixin, ViewEstimator[Batch, Encoder]):
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
    effort : {"quick", "default", "thorough"}, default="default"
        How much is tried, in search and in proof, where no time limit says so.
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
        effort: str = "default",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.selector = selector
        self.center = center
        self.scale = scale
        self.missing = missing
        self.effort = effort
        self.random_state = random_state
        self.verbose = verbose

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
        return self._fit(X, y, sample_weight)

    def _counts(self, n_features: int, n_samples: int | None) -> tuple[int, int]:
        wanted = count("n_features_to_select", self.n_features_to_select)
        return component_count(self.n_components, n_features), min(wanted, n_features)

    def _solve(self, fit: Fit[Batch]) -> tuple[Task, Encoder]:
        spectrum = top_spectrum(fit.view, min(fit.n_components, fit.n_nonzero), fit.run.rng)
        task = Task.of_components(fit.view, spectrum, fit.n_nonzero)
        return task, fit.algorithm.encode(task, fit.run)

    def _publish(self, fit: Fit[Batch], task: Task, found: Encoder) -> None:
        self.support_, self.loss_ratio_ = found.support, task.spectrum.loss_ratio(found.loss)
        self.ranking_ = _by_worth(task, found.support, fit.run)

    def _shortcoming(self, fit: Fit[Batch], task: Task) -> str | None:
        wanted, n_features = self.n_features_to_select, fit.view.n_features
        if wanted > n_features:
            return f"n_features_to_select={wanted} was asked for, but X has {n_features} features: no more can be kept."
        if (got := len(self.support_)) < wanted:
            return (
                f"n_features_to_select={wanted} was asked for, but {got} feature(s) already give what PCA gives, or "
                f"the others depend on them: {got} are kept. A larger n_components asks for more of X."
            )
        return None

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

    def _algorithm(self) -> Batch:
        if isinstance(self.selector, str) and self.selector == "auto":
            return Batch(Greedy(), safeguard=DualSet())
        return Batch(resolved("selector", SELECTORS, "select", self.selector, also=("auto",)))

    def _get_support_mask(self) -> Any:
        return HasSupport.get_support(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _by_worth(task: Task, support: Indices, run: Run) -> Indices:
    """The support in the order in which forward selection takes it; what adds nothing comes last."""
    pca = task.spectrum
    target = replace(pca, basis=pca.basis[support], cross=pca.cross[support])
    inside = Task.of_columns(task.gram.restricted(support), len(support), target)
    order = Greedy(swaps=False).select(inside, run.unlimited()).columns
    return np.concatenate([support[order], np.delete(support, order)])
