"""The certificate of the variance that sparse components explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.certificates.certificate import Certificate
from sparing.certificates.loss import compared
from sparing.certificates.rules import CONTRADICTION, error_agrees, fresh_spectrum
from sparing.certificates.sentences import variance_bounded
from sparing.data import Preprocessing
from sparing.effort import Effort, ProofEffort
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.theorem_bounds import approximation_factor
from sparing.linalg.variance import symmetric_total
from sparing.proof.bounds import EachAlone
from sparing.proof.policy import prove, unspent
from sparing.proof_limits import LIMITS
from sparing.results import PROVED, Array, Bound, Encoder, Guarantee, Problem, Reference, Spectrum
from sparing.rules import Rules
from sparing.run import Run
from sparing.task import Task

COLLINEAR = 1e-9
"""Features count as collinear if at most this share of their variance lies outside one direction."""

TOO_MUCH = 0.05
"""PCA's variance as claimed may have an error added that another iteration does not have, where a spectrum is flat."""

SURROGATE = "Best possible variance over that found, by the surrogate of rank {}"
"""Guarantees of the theorems about low-rank search."""

INTERRUPTED = "The search was interrupted: more time could find or prove more."
TIMED_OUT = "The time limit was reached: more time could find or prove more."


@dataclass(frozen=True, eq=False)
class VarianceCertificate(Certificate):
    """As :class:`Certificate`; ``value`` is the symmetric variance tr((H'H)^-1 H'AH) of the components.

    In units of the covariance (n - 1), or of the matrix given. ``bound`` is an upper bound for all components of the
    same problem, ``pca_value`` the variance of the same number of principal components, ``parts`` the certificates of
    single components.
    """

    _named: ClassVar[str] = "variance"
    _nothing_can: ClassVar[str] = "nothing can have more"

    @property
    def ratio(self) -> float:
        """Share of PCA's variance, at most 1."""
        return 1.0 if self.pca_value <= 0 else min(self.value / self.pca_value, 1.0)

    @property
    def bound_ratio(self) -> float:
        """Upper bound of the share of PCA's variance; nothing has more than PCA."""
        least = self.pca_value - self.pca_error
        return 1.0 if self.bound >= least else self.bound / least

    def _explained(self, value: float) -> float:
        return value

    def _unit(self, view: DataMatrix) -> float:
        return covariance_unit(view)

    def _value_on(self, view: DataMatrix) -> float:
        return symmetric_total(view, self.components.T)

    def _within_pca(self, pca: Spectrum, unit: float) -> bool:
        return self.bound >= pca.most_variance * unit * (1 - 1e-6)

    def _pca_agrees(self, pca: Spectrum, unit: float) -> bool:
        """Whether PCA's variance is the claimed one. Its variance as computed is never too large."""
        variance, most = float(pca.values.sum()) * unit, pca.most_variance * unit
        least = (self.pca_value - self.pca_error) * (1 - 1e-6)
        value_agrees = variance * (1 - 1e-6) <= self.pca_value <= most * (1 + TOO_MUCH) and least <= most
        return value_agrees and error_agrees(self.pca_error, pca, unit)

    def _promise_again(self, claimed: Guarantee, view: DataMatrix, pca: Spectrum) -> Guarantee | None:
        """Theorems 1 and 2 of [asteris2014]; of the second, whose accuracy is not kept, a limit below the first's."""
        problem, premise = self.problem, claimed.premise
        one = problem.nonnegative and problem.n_components == 1 and self.value > 0
        if not one or premise is None or premise.algorithm != "surrogate":
            return None
        rank = min(premise.number, problem.n_features)
        more = fresh_spectrum(view, rank + 1)
        limit = 1 / approximation_factor(more.values, problem.n_features, problem.n_nonzero, rank)
        strength, where = "always", "Theorem 1"
        if claimed.reference.where == "Theorem 2" and claimed.strength.startswith("probability "):
            limit, strength, where = max(limit, claimed.limit), claimed.strength, "Theorem 2"
        if not more.exact and math.isclose(limit, claimed.limit, rel_tol=TOO_MUCH):
            limit = claimed.limit  # the error of single eigenvalues is not known as well as that of their sum
        known = self.bound / self.value
        measured = known if self.witness.reached else min(known, claimed.limit)
        claim = SURROGATE.format(premise.number)
        return Guarantee(claim, limit, measured, strength, Reference("asteris2014", where), premise)

    def _detailed(self) -> list[str]:
        return [variance_bounded(self), *(f"{guarantee}." for guarantee in self.guarantees), *self.notes]


def covariance_unit(view: DataMatrix) -> float:
    """A sum of squares of the view, as a variance in the user's units."""
    rows = view.total_weight if view.total_weight is not None else float(view.n_samples or 2)
    return view.square_unit / (rows - 1 if rows > 1 else 1.0)


