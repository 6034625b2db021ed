"""A claim about a result, with what proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar

import numpy as np

from sparing import errors
from sparing.data import DataMatrix, Preparation, as_view
from sparing.linalg import information_loss_of, top_spectrum
from sparing.results import ZERO_LOSS, Array, Bound, Guarantee, Indices, Spectrum

PROVED = 1e-6
"""A gap that counts as none: what rounding leaves between an optimum and its proof."""


ORTHOGONAL = 1e-6
"""The largest cosine that counts as none."""


@dataclass(frozen=True)
class Problem:
    """What was optimised, over what: the claim of a certificate holds for this and nothing else.

    ``n_nonzero`` counts the features of each component. With ``shared_support`` it counts those of all together: for a
    loss the features used, for a variance the nonzero loadings. Disjoint components have no feature in common.
    """

    n_components: int
    n_nonzero: int
    n_features: int
    objective: str = "loss"
    shared_support: bool = True
    nonnegative: bool = False
    orthogonal: bool = False
    disjoint: bool = False

    @property
    def sense(self) -> str:
        """``min`` for a loss, ``max`` for a variance."""
        return "min" if self.objective == "loss" else "max"


@dataclass(frozen=True)
class Recheck:
    """Outcome of verifying a certificate again; true where it holds.

    Attributes
    ----------
    holds : bool
    value, bound : float
        Of these data; for a regression or a stream the bound is the one that was claimed.
    sentence : str
        What was found, which is what ``print`` shows.
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
    """What a result reaches (``value``), what no feasible result can pass (``bound``), and why.

    ``print(certificate)`` is the sentence for people. It holds the nonzero loadings and small numbers only, never the
    data, so it can be stored beside a result and checked years later with :meth:`recheck`.

    Attributes
    ----------
    value, bound : float
        In the units of X: sums of squares for a loss.
    pca_value : float
        What PCA reaches, rounded against us.
    pca_error : float
        How far the truth may be on the other side: where a bound is compared with PCA, that is against us.
    gap : float
        How much better anything feasible could be, relative: 0 is proved optimal, never above 1.
    strength : str
        ``always``, or ``numerical`` where the bound rests on a converged iteration whose error was subtracted.
    guarantees : tuple of Guarantee
        What theorems promised for this fit, and what was measured.
    notes : tuple of str
        What else a reader should know of the result.
    """

    problem: Problem
    value: float
    witness: Bound
    pca_value: float
    total: float
    support: Indices
    loadings: Array
    preparation: Preparation
    nothing: float = 0.0
    pca_error: float = 0.0
    guarantees: tuple[Guarantee, ...] = ()
    parts: tuple[Certificate, ...] = ()
    notes: tuple[str, ...] = ()

    _named: ClassVar[str] = "loss"
    _nothing_can: ClassVar[str] = "nothing can lose less"

    @property
    def bound(self) -> float:
        """What no feasible result can pass."""
        return self.witness.value

    @property
    def sense(self) -> str:
        """``min``: bound <= value; ``max``: bound >= value."""
        return self.problem.sense

    @property
    def strength(self) -> str:
        """How firmly the bound is proved."""
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
        view = as_view(X, self.preparation, sample_weight)
        if view.n_features != self.problem.n_features:
            raise errors.wrong_n_features(view.n_features, self.problem.n_features, "this certificate")
        for part in self.parts:
            if not (checked := part._recheck_on(view)):
                return replace(checked, sentence=f"Of one component alone: {checked.sentence}")
        return self._recheck_on(view)

    def _recheck_on(self, view: DataMatrix) -> Recheck:
        """The claims of this certificate, without those of its parts."""
        unit = self._unit(view)
        value = self._value_on(view) * unit
        bound = self.witness.check(view, self.problem, self.witness.witness) * unit
        total = view.total * unit
        rounding = 1e-10 * self.total
        same_value = abs(value - self.value) <= 1e-6 * self.value + rounding
        same_data = abs(total - self.total) <= 1e-6 * self.total
        if self.sense == "min":
            valid_bound = self.bound <= bound * (1 + 1e-6) + rounding and self.bound <= value * (1 + 1e-6) + rounding
        else:
            valid_bound = self.bound >= bound * (1 - 1e-6) - rounding and self.bound >= value * (1 - 1e-6) - rounding
        wrong = "The certificate does NOT hold"
        holds = False
        if self.problem.objective != self._named:
            said = f"{wrong}: it is about a {self._named}, its problem about a {self.problem.objective}."
        elif not same_data:
            said = f"{wrong}: it is about data of variance {self.total:.6g}, these have {total:.6g}."
        elif not same_value:
            said = f"{wrong} for these data: it claims {self._named} {self.value:.6g}, found {value:.6g}."
        elif (rule := broken_rule(self)) is not None:
            said = f"{wrong}: its loadings are not among those it speaks of: {rule}."
        elif not valid_bound:
            said = f"{wrong}: it claims the bound {self.bound:.6g}, only {bound:.6g} is proved."
        elif not self._pca_agrees(view, unit):
            said = f"{wrong}: it claims {self._named} {self.pca_value:.6g} for PCA, which these data do not have."
        else:
            holds = True
            said = f"The certificate holds: {self._named} {value:.6g}, and {self._nothing_can} than {bound:.6g}."
        return Recheck(holds, value, bound, said)

    def _pca_agrees(self, view: DataMatrix, unit: float) -> bool:
        """Does PCA lose as much as is claimed, and no more? Its loss as computed is never too small."""
        fresh, rounding = fresh_spectrum(view, self.problem.n_components), 1e-10 * self.total
        not_more = fresh.least_loss * unit <= (self.pca_value + self.pca_error) * (1 + 1e-6) + rounding
        return not_more and self.pca_value <= fresh.tail * unit * (1 + 1e-6) + rounding

    @property
    def components(self) -> Array:
        """The loadings as a matrix with zeros."""
        full = np.zeros((len(self.loadings), self.problem.n_features))
        full[:, self.support] = self.loadings
        return full

    def _unit(self, view: DataMatrix) -> float:
        """What a sum of squares of the view is in the unit of this certificate."""
        return view.square_unit

    def _value_on(self, view: DataMatrix) -> float:
        """The value again, from the data and the loadings alone."""
        return information_loss_of(view, self.components)

    def _lines(self) -> list[str]:
        return [_reached(self), _possible(self), *(f"{guarantee}." for guarantee in self.guarantees), *self.notes]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        first, *rest = (escape(line) for line in self._lines())
        return f"<div><p><strong>{first}</strong></p>{''.join(f'<p>{line}</p>' for line in rest)}</div>"


