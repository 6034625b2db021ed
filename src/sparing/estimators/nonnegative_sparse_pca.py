"""Nonnegative sparse components of maximal variance."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates import VarianceCertificate
from sparing.certificates.variance import SURROGATE
from sparing.estimators.components import ComponentsEstimator
from sparing.estimators.parameters import one_of, resolved
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.theorem_bounds import approximation_factor
from sparing.methods.encoders import JointNonnegative, OrthogonalNonnegative, Sequential
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, NonnegativeAuto, NonnegativeExact, Spannogram, SpannogramNet
from sparing.results import Encoder, Guarantee, Premise, Problem, Reference
from sparing.run import Run

FAST_SOLVER = NonnegativeAuto(starts=4, finalists=2, perturbations=0)
"""Settings for intermediate components, which need not be the very best."""

STARTING = dataclasses.replace(FAST_SOLVER, surrogates=False, any_sign=False, pool=128)
"""Settings for components that are then improved together, which makes more starts unnecessary."""


@dataclass(eq=False, repr=False)
class NonnegativeSparsePCA(ComponentsEstimator):
    """Ordered components of maximal variance, each with a few features, no loading below zero, and a certificate.

    For quantities that only add up: parts of images, concentrations, spectra, topics. Each component is a unit vector
    with at most ``n_nonzero`` positive entries; more may not help, because some features only pull the other way.

    Parameters
    ----------
    n_components : int, default=1
    n_nonzero : int or sequence of int, optional
        Maximum number of features per component, or one number for each; components are sorted by the variance that
        they add. Default 10, or all features if there are fewer (divided among disjoint components).
    min_variance : float, optional
        Instead of a number: the fewest features per component found that keep this share of the variance of the
        nonnegative component with all features, one after the other. Where several components are then searched
        together the total is kept, not each share.
    include : names, indices or mask of features, optional
        Features that have a place in some component. The loading of one that only lowers the variance may be zero.
        With ``min_variance`` they are added to the features found.
    exclude : names, indices or mask of features, optional
        Features that no component may read. They still count for PCA and are predicted by the decoder; with
        ``min_variance`` the dense components use only the allowed features.
    solver : str or a solver, default="auto"
        How one component is found: ``auto`` (many starts and low rank surrogates, improved on the whole matrix),
        ``exact`` (the same, with the tightest available bound), ``spannogram`` (the exact optimum of the surrogate of
        rank ``rank``), ``spannogram_net`` (the same within ``accuracy``, by random directions), ``em`` (expectation and
        maximisation), ``nspca`` (penalised coordinate ascent). An instance with its own settings is accepted too.
    rank : int, default=3
        Rank of the surrogate of ``spannogram`` and ``spannogram_net``. ``auto`` and ``exact`` choose their own.
    accuracy : float, default=0.1
        How far below the optimum of the surrogate ``spannogram_net`` may stay, as a share of it.
    deflation : str or a deflation, default="auto"
        How the next component is found: ``disjoint`` (features are used once, so that components are orthogonal),
        ``projection``, ``hotelling``, ``schur``, ``orthogonalized``, ``generalized``. ``auto`` improves all components
        together when ``solver="auto"``, is ``orthogonalized`` with ``solver="exact"`` and ``generalized`` with others.
    constraint : {None, "orthogonal"}, default=None
        Orthogonal components, found together: for nonnegative ones that is to have no feature in common.
        ``deflation="disjoint"`` finds them one after the other, so that every prefix is a valid result.
    refit : bool, default=True
        Climb on the whole matrix from the answer of the solver. Otherwise its own answer, as published; ``auto`` and
        ``exact`` always climb.
    center, scale : bool, default=True, False
        Subtract means; divide by standard deviations (n - 1), computed about zero without ``center``. Sparse data stay
        sparse.
    certify : bool, default=True
        Recompute the variance from the data and prove an upper bound. If the proof finds a better answer, that one is
        returned, unless you named a solver.
    precomputed : bool, default=False
        X is a covariance or correlation matrix; ``transform`` then takes data centred like those it came from.
    passes : {"auto", "any", "few"}, default="auto"
        How often X may be read. ``few``: with at most 1024 features their whole Gram matrix is computed first, for the
        same answer in two passes; otherwise components are searched among candidates from a sketch, in three passes
        over dense and five over sparse data, and their variances are exact (not with ``min_variance`` or ``exclude``).
        ``auto``: few if X is a Dask array, or larger than 4 GiB and not in memory.
    missing : {"error", "mean"}, default="error"
        How to treat NaN: raise an error, or replace it by the mean of its feature (in new data by the mean of the fit,
        ``imputation_``).
    feature_names_out : {"numbered", "leading"}, default="numbered"
        Names of the scores, as in :class:`SparseEncoder`.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of search and proof when there is no time limit.
    time_limit : float, optional
        Seconds after which the best answer so far is returned, with a valid bound.
    checkpoint : str or path, optional
        Folder in which each finished pass over X is saved. A killed fit that is started again with the same X and
        parameters continues after its last finished pass and gives the same result. X is recognised by its shape, type
        and first rows, files also by size and date. After a successful fit the folder is emptied again.
    random_state : int, Generator, RandomState or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit rows without negative entries, at most ``n_nonzero`` positive ones each.
    variance_ : ndarray of shape (n_components,)
        x'Ax of each component for the covariance A (n - 1), or the matrix given; it need not fall from one to the next.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of variance that each component adds to the reconstruction; sums to 1 - loss / total.
    decoder_ : ndarray of shape (n_components, n_features)
        The best linear decoder; it may have negative entries.
    support_ : ndarray of int
        Sorted indices of all features used.
    variance_kept_ : float
        Variance within the span of the components as a share of that of ``n_components`` principal components, as in
        the certificate. At most 1.
    feature_r2_ : ndarray of shape (n_features,)
        How well the best decoder predicts each feature: 1 - residual variance / variance. 1 for a constant feature.
    loss_, loss_ratio_ : float
        Information loss (the part that the best decoder cannot rebuild), and divided by PCA's loss.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : VarianceCertificate
        Print it. ``certificate_.parts`` has one for each component.
    n_passes_ : int
        Number of passes over X.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sparing import NonnegativeSparsePCA
    >>> from sparing.datasets import load_pitprops
    >>> model = NonnegativeSparsePCA(n_nonzero=10, precomputed=True, random_state=0).fit(load_pitprops().correlation)
    >>> model.variance_.round(4)
    array([4.1441])
    >>> bool((model.components_ >= 0).all())
    True
    """

    n_components: int = 1
    _: KW_ONLY
    n_nonzero: int | Sequence[int] | None = None
    min_variance: float | None = None
    include: Any = None
    exclude: Any = None
    solver: Any = "auto"
    rank: int = 3
    accuracy: float = 0.1
    deflation: Any = "auto"
    constraint: str | None = None
    refit: bool = True
    center: bool = True
    scale: bool = False
    certify: bool = True
    precomputed: bool = False
    passes: str = "auto"
    missing: str = "error"
    feature_names_out: str = "numbered"
    effort: str = "default"
    time_limit: float | None = None
    checkpoint: str | PathLike[str] | None = None
    random_state: Any = 0
    verbose: bool = False

    _auto, _exact, _quick, _nonnegative = NonnegativeAuto, NonnegativeExact, FAST_SOLVER, True

    def _algorithm(self) -> Any:
        """The algorithm that the parameters describe."""
        if self.constraint is not None:
            one_of("constraint", self.constraint, ["orthogonal"], also=(None,))
        if self.constraint is not None and self.deflation != "auto":
            raise errors.constraint_decides(self.constraint, self.deflation)
        solver = self._solver()
        starting = STARTING if isinstance(self.solver, str) and self.solver == "auto" else solver
        if self.constraint is not None and self.n_components != 1:
            return OrthogonalNonnegative(starting)
        auto_deflation = isinstance(self.deflation, str) and self.deflation == "auto"
        if auto_deflation and isinstance(solver, NonnegativeAuto) and self.n_components != 1:
            return JointNonnegative(starting)
        return Sequential(solver, self._deflation(solver))

    def _solver(self) -> Any:
        """The solver: a named one with the estimator's settings, an instance with its own."""
        solver = resolved("solver", NONNEGATIVE_SOLVERS, "solve", self.solver)
        names = {field.name for field in dataclasses.fields(solver)} if dataclasses.is_dataclass(solver) else set()
        settings: dict[str, Any] = {} if self.refit or "refit" not in names else {"refit": False}
        rank, accuracy = self.rank, self.accuracy
        if isinstance(self.solver, str):
            wishes = {"rank": rank, "accuracy": accuracy} if isinstance(solver, Spannogram | SpannogramNet) else {}
            settings |= {name: value for name, value in wishes.items() if name in names}
        return dataclasses.replace(solver, **settings) if settings else solver

    @property
    def _disjoint(self) -> bool:
        """Whether components must be disjoint. Nonnegative components are orthogonal exactly if they are disjoint."""
        return self.constraint is not None or super()._disjoint

    def _problem(self, n_nonzero: int | list[int], found: Encoder, n_features: int) -> Problem:
        """The problem of the certificate: all nonnegative components with the number of features that these may
        have."""
        disjoint = self._disjoint
        return Problem(
            len(found.loadings),
            int(np.max(n_nonzero)),
            n_features,
            objective="variance",
            shared_support=len(found.loadings) == 1,
            nonnegative=True,
            orthogonal=disjoint,
            disjoint=disjoint,
        )

    def _annotated(
        self, certificate: VarianceCertificate, view: DataMatrix, encoder: Any, run: Run
    ) -> VarianceCertificate:
        """Add the paper's guarantees for one component, and how orthogonal several components are."""
        H = certificate.loadings
        if len(H) > 1:
            largest = float(np.max(np.abs(np.triu(H @ H.T, 1))))
            said = (
                "No feature is in two components: they are orthogonal."
                if largest == 0
                else f"Components share features: the largest cosine between two of them is {largest:.3f}."
            )
            return dataclasses.replace(certificate, notes=(*certificate.notes, said))
        if run.budget.expired or certificate.problem.rules:  # the theorems assume a complete search
            return certificate
        return dataclasses.replace(certificate, guarantees=_promised(certificate, view, encoder.solver, run.rng))


