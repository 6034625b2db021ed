"""Encoders of rows that are read once."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from sparing.certificates import Certificate, certify_stream
from sparing.data import Preprocessing
from sparing.data.ingest import checked_weights
from sparing.data.stream import Stream
from sparing.estimators.base import Algorithm, Fit
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.inputs import check_has_variance, checked_rows, features_named, fit_context, restore_on_failure
from sparing.estimators.parameters import check_parameters, preprocessing_of, run_of
from sparing.gram import DataMatrix
from sparing.results import Encoder, Spectrum
from sparing.task import Task

AT_ONCE = {"precomputed": False, "missing": "error", "checkpoint": None, "noise_variance": None}
"""Parameters that only fit supports, with their neutral values."""


class StreamingEncoder(EncodingEstimator[Algorithm]):
    """Mixin with ``partial_fit``."""

    certify: bool
    certificate_: Certificate
    _stream: Stream
    _forgotten: ClassVar[tuple[str, ...]] = ("certificate_", "n_samples_seen_", "_stream")

    @abstractmethod
    def _task(self, fit: Fit[Algorithm], view: DataMatrix, spectrum: Spectrum, found: Encoder) -> Task:
        """The problem of the certificate: all components with the number of features that these may have, or use."""

    @restore_on_failure
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update the fit with more rows; only 200 directions, means and norms of the features are stored.

        One pass gives a weaker result: features are chosen from those directions. In measurements they cost up to 8%
        more excess loss than ``fit``, and many times more where rare features are scaled to the variance of frequent
        ones, as ``scale=True`` does to word counts. ``loss_`` and ``loss_ratio_`` are estimates; ``certificate_``
        states what is proved. Features are chosen again with each batch, so a few large batches are faster than many
        small ones. While there are few rows there are fewer components (``n_components_``). The first batch must have
        two different rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The next rows.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of these rows.

        Returns
        -------
        self
        """
        check_parameters(self)
        for parameter, default in AT_ONCE.items():
            given = getattr(self, parameter)
            if np.ndim(given) or given != default:
                raise ValueError(
                    f"partial_fit reads each row once, but {parameter}={given!r} needs more than that. Leave it at its "
                    "default, or use fit with all rows."
                )
        preprocessing = preprocessing_of(self)
        begun = hasattr(self, "_stream")
        rows = checked_rows(self, X, reset=not begun)
        weights = None if sample_weight is None else checked_weights(sample_weight, rows.shape[0])
        with features_named(self):
            stream = self._stream if begun else Stream(rows, scale=preprocessing.scale)
            stream = stream.extended(rows, weights)
        self._learn_from(stream, preprocessing)
        self._stream = stream
        return self

    def _learn_from(self, stream: Stream, preprocessing: Preprocessing) -> None:
        """Compute encoder, decoder and certificate from the stored summary."""
        exact, view, sketch = stream.views(center=preprocessing.center, scale=preprocessing.scale)
        counts = self._counts(view.n_features, stream.n_samples)
        if preprocessing.center and exact.total <= 0:
            raise ValueError(
                f"partial_fit starts with {stream.n_samples} row(s) that have no variance, but the first rows must "
                "show how much features vary. Start with at least 2 different rows; later batches may be as small as a "
                "single row."
            )
        check_has_variance(exact, preprocessing.center)
        rules = self._rules(view.n_features, stream.n_samples)
        fit = Fit(self._algorithm(), view, preprocessing, run_of(self), *counts, rules=rules)
        with fit_context(exact, fit.n_components):
            task, found = self._solve(fit)
            self._publish(replace(fit, view=exact), task, found)
            self.__dict__.pop("certificate_", None)
            if self.certify:
                used = self._task(replace(fit, n_nonzero=None), view, task.spectrum, found)
                self.certificate_ = certify_stream(used, sketch, found, preprocessing, stream.n_samples)
        self.__dict__.pop("imputation_", None)  # of an earlier fit
        self.n_samples_seen_ = stream.n_samples
        self.n_passes_ = 1
