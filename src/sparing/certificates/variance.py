"""The certificate of the variance that sparse components explain."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.certificates.certificate import Certificate
from sparing.certificates.loss import compared
from sparing.certificates.rules import CONTRADICTION, error_agrees, fresh_spectrum
from sparing.certificates.sentences import variance_bounded
from sparing.data import Preprocessing
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.theorem_bounds import approximation_factor
from sparing.linalg.variance import symmetric_total
from sparing.proof.bounds import EachAlone
from sparing.proof.policy import prove
from sparing.results import PROVED, Array, Bound, Encoder, Guarantee, Problem, Reference, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.task import Task

COLLINEAR = 1e-9
"""Features count as collinear where no more than this share of their variance is left beside one direction."""

TOO_MUCH = 0.05
"""PCA's variance as claimed may have an error added that another iteration does not have, where a spectrum is flat."""

SURROGATE = "Best possible variance over that found, by the surrogate of rank {}"
"""What the theorems about a search in low rank promise."""

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
        """Share of PCA's variance that nothing can pass; nothing has more than PCA."""
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
        """Does PCA have as much as is claimed? Its variance as computed is never too large."""
        variance, most = float(pca.values.sum()) * unit, pca.most_variance * unit
        least = (self.pca_value - self.pca_error) * (1 - 1e-6)
        value_agrees = variance * (1 - 1e-6) <= self.pca_value <= most * (1 + TOO_MUCH) and least <= most
        return value_agrees and error_agrees(self.pca_error, pca, unit)

    def _promise_again(self, claimed: Guarantee, view: DataMatrix, pca: Spectrum) -> Guarantee | None:
        """Theorems 1 and 2 of [asteris2014]; of the second, whose accuracy is not kept, a limit below the first's."""
        problem, named = self.problem, re.fullmatch(SURROGATE.format(r"(\d+)"), claimed.claim)
        if named is None or not (problem.nonnegative and problem.n_components == 1 and self.value > 0):
            return None
        rank = min(int(named[1]), problem.n_features)
        more = fresh_spectrum(view, rank + 1)
        limit = 1 / approximation_factor(more.values, problem.n_features, problem.n_nonzero, rank)
        strength, where = "always", "Theorem 1"
        if claimed.reference.where == "Theorem 2" and claimed.strength.startswith("probability "):
            limit, strength, where = max(limit, claimed.limit), claimed.strength, "Theorem 2"
        if not more.exact and math.isclose(limit, claimed.limit, rel_tol=TOO_MUCH):
            limit = claimed.limit  # the error of single eigenvalues is not known as well as that of their sum
        known = self.bound / self.value
        measured = known if self.witness.reached else min(known, claimed.limit)
        return Guarantee(claimed.claim, limit, measured, strength, Reference("asteris2014", where))

    def _detailed(self) -> list[str]:
        return [variance_bounded(self), *(f"{guarantee}." for guarantee in self.guarantees), *self.notes]


def covariance_unit(view: DataMatrix) -> float:
    """What a sum of squares of the view is as a variance in the user's units."""
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

    ``bounds`` are what is proved already; ``asked`` are as many principal components as were asked for, where fewer
    were found.
    """
    inside, among = readable(task, found, run)
    bounds, parts = list(proved(inside, among, run) if bounds is None else bounds), list[Certificate]()
    if len(found.loadings) > 1:
        known, rules = dict[int, list[Bound]](), Rules(allowed=task.rules.allowed)

        def of_one(number: int, n_nonzero: int) -> tuple[Task, list[Bound]]:
            nonnegative, d = task.problem.nonnegative, task.gram.n_features
            problem = Problem(1, n_nonzero, d, "variance", nonnegative=nonnegative, rules=rules)
            if n_nonzero not in known:
                asked = replace(problem, n_features=inside.gram.n_features, rules=NO_RULES)
                alone = Task(inside.gram, asked, inside.spectrum.leading(1))
                known[n_nonzero] = prove(alone, single(among, number), run)
            return Task(task.gram, problem, task.spectrum.leading(1)), known[n_nonzero]

        for number in range(len(found.loadings)):
            component = single(found, number)
            alone, its_bounds = of_one(number, len(component.support))
            parts.append(certify_variance(alone, component, its_bounds, preprocessing))
        if task.problem.is_orthogonal and not task.problem.shared_support:
            _, largest = of_one(0, inside.n_nonzero)
            together = EachAlone(min(largest, key=lambda bound: bound.value)).bound(inside, among, run)
            bounds += [] if together is None else [together]
    certificate = certify_variance(task, found, bounds, preprocessing, parts=parts, asked=asked)
    if run.budget.expired and certificate.gap > PROVED:
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
    """Bounds for a problem among the features that may be read.

    Those for any features bound those with required ones as well; what reaches them need not have these.
    """
    bounds = prove(inside, among, run)
    return [replace(bound, reached=False) for bound in bounds] if len(inside.rules.required) else bounds


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
    """A word where one component has all the variance of its features: they are one feature, several times."""
    own = float(view.gram_diagonal()[found.support].sum())
    if len(found.loadings) > 1 or len(found.support) == 1 or value < own * (1 - COLLINEAR):
        return ()
    return (
        f"Its {len(found.support)} features are multiples of one another, as floored or duplicated columns are: "
        "together they carry no more information than one of them.",
    )


def single(found: Encoder, number: int) -> Encoder:
    """One component of several, as an encoder of its own without a decoder."""
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
