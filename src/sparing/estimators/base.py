"""The fit method of all estimators: check, prepare, solve, publish, certify. Subclasses define the steps that
differ."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Imputed, Preprocessing, Rows, standardized
from sparing.data.checkpoint import Checkpoint
from sparing.estimators.feature_rules import UNCOUNTED, Counted, rules_of
from sparing.estimators.inputs import (
    Reading,
    check_has_variance,
    checked_view,
    checkpoint_of,
    fit_context,
    gram_or_rows,
    named_or_numbered,
    restore_on_failure,
)
from sparing.estimators.new_data import support_label, support_rows
from sparing.estimators.parameters import check_parameters, preprocessing_of, run_of
from sparing.estimators.scikit_learn import CallbackSupportMixin, LinksToReference, Stages, callbacks_torn_down
from sparing.estimators.validation.grid import Ask, noise_on
from sparing.estimators.validation.noise import checked_noise
from sparing.gram import DataMatrix
from sparing.results import Array, Bound, Indices, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.task import Task

Algorithm = TypeVar("Algorithm")
Prepared = TypeVar("Prepared")
Question = TypeVar("Question")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Fit(Generic[Algorithm]):
    """The checked parameters and data of a fit."""

    algorithm: Algorithm
    view: DataMatrix
    preprocessing: Preprocessing
    run: Run
    n_components: int
    n_nonzero: Any  # a count, one for each component, or None if it is to be found
    targets: Any = None
    rules: Rules = NO_RULES
    sample_weight: Any = None


class FittingEstimator(LinksToReference, CallbackSupportMixin, BaseEstimator, Generic[Prepared, Question, Found]):
    """Base class with the steps of every fit: check, prepare, solve, publish, certify, warn."""

    support_: Indices
    n_features_in_: int

    _forgotten: ClassVar[tuple[str, ...]] = ("certificate_",)
    """Attributes of an earlier fit that a new fit deletes."""

    _optional: ClassVar[tuple[str, ...]] = ()
    """Parameters that may be None in this estimator only."""

    @abstractmethod
    def _prepared(self, X: Any, y: Any, sample_weight: Any, run: Run, checkpoint: Checkpoint | None) -> Prepared:
        """Return the checked data and parameters."""

    @abstractmethod
    def _surroundings(self, fit: Prepared) -> AbstractContextManager[None]:
        """Context with the number of threads and explanations of numerical errors."""

    @abstractmethod
    def _solve(self, fit: Prepared) -> tuple[Question, Found]:
        """Return the answer, and the problem that it solves."""

    @abstractmethod
    def _publish(self, fit: Prepared, task: Question, found: Found) -> None:
        """Set the learned attributes."""

    def _prove(self, fit: Prepared, task: Question, found: Found) -> tuple[Found, list[Bound]]:
        """Return a bound for all answers, and the answer, improved if the proof found a better one."""
        return found, []

    def _certify(self, fit: Prepared, task: Question, found: Found, bounds: list[Bound]) -> None:
        """Return the certificate, with recomputed values."""

    def _shortcoming(self, fit: Prepared, task: Question) -> str | None:
        """The warning if the answer differs from the request."""
        return None

    @restore_on_failure
    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        for learned in self._forgotten:
            self.__dict__.pop(learned, None)
        check_parameters(self)
        checkpoint = checkpoint_of(self)
        with callbacks_torn_down(self):
            stages = Stages(self, X, y)
            with stages.stage("read"):
                fit = self._prepared(X, y, sample_weight, run_of(self, checkpoint), checkpoint)
            with self._surroundings(fit):
                with stages.stage("search"):
                    task, found = self._solve(fit)
                with stages.stage("prove"):
                    certified = getattr(self, "certify", False)
                    found, bounds = self._prove(fit, task, found) if certified else (found, [])
                    self._publish(fit, task, found)
                    if certified:
                        self._certify(fit, task, found, bounds)
            stages.end()
        if checkpoint is not None:
            checkpoint.remove()
        if (message := self._shortcoming(fit, task)) is not None:
            warnings.warn(message, errors.SparingWarning, stacklevel=4)
        return self

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


class ViewEstimator(FittingEstimator[Fit[Algorithm], Task, Found], Generic[Algorithm, Found]):
    """Base class of estimators that use the data through their Gram matrix."""

    n_passes_: int
    noise_variance_: float | Array
    mean_: Array
    scale_: Array
    imputation_: Array
    """Replacements of missing values, where these are allowed: means of the fit, in new data as well."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the features and learn from them.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap, data frame or opened file of shape (n_samples, n_features)
            With ``precomputed=True``, a covariance of shape (n_features, n_features).
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            An integer weight counts as that many copies of the row.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @abstractmethod
    def _algorithm(self) -> Algorithm:
        """The algorithm that the parameters describe."""

    @abstractmethod
    def _counts(self, n_features: int, n_samples: int | None) -> tuple[int, Any]:
        """Checked numbers of components and of features."""

    def _targets(self, y: Any, n_samples: int | None, sample_weight: Any) -> Any:
        """Checked targets, if any."""
        return None

    def _counted(self, n_features: int, n_samples: int | None) -> Counted:
        """The requested number of features, with the parameter that sets it."""
        return UNCOUNTED

    def _rules(self, n_features: int, n_samples: int | None) -> Rules:
        """Checked rules on features."""
        names = named_or_numbered(getattr(self, "feature_names_in_", None), n_features)
        return rules_of(self, names, self._counted(n_features, n_samples))

    def _prepared(self, X: Any, y: Any, sample_weight: Any, run: Run, checkpoint: Checkpoint | None) -> Fit[Algorithm]:
        preprocessing, algorithm = preprocessing_of(self), self._algorithm()

        def reading(rows: Rows) -> Reading:
            self._rules(*rows.shape[::-1])  # errors in rules are raised before data are read
            return self._reading(rows, algorithm, preprocessing, run)

        view = checked_view(self, X, preprocessing, sample_weight, run.budget.say, checkpoint, reading)
        self._learn_imputation(view)
        counts = self._counts(view.n_features, view.n_samples)
        rules = self._rules(view.n_features, view.n_samples)
        targets = self._targets(y, view.n_samples, sample_weight)
        fit = Fit(algorithm, view, preprocessing, run, *counts, targets, rules, sample_weight)
        return self._with_noise(fit)

    def _with_noise(self, fit: Fit[Algorithm]) -> Fit[Algorithm]:
        """The same fit with the requested noise on all readings."""
        if not hasattr(self, "noise_variance"):
            return fit
        if self.noise_variance is None:
            view, noise = fit.view, None
        else:
            names = named_or_numbered(getattr(self, "feature_names_in_", None), fit.view.n_features)
            with fit_context(fit.view, fit.n_components):
                check_has_variance(fit.view, fit.preprocessing.center)
                asked = checked_noise(self.noise_variance, names)
                view, noise = noise_on(fit.view, asked, self._noise_for(fit), fit.run)
        self.noise_variance_ = 0.0 if noise is None else noise
        return replace(fit, view=view, preprocessing=replace(fit.preprocessing, noise_variance=noise))

    def _noise_for(self, fit: Fit[Algorithm]) -> Ask:
        """The sizes for which noise is chosen."""
        return Ask(fit.n_components, fit.n_nonzero, rules=fit.rules)

    @contextmanager
    def _surroundings(self, fit: Fit[Algorithm]) -> Iterator[None]:
        with fit_context(fit.view, fit.n_components):
            signal = fit.view.signal
            check_has_variance(signal, fit.preprocessing.center)
            check_something_varies(signal, fit.rules, self._counted(signal.n_features, signal.n_samples))
            yield
        self.n_passes_ = fit.view.passes

    def _learn_imputation(self, view: DataMatrix) -> None:
        """Store the replacements of missing values; delete those of an earlier fit."""
        self.__dict__.pop("imputation_", None)
        if view.imputation is not None:
            self.imputation_ = view.imputation

    def _filled(self, rows: Rows, features: Indices | slice = slice(None)) -> Rows:
        """Replace missing values in new rows of some features."""
        return Imputed(rows, self.imputation_[features]) if hasattr(self, "imputation_") else rows

    def _support_columns(self, X: Any) -> tuple[Rows, Array]:
        """Rows of the features of ``support_`` only, and their columns centred and scaled as at fit."""
        used = self.support_
        rows = self._filled(support_rows(self, X), used)
        try:
            view = standardized(rows, mean=self.mean_[used], deviation=self.scale_[used])
            return rows, view.columns(np.arange(len(used)))
        except errors.NotFiniteError as flaw:
            label = support_label(self, int(str(flaw.column)), X)
            raise errors.NotFiniteError(flaw.value, flaw.row, label) from None

    def _reading(self, rows: Rows, algorithm: Algorithm, preprocessing: Preprocessing, run: Run) -> Reading:
        """How the rows are read: in any number of passes, or in few."""
        passes = getattr(self, "passes", "any")
        return gram_or_rows(rows, passes=passes, precomputed=preprocessing.precomputed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "mean"
        return tags


def check_something_varies(view: DataMatrix, rules: Rules, counted: Counted = UNCOUNTED) -> None:
    """Reject rules that allow only features without variance."""
    varies = view.gram_diagonal() > 0
    if rules and not varies[rules.usable(view.n_features)].any():
        raise ValueError(
            "All features that may be read are constant, so they cannot predict the others. Remove a varying feature "
            "from exclude, or raise max_cost or max_per_group."
        )
    if counted.together == len(rules.required) > 0 and not varies[rules.required].any():
        raise ValueError(
            f"include names {counted.together} feature(s), as many as {counted.parameter} allows, and all of them are "
            f"constant, so they cannot predict the others. Raise {counted.parameter}."
        )


def too_many(view: DataMatrix, used: int) -> str | None:
    """The warning if features outnumber samples and the number read is close to the number of samples, without
    noise."""
    n = view.n_samples
    if n is None or view.noise is not None or view.n_features <= n or 2 * used < n:
        return None
    return (
        f"{used} features are read, and there are {n} samples of {view.n_features} features: new samples may be "
        "rebuilt far worse than these. Pass noise_variance='auto', or read fewer than half as many features as there "
        "are samples; cross_validated(model, X) measures it."
    )


def too_few(asked: int, found: int, spectrum: Spectrum, otherwise: str) -> str:
    """The warning about fewer components than requested, with the reason."""
    why = f"X has rank {spectrum.rank}" if spectrum.rank < asked else otherwise
    return errors.fewer_components(asked, found, why)
