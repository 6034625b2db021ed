"""Components that use few features, and a way back that uses few data points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates.reconstruction import ReconstructionCertificate, certify_reconstruction
from sparing.data import Preprocessing
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.inputs import (
    check_has_variance,
    checked_view,
    count,
    fit_context,
    flag,
    generator_of,
    preprocessing_from,
    resolved,
    restore_on_failure,
)
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders.doubly_sparse import DoublySparse, RowEncoder
from sparing.methods.selectors import SELECTORS, DualSet, Exact, Greedy
from sparing.methods.selectors.applicable_theorem import applicable_theorem
from sparing.proof.policy import prove
from sparing.results import Array, Indices, Problem, Spectrum
from sparing.run import Budget, Run
from sparing.task import Task

PER_COMPONENT = 5
"""Features and data points per component where their number is not given."""


class DoublySparseEncoder(EncodingEstimator):
    """The few features that say what PCA says, and the few samples that show what they mean.

    Scores are read from ``n_nonzero`` features, and every sample is rebuilt as a combination of ``n_rows`` of the
    samples themselves. The loss is what this decoder loses, not what the best one would [magdonismail2015, Theorem 6,
    comment 5].

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_nonzero : int, optional
        Number of features used by all components together; 5 for each component where it is not given, at most all.
        Fewer are used only where no further feature would add anything.
    n_rows : int, optional
        Number of samples that the decoder is built on; 5 for each component where it is not given, at most all.
    selector : str or a selector, default="auto"
        How features and samples are chosen: ``auto``, or any selector of :class:`SparseEncoder`. ``auto`` is greedy on
        the principal components with swaps, safeguarded by dual set selection so that the promise in the certificate
        always holds. ``exact`` chooses features; samples are too many for it and are chosen as by ``auto``.
    center, scale : bool, default=True, False
        Subtract means; divide by standard deviations (n - 1), about zero where means stay. Sparse data stay sparse.
    certify : bool, default=True
        Recompute the loss from the data and prove what nothing can go below. Never changes the components.
    missing : {"error", "mean"}, default="error"
        What NaN means: a mistake, or a missing value, which the mean of its feature then stands for (in new data the
        mean of the fit, ``imputation_``).
    time_limit : float, optional
        Seconds after which the best answer so far is returned, still with a valid bound.
    random_state : int, Generator, RandomState or None, default=None
    verbose : bool, default=False

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The encoder: unit rows, zero outside ``support_``, scores uncorrelated and in falling order of worth.
    decoder_ : ndarray of shape (n_components, n_features)
        The decoder, ``row_weights_ @ ((X[rows_] - mean_) / scale_)``, with ``imputation_`` for what X misses.
    support_ : ndarray of int
        Sorted indices of the features used.
    rows_ : ndarray of int
        Sorted numbers of the samples that the decoder is built on.
    row_weights_ : ndarray of shape (n_components, len(rows_))
        What each of them contributes to each component.
    loss_, loss_ratio_ : float
        What encoder and decoder lose, as a sum of squares, and divided by what PCA loses (at least 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        What each component adds; sums to 1 - loss / total.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : Certificate
        Print it.
    n_passes_ : int
        How often all of X was read.
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

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_nonzero: int | None = None,
        n_rows: int | None = None,
        selector: Any = "auto",
        center: bool = True,
        scale: bool = False,
        certify: bool = True,
        missing: str = "error",
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_nonzero = n_nonzero
        self.n_rows = n_rows
        self.selector = selector
        self.center = center
        self.scale = scale
        self.certify = certify
        self.missing = missing
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @restore_on_failure
    def fit(self, X: Any, y: Any = None) -> DoublySparseEncoder:
        """Choose features and samples, and learn encoder and decoder.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        DoublySparseEncoder
        """
        self.__dict__.pop("certificate_", None)  # of an earlier fit
        preprocessing = preprocessing_from(self.center, self.scale, missing=self.missing)
        certify = flag("certify", self.certify)
        budget, rng = Budget.of(self.time_limit, self.verbose), generator_of(self.random_state)
        columns, rows, safeguard = self._selectors()
        view = checked_view(self, X, preprocessing, say=budget.say)
        self._learn_imputation(view)
        n_components, n_nonzero, n_rows = self._counts(view)
        check_has_variance(view, preprocessing.center)
        with fit_context(view, n_components):
            spectrum = top_spectrum(view, min(n_components, n_nonzero, n_rows), rng)
            encoder = DoublySparse(columns, n_rows, rows, safeguard)
            found = encoder.encode(Task.of_components(view, spectrum, n_nonzero), Run(rng, budget))
            self._publish(view, found, spectrum)
            if certify:
                problem = Problem(spectrum.rank, n_nonzero, view.n_features)
                self.certificate_ = self._certified(
                    view, found, spectrum, problem, preprocessing, n_rows, Run(rng, budget)
                )
                self.loss_, self.loss_ratio_ = self.certificate_.value, self.certificate_.ratio
        self.n_passes_ = view.passes
        self._warn(n_components, n_nonzero, n_rows, spectrum)
        return self

    def _selectors(self) -> tuple[Any, Any, Any]:
        """Those of features and of samples, and the one that keeps a promise."""
        if isinstance(self.selector, str) and self.selector == "auto":
            return Greedy(), Greedy(), DualSet()
        selector = resolved("selector", SELECTORS, "select", self.selector, also=("auto",))
        return selector, Greedy() if isinstance(selector, Exact) else selector, None

    def _counts(self, view: DataMatrix) -> tuple[int, int, int]:
        """Checked numbers of components, features and samples."""
        n, d, k = view.n_samples or 0, view.n_features, count("n_components", self.n_components)
        if k > d:
            raise errors.n_components_too_large(k, d)
        n_nonzero = min(PER_COMPONENT * k, d) if self.n_nonzero is None else count("n_nonzero", self.n_nonzero)
        n_rows = min(PER_COMPONENT * k, n) if self.n_rows is None else count("n_rows", self.n_rows)
        if n_nonzero > d:
            raise errors.more_than_there_are("n_nonzero", n_nonzero, d, "features")
        if n_rows > n:
            raise errors.more_than_there_are("n_rows", n_rows, n, "samples")
        return k, n_nonzero, n_rows

    def _certified(
        self,
        view: DataMatrix,
        found: RowEncoder,
        spectrum: Spectrum,
        problem: Problem,
        preprocessing: Preprocessing,
        n_rows: int,
        run: Run,
    ) -> ReconstructionCertificate:
        promised = applicable_theorem(self.selector) == "dual_set"
        return certify_reconstruction(
            view,
            found,
            self.rows_,
            self.row_weights_,
            spectrum,
            prove(Task(view, problem, spectrum), found, run),  # the best decoder loses no more than ours
            problem,
            preprocessing,
            promised_rows=n_rows if promised else None,
        )

    def _publish(self, view: DataMatrix, found: RowEncoder, spectrum: Spectrum) -> None:
        self.components_: Array = found.components
        self.decoder_: Array = found.decoder
        self.support_: Indices = found.support
        self.rows_: Indices = found.rows
        self.row_weights_: Array = found.row_weights / np.sqrt(view.square_unit)
        self.mean_, self.scale_ = view.mean, view.scale
        self.loss_ = found.loss * view.square_unit
        self.loss_ratio_ = spectrum.loss_ratio(found.loss)
        self.explained_variance_ratio_: Array = found.captured / spectrum.total
        self.n_components_ = len(found.loadings)

    def _warn(self, n_components: int, n_nonzero: int, n_rows: int, spectrum: Spectrum) -> None:
        """One warning where there are fewer components than asked for."""
        if self.n_components_ == n_components:
            return
        if min(n_nonzero, n_rows) < n_components:
            why = f"n_nonzero={n_nonzero} features and n_rows={n_rows} samples give at most as many components"
        elif spectrum.rank < n_components:
            why = f"X has rank {spectrum.rank}"
        else:
            why = "the features and samples found span no more"
        warnings.warn(
            errors.fewer_components(n_components, self.n_components_, why), errors.SparingWarning, stacklevel=4
        )
