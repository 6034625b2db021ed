"""Regression that reads few features and fits like regression on principal components."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.certificates.regression import RegressionCertificate, certify_regression
from sparing.data import Preprocessing, Rows, StandardizedRows, as_view
from sparing.data.targets import Targets
from sparing.data.tracked import TrackedRows
from sparing.estimators.encoding import FillsGaps, HasSupport, in_precision_of
from sparing.estimators.inputs import (
    checked_rows,
    count,
    features_named,
    fit_context,
    flag,
    generator_of,
    preprocessing_from,
    resolved,
    restore_on_failure,
)
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders.regression import Regression, SparseRegression
from sparing.methods.selectors import SELECTORS, DualSet, Greedy
from sparing.methods.selectors.applicable_theorem import applicable_theorem
from sparing.methods.selectors.response import Response
from sparing.results import Array, Indices, Spectrum
from sparing.run import Budget, Run
from sparing.task import Task

DEFAULT_N_COMPONENTS, DEFAULT_N_NONZERO = 5, 10

REGRESSION_SELECTORS: dict[str, Any] = {**SELECTORS, "response": Response}


class SparsePCARegressor(
    RegressorMixin, FillsGaps, HasSupport, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Linear regression on few features that stands in for regression on principal components.

    Regression on the leading principal components regularises well but reads every feature. This one chooses
    ``n_nonzero`` features that span what the components say, and fits the targets best within their span
    [boutsidis2011, Sec. 2]: by least squares, and with more targets than components by the best fit of that rank.

    Parameters
    ----------
    n_components : int, default=5
        Number of principal components to stand in for, and the largest rank of a fit to several targets.
    n_nonzero : int, default=10
        Number of features used. An exact count, not a penalty; fewer are used only where no further feature would add
        anything. Data with fewer features than a default are fitted with all of them and one warning; any other
        number above ``n_features`` is an error.
    selector : {"auto", "response", "greedy", "dual_set", ...} or a selector, default="auto"
        How features are chosen. ``auto`` looks at X alone: greedy on the principal components with swaps, safeguarded
        by dual set selection so that Theorem 1 always holds. ``response`` looks at y as well, through the fit of PCA
        regression; ``Response(by="targets")`` looks at y itself. Every selector of :class:`SparseEncoder` is accepted.
    center, scale : bool, default=True, False
        Subtract means, divide by standard deviations (n - 1), before components are computed and features chosen.
        Sparse data stay sparse.
    fit_intercept : bool, default=True
        Whether the prediction has an intercept. Without one it is a plain combination of the features as given.
    certify : bool, default=True
        Recompute the residual from the data, compare with PCA regression, state what theorems promise. Never changes
        the fit.
    missing : {"error", "mean"}, default="error"
        What NaN means: a mistake, or a missing value, which the mean of its feature then stands for (in new data the
        mean of the fit, ``imputation_``).
    time_limit : float, optional
        Seconds after which ``selector="exact"`` returns the best found so far; nothing else here searches for long.
    random_state : int, Generator, RandomState or None, default=None
    verbose : bool, default=False

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients for the features as given, zero outside ``support_``.
    intercept_ : float or ndarray of shape (n_targets,)
    support_ : ndarray of int
        Sorted indices of the features used.
    components_ : ndarray of shape (m, n_features)
        The sparse eigenfeatures, m <= min(n_components, n_targets, n_nonzero): unit rows, zero outside ``support_``,
        scores uncorrelated where there is an intercept, in falling order of what they explain of the targets. For one
        target there is one.
    mean_, scale_ : ndarray of shape (n_features,)
        What ``transform`` subtracts (nothing without an intercept) and divides by.
    certificate_ : RegressionCertificate
        Print it.
    n_passes_ : int
        How often all of X was read.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sparing import SparsePCARegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparsePCARegressor(5, n_nonzero=6, random_state=0).fit(X, y)
    >>> len(model.support_)
    6
    """

    support_: Indices
    n_features_in_: int

    def __init__(
        self,
        n_components: int = DEFAULT_N_COMPONENTS,
        *,
        n_nonzero: int = DEFAULT_N_NONZERO,
        selector: Any = "auto",
        center: bool = True,
        scale: bool = False,
        fit_intercept: bool = True,
        certify: bool = True,
        missing: str = "error",
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_nonzero = n_nonzero
        self.selector = selector
        self.center = center
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.certify = certify
        self.missing = missing
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @restore_on_failure
    def fit(self, X: Any, y: Any) -> SparsePCARegressor:
        """Choose the features and fit the targets on them.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        SparsePCARegressor
        """
        self.__dict__.pop("certificate_", None)  # of an earlier fit
        preprocessing = preprocessing_from(self.center, self.scale, missing=self.missing)
        intercept, certify = flag("fit_intercept", self.fit_intercept), flag("certify", self.certify)
        budget, rng = Budget.of(self.time_limit, self.verbose), generator_of(self.random_state)
        regression = self._regression()
        rows = TrackedRows(checked_rows(self, X, reset=True), budget.say)
        targets = Targets.of(y, rows.shape[0], center=intercept, who=type(self).__name__)
        with features_named(self):
            view = as_view(rows, preprocessing)
            fitted = (
                view if preprocessing.center == intercept else as_view(rows, replace(preprocessing, center=intercept))
            )
        self._learn_imputation(view)
        if view.total <= 0 or fitted.total <= 0:
            raise errors.no_variance(preprocessing.center or intercept)
        n_components, n_nonzero, notice = self._counts(view.n_features)
        with fit_context(view, n_components):
            spectrum = top_spectrum(view, n_components, rng)
            on = None if fitted is view else fitted
            task = Task.of_components(view, spectrum, n_nonzero)
            found = regression.encode(task, targets.values, Run(rng, budget), on=on)
            self._publish(fitted, found, targets)
            if certify:
                self.certificate_ = self._certified(view, fitted, spectrum, targets, n_nonzero, preprocessing)
        self.n_passes_ = rows.passes
        notice = notice or self._fewer_components(n_components, n_nonzero, spectrum, targets)
        if notice is not None:
            warnings.warn(notice, errors.SparingWarning, stacklevel=3)
        return self

    def predict(self, X: Any) -> Array:
        """Predictions from the features of ``support_`` alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        columns, rows = self._prepared_columns(X)
        predicted = in_precision_of(rows, columns @ self._weights.T + self._level)
        return predicted[:, 0] if self._is_vector else predicted

    def transform(self, X: Any) -> Array:
        """Scores of the sparse eigenfeatures: X less ``mean_``, over ``scale_``, times ``components_.T``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, len(components_))
        """
        columns, rows = self._prepared_columns(X)
        return in_precision_of(rows, columns @ self.components_[:, self.support_].T)

    def _prepared_columns(self, X: Any) -> tuple[Array, Rows]:
        """The features used, centred and scaled as at fit, and the rows they are from."""
        check_is_fitted(self)
        rows = self._filled(checked_rows(self, X, reset=False))
        with features_named(self):
            view = StandardizedRows(rows, mean=self.mean_, deviation=self.scale_)
        return view.columns(self.support_), rows

    def _regression(self) -> Regression:
        if isinstance(self.selector, str) and self.selector == "auto":
            return Regression(Greedy(), safeguard=DualSet())
        return Regression(resolved("selector", REGRESSION_SELECTORS, "select", self.selector, also=("auto",)))

    def _counts(self, n_features: int) -> tuple[int, int, str | None]:
        """Checked numbers of components and features, and what to say where X is too narrow for a default."""
        n_components, n_nonzero = count("n_components", self.n_components), count("n_nonzero", self.n_nonzero)
        if n_components > n_features and n_components != DEFAULT_N_COMPONENTS:
            raise errors.n_components_too_large(n_components, n_features)
        if n_nonzero > n_features and n_nonzero != DEFAULT_N_NONZERO:
            raise ValueError(
                f"n_nonzero={n_nonzero} is outside [1, {n_features}]: X has n_features={n_features}. Pass an integer "
                f"between 1 and {n_features}."
            )
        given = {"n_components": n_components, "n_nonzero": n_nonzero}
        clipped = [f"{name}={value}" for name, value in given.items() if value > n_features]
        notice = None
        if clipped:
            notice = (
                f"The default {' and '.join(clipped)} exceed(s) the {n_features} feature(s) of X: all of them are "
                "used. Pass smaller numbers to choose among them."
            )
        return min(n_components, n_features), min(n_nonzero, n_features), notice

    def _publish(self, fitted: DataMatrix, found: SparseRegression, targets: Targets) -> None:
        """Coefficients in the user's units, and those of prepared columns that predictions are made with."""
        d, used = fitted.n_features, found.support
        self.support_, self.mean_, self.scale_ = used, fitted.mean, fitted.scale
        self._weights = found.coefficients * (targets.unit / np.sqrt(fitted.square_unit))
        self._level, self._is_vector = targets.mean, targets.is_vector
        coefficients = np.zeros((len(self._weights), d))
        coefficients[:, used] = self._weights / self.scale_[used]
        intercept = targets.mean - coefficients[:, used] @ self.mean_[used]
        self.coef_: Array = coefficients[0] if targets.is_vector else coefficients
        self.intercept_: Any = float(intercept[0]) if targets.is_vector else intercept
        self.components_: Array = np.zeros((len(found.loadings), d))
        self.components_[:, used] = found.loadings

    def _certified(
        self,
        view: DataMatrix,
        fitted: DataMatrix,
        spectrum: Spectrum,
        targets: Targets,
        n_nonzero: int,
        preprocessing: Preprocessing,
    ) -> RegressionCertificate:
        return certify_regression(
            view,
            fitted,
            spectrum,
            targets,
            self.support_,
            np.atleast_2d(self.coef_)[:, self.support_],
            n_nonzero=n_nonzero,
            preprocessing=preprocessing,
            fit_intercept=self.fit_intercept,
            promise=applicable_theorem(self.selector),
        )

    def _fewer_components(self, n_components: int, n_nonzero: int, spectrum: Spectrum, targets: Targets) -> str | None:
        """What to say where fewer eigenfeatures came out than components and independent targets would allow."""
        got, wanted = len(self.components_), min(n_components, targets.values.shape[1])
        if got < wanted:
            wanted = min(wanted, max(int(np.linalg.matrix_rank(targets.values)), 1))
        if got >= wanted:
            return None
        if n_nonzero < wanted:
            why = f"n_nonzero={n_nonzero} shared features give at most as many components"
        elif spectrum.rank < wanted:
            why = f"X has rank {spectrum.rank}"
        else:
            why = f"the {len(self.support_)} feature(s) found explain no more of the targets"
        return errors.fewer_components(n_components, got, why)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
