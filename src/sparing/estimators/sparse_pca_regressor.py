"""Regression on few features that fits like regression on principal components."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.certificates.regression import certify_regression
from sparing.data.targets import Targets
from sparing.estimators.base import Fit
from sparing.estimators.encoding import LinearScores, in_precision_of
from sparing.estimators.feature_rules import Counted
from sparing.estimators.parameters import count, resolved
from sparing.estimators.validation.selector import best_selector
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders.regression import Regression, SparseRegression
from sparing.methods.selectors import SELECTORS, DualSet, applicable_theorem
from sparing.methods.selectors.dual_set import ResponseDualSet
from sparing.methods.selectors.lasso import Lasso
from sparing.methods.selectors.response import Response, TargetResponse
from sparing.results import Array, Bound
from sparing.task import Task

DEFAULT_EIGENFEATURES, DEFAULT_FEATURES = 5, 10

REGRESSION_SELECTORS: dict[str, Any] = {
    **SELECTORS,
    "response": Response,
    "response_targets": TargetResponse,
    "response_dual_set": ResponseDualSet,
    "lasso": Lasso,
}


COMPARED = ("lasso", "greedy", "response")
"""Selectors that ``auto`` compares; it takes the first unless another is clearly better. Others never were
(docs/papers.md)."""


class Regressed(NamedTuple):
    """A regression, and the view used for it: the same rows, possibly with another centring."""

    found: SparseRegression
    fitted: DataMatrix


@dataclass(eq=False, repr=False)
class SparsePCARegressor(
    RegressorMixin,
    LinearScores[Regression, "Regressed"],
):
    """Linear regression on few features that replaces regression on principal components.

    Regression on the leading principal components regularises well but reads every feature. This estimator chooses
    ``n_nonzero`` features that span the components well, and fits the targets best within their span [boutsidis2011,
    Sec. 2]: by least squares, and with more targets than components by the best fit of that rank.

    Parameters
    ----------
    n_components : int, default=5
        Number of principal components to replace, and the largest rank of a fit to several targets.
    n_nonzero : int, default=10
        Number of features used. An exact count, not a penalty; fewer are used only if no further feature adds anything.
        Data with fewer features than a default are fitted with all of them and one warning; any other number above
        ``n_features`` is an error.
    include, exclude : names, indices or a mask, optional
        Features that must be read, and features that must not be read. The principal components are those of all
        features.
    costs : array-like of shape (n_features,) or dict by name, with max_cost : float, optional
        Cost of each feature, and budget for all features that are read. At most ``n_nonzero`` features are read.
    groups : labels of shape (n_features,) or dict by name, with max_per_group : int or dict by label, optional
        Maximum number of features read from one group. The label None means no group.
    noise_variance : float, array-like of shape (n_features,), dict by name, "auto" or None, default=None
        Variance of independent noise on every reading, in squared units of X (after ``scale``; with it, shares of a
        feature's variance). Features, coefficients and certificate are then the best for readings with this noise, as
        with real sensors; the same number for all features makes the fit a ridge regression. "auto": the multiple of
        the mean variance, of 0, .03, .1, .3, 1, 3 and 10, that keeps most variance of unread features in held-out
        samples (5 folds). It improves predictions of new samples if features outnumber samples.
    selector : {"auto", "lasso", "greedy", "response", "dual_set", ...} or a selector, default="auto"
        How features are chosen. ``lasso`` takes those on the path of the Lasso to y. ``greedy`` uses X only and spans
        the principal components, with swaps; ``response`` spans the fit of PCA regression, ``response_targets`` y
        itself; ``response_dual_set`` is dual set selection with ties broken by y, for which Theorem 1 holds. ``auto``
        takes ``lasso`` unless ``greedy`` or ``response`` has a smaller error in five-fold cross-validation by two
        standard errors (``selector_``), and dual set selection if Theorem 1 would not hold. If X has more than two
        million values, cross-validation uses a subset of the samples; with noise, or fewer than ten distinct samples,
        ``auto`` takes ``lasso``. Every selector of :class:`SparseEncoder` is accepted.
    center, scale : bool, default=True, False
        Subtract means, divide by standard deviations (n - 1), before components are computed and features chosen.
        Sparse data stay sparse.
    fit_intercept : bool, default=True
        Whether the prediction has an intercept. Without one it is a linear combination of the given features.
    certify : bool, default=True
        Recompute the residual from the data, compare it with PCA regression, and state the guarantees of theorems.
        Never changes the fit.
    missing : {"error", "mean"}, default="error"
        How to treat NaN: raise an error, or replace it by the mean of its feature (in new data by the mean of the fit,
        ``imputation_``).
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of search and proof when there is no time limit.
    time_limit : float, optional
        Seconds after which ``selector="exact"`` returns the best found so far; nothing else here searches for long.
    random_state : int, Generator, RandomState or None, default=0
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
        scores uncorrelated with an intercept, sorted by the variance of the targets that they explain. For one
        target there is one.
    selector_ : str or a selector
        How features were chosen: with ``auto`` the name of the best.
    mean_, scale_ : ndarray of shape (n_features,)
        Means that ``transform`` subtracts (zero without an intercept) and scales that it divides by.
    noise_variance_ : float or ndarray of shape (n_features,)
        Variance of the assumed noise; 0 for none.
    certificate_ : RegressionCertificate
        Print it.
    n_passes_ : int
        Number of passes over X.
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

    n_components: int = DEFAULT_EIGENFEATURES
    _: KW_ONLY
    n_nonzero: int = DEFAULT_FEATURES
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
    fit_intercept: bool = True
    certify: bool = True
    missing: str = "error"
    effort: str = "default"
    time_limit: float | None = None
    random_state: Any = 0
    verbose: bool = False

    def fit(  # type: ignore[override]  # targets are needed
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> SparsePCARegressor:
        """Choose the features and fit the targets on them.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            An integer weight counts as that many copies of the row.

        Returns
        -------
        SparsePCARegressor
        """
        return self._fit(X, y, sample_weight)

    def _targets(self, y: Any, n_samples: int | None, sample_weight: Any) -> Targets:
        who = type(self).__name__
        return Targets.of(y, n_samples or 0, center=self.fit_intercept, sample_weight=sample_weight, who=who)

    def _solve(self, fit: Fit[Regression]) -> tuple[Task, Regressed]:
        view, other = fit.view, fit.preprocessing.center != self.fit_intercept
        fitted = view.recentred(self.fit_intercept) if other else view
        if fitted.signal.total <= 0:
            raise errors.no_variance(True)
        spectrum = top_spectrum(view, fit.n_components, fit.run.rng)
        task = Task.of_components(view, spectrum, fit.n_nonzero, rules=fit.rules)
        algorithm = self._chosen(fit, task, fitted if other else None)
        found = algorithm.encode(task, fit.targets.beside(view), fit.run, on=fitted if other else None)
        return task, Regressed(found, fitted)

    def _chosen(self, fit: Fit[Regression], task: Task, on: DataMatrix | None) -> Regression:
        """The algorithm of the parameters; with ``auto``, the one that predicts held-out samples best."""
        self.selector_: Any = self.selector
        if not (isinstance(self.selector, str) and self.selector == "auto"):
            return fit.algorithm
        candidates = {name: REGRESSION_SELECTORS[name]() for name in COMPARED}
        self.selector_ = best_selector(task, fit.targets, fit.run, candidates, on=on, fit_intercept=self.fit_intercept)
        return replace(fit.algorithm, selector=candidates[self.selector_])

    def predict(self, X: Any) -> Array:
        """Predictions from the features of ``support_`` only.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or opened file of shape (n_samples, n_features)
            Or only the features of ``support_``: as in :meth:`SparseEncoder.transform`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        rows, columns = self._support_columns(X)
        predicted = in_precision_of(rows, columns @ self._weights.T + self._level)
        return predicted[:, 0] if self._is_vector else predicted

    def _algorithm(self) -> Regression:
        if isinstance(self.selector, str) and self.selector == "auto":
            return Regression(Lasso(), safeguard=DualSet())
        return Regression(resolved("selector", REGRESSION_SELECTORS, "select", self.selector, also=("auto",)))

    def _counts(self, n_features: int, n_samples: int | None) -> tuple[int, int]:
        """Checked numbers of components and features; defaults are reduced if X has too few features."""
        n_components, n_nonzero = count("n_components", self.n_components), count("n_nonzero", self.n_nonzero)
        if n_components > n_features and n_components != DEFAULT_EIGENFEATURES:
            raise errors.n_components_too_large(n_components, n_features)
        if n_nonzero > n_features and n_nonzero != DEFAULT_FEATURES:
            raise ValueError(
                f"n_nonzero={n_nonzero} is outside [1, {n_features}]: X has n_features={n_features}. Pass an integer "
                f"between 1 and {n_features}."
            )
        return min(n_components, n_features), min(n_nonzero, n_features)

    def _counted(self, n_features: int, n_samples: int | None) -> Counted:
        wanted = self._counts(n_features, n_samples)[1]
        return Counted("n_nonzero", wanted, wanted)

    def _publish(self, fit: Fit[Regression], task: Task, found: Regressed) -> None:
        """Set coefficients in the user's units, and those of standardized columns for predictions."""
        (regression, fitted), targets = found, fit.targets
        d, used = fitted.n_features, regression.support
        self.support_, self.mean_, self.scale_ = used, fitted.mean, fitted.scale
        self._weights = regression.coefficients * (targets.unit / np.sqrt(fitted.square_unit))
        self._level, self._is_vector = targets.mean, targets.is_vector
        coefficients = np.zeros((len(self._weights), d))
        coefficients[:, used] = self._weights / self.scale_[used]
        intercept = targets.mean - coefficients[:, used] @ self.mean_[used]
        self.coef_: Array = coefficients[0] if targets.is_vector else coefficients
        self.intercept_: Any = float(intercept[0]) if targets.is_vector else intercept
        self.components_: Array = np.zeros((len(regression.loadings), d))
        self.components_[:, used] = regression.loadings

    def _certify(self, fit: Fit[Regression], task: Task, found: Regressed, bounds: list[Bound]) -> None:
        self.certificate_ = certify_regression(
            task,
            found.fitted,
            fit.targets,
            self.support_,
            np.atleast_2d(self.coef_)[:, self.support_],
            preprocessing=fit.preprocessing,
            fit_intercept=self.fit_intercept,
            promise=None if fit.rules else applicable_theorem(self.selector),
        )

    def _shortcoming(self, fit: Fit[Regression], task: Task) -> str | None:
        """The warning about reduced defaults, or about fewer eigenfeatures than components and independent targets."""
        given = {"n_components": self.n_components, "n_nonzero": self.n_nonzero}
        cut = [f"{name}={value}" for name, value in given.items() if value > fit.view.n_features]
        if cut:
            return (
                f"The default {' and '.join(cut)} exceed(s) the {fit.view.n_features} feature(s) of X: all of them are "
                "used. Pass smaller numbers to choose among them."
            )
        Y, got = fit.targets.values, len(self.components_)
        wanted = min(fit.n_components, Y.shape[1])
        if got < wanted:
            wanted = min(wanted, max(int(np.linalg.matrix_rank(Y)), 1))
        if got >= wanted:
            return None
        if fit.n_nonzero < wanted:
            why = f"n_nonzero={fit.n_nonzero} shared features give at most as many components"
        elif task.spectrum.rank < wanted:
            why = f"X has rank {task.spectrum.rank}"
        else:
            why = f"the {len(self.support_)} feature(s) found explain no more of the targets"
        return errors.fewer_components(fit.n_components, got, why)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
