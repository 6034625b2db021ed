"""Sparse components of maximal variance."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparing import errors
from sparing.budget import Budget
from sparing.certificates import Problem
from sparing.certificates.variance import covariance_unit
from sparing.data import DataMatrix, Preparation
from sparing.deflation import (
    CONSTRAINTS,
    DEFLATIONS,
    Deflation,
    DisjointDeflation,
    GeneralizedDeflation,
    OrthogonalizedDeflation,
)
from sparing.encoders import Disjoint, ElasticNet, JointVariance, Sequential, TwoSided, Varimax, fewest_in_turn
from sparing.estimators._bounding import variance_certificate
from sparing.estimators._encoding import EncodingEstimator
from sparing.estimators._input import (
    checked_view,
    count,
    feature_count,
    flag,
    generator_of,
    resolved,
    steady,
    variance_share,
    with_variance,
)
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.results import Array, Encoder, Indices, Spectrum, TwoSidedEncoder
from sparing.solvers import SOLVERS, Auto, Exact, Solver

DEFAULT_MIN_VARIANCE = 0.9

QUICK = Auto(starts=3, finalists=2, kicks=0)
"""Where many components are found on the way to those returned, each need not be the very best."""

BLOCK_SOLVERS: dict[str, Any] = {"elastic_net": ElasticNet, "varimax": Varimax}
"""Methods that find all components at once."""


class SparsePCA(EncodingEstimator):
    """Ordered components of maximal variance, each with a few features, and a certificate.

    Each component is a unit vector with ``n_nonzero`` nonzero entries. Together they maximise the variance of their
    span, tr((H'H)^-1 H'AH) for the covariance A, which for one component is x'Ax.

    Parameters
    ----------
    n_components : int, default=1
    n_nonzero : int or sequence of int, optional
        Features of each component, or one number for each.
    min_variance : float, optional
        Instead of a number: the fewest features per component found that keep this share of the variance of the dense
        component in its place, one after the other. 0.9 where nothing else is given. Where several components are then
        searched together the total is kept, not each share. With ``elastic_net`` and ``varimax`` the counts are those
        that ``auto`` needs.
    n_nonzero_total : int, optional
        Instead of a number per component: features over all components, given to those that gain most by them.
    solver : str or a solver, default="auto"
        How one component is found: ``auto``, ``exact`` (proved optimal, or within a gap), ``truncated_power``,
        ``generalized_power_l0``, ``generalized_power_l1``, ``greedy``, ``rounding``, ``max_component``,
        ``semidefinite``; or all at once: ``elastic_net``, ``varimax``. An instance with its own settings is accepted
        too. ``auto`` is never below any of the others by much, and seldom below the optimum.
    deflation : str or a deflation, default="auto"
        How the next component is found: ``projection``, ``hotelling``, ``schur``, ``orthogonalized``, ``generalized``,
        ``disjoint`` (with ``solver="exact"`` the best disjoint supports of all, where they are few enough to list).
        ``auto`` searches all components together when ``solver="auto"`` (ordered by what each adds;
        prefixes are not optimal), is ``orthogonalized`` with ``solver="exact"``, which needs components of plain
        variance, and ``generalized`` with others.
    constraint : {None, "orthogonal", "uncorrelated"}, default=None
        Loadings orthogonal to one another, or scores uncorrelated with one another; exact. Both at once is PCA.
    refit : bool, default=True
        Best loadings for the features found. Otherwise those of the solver, where it has its own.
    n_rows : int, optional
        Also find sparse vectors on the side of the samples, as many as components, each with ``n_rows`` samples:
        ``row_components_``.
    center, scale : bool, default=True, False
        Subtract means; divide by standard deviations (n - 1). Sparse data stay sparse.
    certify : bool, default=True
        Recompute the variance from the data and prove what nothing can pass. Never changes the components.
    precomputed : bool, default=False
        X is a covariance or correlation matrix; ``transform`` then takes data centred like those it came from.
    time_limit : float, optional
        Seconds after which the best answer so far is returned, still with a valid bound.
    random_state : int, Generator, RandomState or None, default=None
    verbose : bool, default=False

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit rows with at most ``n_nonzero`` nonzero entries each.
    variance_ : ndarray of shape (n_components,)
        x'Ax of each component for the covariance A (n - 1), or the matrix given.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        What each component adds to what the best decoder rebuilds; sums to 1 - loss / total.
    decoder_ : ndarray of shape (n_components, n_features)
        The best linear decoder.
    support_ : ndarray of int
        Sorted indices of all features used.
    loss_, loss_ratio_ : float
        What the best decoder cannot rebuild, and divided by what PCA loses.
    row_components_ : ndarray of shape (n_components, n_samples)
        With ``n_rows``: unit rows with at most ``n_rows`` nonzero entries each.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : VarianceCertificate
        Print it. ``certificate_.parts`` has one for each component.
    n_passes_ : int
        How often all of X was read.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sparing import SparsePCA
    >>> from sparing.datasets import load_pitprops
    >>> model = SparsePCA(n_nonzero=5, precomputed=True, random_state=0).fit(load_pitprops().correlation)
    >>> model.variance_.round(4)
    array([3.4062])
    >>> model.support_
    array([0, 1, 6, 8, 9])
    """

    support_: Indices

    def __init__(
        self,
        n_components: int = 1,
        *,
        n_nonzero: int | Sequence[int] | None = None,
        min_variance: float | None = None,
        n_nonzero_total: int | None = None,
        solver: Any = "auto",
        deflation: Any = "auto",
        constraint: str | None = None,
        refit: bool = True,
        n_rows: int | None = None,
        center: bool = True,
        scale: bool = False,
        certify: bool = True,
        precomputed: bool = False,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_nonzero = n_nonzero
        self.min_variance = min_variance
        self.n_nonzero_total = n_nonzero_total
        self.solver = solver
        self.deflation = deflation
        self.constraint = constraint
        self.refit = refit
        self.n_rows = n_rows
        self.center = center
        self.scale = scale
        self.certify = certify
        self.precomputed = precomputed
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> SparsePCA:
        """Find the components.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
            With ``precomputed=True``, a covariance of shape (n_features, n_features).
        y : ignored

        Returns
        -------
        SparsePCA
        """
        for learned in ("certificate_", "row_components_"):  # of an earlier fit
            self.__dict__.pop(learned, None)
        preparation = Preparation(
            flag("center", self.center), flag("scale", self.scale), flag("precomputed", self.precomputed)
        )
        budget, rng = Budget.of(self.time_limit, self.verbose), generator_of(self.random_state)
        encoder = self._encoder()
        view = checked_view(self, X, preparation)
        n_components, n_nonzero = self._counts(view.n_features)
        with steady(view, n_components):
            spectrum = top_spectrum(with_variance(view, preparation.center), n_components, rng)
            if n_nonzero is None:
                n_nonzero, found = self._fewest(encoder, view, spectrum, rng, budget)
            else:
                found = encoder.encode(view, spectrum, n_nonzero, rng, budget=budget)
            self._publish(view, found, spectrum)
            if flag("certify", self.certify):
                problem = self._problem(n_nonzero, found, view.n_features)
                pca = spectrum.leading(problem.n_components)
                self.certificate_ = variance_certificate(view, found, pca, problem, preparation, rng, budget)
        self.n_passes_ = view.passes
        self._warn(n_components, spectrum)
        return self

    def _encoder(self) -> Any:
        """The algorithm that the parameters describe."""
        if self.constraint is not None and self.constraint not in CONSTRAINTS:
            raise errors.unknown_choice("constraint", self.constraint, [*CONSTRAINTS, None])
        if self.constraint is not None and self.deflation != "auto":
            raise errors.constraint_decides(self.constraint, self.deflation)
        solver, block = self._solver()
        auto_deflation = isinstance(self.deflation, str) and self.deflation == "auto"
        if self.n_rows is not None:
            for parameter, default in (("deflation", "auto"), ("constraint", None), ("n_nonzero_total", None)):
                if getattr(self, parameter) is not default and getattr(self, parameter) != default:
                    raise errors.two_sided_alone(parameter)
            if block:
                raise errors.two_sided_alone("solver")
            return TwoSided(solver, count("n_rows", self.n_rows))
        joint = auto_deflation and isinstance(solver, Auto)
        for parameter in ("constraint", "n_nonzero_total"):
            wish = getattr(self, parameter)
            if wish is not None and not joint:
                raise errors.joint_only(parameter, wish, f"solver={self.solver!r}, deflation={self.deflation!r}")
        if block:
            if not auto_deflation:
                raise errors.joint_only("solver", self.solver, f"deflation={self.deflation!r} takes one at a time")
            return solver
        deflation = self._deflation(solver)
        if isinstance(solver, Exact) and isinstance(deflation, DisjointDeflation) and self.n_components != 1:
            return Disjoint(solver.incumbent)
        if joint and self.n_components != 1:
            constraint = None if self.constraint is None else CONSTRAINTS[self.constraint]()
            return JointVariance(
                QUICK if self.solver == "auto" else solver, constraint, total=self.n_nonzero_total is not None
            )
        return Sequential(solver, deflation)

    def _solver(self) -> tuple[Any, bool]:
        """The solver with its settings, and whether it finds all components at once."""
        registry = {**SOLVERS, **BLOCK_SOLVERS}
        if isinstance(self.solver, str) or not callable(getattr(self.solver, "encode", None)):
            solver = resolved("solver", registry, "solve", self.solver)
        else:
            solver = self.solver
        if not flag("refit", self.refit) and "refit" in {field.name for field in dataclasses.fields(solver)}:
            solver = dataclasses.replace(solver, refit=False)
        return solver, callable(getattr(solver, "encode", None))

    def _deflation(self, solver: Any) -> Deflation:
        if isinstance(self.deflation, str) and self.deflation == "auto":
            return OrthogonalizedDeflation() if isinstance(solver, Exact) else GeneralizedDeflation()
        chosen: Deflation = resolved("deflation", DEFLATIONS, "deflate", self.deflation, also=("auto",))
        return chosen

    def _counts(self, n_features: int) -> tuple[int, int | list[int] | None]:
        """Checked numbers of components and features."""
        n_components = count("n_components", self.n_components)
        if n_components > n_features:
            raise errors.n_components_too_large(n_components, n_features)
        given = [name for name in ("n_nonzero", "min_variance", "n_nonzero_total") if getattr(self, name) is not None]
        if len(given) > 1:
            raise errors.two_ways_to_count(*given[:2])
        if self.n_nonzero_total is not None:
            total = count("n_nonzero_total", self.n_nonzero_total)
            if total < n_components:
                raise errors.total_too_small(total, n_components)
            return n_components, min(total, n_components * n_features)
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
        return DEFAULT_MIN_VARIANCE if self.min_variance is None else variance_share(self.min_variance)

    def _fewest(
        self, encoder: Any, view: DataMatrix, spectrum: Spectrum, rng: np.random.Generator, budget: Budget
    ) -> tuple[list[int], Encoder]:
        """Counts found one component after the other, and components that have them.

        Those of a named solver are kept as they were found; ``auto`` and methods for all components at once start
        again with the counts that a quick search needs.
        """
        solver: Solver = getattr(encoder, "solver", QUICK)
        quick = QUICK if isinstance(solver, Auto) else solver
        deflation = getattr(encoder, "deflation", None) or getattr(encoder, "constraint", None)
        sizes, H = fewest_in_turn(
            quick, deflation or GeneralizedDeflation(), view, spectrum, self._min_variance(), rng, budget=budget
        )
        kept = encoder_of(view, H, spectrum.total)
        if isinstance(encoder, Sequential) and solver is quick:
            return sizes, kept
        found: Encoder = encoder.encode(view, spectrum, sizes, rng, budget=budget)
        alone = len(sizes) == 1 and isinstance(encoder, Sequential)
        return sizes, kept if alone and kept.captured[0] > found.captured[0] else found

    def _problem(self, n_nonzero: int | list[int], found: Encoder, n_features: int) -> Problem:
        """What the certificate is about: any components with as many features as these may have."""
        in_all = self.n_nonzero_total is not None
        each = np.count_nonzero(found.loadings, axis=1)  # more than asked for where penalties decide, not counts
        most = max(int(np.max(n_nonzero)), int(each.sum() if in_all else each.max()))
        disjoint = not in_all and isinstance(self._deflation(None), DisjointDeflation)
        return Problem(
            len(found.loadings),
            min(most, n_features * (len(found.loadings) if in_all else 1)),
            n_features,
            objective="variance",
            shared_support=in_all or len(found.loadings) == 1,
            orthogonal=disjoint or self.constraint == "orthogonal",
            disjoint=disjoint,
        )

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
        if isinstance(found, TwoSidedEncoder):
            self.row_components_: Array = found.rows

    def _warn(self, n_components: int, spectrum: Spectrum) -> None:
        """One warning where the answer is not quite what was asked for."""
        if self.n_components_ == n_components:
            return
        if spectrum.rank < n_components and spectrum.rank <= self.n_components_:
            why = f"X has rank {spectrum.rank}"
        elif self.constraint is not None:
            why = errors.constraint_leaves_fewer(self.constraint, self.n_components_)
        else:
            why = "further ones would repeat those found"
        warnings.warn(
            errors.fewer_components(n_components, self.n_components_, why), errors.SparingWarning, stacklevel=3
        )