def fresh_spectrum(view: DataMatrix, n_components: int) -> Spectrum:
    """PCA again, from a start of its own."""
    return top_spectrum(view, n_components, np.random.default_rng(np.random.SeedSequence(entropy=0x5AFE)))


def broken_rule(certificate: Certificate) -> str | None:
    """What the loadings do that the problem does not allow, in words."""
    problem, H = certificate.problem, certificate.loadings
    used = H != 0
    if problem.objective != "loss" and len(H) > problem.n_components:
        return f"there are {len(H)} components, not {problem.n_components}"
    if not problem.shared_support:
        most = int(used.sum(axis=1).max(initial=0))
    else:
        most = int(used.any(axis=0).sum() if problem.objective == "loss" else used.sum())
    if most > problem.n_nonzero:
        return f"they use {most} features, not {problem.n_nonzero}"
    if problem.disjoint and used.sum(axis=0).max(initial=0) > 1:
        return "components share a feature"
    if problem.nonnegative and H.min(initial=0.0) < 0:
        return "some are negative"
    if problem.orthogonal:
        unit = H / np.linalg.norm(H, axis=1, keepdims=True)
        if np.abs(unit @ unit.T - np.eye(len(H))).max() > ORTHOGONAL:
            return "they are not orthogonal"
    return None


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there are several."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Rounded up, so that a loss is never understated."""
    return f"{math.ceil(share * 1000 - 1e-9) / 10:.1f}%"


def times(ratio: float) -> str:
    """A loss ratio rounded up to three digits, more where that would read as none."""
    for digits in (3, 4, 5, 6):
        rounded = math.ceil(ratio * 10**digits - 1e-9) / 10**digits
        if ratio - 1 <= 1e-9 or (rounded - 1) < 2 * (ratio - 1):
            break
    return f"{rounded:.{digits}f}"


def _reached(certificate: Certificate) -> str:
    c = certificate
    k = len(c.loadings)
    who = f"{counted(k, 'component')} on {where(c)} {'loses' if k == 1 else 'lose'}"
    if c.pca_value <= c._none:
        what = "nothing either" if c.ratio == 1.0 else f"{percent(c.value / c.total)} of the variance"
        return f"{who} {what}, where PCA loses nothing."
    asked = c.problem.n_components  # few features may give fewer, and are compared with as many as were asked for
    pca = "PCA" if k == asked else f"PCA with {counted(asked, 'component')}"
    return f"{who} {times(c.ratio)} times what {pca} loses (PCA: {c.pca_value / c.total:.1%} of the variance)."


def where(certificate: Certificate) -> str:
    """Which features are read, in words."""
    problem, used = certificate.problem, len(certificate.support)
    if problem.shared_support:
        return f"{used} of {counted(problem.n_features, 'feature')}"
    each = np.count_nonzero(certificate.loadings, axis=1)
    counts = str(each[0]) if (each == each[0]).all() else ", ".join(map(str, each))
    noun = "feature" if each.max() == 1 else "features"
    return f"{counts} {noun} each ({used} of {problem.n_features} in all)"


def _possible(certificate: Certificate) -> str:
    problem, c = certificate.problem, certificate
    by_pca = c.bound <= c.pca_value * (1 + 1e-12)
    encoder = f"encoder with {counted(problem.n_components, 'component')}"
    who = encoder if by_pca else counted(problem.n_nonzero, "feature")
    if c.gap <= PROVED:
        return f"No {who} can lose less: proved optimal by {c.witness.method}."
    if c.bound <= c._none:
        return "How much less other features could lose is not known: nothing is proved."
    if c.pca_value <= c._none:
        return (
            f"No {who} can lose less than {math.floor(c.bound / c.total * 1000 + 1e-9) / 10:.1f}% of the variance, so "
            f"other features could lose at most {percent(c.gap)} less ({c.witness.method})."
        )
    firm = "" if c.strength == "always" else f"; {c.strength}: it rests on a converged iteration, its error subtracted"
    least = math.floor(c.bound_ratio * 1000 + 1e-9) / 1000
    return (
        f"No {who} can lose less than {least:.3f} times what PCA loses, so other features "
        f"could lose at most {percent(c.gap)} less. Nothing tighter is proved ({c.witness.method}{firm})."
    )
