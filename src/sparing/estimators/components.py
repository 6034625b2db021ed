"""What estimators of components of maximal variance share: fit, counts, certificate."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from sparing import errors
from sparing.certificates import VarianceCertificate
from sparing.certificates.variance import covariance_unit
from sparing.estimators.bounding import variance_certificate
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.few_passes import gram_or_rows
from sparing.estimators.inputs import (
    check_has_variance,
    checked_view,
    checkpoint_of,
    count,
    feature_count,
    fit_context,
    flag,
    generator_of,
    preprocessing_of,
    restore_on_failure,
    share,
)
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import GeneralizedDeflation
from sparing.methods.encoders import Sequential, fewest_in_turn
from sparing.methods.solvers import Solver
from sparing.results import Array, Encoder, Indices, Problem, Spectrum, TwoSidedEncoder
from sparing.run import Budget, Run
from sparing.task import Task

DEFAULT_MIN_VARIANCE = 0.9


class ComponentsEstimator(EncodingEstimator):
    """Components of maximal variance with exact counts; which algorithm finds them is for subclasses to say."""

    n_components: int
    n_nonzero: int | Sequence[int] | None
    min_variance: float | None
    passes: str
    n_nonzero_total: int | None = None
    constraint: str | None = None
    support_: Indices

    _auto: ClassVar[type]
    _quick: ClassVar[Solver]
    _nonnegative: ClassVar[bool] = False

    @abstractmethod
    def _encoder(self) -> Any:
        """The algorithm that the parameters describe."""

    @abstractmethod
    def _problem(self, n_nonzero: int | list[int], found: Encoder, n_features: int) -> Problem:
        """What the certificate is about: any components with as many features as these may have."""

    @restore_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
            With ``precomputed=True``, a covariance of shape (n_features, n_features).
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers count as that many copies of a row.

        Returns
        -------
        self
        """
        for learned in ("certificate_", "row_components_"):  # of an earlier fit
            self.__dict__.pop(learned, None)
        preprocessing = preprocessing_of(self)
        checkpoint = checkpoint_of(self)
        budget, rng = Budget.of(self.time_limit, self.verbose), generator_of(self.random_state, checkpoint)
        encoder = self._encoder()
        reading = partial(gram_or_rows, passes=self.passes, precomputed=preprocessing.precomputed)
        view = checked_view(self, X, preprocessing, sample_weight, budget.say, checkpoint, reading)
        self._learn_imputation(view)
        n_components, n_nonzero = self._counts(view.n_features)
        with fit_context(view, n_components):
            spectrum = top_spectrum(check_has_variance(view, preprocessing.center), n_components, rng)
            if n_nonzero is None:
                n_nonzero, found = self._fewest(encoder, view, spectrum, Run(rng, budget))
            else:
                found = encoder.encode(Task.of_components(view, spectrum, n_nonzero), Run(rng, budget))
            if self._nonnegative and found.loadings.min(initial=0.0) < 0:
                raise ValueError(
                    f"solver={getattr(self, 'solver', None)!r} returned negative loadings. NonnegativeSparsePCA takes "
                    "solvers whose loadings are all at least zero: one of those that it names, or your own."
                )
            self._publish(view, found, spectrum)
            if flag("certify", self.certify):
                problem = self._problem(n_nonzero, found, view.n_features)
                pca = spectrum.leading(problem.n_components)
                certificate = variance_certificate(view, found, pca, problem, preprocessing, Run(rng, budget))
                self.certificate_ = self._annotated(certificate, view, encoder, Run(rng, budget))
        self.n_passes_ = view.passes
        if checkpoint is not None:
            checkpoint.remove()
        self._warn(n_components, spectrum)
        return self

    def _annotated(
        self, certificate: VarianceCertificate, view: DataMatrix, encoder: Any, run: Run
    ) -> VarianceCertificate:
        """The certificate with what else there is to say of this fit."""
        return certificate

    def _counts(self, n_features: int) -> tuple[int, int | list[int] | None]:
        """Checked numbers of components and features."""
        n_components = count("n_components", self.n_components)
        if n_components > n_features:
            raise errors.n_components_too_large(n_components, n_features)
        given = [name for name in ("n_nonzero", "min_variance", "n_nonzero_total") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                f"Both {given[0]} and {given[1]} were given; one decides the other. Pass n_nonzero for a number of "
                "features per component, or min_variance for the fewest that keep a share (SparsePCA also takes "
                "n_nonzero_total)."
            )
        if self.n_nonzero_total is not None:
            total = count("n_nonzero_total", self.n_nonzero_total)
            if total < n_components:
                raise ValueError(
                    f"n_nonzero_total={total}, but n_components={n_components}: each component needs a feature at "
                    f"least. Pass n_nonzero_total of {n_components} or more."
                )
            if total > (most := n_components * n_features):
                raise ValueError(
                    f"n_nonzero_total={total}, but {n_components} component(s) of X's {n_features} features have "
                    f"{most} loadings in all. Pass n_nonzero_total of {most} or less."
                )
            return n_components, total
        if self.n_nonzero is None:
            self._min_variance()
            return n_components, None
        if np.ndim(self.n_nonzero) == 0:
            return n_components, feature_count("n_nonzero", self.n_nonzero, n_features)
        counts = [feature_count("n_nonzero", r, n_features) for r in self.n_nonzero]  # type: ignore[union-attr]
        if len(counts) != n_components:
            raise errors.wrong_number_of_counts(len(counts), n_components)
        return n_components, counts

    def _min_variance(self) -> float:
        if self.min_variance is None:
            return DEFAULT_MIN_VARIANCE
        return share("min_variance", self.min_variance, "0.9 keeps 90% of the variance of each dense component.")

    def _fewest(self, encoder: Any, view: DataMatrix, spectrum: Spectrum, run: Run) -> tuple[list[int], Encoder]:
        """Counts found one component after the other, and components that have them.

        Those of a named solver are kept as they were found; ``auto`` and methods for all components at once start
        again with the counts that a quick search needs.
        """
        solver: Solver = getattr(encoder, "solver", self._quick)
        quick = self._quick if isinstance(solver, self._auto) else solver
        deflation = getattr(encoder, "deflation", None) or getattr(encoder, "constraint", None)
        sizes, H = fewest_in_turn(
            quick,
            deflation or GeneralizedDeflation(),
            view,
            spectrum,
            self._min_variance(),
            run,
            nonnegative=self._nonnegative,
        )
        kept = encoder_of(view, H, spectrum.total)
        in_time = not run.budget.expired or len(kept.loadings) < spectrum.rank
        if (isinstance(encoder, Sequential) and solver is quick) or not in_time:
            return sizes, kept
        as_many = spectrum.leading(len(sizes))  # what the others would explain may be rounding
        found: Encoder = encoder.encode(Task.of_components(view, as_many, sizes), run)
        alone = len(sizes) == 1 and isinstance(encoder, Sequential)
        return sizes, kept if alone and kept.captured[0] > found.captured[0] else found

    def _publish(self, view: DataMatrix, found: Encoder, spectrum: Spectrum) -> None:
        self.components_: Array = found.components
        self.decoder_: Array = found.decoder
        self.support_ = found.support
        self.mean_, self.scale_ = view.mean, view.scale
        self.loss_ = found.loss * view.square_unit
        self.loss_ratio_ = spectrum.loss_ratio(found.loss)
        self.explained_variance_ratio_: Array = found.captured / spectrum.total
        H = self.components_.T
        self.variance_: Array = np.einsum("ij,ij->j", H, view.gram_matmat(H)) * covariance_unit(view)
        self.n_components_ = len(found.loadings)
        self._n_usable = int((view.gram_diagonal() > 0).sum())
        if isinstance(found, TwoSidedEncoder):
            self.row_components_: Array = found.rows

    def _warn(self, n_components: int, spectrum: Spectrum) -> None:
        """One warning where the answer is not quite what was asked for."""
        if self.n_components_ == n_components:
            return
        if spectrum.rank < n_components and spectrum.rank <= self.n_components_:
            why = f"X has rank {spectrum.rank}"
        elif self.constraint is not None:
            why = (
                f"constraint={self.constraint!r} leaves no further component with so few features (each earlier "
                f"component costs one degree of freedom, and {self.n_components_} were found)"
            )
        elif np.count_nonzero(self.components_) == np.count_nonzero(self.components_.any(axis=0)) == self._n_usable:
            why = f"all {self._n_usable} features are in use, each of them once"
        else:
            why = "further ones would repeat those found"
        warnings.warn(
            errors.fewer_components(n_components, self.n_components_, why), errors.SparingWarning, stacklevel=4
        )
