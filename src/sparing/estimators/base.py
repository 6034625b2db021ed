"""The one fit of all estimators: check, prepare, solve, publish, certify. A subclass says what is special."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.data import Imputed, Preprocessing, Rows
from sparing.data.checkpoint import Checkpoint
from sparing.estimators.few_passes import Reading, gram_or_rows
from sparing.estimators.inputs import check_has_variance, checked_view, checkpoint_of, fit_context, restore_on_failure
from sparing.estimators.parameters import check_parameters, preprocessing_of, run_of
from sparing.gram import DataMatrix
from sparing.results import Array, Indices, Spectrum
from sparing.run import Run
from sparing.task import Task

Algorithm = TypeVar("Algorithm")
Prepared = TypeVar("Prepared")
Question = TypeVar("Question")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Fit(Generic[Algorithm]):
    """What a fit works with, once its parameters and data are checked."""

    algorithm: Algorithm
    view: DataMatrix
    preprocessing: Preprocessing
    run: Run
    n_components: int
    n_nonzero: Any  # a count, one for each component, or None: to be found
    targets: Any = None


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


class FittingEstimator(HasSupport, BaseEstimator, Generic[Prepared, Question, Found]):
    """Check, prepare, solve, publish, certify, warn: what every estimator does with what it is given."""

    _forgotten: ClassVar[tuple[str, ...]] = ("certificate_",)
    """What a new fit must not leave behind of an earlier one."""

    @abstractmethod
    def _prepared(self, X: Any, y: Any, sample_weight: Any, run: Run, checkpoint: Checkpoint | None) -> Prepared:
        """Checked data, and what the parameters ask of them."""

    @abstractmethod
    def _surroundings(self, fit: Prepared) -> AbstractContextManager[None]:
        """Threads and explanations for the work that follows."""

    @abstractmethod
    def _solve(self, fit: Prepared) -> tuple[Question, Found]:
        """The answer, and the question that it answers."""

    @abstractmethod
    def _publish(self, fit: Prepared, task: Question, found: Found) -> None:
        """Learned attributes."""

    def _certify(self, fit: Prepared, task: Question, found: Found) -> None:
        """The certificate, and what it recomputes."""

    def _shortcoming(self, fit: Prepared, task: Question) -> str | None:
        """What to say where the answer is not quite what was asked for."""
        return None

    @restore_on_failure
    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        for learned in self._forgotten:
            self.__dict__.pop(learned, None)
        check_parameters(self)
        checkpoint = checkpoint_of(self)
        fit = self._prepared(X, y, sample_weight, run_of(self, checkpoint), checkpoint)
        with self._surroundings(fit):
            task, found = self._solve(fit)
            self._publish(fit, task, found)
            if getattr(self, "certify", False):
                self._certify(fit, task, found)
        if checkpoint is not None:
            checkpoint.remove()
        if (message := self._shortcoming(fit, task)) is not None:
            warnings.warn(message, errors.SparingWarning, stacklevel=4)
        return self


class ViewEstimator(FillsGaps, FittingEstimator[Fit[Algorithm], Task, Found], Generic[Algorithm, Found]):
    """What sees the data through their Gram matrix."""

    n_passes_: int

    @abstractmethod
    def _algorithm(self) -> Algorithm:
        """The algorithm that the parameters describe."""

    @abstractmethod
    def _counts(self, n_features: int, n_samples: int | None) -> tuple[int, Any]:
        """Checked numbers of components and of features."""

    def _targets(self, y: Any, n_samples: int | None) -> Any:
        """Checked targets, where there are any."""
        return None

    def _prepared(self, X: Any, y: Any, sample_weight: Any, run: Run, checkpoint: Checkpoint | None) -> Fit[Algorithm]:
        preprocessing, algorithm = preprocessing_of(self), self._algorithm()

        def reading(rows: Rows) -> Reading:
            return self._reading(rows, algorithm, preprocessing, run)

        view = checked_view(self, X, preprocessing, sample_weight, run.budget.say, checkpoint, reading)
        self._learn_imputation(view)
        counts = self._counts(view.n_features, view.n_samples)
        return Fit(algorithm, view, preprocessing, run, *counts, self._targets(y, view.n_samples))

    @contextmanager
    def _surroundings(self, fit: Fit[Algorithm]) -> Iterator[None]:
        with fit_context(fit.view, fit.n_components):
            check_has_variance(fit.view, fit.preprocessing.center)
            yield
        self.n_passes_ = fit.view.passes

    def _reading(self, rows: Rows, algorithm: Algorithm, preprocessing: Preprocessing, run: Run) -> Reading:
        """How often the rows will be read."""
        passes = getattr(self, "passes", "any")
        return gram_or_rows(rows, passes=passes, precomputed=preprocessing.precomputed)


def too_few(asked: int, found: int, spectrum: Spectrum, otherwise: str) -> str:
    """There are fewer components than asked for, and why."""
    why = f"X has rank {spectrum.rank}" if spectrum.rank < asked else otherwise
    return errors.fewer_components(asked, found, why)