def _promised(
    certificate: VarianceCertificate, view: DataMatrix, solver: Any, rng: np.random.Generator
) -> tuple[Guarantee, ...]:
    """Theorems 1 and 2 for their solvers. The optimum is unknown; at most its upper bound is known."""
    if not isinstance(solver, Spannogram | SpannogramNet) or certificate.value <= 0:
        return ()
    problem, values = certificate.problem, top_spectrum(view, solver.rank + 1, rng).values
    factor = approximation_factor(values, problem.n_features, problem.n_nonzero, solver.rank)
    where, strength = "Theorem 1", "always"
    if isinstance(solver, SpannogramNet):
        factor *= 1 - solver.accuracy
        failure = 1 / problem.n_features if solver.failure is None else solver.failure
        where, strength = "Theorem 2", f"probability {math.floor((1 - failure) * 1e6) / 1e6:g}"
    if factor <= 0:  # an accuracy of 1 guarantees nothing
        return ()
    claim, premise = SURROGATE.format(solver.rank), Premise("surrogate", solver.rank)
    most = certificate.bound / certificate.value
    if not certificate.witness.reached:  # the optimum is unknown, and both of these bound it
        most = min(most, 1 / factor)
    return (Guarantee(claim, 1 / factor, most, strength, Reference("asteris2014", where), premise),)
