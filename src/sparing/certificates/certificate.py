"""Certificates of an information loss: value, lower bound and witness, with a recheck on the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, ClassVar

import numpy as np

from sparing import errors
from sparing.certificates.rules import (
    broken_rule,
    counts_for_none,
    dense_spectrum,
    error_agrees,
    fresh_spectrum,
    iterates,
    same_promise,
)
from sparing.certificates.sentences import can_keep, kept, loss_bounded, loss_reached, other_data, promised_loss
from sparing.data import Preprocessing, as_view
from sparing.gram import DataMatrix
from sparing.linalg import information_loss_of
from sparing.proof.answers import answer_on, worth
from sparing.proof.bounds import BOUNDS
from sparing.results import ZERO_LOSS, Array, Bound, Guarantee, Indices, Problem, Spectrum
from sparing.task import Task

WRONG = "The certificate does NOT hold"

ROUNDING = 1e-9
"""A variance that is missing by less than this share of the total may be rounding of a dense eigensolver."""

UNFIT = (TypeError, ValueError, ArithmeticError, AttributeError, LookupError, np.linalg.LinAlgError)
"""Exceptions that a check raises on a malformed witness."""


@dataclass(frozen=True)
class Recheck:
    """Outcome of verifying a certificate again; true if it holds.

    Attributes
    ----------
    holds : bool
    value, bound : float
        Of these data; for a regression or a stream the bound is the one that was claimed.
    sentence : str
        The result in words, as ``print`` shows it.
    """

    holds: bool
    value: float
    bound: float
    sentence: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Certificate:
    """The value of a result (``value``), the bound on every feasible result (``bound``), and its proof.

    ``print(certificate)`` states the share of PCA's variance that is kept and the most that any other choice could
    keep; :meth:`details` adds the rest. It holds the nonzero loadings and small numbers only, never the data, so it can
    be stored with a result and checked years later with :meth:`recheck`.

    Attributes
    ----------
    value, bound : float
        In the units of X: sums of squares for a loss.
    pca_value : float
        PCA's value, rounded so that our result does not look better.
    pca_error : float
        Error of ``pca_value`` on the other side, used where a bound is compared with PCA.
    variance_kept, variance_kept_bound : float
        The value, and the bound for every feasible result, as shares of the variance of PCA's components.
    n_asked : int
        Number of these components: the number requested, even if few features give fewer.
    n_samples : int or None
        Number of samples; None for a covariance.
    gap : float
        How much better any feasible result could be, relative: 0 is proved optimal, at most 1.
    strength : str
        ``always``, or ``numerical`` if the bound depends on a converged iteration, whose error is subtracted.
    guarantees : tuple of Guarantee
        Guarantees of theorems for this fit, and the measured values.
    notes : tuple of str
        Further notes on the result.
    """

    problem: Problem
    value: float
    witness: Bound
    pca_value: float
    total: float
    support: Indices
    loadings: Array
    preprocessing: Preprocessing
    nothing: float = 0.0
    pca_error: float = 0.0
    guarantees: tuple[Guarantee, ...] = ()
    parts: tuple[Certificate, ...] = ()
    notes: tuple[str, ...] = ()
    n_asked: int = field(kw_only=True)
    pca_variance: float = field(kw_only=True)
    pca_variance_error: float = field(default=0.0, kw_only=True)
    n_samples: int | None = field(default=None, kw_only=True)

    _named: ClassVar[str] = "loss"
    _nothing_can: ClassVar[str] = "nothing can lose less"

    @property
    def bound(self) -> float:
        """Bound for every feasible result."""
        return self.witness.value

    @property
    def sense(self) -> str:
        """``min``: bound <= value; ``max``: bound >= value."""
        return self.problem.sense

    @property
    def strength(self) -> str:
        """``always`` or ``numerical``."""
        return self.witness.strength

    @property
    def _none(self) -> float:
        """A loss that counts as none."""
        return max(self.nothing, ZERO_LOSS * self.total)

    @property
    def gap(self) -> float:
        """Between 0 (proved optimal) and 1 (nothing known)."""
        better, worse = (self.bound, self.value) if self.sense == "min" else (self.value, self.bound)
        if worse <= self._none:
            return 0.0
        return min(max(1.0 - better / worse, 0.0), 1.0)

    @property
    def ratio(self) -> float:
        """Value over PCA's value."""
        if self.pca_value <= self._none:
            return 1.0 if self.value <= self._none else math.inf
        return max(self.value / self.pca_value, 1.0)

    @property
    def bound_ratio(self) -> float:
        """Bound over PCA's value, each rounded against us; nothing loses less than PCA."""
        return max(self.bound / (self.pca_value + self.pca_error), 1.0) if self.pca_value > self._none else 1.0

    @property
    def variance_kept(self) -> float:
        """Explained variance divided by PCA's, rounded down; at most 1."""
        return _share(self._explained(self.value), self.pca_variance, self._rounding)

    @property
    def variance_kept_bound(self) -> float:
        """Upper bound of ``variance_kept`` for every feasible result, rounded up; at most 1."""
        return _share(self._explained(self.bound), self.pca_variance - self.pca_variance_error, self._rounding)

    @property
    def _rounding(self) -> float:
        """The largest share of PCA's variance that rounding alone can remove."""
        return max(self._none, min(2 * self.pca_variance_error, ROUNDING * self.total))

    def _explained(self, value: float) -> float:
        """The variance that corresponds to a value."""
        return self.total - value

    def details(self) -> str:
        """The printed lines, followed by loss, bound and proof, theorems and notes on the search.

        Returns
        -------
        str
            One sentence on each line.
        """
        return "\n".join([*self._lines(), *self._detailed()])

    def recheck(self, X: Any, sample_weight: Any = None) -> Recheck:
        """Verify the claim again from the data: recompute value and bound, and compare.

        Parameters
        ----------
        X : the data of the fit, in any storage
            With ``precomputed=True``, the covariance matrix.
        sample_weight : array-like of shape (n_samples,), optional
            Those of the fit.

        Returns
        -------
        Recheck
            True where the claim holds; printed, it says what was found.

        Examples
        --------
        >>> from sparing import SparseEncoder
        >>> from sparing.datasets import load_pitprops
        >>> C = load_pitprops().correlation
        >>> certificate = SparseEncoder(2, n_nonzero=4, precomputed=True, random_state=0).fit(C).certificate_
        >>> print(certificate.recheck(C))
        The certificate holds: loss 6.74752, and nothing can lose less than 6.74752.
        >>> bool(certificate.recheck(2 * C))
        False
        """
        view = as_view(X, self.preprocessing, sample_weight)
        if view.n_features != self.problem.n_features:
            raise errors.wrong_n_features(view.n_features, self.problem.n_features, "this certificate")
        pca = fresh_spectrum(view, max(max(one.problem.n_components, one.n_asked) for one in (self, *self.parts)))
        for part in self.parts:
            if not (checked := part._recheck_on(view, pca)):
                return replace(checked, sentence=f"Of one component alone: {checked.sentence}")
        return self._recheck_on(view, pca)

    def _recheck_on(self, view: DataMatrix, spectrum: Spectrum) -> Recheck:
        """The claims of this certificate, without those of its parts; the spectrum is computed anew."""
        unit, pca = self._unit(view), spectrum.leading(self.problem.n_components)
        value, inside = self._value_on(view) * unit, Task(view, self.problem).readable()
        try:
            checked = BOUNDS[self.witness.name]().check(inside, self.witness.witness)
            bound = checked * unit
        except UNFIT:
            bound = math.nan
        flaw = self._unlike(view, value, pca, unit) or self._unproved(view, value, bound, pca, unit)
        if (flaw := flaw or self._miscompared(view, spectrum, unit)) is not None:
            return Recheck(False, value, bound, f"{WRONG}{flaw}.")
        said = f"The certificate holds: {self._named} {value:.6g}, and {self._nothing_can} than {bound:.6g}."
        return Recheck(True, value, bound, said)

    def _unlike(self, view: DataMatrix, value: float, pca: Spectrum, unit: float) -> str | None:
        """The mismatch found: objective, data, value, or kind of loadings."""
        if self.problem.objective != self._named:
            return f": it is about a {self._named}, its problem about a {self.problem.objective}"
        if not abs(view.total * unit - self.total) <= 1e-6 * self.total:
            return other_data(self.total, view.total * unit)
        if not abs(value - self.value) <= 1e-6 * self.value + 1e-10 * self.total:
            return f" for these data: it claims {self._named} {self.value:.6g}, found {value:.6g}"
        if (rule := broken_rule(self.problem, self.support, self.loadings, pca)) is not None:
            return f": its loadings violate the constraints that it states: {rule}"
        if not self.problem.rules.permits(self.support):
            return ": its features break the rules that it states"
        return None

    def _unproved(self, view: DataMatrix, value: float, bound: float, pca: Spectrum, unit: float) -> str | None:
        """The first claim about a bound that does not hold: its value, its strength, or the promise of a theorem."""
        if not (math.isfinite(bound) and self._follows(self.bound, value, bound)):
            proved = f"only {bound:.6g} is proved" if math.isfinite(bound) else "of which nothing is proved"
            return f": it claims the bound {self.bound:.6g}, {proved}"
        if self.witness.reached and not self._is_reached(Task(view, self.problem).readable(), unit):
            return ": it claims that a result attains its bound, but none on the supports that it names does"
        inside = Task(view, self.problem).readable().gram
        if not self._is_firm(inside, pca if inside is view else fresh_spectrum(inside, pca.rank), unit):
            return f": it claims strength '{self.strength}', which is more than is proved"
        if not self._pca_agrees(pca, unit):
            return f": it claims {self._named} {self.pca_value:.6g} for PCA, which these data do not have"
        if not counts_for_none(self.nothing, pca, unit):
            return f": it treats {self.nothing:.6g} as zero"
        for promise in self.guarantees:
            if not same_promise(promise, self._promise_again(promise, view, pca), exact=pca.exact):
                return f": its statement of {promise.reference} does not match the theorem here"
        return None

    def _miscompared(self, view: DataMatrix, pca: Spectrum, unit: float) -> str | None:
        """The first claim about the reference that does not hold: PCA's variance or the number of samples."""
        asked = pca.leading(self.n_asked)
        if self.n_asked < min(self.problem.n_components, pca.rank):
            return f": it compares {self.problem.n_components} components with {self.n_asked} of PCA"
        rounding = 1e-10 * self.total
        not_less = asked.least_variance * unit <= self.pca_variance * (1 + 1e-6) + rounding
        least = self.pca_variance - self.pca_variance_error
        not_more = least <= asked.most_variance * unit * (1 + 1e-6) + rounding
        if not (not_less and not_more and error_agrees(self.pca_variance_error, asked, unit)):
            return f": it claims that PCA keeps {self.pca_variance:.6g}, which these data do not have"
        if self.n_samples is not None and self.n_samples != view.signal.n_samples:
            return f": it is about {self.n_samples} samples, but X has {view.signal.n_samples or 0}"
        return None

    def _follows(self, claimed: float, value: float, bound: float) -> bool:
        """Is the claim no bolder than the proof, and neither of them refuted by the value?"""
        bolder, refuted = 1e-10 * self.total, 1e-7 * self.total
        if self.sense == "max":
            claimed, value, bound = -claimed, -value, -bound
        return (
            claimed <= bound + 1e-6 * abs(bound) + bolder
            and claimed <= value + 1e-6 * abs(value) + bolder
            and bound <= value + 1e-6 * abs(value) + refuted
        )

    def _is_reached(self, task: Task, unit: float) -> bool:
        """Has the result on the supports that the bound names the value of the bound?"""
        try:
            answer = answer_on(task, self.witness.supports)
        except UNFIT:
            return False
        if answer is None:
            return False
        reached, slack = worth(task, answer) * unit, 1e-6 * abs(self.bound) + 1e-9 * self.total
        return reached >= (self.bound if self.sense == "max" else task.gram.total * unit - self.bound) - slack

    def _is_firm(self, view: DataMatrix, pca: Spectrum, unit: float) -> bool:
        """Whether the strength holds: "always" needs a bound without iterations, or one that a dense solver
        confirms."""
        if self.strength != "always" or pca.exact or not iterates(self.witness):
            return self.strength in ("always", "numerical")
        dense = dense_spectrum(view, self.problem.n_components)
        return dense.exact and self._within_pca(dense, unit)

    def _within_pca(self, pca: Spectrum, unit: float) -> bool:
        """Does PCA's own loss prove the bound?"""
        return self.bound <= pca.least_loss * unit * (1 + 1e-6) + 1e-10 * self.total

    def _pca_agrees(self, pca: Spectrum, unit: float) -> bool:
        """Whether PCA's loss is the claimed one. Its loss as computed is never too small."""
        rounding = 1e-10 * self.total
        not_more = pca.least_loss * unit <= (self.pca_value + self.pca_error) * (1 + 1e-6) + rounding
        not_less = self.pca_value <= pca.tail * unit * (1 + 1e-6) + rounding
        return not_more and not_less and error_agrees(self.pca_error, pca, unit)

    def _promise_again(self, claimed: Guarantee, view: DataMatrix, pca: Spectrum) -> Guarantee | None:
        """The statement of the named theorem about these data and loadings, if its hypothesis holds."""
        from sparing.certificates.loss import _promised  # that module is about this class

        measured = max(self.value / self.pca_value, 1.0) if self.pca_value > 0 else math.inf
        task = Task(view, self.problem, pca)
        return next(iter(_promised(claimed.premise, self.support, self.loadings, task, measured)), None)

    @property
    def components(self) -> Array:
        """The loadings as a matrix with zeros."""
        full = np.zeros((len(self.loadings), self.problem.n_features))
        full[:, self.support] = self.loadings
        return full

    def _unit(self, view: DataMatrix) -> float:
        """A sum of squares of the view, in the unit of this certificate."""
        return view.square_unit

    def _value_on(self, view: DataMatrix) -> float:
        """The value again, from the data and the loadings alone."""
        return information_loss_of(view, self.components)

    def _lines(self) -> list[str]:
        """The lines of ``str(certificate)``."""
        return [kept(self), *filter(None, [can_keep(self)])]

    def _detailed(self) -> list[str]:
        """The lines that only ``details()`` adds."""
        return [loss_reached(self), loss_bounded(self), *map(promised_loss, self.guarantees), *self.notes]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        first, *rest = (escape(line) for line in self._lines())
        return f"<div><p><strong>{first}</strong></p>{''.join(f'<p>{line}</p>' for line in rest)}</div>"


def _share(part: float, of: float, none: float) -> float:
    """A share of at most 1; exactly 1 if only rounding errors are missing."""
    return 1.0 if part >= of - none or of <= 0 else max(part / of, 0.0)
