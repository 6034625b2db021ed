"""What the page of a path holds, as plain data for its script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing.certificates import Certificate
from sparing.certificates.sentences import percent, percent_kept
from sparing.data.jobs import Stacked
from sparing.gram import DataMatrix
from sparing.results import Array, Indices
from sparing.show.wording import component_name, equation, shown

MOST_SAMPLES = 2000
"""Samples that are drawn; more would only cover one another."""

MOST_SCORES = 400_000
"""Numbers of all scores of the page together: two megabytes."""

NAMES_LENGTH = 1_000_000
"""Signs of all names together up to which features can be searched that are never used."""

COMFORTABLE_SHARE = 0.9
"""The page opens at the fewest features that keep this share of PCA's variance."""


@dataclass(frozen=True, eq=False)
class SampledColumns(Stacked):
    """``X[samples][:, features]`` of sorted samples, dense: small however many rows there are."""

    samples: Indices
    features: Indices

    def map(self, block: Any) -> list[Array]:
        """The block's share of the samples."""
        first, last = np.searchsorted(self.samples, [block.start, block.stop])
        return [block.columns(self.features)[self.samples[first:last] - block.start]]


def sampled(n_samples: int, n_steps: int, n_components: int, rng: np.random.Generator) -> Indices:
    """The samples to draw: all of them, or as many at random as the page has room for."""
    most = max(1, min(MOST_SAMPLES, MOST_SCORES // max(n_steps * n_components, 1)))
    if n_samples <= most:
        return np.arange(n_samples)
    return np.sort(rng.choice(n_samples, most, replace=False))


def steps_of(
    certificates: Sequence[Certificate], view: DataMatrix, names: Sequence[str], samples: Indices
) -> tuple[list[dict[str, Any]], float]:
    """For each number of features what is kept, bound, sentence, loadings, equations, scores; and the unit of those."""
    union = np.unique(np.concatenate([certificate.support for certificate in certificates]))
    values: Array = view.one_pass(SampledColumns(samples, union))[0] * np.sqrt(view.square_unit)
    unit = _unit(values)
    steps = []
    for number, certificate in enumerate(certificates, start=1):
        used = [names[j] for j in certificate.support]
        scores = values[:, np.searchsorted(union, certificate.support)] / unit @ certificate.loadings.T
        steps.append(
            {
                "features": number,
                **_kept(certificate),
                "sentence": str(certificate).splitlines(),
                "equations": [
                    equation(component_name(i), loadings, used) for i, loadings in enumerate(certificate.loadings)
                ],
                "support": certificate.support.tolist(),
                "loadings": [[_rounded(value) for value in loadings] for loadings in certificate.loadings],
                "scores": [_packed(column) for column in scores.T],
            }
        )
    return steps, unit


def opening_step(steps: Sequence[dict[str, Any]]) -> int:
    """The number of features that the page opens with: with all components that there are, so that they are seen."""
    full = [step for step in steps if len(step["loadings"]) == max(len(other["loadings"]) for other in steps)]
    fits = (step["features"] for step in full if step["kept"] >= COMFORTABLE_SHARE)
    return int(next(fits, steps[-1]["features"]))


def searchable(names: Sequence[str], steps: Sequence[dict[str, Any]]) -> dict[int, str]:
    """Names by feature: all of them, or those in use where all would make the page too large."""
    if sum(map(len, names)) <= NAMES_LENGTH:
        return {j: shown(name) for j, name in enumerate(names)}
    return {j: shown(names[j]) for j in sorted({j for step in steps for j in step["support"]})}


def _kept(certificate: Certificate) -> dict[str, Any]:
    """What is kept of PCA's variance, what any choice could keep, and what is explained in all; also as text."""
    kept, explained = certificate.variance_kept, max(1.0 - certificate.value / certificate.total, 0.0)
    most = max(certificate.variance_kept_bound, kept)
    return {
        "kept": _rounded(kept, 8),
        "most": _rounded(most, 8),
        "explained": _rounded(explained),
        "keptText": percent_kept(kept),
        "mostText": percent(most),
        "explainedText": percent_kept(explained),
    }


def _unit(values: Array) -> float:
    """1, or the power of ten that brings values near 1 which single precision could not hold."""
    largest = float(np.abs(values).max())
    return 1.0 if largest == 0 or 1e-20 < largest < 1e20 else 10.0 ** round(np.log10(largest))


def _rounded(value: float, digits: int = 6) -> float:
    return float(f"{value:.{digits}g}")


def _packed(column: Array) -> str:
    """Single precision, in the byte order of all browsers."""
    return base64.b64encode(column.astype("<f4").tobytes()).decode("ascii")
