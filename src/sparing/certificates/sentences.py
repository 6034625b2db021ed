"""Sentences of certificates; every number is rounded so that it never claims too much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sparing.data import Preprocessing
from sparing.results import PROVED, Guarantee, Problem

if TYPE_CHECKING:
    from sparing.certificates.certificate import Certificate


def other_data(claimed: float, found: float) -> str:
    """Why a certificate does not hold where the data are not those it is about."""
    differ = f"it is about data of variance {claimed:.6g}, but these data have {found:.6g}"
    return f": {differ}. If the fit had sample_weight, pass the same"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural if needed."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Rounded up: a loss, or an upper bound."""
    return f"{math.ceil(share * 1000 - 1e-9) / 10:.1f}%"


def percent_kept(share: float) -> str:
    """Rounded down, so that the share that is kept is never overstated."""
    return f"{math.floor(share * 1000 + 1e-9) / 10:.1f}%"


def share(part: float) -> str:
    """PCA's share with one digit; more digits if it would read as zero."""
    return f"{part:.1%}" if part >= 1e-3 or part <= 0 else f"{100 * part:.2g}%"


def times(ratio: float) -> str:
    """A loss ratio rounded up to three digits; more digits if the loss would read as none."""
    for digits in (3, 4, 5, 6):
        rounded = math.ceil(ratio * 10**digits - 1e-9) / 10**digits
        if ratio - 1 <= 1e-9 or (rounded - 1) < 2 * (ratio - 1):
            break
    return f"{rounded:.{digits}f}"


# --- the two lines that are printed ---------------------------------------------------------------------------------


def kept(certificate: Certificate) -> str:
    """The share of PCA's variance that is kept, and the number of samples."""
    c = certificate
    verb = "keeps" if len(c.loadings) == 1 else "keep"
    samples = "" if c.n_samples is None else f", on these {counted(c.n_samples, 'sample')}"
    return f"{who(c)} {verb} {percent_kept(c.variance_kept)} of {of_pca(c)}{samples}{with_noise(c.preprocessing)}."


def with_noise(preprocessing: Preprocessing) -> str:
    """The noise model that all statements assume, if there is one."""
    noise = preprocessing.noise_variance
    if noise is None:
        return ""
    how = f"noise of variance {noise:.3g}" if np.ndim(noise) == 0 else "its own variance of noise"
    return f", with {how} on every feature"


def can_keep(certificate: Certificate) -> str | None:
    """The share that any other choice could keep, if the bound is tighter than PCA's."""
    c = certificate
    if c.problem.is_given:
        what = "encoder" if c.problem.objective == "loss" else "components"
        return f"No {what} on these features can keep more. What other features keep was not asked."
    if c.gap <= PROVED:
        return f"No {others(c.problem)} can keep more: proved optimal."
    most = percent(c.variance_kept_bound)
    return None if most == percent(1.0) else f"No {others(c.problem)} can keep more than {most}."


def who(certificate: Certificate) -> str:
    """The components, and the features that they read."""
    c, k = certificate, len(certificate.loadings)
    features = where(c)
    if k > 1 and c.problem.objective == "variance" and c.problem.shared_support:
        loadings = counted(int(np.count_nonzero(c.loadings)), "loading")
        features = f"{loadings} in all ({len(c.support):,} of {counted(c.problem.n_features, 'feature')})"
    return f"{counted(k, f'{_sign(c.problem)}component')} on {features}"


def of_pca(certificate: Certificate) -> str:
    """The variance that is compared with."""
    c = certificate
    pca = "PCA's first component keeps" if c.n_asked == 1 else f"PCA's {c.n_asked:,} keep"
    return f"the variance that {pca} (PCA: {share(c.pca_variance / c.total)} of the total)"