def variance_certificate(
    task: Task,
    found: Encoder,
    preprocessing: Preprocessing,
    run: Run,
    *,
    bounds: Sequence[Bound] | None = None,
    asked: Spectrum | None = None,
) -> VarianceCertificate:
    """The certificate of all components together, with one for each of them.

    ``bounds`` were proved before; ``asked`` are the requested number of principal components, if fewer were found.
    """
    inside, among = readable(task, found, run)
    bounds, parts = list(proved(inside, among, run) if bounds is None else bounds), list[Certificate]()
    if len(found.loadings) > 1:
        each = [single(found, number) for number in range(len(found.loadings))]
        together = task.problem.is_orthogonal and not task.problem.shared_support
        sizes = {len(one.support) for one in each} | ({inside.n_nonzero} if together else set())
        known = _proved_alone(sizes, inside, among, run)
        rules, nonnegative = Rules(allowed=task.rules.allowed), task.problem.nonnegative
        for one in each:
            size = len(one.support)
            problem = Problem(1, size, task.gram.n_features, "variance", nonnegative=nonnegative, rules=rules)
            alone = Task(task.gram, problem, task.spectrum.leading(1))
            parts.append(certify_variance(alone, one, known[size], preprocessing))
        if together:
            largest = min(known[inside.n_nonzero], key=lambda bound: bound.value)
            repeated = EachAlone(largest).bound(inside, among, run)
            bounds += [] if repeated is None else [repeated]
    certificate = certify_variance(task, found, bounds, preprocessing, parts=parts, asked=asked)
    if (run.budget.expired or _for_parts(run) >= LIMITS.most_for_parts) and certificate.gap > PROVED:
        said = INTERRUPTED if run.budget.interrupted else TIMED_OUT
        return replace(certificate, notes=(*certificate.notes, said))
    return certificate


def readable(task: Task, found: Encoder, run: Run) -> tuple[Task, Encoder]:
    """Problem and answer among the features that may be read."""
    inside = task.readable()
    if inside is task:
        return task, found
    pca = top_spectrum(inside.gram, task.problem.n_components, run.rng)
    allowed = task.rules.allowed
    assert allowed is not None
    places = np.searchsorted(np.flatnonzero(allowed), found.support)
    return replace(inside, target=pca), replace(found, support=places, decoder=found.decoder[:, allowed])


def proved(inside: Task, among: Encoder, run: Run) -> list[Bound]:
    """Bounds for a problem among the features that may be read; a time limit leaves time for single components.

    Bounds for free features also hold with required features; a result that attains them need not contain the required
    ones.
    """
    bounds = prove(inside, among, run.share(1 - _for_parts(run)) if inside.problem.is_several else run)
    return [replace(bound, reached=False) for bound in bounds] if len(inside.rules.required) else bounds


def _for_parts(run: Run) -> float:
    """The share of the time left that the certificates of single components are to have."""
    left = run.budget.left
    return 0.0 if left is None else min(2 * run.effort.proof.parts / left, LIMITS.most_for_parts)


def _proved_alone(sizes: set[int], inside: Task, among: Encoder, run: Run) -> dict[int, list[Bound]]:
    """Bounds for one component of each of these numbers of features: details of the whole."""
    used = np.count_nonzero(among.loadings, axis=1)

    def shared_out(effort: Effort) -> ProofEffort:
        return replace(effort.proof, cost=(effort.proof.parts + unspent(inside, effort)) / len(sizes))

    alone = replace(run, effort=run.effort.proving(shared_out))
    known = dict[int, list[Bound]]()
    for size in sorted(sizes):
        problem = Problem(1, size, inside.gram.n_features, "variance", nonnegative=inside.problem.nonnegative)
        incumbent = single(among, int(np.argmax(used == size)))
        task = Task(inside.gram, problem, inside.spectrum.leading(1))
        known[size] = prove(task, incumbent, alone.share(1 / (len(sizes) - len(known))))
    return known


def certify_variance(
    task: Task,
    found: Encoder,
    bounds: Sequence[Bound],
    preprocessing: Preprocessing,
    *,
    parts: Sequence[Certificate] = (),
    asked: Spectrum | None = None,
) -> VarianceCertificate:
    """Recompute the variance from data and loadings, and compare it with the best bound."""
    view, spectrum, unit = task.gram, task.spectrum, covariance_unit(task.gram)
    value = symmetric_total(view, found.components.T)
    for bound in bounds:
        if bound.value < value * (1 - CONTRADICTION):
            raise RuntimeError(
                f"The bound by {bound.method} ({bound.value * unit:.10g}) is below a variance that was reached "
                f"({value * unit:.10g}), which is impossible: this is a bug in sparing. Please report it with the "
                f"data; "
                "certify=False gives the components without a certificate."
            )
    least = min(bound.value for bound in bounds)
    best = next(bound for bound in bounds if bound.value <= least * (1 + 1e-9))  # of equals the simplest, given first
    return VarianceCertificate(
        problem=task.problem,
        value=value * unit,
        witness=replace(best, value=max(best.value, value) * unit),
        pca_value=spectrum.most_variance * unit,
        pca_error=(spectrum.most_variance - spectrum.least_variance) * unit,
        total=spectrum.total * unit,
        support=found.support,
        loadings=found.loadings,
        preprocessing=preprocessing,
        parts=tuple(parts),
        notes=_copies(view, found, value),
        **compared(asked or spectrum, view, unit),
    )


def _copies(view: DataMatrix, found: Encoder, value: float) -> tuple[str, ...]:
    """A note if one component has all the variance of its features: they are copies of one feature."""
    own = float(view.gram_diagonal()[found.support].sum())
    if len(found.loadings) > 1 or len(found.support) == 1 or value < own * (1 - COLLINEAR):
        return ()
    return (
        f"Its {len(found.support)} features are multiples of one another, as floored or duplicated columns are: "
        "together they carry no more information than one of them.",
    )


def single(found: Encoder, number: int) -> Encoder:
    """One of several components, as an encoder without a decoder."""
    loadings: Array = found.loadings[number : number + 1]
    used = loadings[0] != 0
    return Encoder(
        found.support[used],
        loadings[:, used],
        found.decoder[:0],
        found.captured[:0],
        found.loss,
        single_bounds=found.single_bounds,
    )
