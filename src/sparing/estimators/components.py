"""The common part of estimators of components of maximal variance: fit, counts, certificate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from sparing import errors
from sparing.certificates import VarianceCertificate, variance_certificate
from sparing.certificates.variance import covariance_unit, proved, readable
from sparing.data import Preprocessing, Rows
from sparing.effort import EFFORTS
from sparing.estimators.base import Fit
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.feature_rules import UNCOUNTED, Counted, features_of
from sparing.estimators.inputs import CHOSEN, Reading, named_or_numbered, reading_of
from sparing.estimators.parameters import (
    checked_components,
    count,
    feature_counts,
    resolved,
)
from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg import top_spectrum
from sparing.linalg.loss import REPEATED
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import (
    CONSTRAINTS,
    DEFLATIONS,
    Deflation,
    DisjointDeflation,
    GeneralizedDeflation,
    OrthogonalizedDeflation,
)
from sparing.methods.encoders import JointVariance, Sequential, TwoSided, fewest_in_turn
from sparing.methods.encoders.candidate_pool import CandidatePool
from sparing.methods.encoders.required import Required
from sparing.methods.selectors import Greedy
from sparing.methods.solvers import Solver
from sparing.proof.answers import better_of
from sparing.results import Array, Bound, Encoder, Indices, Problem, Spectrum, TwoSidedEncoder
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH
from sparing.task import Task

DEFAULT_N_NONZERO = 10
"""Default number of features of each component: few enough to name, and quick to find."""


class ComponentsEstimator(EncodingEstimator[Any]):
    """Base class for components of maximal variance with exact counts; subclasses define the algorithm."""

    n_components: int
    n_nonzero: int | Sequence[int] | None
    min_variance: float | None
    passes: str
    solver: Any
    deflation: Any
    refit: bool
    n_nonzero_total: int | None = None
    constraint: str | None = None
    include: Any
    exclude: Any
    support_: Indices

    _auto: ClassVar[type]
    _exact: ClassVar[type]
    _quick: ClassVar[Solver]
    _nonnegative: ClassVar[bool] = False
    _forgotten: ClassVar[tuple[str, ...]] = ("certificate_", "row_components_")

    def _reading(self, rows: Rows, algorithm: Any, preprocessing: Preprocessing, run: Run) -> Reading:
        """How the rows are read: in any number of passes, or in few."""
        k, n_nonzero = self._counts(*rows.shape[::-1])
        possible = n_nonzero is not None and not isinstance(algorithm, TwoSided) and self.exclude is None
        together = 0 if n_nonzero is None else self._together(k, n_nonzero)
        return reading_of(rows, self.passes, possible, together, run.rng, preprocessing)

    @abstractmethod
    def _problem(self, n_nonzero: int | list[int], found: Encoder, n_features: int) -> Problem:
        """The problem of the certificate: all components with the number of features that these may have."""

    def _solve(self, fit: Fit[Any]) -> tuple[Task, Encoder]:
        view, run, allowed = fit.view, fit.run, fit.rules.allowed
        if view.sketch is not None:
            return self._in_few_passes(fit)
        pca = top_spectrum(view, fit.n_components, run.rng)
        inside, spectrum, required = view, pca, fit.rules.required
        if allowed is not None:  # excluded features count for PCA only
            kept = np.flatnonzero(allowed)
            inside, required = view.narrowed(kept), np.searchsorted(kept, required)
            spectrum = top_spectrum(inside, min(fit.n_components, len(kept)), run.rng)
        n_nonzero, found = self._found(fit, inside, spectrum, required)
        if allowed is not None:
            found = _among_all(found, kept, view, pca.total)
        return self._asked(fit, view, pca, n_nonzero, found), found

    def _in_few_passes(self, fit: Fit[Any]) -> tuple[Task, Encoder]:
        """Components of candidates from a sketch, whose variances are exact."""
        view, run, k = fit.view, fit.run, fit.n_components
        pool = CandidatePool.read(view, Greedy(), k, self._together(k, fit.n_nonzero), run, fit.rules)
        inside = view_of_gram(pool.gram)
        required = np.searchsorted(pool.features, fit.rules.required)
        n_nonzero, chosen = self._found(fit, inside, top_spectrum(inside, k, run.rng), required)
        found, pca, known = pool.measured(chosen, k)
        return self._asked(fit, known, pca, n_nonzero, found), found

    def _together(self, n_components: int, n_nonzero: int | list[int]) -> int:
        """Features of all components."""
        if isinstance(n_nonzero, int):
            return n_nonzero if self.n_nonzero_total is not None else n_components * n_nonzero
        return sum(n_nonzero)

    def _asked(
        self, fit: Fit[Any], view: DataMatrix, pca: Spectrum, n_nonzero: int | list[int], found: Encoder
    ) -> Task:
        """The problem of the certificate: all components with the number of features that these may have."""
        if self._nonnegative and found.loadings.min(initial=0.0) < 0:
            raise ValueError(
                f"solver={getattr(self, 'solver', None)!r} returned negative loadings. NonnegativeSparsePCA takes "
                "solvers whose loadings are all at least zero: one of those that it names, or your own."
            )
        problem, allowed = self._problem(n_nonzero, found, view.n_features), fit.rules.allowed
        if allowed is not None:
            problem = replace(problem, n_nonzero=min(problem.n_nonzero, int(allowed.sum()) * problem.n_components))
        return Task(view, replace(problem, rules=fit.rules), pca)

    def _found(
        self, fit: Fit[Any], view: DataMatrix, spectrum: Spectrum, required: Indices
    ) -> tuple[int | list[int], Encoder]:
        """Components on the allowed features, including the required ones; and the numbers of features."""
        run, n_nonzero, fewest = fit.run, fit.n_nonzero, self.min_variance is not None

        def found_by(level: Run) -> tuple[int | list[int], Encoder]:
            if self.min_variance is not None:
                return self._fewest(fit.algorithm, view, spectrum, self.min_variance, level)
            return n_nonzero, fit.algorithm.encode(Task.of_components(view, spectrum, n_nonzero), level)

        if len(required) == 0:
            return found_by(run)
        deflation: Deflation | None = DisjointDeflation() if self._disjoint else None
        if deflation is None and self._constraint is not None:
            deflation = CONSTRAINTS[self._constraint]()
        places, answers = Required(required, deflation, self._nonnegative), list[tuple[int | list[int], Encoder]]()
        for level in [run] if fewest or isinstance(fit.algorithm, Sequential) else run.levels():
            if answers and level.budget.expired:
                break
            counts, found = found_by(level)  # a better answer without the required features may be worse with them
            placed = places.placed(view, spectrum, found, self._sizes(found, counts), level, more=fewest)
            if placed is not None:
                answers.append((placed[1] if fewest else counts, placed[0]))
        if not answers:
            raise ValueError(
                "No components were found that contain all features of include and satisfy the constraint on pairs of "
                "components. Raise n_nonzero, shorten include, or leave out constraint or deflation."
            )
        return max(answers, key=lambda one: places.worth(view, one[1]))

    def _sizes(self, found: Encoder, n_nonzero: int | list[int]) -> list[int]:
        """The number of features that each component may have."""
        used = np.count_nonzero(found.loadings, axis=1)
        if isinstance(n_nonzero, int) and self.n_nonzero_total is None:
            return [max(n_nonzero, int(count)) for count in used]
        if isinstance(n_nonzero, int):  # a total: the rest goes to the components with the fewest features
            sizes = [int(count) for count in used]
            for _ in range(n_nonzero - sum(sizes)):
                sizes[int(np.argmin(sizes))] += 1
            return sizes
        ranks = np.argsort(np.argsort(-used, kind="stable"), kind="stable")  # components were sorted by added variance
        return [max(sorted(n_nonzero, reverse=True)[rank], int(used[j])) for j, rank in enumerate(ranks)]

    def _counted(self, n_features: int, n_samples: int | None) -> Counted:
        k, counts = self._counts(n_features, n_samples)
        if counts is None:
            return UNCOUNTED
        if self.n_nonzero_total is not None:
            return Counted("n_nonzero_total", None, self.n_nonzero_total)
        each = [counts] * k if isinstance(counts, int) else counts
        return Counted("n_nonzero", None if self.n_nonzero is None else max(each), sum(each))

    def _prove(self, fit: Fit[Any], task: Task, found: Encoder) -> tuple[Encoder, list[Bound]]:
        run = _proving(fit, task)
        if self.solver == "exact" and self._constraint is not None:  # no solver has searched all components for a proof
            run = replace(run, effort=EFFORTS["thorough"])
        inside, among = readable(_compared(task), found, run)
        bounds = proved(inside, among, run)
        own = isinstance(self.solver, str) and self.solver in ("auto", "exact")  # others were requested by name
        if not (own and self.refit) or isinstance(found, TwoSidedEncoder):
            return found, bounds
        if (better := better_of(inside, among, bounds)) is among:
            return found, bounds
        better = better.including(inside.rules.required)
        allowed = fit.rules.allowed
        whole = (
            better if allowed is None else _among_all(better, np.flatnonzero(allowed), fit.view, task.spectrum.total)
        )
        return whole, bounds

    def _certify(self, fit: Fit[Any], task: Task, found: Encoder, bounds: list[Bound]) -> None:
        certificate = variance_certificate(
            _compared(task), found, fit.preprocessing, _proving(fit, task), bounds=bounds, asked=task.spectrum
        )
        certificate = self._annotated(certificate, task.gram, fit.algorithm, fit.run)
        if task.gram is not fit.view:  # but one that knows the Gram columns of features chosen from a sketch
            note = CHOSEN.format(fit.view.passes, "the variance of the components")
            certificate = replace(certificate, notes=(*certificate.notes, note))
        self.certificate_ = certificate
        self.variance_kept_ = certificate.variance_kept

    def _annotated(
        self, certificate: VarianceCertificate, view: DataMatrix, encoder: Any, run: Run
    ) -> VarianceCertificate:
        """The certificate with additional notes about this fit."""
        return certificate

    def _counts(self, n_features: int, n_samples: int | None = None) -> tuple[int, int | list[int] | None]:
        k = checked_components(self.n_components, n_features)
        given = [name for name in ("n_nonzero", "min_variance", "n_nonzero_total") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                f"Both {given[0]} and {given[1]} were given; only one can be set. Pass n_nonzero for a number of "
                "features per component, or min_variance for the fewest that keep a share (SparsePCA also takes "
                "n_nonzero_total)."
            )
        if self.min_variance is not None:
            return k, None
        if self.n_nonzero is not None:
            return k, feature_counts(self.n_nonzero, k, n_features)
        if self.n_nonzero_total is None:
            readable = self._n_readable(n_features)
            return k, min(DEFAULT_N_NONZERO, max(readable // (k if self._disjoint else 1), 1))
        total = count("n_nonzero_total", self.n_nonzero_total)
        if total < k:
            raise ValueError(
                f"n_nonzero_total={total}, but n_components={k}: each component needs at least one feature. Pass "
                f"n_nonzero_total of {k} or more."
            )
        readable = self._n_readable(n_features)
        if total > (most := k * readable):
            of = f"{n_features}" if readable == n_features else f"{n_features}, {readable} without those of exclude,"
            raise ValueError(
                f"n_nonzero_total={total}, but {k} component(s) of X's {of} features have {most} loadings in all. Pass "
                f"n_nonzero_total of {most} or less."
            )
        return k, total

    def _n_readable(self, n_features: int) -> int:
        """Number of features that may be read."""
        names = named_or_numbered(getattr(self, "feature_names_in_", None), n_features)
        return n_features - len(features_of("exclude", self.exclude, names))

    @property
    def _constraint(self) -> str | None:
        """The constraint on all pairs of components."""
        return self.constraint

    @property
    def _disjoint(self) -> bool:
        """Whether components are disjoint."""
        return isinstance(self._deflation(None), DisjointDeflation)

    def _deflation(self, solver: Any) -> Deflation:
        """The deflation for the next component."""
        if isinstance(self.deflation, str) and self.deflation == "auto":
            return OrthogonalizedDeflation() if isinstance(solver, self._exact) else GeneralizedDeflation()
        chosen: Deflation = resolved("deflation", DEFLATIONS, "deflate", self.deflation, also=("auto",))
        return chosen

    def _fewest(
        self, encoder: Any, view: DataMatrix, spectrum: Spectrum, min_variance: float, run: Run
    ) -> tuple[list[int], Encoder]:
        """Counts chosen one component after the other, and components with these counts.

        Components of a named solver are kept as found; ``auto`` and methods for all components at once start again with
        the counts of a quick search.
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
        as_many = spectrum.leading(len(sizes))  # the variance of the others may be rounding errors
        task = replace(Task.of_components(view, as_many, sizes), start=H)
        affordable = run.effort.joint_affordable(sum(sizes), view.n_features) >= SEARCH.least_affordable
        if isinstance(encoder, JointVariance) and len(sizes) > 1 and not affordable and encoder.max_cosine == 1:
            return sizes, kept if encoder.constraint is not None else replace(encoder, swaps=False).encode(task, run)
        found: Encoder = encoder.encode(task, run)
        alone = len(sizes) == 1 and isinstance(encoder, Sequential)
        return sizes, kept if alone and kept.captured[0] > found.captured[0] else found

    def _publish(self, fit: Fit[Any], task: Task, found: Encoder) -> None:
        super()._publish(fit, task, found)
        H = self.components_.T
        images = task.gram.gram_matmat(H)
        self.variance_: Array = np.einsum("ij,ij->j", H, images) * covariance_unit(fit.view)
        within = float(np.trace(np.linalg.pinv(H.T @ H, rtol=REPEATED, hermitian=True) @ (H.T @ images)))
        self.variance_kept_ = task.spectrum.variance_kept(task.spectrum.total - within)
        if isinstance(found, TwoSidedEncoder):
            self.row_components_: Array = found.rows

    def _shortcoming(self, fit: Fit[Any], task: Task) -> str | None:
        found, spectrum = self.n_components_, task.spectrum
        if found == fit.n_components:
            return None
        readable = fit.rules.usable(fit.view.n_features)
        usable, used = int((fit.view.gram_diagonal()[readable] > 0).sum()), self.components_ != 0
        if spectrum.rank < fit.n_components and spectrum.rank <= found:
            why = f"X has rank {spectrum.rank}"
        elif self._constraint is not None:
            why = (
                f"constraint={self._constraint!r} leaves no further component with so few features (each earlier "
                f"component costs one degree of freedom, and {found} were found)"
            )
        elif np.count_nonzero(used) == np.count_nonzero(used.any(axis=0)) == usable:
            why = f"all {usable} features are in use, each of them once"
        else:
            why = "further ones would repeat those found"
        return errors.fewer_components(fit.n_components, found, why)


def _compared(task: Task) -> Task:
    """The fit compared with the same number of principal components."""
    return replace(task, target=task.spectrum.leading(task.problem.n_components))


def _among_all(found: Encoder, kept: Indices, view: DataMatrix, total: float) -> Encoder:
    """Extend components on some features to all features, with the best decoder for all."""
    H = np.zeros((view.n_features, len(found.loadings)))
    H[kept] = found.components.T
    whole = replace(encoder_of(view, H, total).including(kept[found.support]), single_bounds=found.single_bounds)
    if not isinstance(found, TwoSidedEncoder):
        return whole
    parts = whole.support, whole.loadings, whole.decoder, whole.captured, whole.loss
    return TwoSidedEncoder(*parts, found.rows, explained=whole.explained)


def _proving(fit: Fit[Any], task: Task) -> Run:
    """The budget for bounds: zero after few passes, because expensive bounds read the data again."""
    if task.gram is fit.view:
        return fit.run
    free = fit.run.effort.proving(lambda effort: replace(effort.proof, cost=0.0))
    return replace(fit.run, budget=Budget(), effort=free)