def where(certificate: Certificate) -> str:
    """Which features are read, in words."""
    problem, used = certificate.problem, len(certificate.support)
    if problem.shared_support:
        return f"{used:,} of {counted(problem.n_features, 'feature')}"
    each = np.count_nonzero(certificate.loadings, axis=1)
    counts = f"{each[0]:,}" if (each == each[0]).all() else ", ".join(map(str, each))
    noun = "feature" if each.max() == 1 else "features"
    return f"{counts} {noun} each ({used:,} of {problem.n_features:,} in all)"


def others(problem: Problem) -> str:
    """The alternatives in the sentence "No <others> can keep more"."""
    at_most = "at most " if problem.nonnegative or problem.rules.has_budget else ""
    features, within = at_most + counted(problem.n_nonzero, "feature"), " within the rules" if problem.rules else ""
    if problem.objective == "loss" and problem.shared_support:
        return f"choice of {features}{within}"
    if problem.n_components == 1:
        return f"{_sign(problem)}component with {features}{within}"
    kind = "disjoint " if problem.disjoint else "orthogonal " if problem.orthogonal else ""
    each = "in all" if problem.shared_support else "each"
    limit = f" and cosines of at most {problem.max_cosine:.4g}" if problem.max_cosine < 1 else ""
    return f"{problem.n_components:,} {_sign(problem)}{kind}components with {features} {each}{limit}{within}"


def _sign(problem: Problem) -> str:
    return "nonnegative " if problem.nonnegative else ""


# --- details --------------------------------------------------------------------------------------------------------


def loss_reached(certificate: Certificate) -> str:
    """The loss beside PCA's."""
    c = certificate
    if c.pca_value <= c._none:
        if c.ratio == 1.0:
            return "Loss: nothing, as with PCA."
        return f"Loss: {percent(c.value / c.total)} of the variance, where PCA loses nothing."
    asked = c.problem.n_components
    pca = "PCA" if asked == c.n_asked else f"PCA with {counted(asked, 'component')}"
    return f"Loss: {times(c.ratio)} times what {pca} loses (PCA loses {share(c.pca_value / c.total)} of the variance)."


def loss_bounded(certificate: Certificate) -> str:
    """The lower bound of the loss, how it is proved and how firmly."""
    c = certificate
    how = f"{c.witness.method}{'' if c.strength == 'always' else ' (iterative eigensolver, error subtracted)'}"
    if c.gap <= PROVED:
        return f"Lower bound: this loss, by {how}."
    if c.bound <= c._none:
        return "Lower bound: none."
    if c.bound <= c.pca_value * (1 + 1e-12):
        return f"Lower bound: {how}; other features lose at most {percent(c.gap)} less."
    if c.pca_value <= c._none:
        least = f"{math.floor(c.bound / c.total * 1000 + 1e-9) / 10:.1f}% of the variance"
    else:
        least = f"{math.floor(c.bound_ratio * 1000 + 1e-9) / 1000:.3f} times what PCA loses"
    return f"Lower bound: {least}, by {how}; other features lose at most {percent(c.gap)} less."


def variance_bounded(certificate: Certificate) -> str:
    """The upper bound of the variance, how it is proved and how firmly."""
    c = certificate
    how = f"{c.witness.method}{'' if c.strength == 'always' else ' (iterative eigensolver, error added)'}"
    if c.gap <= PROVED:
        return f"Upper bound: this variance, by {how}."
    if c.bound >= c.pca_value:
        return f"Upper bound: {how}; at most {percent(c.gap)} of the best variance are missing."
    reached = ", which some components have" if c.witness.reached else ""
    most = percent(c.variance_kept_bound)
    return (
        f"Upper bound: {most} of PCA's variance{reached}, by {how}; at most {percent(c.gap)} of the best are missing."
    )


def promised_loss(guarantee: Guarantee) -> str:
    """A guarantee, its measured value with the same digits as the loss above."""
    return f"{guarantee.sentence(times(guarantee.measured)) if math.isfinite(guarantee.measured) else guarantee}."
