"""What estimators of components of maximal variance share: fit, counts, certificate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from sparing import errors
from sparing.certificates import VarianceCertificate, variance_certificate
from sparing.certificates.variance import covariance_unit
from sparing.estimators.base import Fit
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.parameters import (
    component_count,
    count,
    feature_counts,
)
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.loss import REPEATED
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import Deflation, DisjointDeflation, GeneralizedDeflation
from sparing.methods.encoders import Sequential, fewest_in_turn
from sparing.methods.solvers import Solver
from sparing.proof.answers import better_of
from sparing.proof.policy import prove
from sparing.results import Array, Bound, Encoder, Indices, Problem, Spectrum, TwoSidedEncoder
from sparing.run import Run
from sparing.task import Task

DEFAULT_N_NONZERO = 10
"""Features of each component where nothing is asked for: few enough to name, and soon found."""


class ComponentsEstimator(EncodingEstimator[Any]):
    """Components of maximal variance with exact counts; which algorithm finds them is for subclasses to say."""

    n_components: int
    n_nonzero: int | Sequence[int] | None
    min_variance: float | None
    passes: str
    solver: Any
    refit: bool
    n_nonzero_total: int | None = None
    constraint: str | None = None
    support_: Indices

    _auto: ClassVar[type]
    _quick: ClassVar[Solver]
    _nonnegative: ClassVar[bool] = False
    _forgotten: ClassVar[tuple[str, ...]] = ("certificate_", "row_components_")

    @abstractmethod
    def _problem(self, n_nonzero: int | list[int], found: Encoder, n_features: int) -> Problem:
        """What the certificate is about: any components with as many features as these may have."""

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
        return self._fit(X, y, sample_weight)

    def _solve(self, fit: Fit[Any]) -> tuple[Task, Encoder]:
        view, run, n_nonzero = fit.view, fit.run, fit.n_nonzero
        spectrum = top_spectrum(view, fit.n_components, run.rng)
        if self.min_variance is not None:
            n_nonzero, found = self._fewest(fit.algorithm, view, spectrum, self.min_variance, run)
        else:
            found = fit.algorithm.encode(Task.of_components(view, spectrum, n_nonzero), run)
        if self._nonnegative and found.loadings.min(initial=0.0) < 0:
            raise ValueError(
                f"solver={getattr(self, 'solver', None)!r} returned negative loadings. NonnegativeSparsePCA takes "
                "solvers whose loadings are all at least zero: one of those that it names, or your own."
            )
        return Task(view, self._problem(n_nonzero, found, view.n_features), spectrum), found

    def _prove(self, fit: Fit[Any], task: Task, found: Encoder) -> tuple[Encoder, list[Bound]]:
        pca = _compared(task)
        bounds = prove(pca, found, fit.run)
        own = isinstance(self.solver, str) and self.solver in ("auto", "exact")  # others were asked for by name
        if not (own and self.refit) or isinstance(found, TwoSidedEncoder):
            return found, bounds
        return better_of(pca, found, bounds), bounds

    def _certify(self, fit: Fit[Any], task: Task, found: Encoder, bounds: list[Bound]) -> None:
        certificate = variance_certificate(
            _compared(task), found, fit.preprocessing, fit.run, bounds=bounds, asked=task.spectrum
        )
        self.certificate_ = self._annotated(certificate, fit.view, fit.algorithm, fit.run)
        self.variance_kept_ = certificate.variance_kept

    def _annotated(
        self, certificate: VarianceCertificate, view: DataMatrix, encoder: Any, run: Run
    ) -> VarianceCertificate:
        """The certificate with what else there is to say of this fit."""
        return certificate

    def _counts(self, n_features: int, n_samples: int | None = None) -> tuple[int, int | list[int] | None]:
        k = component_count(self.n_components, n_features)
        given = [name for name in ("n_nonzero", "min_variance", "n_nonzero_total") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                f"Both {given[0]} and {given[1]} were given; one decides the other. Pass n_nonzero for a number of "
                "features per component, or min_variance for the fewest that keep a share (SparsePCA also takes "
                "n_nonzero_total)."
            )
        if self.min_variance is not None:
            return k, None
        if self.n_nonzero is not None:
            return k, feature_counts(self.n_nonzero, k, n_features)
        if self.n_nonzero_total is None:
            return k, min(DEFAULT_N_NONZERO, max(n_features // (k if self._disjoint else 1), 1))
        total = count("n_nonzero_total", self.n_nonzero_total)
        if total < k:
            raise ValueError(
                f"n_nonzero_total={total}, but n_components={k}: each component needs a feature at least. Pass "
                f"n_nonzero_total of {k} or more."
            )
        if total > (most := k * n_features):
            raise ValueError(
                f"n_nonzero_total={total}, but {k} component(s) of X's {n_features} features have {most} loadings in "
                f"all. Pass n_nonzero_total of {most} or less."
            )
        return k, total

    @property
    def _disjoint(self) -> bool:
        """May no feature be in two components?"""
        return isinstance(self._deflation(None), DisjointDeflation)

    @abstractmethod
    def _deflation(self, solver: Any) -> Deflation:
        """How the next component is found."""

    def _fewest(
        self, encoder: Any, view: DataMatrix, spectrum: Spectrum, min_variance: float, run: Run
    ) -> tuple[list[int], Encoder]:
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
            min_variance,
            run,
            nonnegative=self._nonnegative,
        )
        kept = encoder_of(view, H, spectrum.total)
        in_time = not run.budget.expired or len(kept.loadings) < spectrum.rank
        if (isinstance(encoder, Sequential) and solver is quick) or not in_time:
            return sizes, kept
        as_many = spectrum.leading(len(sizes))  # what the others would explain may be rounding
        task = replace(Task.of_components(view, as_many, sizes), start=H)
        found: Encoder = encoder.encode(task, run)
        alone = len(sizes) == 1 and isinstance(encoder, Sequential)
        return sizes, kept if alone and kept.captured[0] > found.captured[0] else found

    def _publish(self, fit: Fit[Any], task: Task, found: Encoder) -> None:
        super()._publish(fit, task, found)
        H = self.components_.T
        images = fit.view.gram_matmat(H)
        self.variance_: Array = np.einsum("ij,ij->j", H, images) * covariance_unit(fit.view)
        within = float(np.trace(np.linalg.pinv(H.T @ H, rtol=REPEATED, hermitian=True) @ (H.T @ images)))
        self.variance_kept_ = task.spectrum.variance_kept(task.spectrum.total - within)
        if isinstance(found, TwoSidedEncoder):
            self.row_components_: Array = found.rows

    def _shortcoming(self, fit: Fit[Any], task: Task) -> str | None:
        found, spectrum = self.n_components_, task.spectrum
        if found == fit.n_components:
            return None
        usable, used = int((fit.view.gram_diagonal() > 0).sum()), self.components_ != 0
        if spectrum.rank < fit.n_components and spectrum.rank <= found:
            why = f"X has rank {spectrum.rank}"
        elif self.constraint is not None:
            why = (
                f"constraint={self.constraint!r} leaves no further component with so few features (each earlier "
                f"component costs one degree of freedom, and {found} were found)"
            )
        elif np.count_nonzero(used) == np.count_nonzero(used.any(axis=0)) == usable:
            why = f"all {usable} features are in use, each of them once"
        else:
            why = "further ones would repeat those found"
        return errors.fewer_components(fit.n_components, found, why)


def _compared(task: Task) -> Task:
    """The same beside as many principal components as there are components."""
    return replace(task, target=task.spectrum.leading(task.problem.n_components))
