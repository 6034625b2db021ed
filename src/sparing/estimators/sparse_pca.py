"""Sparse components of maximal variance."""

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
from sparing.estimators.components import ComponentsEstimator
from sparing.estimators.parameters import one_of, resolved, row_counts
from sparing.gram import DataMatrix
from sparing.methods.deflation import (
    CONSTRAINTS,
    DisjointDeflation,
)
from sparing.methods.encoders import Disjoint, ElasticNet, JointVariance, Sequential, TwoSided, Varimax
from sparing.methods.encoders.joint_goals import ALIKE, unsigned_cosines
from sparing.methods.solvers import SOLVERS, Auto, Exact
from sparing.results import Encoder, Problem
from sparing.run import Run

FAST_SOLVER = Auto(starts=3, finalists=2, perturbations=0)
"""Settings for intermediate components, which need not be the very best."""

BLOCK_SOLVERS: dict[str, Any] = {"elastic_net": ElasticNet, "varimax": Varimax}
"""Methods that find all components at once."""


@dataclass(eq=False, repr=False)
class SparsePCA(ComponentsEstimator):
    """Ordered components of maximal variance, each with a few features, and a certificate.

    Each component is a unit vector with ``n_nonzero`` nonzero entries. Together they maximise the variance of their
    span, tr((H'H)^-1 H'AH) for the covariance A, which for one component is x'Ax.

    Parameters
    ----------
    n_components : int, default=1
    n_nonzero : int or sequence of int, optional
        Number of features per component, or one number for each; components, and their numbers with them, are sorted by
        the variance that they add. Default 10, or all features if there are fewer (divided among disjoint components).
    min_variance : float, optional
        Instead of a number: the fewest features per component found that keep this share of the variance of the
        corresponding dense component, one component after the other. If several components are then searched together,
        the total is kept, not each share. With ``elastic_net`` and ``varimax`` the counts are those that ``auto``
        needs.
    n_nonzero_total : int, optional
        Instead of a number per component: total number of features, given to the components that gain most.
    include : names, indices or mask of features, optional
        Features that must be in some component. The loading of a feature that only lowers the variance may be zero.
        With ``min_variance`` they are added to the features found.
    exclude : names, indices or mask of features, optional
        Features that no component may read. They still count for PCA and are predicted by the decoder; with
        ``min_variance`` the dense components use only the allowed features.
    solver : str or a solver, default="auto"
        How one component is found: ``auto``, ``exact`` (proved optimal, or within a gap), ``truncated_power``,
        ``generalized_power_l0``, ``generalized_power_l1``, ``greedy``, ``rounding``, ``max_component``,
        ``semidefinite``; or all at once: ``elastic_net``, ``varimax``. An instance with its own settings is accepted
        too. ``auto`` is never much worse than any of the others, and usually finds the optimum.
    deflation : str or a deflation, default="auto"
        How the next component is found: ``projection``, ``hotelling``, ``schur``, ``orthogonalized``, ``generalized``,
        ``disjoint`` (with ``solver="exact"`` the best disjoint supports, if there are few enough to list them).
        ``auto`` searches all components together when ``solver="auto"`` (ordered by what each adds;
        prefixes are not optimal), is ``orthogonalized`` with ``solver="exact"``, which needs components of plain
        variance, and ``generalized`` with others.
    constraint : {None, "orthogonal", "uncorrelated"}, default=None
        Loadings orthogonal to one another, or scores uncorrelated with one another; exact. Both at once is PCA. With
        ``solver="exact"`` orthogonal components are searched together, and proved optimal where possible.
    max_cosine : float, default=1.0
        The largest absolute cosine of the loadings of two components: 0 is orthogonal, 1 is no limit. A limit makes
        components easier to distinguish, and bounds tighter. For components that are searched together
        (``solver="auto"``, ``deflation="auto"``).
    refit : bool, default=True
        Best loadings for the features found. Otherwise those of the solver, if it has any.
    n_rows : int or sequence of int, optional
        Also find the same number of sparse vectors of samples, with ``n_rows`` samples each, or one count for each:
        ``row_components_``.
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
        over dense and five over sparse data, and their variances are exact (not with ``min_variance``, ``n_rows`` or
        ``exclude``). ``auto``: few if X is a Dask array, or larger than 4 GiB and not in memory.
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
        Unit rows with at most ``n_nonzero`` nonzero entries each.
    variance_ : ndarray of shape (n_components,)
        x'Ax of each component for the covariance A (n - 1), or the matrix given.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of variance that each component adds to the reconstruction; sums to 1 - loss / total.
    decoder_ : ndarray of shape (n_components, n_features)
        The best linear decoder.
    support_ : ndarray of int
        Sorted indices of all features used.
    variance_kept_ : float
        Variance within the span of the components as a share of that of ``n_components`` principal components, as in
        the certificate. At most 1.
    feature_r2_ : ndarray of shape (n_features,)
        How well the best decoder predicts each feature: 1 - residual variance / variance. 1 for a constant feature.
    loss_, loss_ratio_ : float
        Information loss (the part that the best decoder cannot rebuild), and divided by PCA's loss.
    row_components_ : ndarray of shape (n_components, n_samples)
        With ``n_rows``: unit rows with at most ``n_rows`` nonzero entries each.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : VarianceCertificate
        Print it. ``certificate_.parts`` has one for each component.
    n_passes_ : int
        Number of passes over X.
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

    n_components: int = 1
    _: KW_ONLY
    n_nonzero: int | Sequence[int] | None = None
    min_variance: float | None = None
    n_nonzero_total: int | None = None
    include: Any = None
    exclude: Any = None
    solver: Any = "auto"
    deflation: Any = "auto"
    constraint: str | None = None
    max_cosine: float = 1.0
    refit: bool = True
    n_rows: int | Sequence[int] | None = None
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

    _auto, _exact, _quick = Auto, Exact, FAST_SOLVER

    def _algorithm(self) -> Any:
        """The algorithm that the parameters describe."""
        if self.constraint is not None:
            one_of("constraint", self.constraint, CONSTRAINTS, also=(None,))
        solver, block = self._solver()
        if self.max_cosine < 1 and self.n_components != 1:
            self._check_limit(solver)
        if self.constraint is not None and self.deflation != "auto":
            raise errors.constraint_decides(self.constraint, self.deflation)
        auto_deflation = isinstance(self.deflation, str) and self.deflation == "auto"
        if self.n_rows is not None:
            defaults = {"deflation": "auto", "constraint": None, "n_nonzero_total": None}
            changed = [name for name, default in defaults.items() if getattr(self, name) != default]
            if changed or block:
                parameter = changed[0] if changed else "solver"
                raise ValueError(
                    "n_rows asks for sparse vectors on both sides by Algorithm 2 of [fountoulakis2016], which "
                    f"deflates by projection and cannot be combined with {parameter}. Leave {parameter} at its default."
                )
            return TwoSided(solver, row_counts(self.n_rows, self.n_components))
        orthogonal = self._constraint == "orthogonal"
        joint = auto_deflation and (isinstance(solver, Auto) or (isinstance(solver, Exact) and orthogonal))
        for parameter in ("constraint", "n_nonzero_total"):
            wish = getattr(self, parameter)
            if wish is not None and not joint:
                raise _joint_only_error(parameter, wish, f"solver={self.solver!r}, deflation={self.deflation!r}")
        if block:
            if not auto_deflation:
                raise _joint_only_error("solver", self.solver, f"deflation={self.deflation!r} takes one at a time")
            return solver
        deflation = self._deflation(solver)
        if isinstance(solver, Exact) and isinstance(deflation, DisjointDeflation) and self.n_components != 1:
            return Disjoint(solver.incumbent)
        if joint and self.n_components != 1:
            constraint = None if self._constraint is None else CONSTRAINTS[self._constraint]()
            limit = self.max_cosine if constraint is None else 1.0  # orthogonal components satisfy every limit
            quick = solver if isinstance(solver, Auto) and self.solver != "auto" else FAST_SOLVER
            return JointVariance(quick, constraint, total=self.n_nonzero_total is not None, max_cosine=limit)
        return Sequential(solver, deflation)

    @property
    def _constraint(self) -> str | None:
        """The constraint on all pairs of components; ``max_cosine=0`` means orthogonal."""
        return "orthogonal" if self.constraint is None and self.max_cosine == 0 else self.constraint

    def _check_limit(self, solver: Any) -> None:
        """Reject parameters that cannot be combined with a limit on cosines."""
        orthogonal = self._constraint == "orthogonal"  # satisfies every limit, whatever else is requested
        refused = {
            "n_rows": self.n_rows is not None,
            "deflation": not (isinstance(self.deflation, str) and self.deflation == "auto"),
            "constraint": self._constraint == "uncorrelated",
            "include": not orthogonal and self.include is not None,
            "min_variance": not orthogonal and self.min_variance is not None,
            "solver": not isinstance(solver, Auto) and not (orthogonal and isinstance(solver, Exact)),
        }
        if parameter := next((name for name, is_refused in refused.items() if is_refused), None):
            raise ValueError(
                f"max_cosine={self.max_cosine!r} and {parameter}={getattr(self, parameter)!r} were both given, but a "
                "limit on cosines needs the search for all components together, with given numbers of features. Leave "
                f"{parameter} at its default, or max_cosine at 1."
            )

    def _solver(self) -> tuple[Any, bool]:
        """The solver with its settings, and whether it finds all components at once."""
        registry = {**SOLVERS, **BLOCK_SOLVERS}
        verb = "encode" if callable(getattr(self.solver, "encode", None)) else "solve"
        solver = resolved("solver", registry, verb, self.solver)
        names = {field.name for field in dataclasses.fields(solver)} if dataclasses.is_dataclass(solver) else set()
        if not self.refit and "refit" in names:
            solver = dataclasses.replace(solver, refit=False)
        return solver, callable(getattr(solver, "encode", None))

    def _problem(self, n_nonzero: int | list[int], found: Encoder, n_features: int) -> Problem:
        """The problem of the certificate: all components with the number of features that these may have."""
        in_all = self.n_nonzero_total is not None
        each = np.count_nonzero(found.loadings, axis=1)  # more than requested if penalties replace counts
        most = max(int(np.max(n_nonzero)), int(each.sum() if in_all else each.max()))
        disjoint, several = not in_all and self._disjoint, len(found.loadings) > 1
        return Problem(
            len(found.loadings),
            min(most, n_features * (len(found.loadings) if in_all else 1)),
            n_features,
            objective="variance",
            shared_support=in_all or len(found.loadings) == 1,
            orthogonal=disjoint or self._constraint == "orthogonal",
            disjoint=disjoint,
            max_cosine=float(self.max_cosine) if several and self._constraint is None else 1.0,
        )

    def _annotated(
        self, certificate: VarianceCertificate, view: DataMatrix, encoder: Any, run: Run
    ) -> VarianceCertificate:
        """Add a note if two components are nearly the same."""
        H = certificate.components.T
        correlations = unsigned_cosines(H.T @ view.gram_matmat(H)) if H.shape[1] > 1 else np.zeros((1, 1))
        i, j = np.unravel_index(np.argmax(correlations), correlations.shape)
        if correlations[i, j] <= ALIKE:
            return certificate
        least = math.floor(correlations[i, j] * 100) / 100
        said = f"Scores of components {i + 1} and {j + 1} have correlation {least:.2f}: they are nearly redundant."
        return dataclasses.replace(certificate, notes=(*certificate.notes, said))


def _joint_only_error(parameter: str, value: object, why: str) -> ValueError:
    """The error for a parameter that only the joint search supports."""
    return ValueError(
        f"{parameter}={value!r} needs the search for all components together, but {why}. Leave solver='auto' and "
        "deflation='auto'."
    )
