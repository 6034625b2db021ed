"""Sentences of certificates; every number is rounded so that it never claims too much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sparing.results import PROVED, Guarantee

if TYPE_CHECKING:
    from sparing.certificates.certificate import Certificate


def other_data(claimed: float, found: float) -> str:
    """Why a certificate does not hold where the data are not those it is about."""
    differ = f"it is about data of variance {claimed:.6g}, these have {found:.6g}"
    return f": {differ}. If the fit had sample_weight, pass the same"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there are several."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Rounded up, so that a loss is never understated."""
    return f"{math.ceil(share * 1000 - 1e-9) / 10:.1f}%"


def share(part: float) -> str:
    """Of PCA, for which one digit is enough; more where that would read as none."""
    return f"{part:.1%}" if part >= 1e-3 or part <= 0 else f"{100 * part:.2g}%"


def times(ratio: float) -> str:
    """A loss ratio rounded up to three digits, more where that would read as none."""
    for digits in (3, 4, 5, 6):
        rounded = math.ceil(ratio * 10**digits - 1e-9) / 10**digits
        if ratio - 1 <= 1e-9 or (rounded - 1) < 2 * (ratio - 1):
            break
    return f"{rounded:.{digits}f}"


def reached(certificate: Certificate) -> str:
    """What the components lose, beside PCA."""
    c = certificate
    k = len(c.loadings)
    who = f"{counted(k, 'component')} on {where(c)} {'loses' if k == 1 else 'lose'}"
    if c.pca_value <= c._none:
        what = "nothing either" if c.ratio == 1.0 else f"{percent(c.value / c.total)} of the variance"
        return f"{who} {what}, where PCA loses nothing."
    asked = c.problem.n_components  # few features may give fewer, and are compared with as many as were asked for
    pca = "PCA" if k == asked else f"PCA with {counted(asked, 'component')}"
    return f"{who} {times(c.ratio)} times what {pca} loses (PCA: {share(c.pca_value / c.total)} of the variance)."


def promised_loss(guarantee: Guarantee) -> str:
    """A promise, with as many digits of what was measured as the loss has above."""
    return f"{guarantee.sentence(times(guarantee.measured)) if math.isfinite(guarantee.measured) else guarantee}."


def where(certificate: Certificate) -> str:
    """Which features are read, in words."""
    problem, used = certificate.problem, len(certificate.support)
    if problem.shared_support:
        return f"{used} of {counted(problem.n_features, 'feature')}"
    each = np.count_nonzero(certificate.loadings, axis=1)
    counts = str(each[0]) if (each == each[0]).all() else ", ".join(map(str, each))
    noun = "feature" if each.max() == 1 else "features"
    return f"{counts} {noun} each ({used} of {problem.n_features} in all)"


def possible(certificate: Certificate) -> str:
    """What nothing can pass, and how firmly that is proved."""
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
