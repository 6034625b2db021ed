"""Components that use few features, with a decoder that uses few samples."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates.loss import certify_reconstruction
from sparing.data.ingest import checked_weights
from sparing.estimators.base import Fit, too_few
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.parameters import checked_components, count, resolved
from sparing.linalg import top_spectrum
from sparing.linalg.theorem_bounds import PROMISES
from sparing.methods.encoders.doubly_sparse import DoublySparse, RowEncoder
from sparing.methods.selectors import SELECTORS, DualSet, Exact, Greedy, applicable_theorem
from sparing.proof.policy import prove
from sparing.results import Array, Bound, Encoder, Indices, Premise
from sparing.task import Task

UNKNOWN = 0
"""Stands for the number of samples before it is known."""

PER_COMPONENT = 5
"""Default number of features and samples per component."""


@dataclass(eq=False, repr=False)
class DoublySparseEncoder(EncodingEstimator[DoublySparse]):
    """Few features that keep what PCA keeps, and few samples from which the data can be rebuilt.

    Scores are read from ``n_nonzero`` features, and every sample is rebuilt as a combination of ``n_rows`` of the
    samples themselves. The loss is that of this decoder, not of the best one [magdonismail2015, Theorem 6,
    comment 5].

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_nonzero : int, optional
        Number of features used by all components together; by default 5 for each component, at most all. Fewer are used
        only if no further feature would add anything.
    n_rows : int, optional
        Number of samples that the decoder is built on; by default 5 for each component, at most all.
    selector : str or a selector, default="auto"
        How features and samples are chosen: ``auto``, or any selector of :class:`SparseEncoder`. ``auto`` is greedy on
        the principal components with swaps, safeguarded by dual set selection so that the theorem in the certificate
        always holds. ``exact`` chooses features only; samples are too many for it and are chosen as by ``auto``.
    center, scale : bool, default=True, False
        Subtract means; divide by standard deviations (n - 1), computed about zero without ``center``. Sparse data stay
        sparse.
    certify : bool, default=True
        Recompute the loss from the data and prove a lower bound. Never changes the components.
    missing : {"error", "mean"}, default="error"
        How to treat NaN: raise an error, or replace it by the mean of its feature (in new data by the mean of the fit,
        ``imputation_``).
    feature_names_out : {"numbered", "leading"}, default="numbered"
        Names of the scores, as in :class:`SparseEncoder`.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of search and proof when there is no time limit.
    time_limit : float, optional
        Seconds after which the best answer so far is returned, with a valid bound.
    random_state : int, Generator, RandomState or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The encoder: unit rows, zero outside ``support_``, scores are uncorrelated and sorted by explained variance.
    decoder_ : ndarray of shape (n_components, n_features)
        The decoder, ``row_weights_ @ ((X[rows_] - mean_) / scale_)``, with ``imputation_`` for missing values of X.
    support_ : ndarray of int
        Sorted indices of the features used.
    rows_ : ndarray of int
        Sorted numbers of the samples that the decoder is built on; none of weight zero.
    row_weights_ : ndarray of shape (n_components, len(rows_))
        The weight of each of them in each component.
    variance_kept_ : float
        Share of the variance of PCA's ``n_components`` components that these explain, at most 1.
    feature_r2_ : ndarray of shape (n_features,)
        How well the decoder predicts each feature: 1 - residual variance / variance. 1 for a constant feature.
    loss_, loss_ratio_ : float
        Loss of encoder and decoder as a sum of squares, and divided by PCA's loss (at least 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of variance that each component adds; sums to 1 - loss / total.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : Certificate
        Print it.
    n_passes_ : int
        Number of passes over X.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sparing import DoublySparseEncoder
    >>> model = DoublySparseEncoder(n_components=2, n_nonzero=3, n_rows=4, random_state=0).fit(load_iris().data)
    >>> len(model.support_), len(model.rows_)
    (3, 4)
    """

    n_components: int = 2
    _: KW_ONLY
    n_nonzero: int | None = None
    n_rows: int | None = None
    selector: Any = "auto"
    center: bool = True
    scale: bool = False
    certify: bool = True
    missing: str = "error"
    feature_names_out: str = "numbered"
    effort: str = "default"
    time_limit: float | None = None
    random_state: Any = 0
    verbose: bool = False

    def _algorithm(self) -> DoublySparse:
        if isinstance(self.selector, str) and self.selector == "auto":
            return DoublySparse(Greedy(), UNKNOWN, Greedy(), DualSet())
        selector = resolved("selector", SELECTORS, "select", self.selector, also=("auto",))
        return DoublySparse(selector, UNKNOWN, Greedy() if isinstance(selector, Exact) else selector)

    def _counts(self, n_features: int, n_samples: int | None) -> tuple[int, tuple[int, int]]:
        """Checked numbers of components, and of features and samples."""
        n, d, k = n_samples or 0, n_features, checked_components(self.n_components, n_features)
        n_nonzero = min(PER_COMPONENT * k, d) if self.n_nonzero is None else count("n_nonzero", self.n_nonzero)
        n_rows = min(PER_COMPONENT * k, n) if self.n_rows is None else count("n_rows", self.n_rows)
        if n_nonzero > d:
            raise errors.more_than_there_are("n_nonzero", n_nonzero, d, "features")
        if n_rows > n:
            raise errors.more_than_there_are("n_rows", n_rows, n, "samples")
        return k, (n_nonzero, n_rows)

    def _solve(self, fit: Fit[DoublySparse]) -> tuple[Task, RowEncoder]:
        n_nonzero, n_rows = fit.n_nonzero
        pca = top_spectrum(fit.view, fit.n_components, fit.run.rng)
        task = Task.of_components(fit.view, pca.leading(min(n_nonzero, n_rows)), n_nonzero)
        return replace(task, target=pca), replace(fit.algorithm, n_rows=n_rows).encode(task, fit.run)

    def _certify(self, fit: Fit[DoublySparse], task: Task, found: Encoder, bounds: list[Bound]) -> None:
        assert isinstance(found, RowEncoder)
        asked = task.spectrum
        task = replace(task, target=asked.leading(task.problem.n_components))
        promise = applicable_theorem(self.selector)
        self.certificate_ = certify_reconstruction(
            task,
            found,
            self.rows_,
            found.row_weights / np.sqrt(fit.view.square_unit),
            prove(task, found, fit.run),  # the best decoder loses at most as much as ours
            fit.preprocessing,
            premise=Premise(promise, fit.n_nonzero[1]) if promise in PROMISES else None,
            asked=asked,
        )
        self.loss_, self.loss_ratio_ = self.certificate_.value, self.certificate_.ratio
        self.variance_kept_ = self.certificate_.variance_kept

    def _publish(self, fit: Fit[DoublySparse], task: Task, found: Encoder) -> None:
        super()._publish(fit, task, found)
        assert isinstance(found, RowEncoder)
        self.rows_: Indices = found.rows
        self.row_weights_: Array = found.row_weights / np.sqrt(fit.view.square_unit)
        if fit.sample_weight is not None:  # samples of the view are multiplied by the roots of their weights
            weights = checked_weights(fit.sample_weight, fit.view.n_samples or 0)
            self.row_weights_ = self.row_weights_ * np.sqrt(weights[found.rows])

    def _shortcoming(self, fit: Fit[DoublySparse], task: Task) -> str | None:
        k, (n_nonzero, n_rows) = fit.n_components, fit.n_nonzero
        if self.n_components_ == k:
            return None
        if min(n_nonzero, n_rows) < k:
            why = f"n_nonzero={n_nonzero} features and n_rows={n_rows} samples give at most as many components"
            return errors.fewer_components(k, self.n_components_, why)
        return too_few(k, self.n_components_, task.spectrum, "the features and samples found span no more")
