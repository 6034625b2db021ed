"""The contents of the explorer page, as plain data for its script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparing.certificates import Certificate
from sparing.certificates.sentences import percent, percent_kept
from sparing.certificates.sentences import share as share_of_total
from sparing.data.jobs import Stacked
from sparing.estimators.encoding import share_explained
from sparing.estimators.inputs import fit_context
from sparing.estimators.path_search import PathSearch
from sparing.estimators.validation.alternatives import best_substitutes, candidates
from sparing.estimators.validation.folds import transfers
from sparing.results import Array, Encoder, Indices
from sparing.show.wording import component_name, equation, shown

MOST_SAMPLES = 2000
"""Maximum number of samples drawn; more would only overlap."""

MOST_SCORES = 400_000
"""Maximum number of scores on the page: two megabytes."""

NAMES_LENGTH = 1_000_000
"""Maximum number of characters of all names for which unused features can be searched."""

MOST_PREDICTIONS = 400_000
"""Maximum number of R² values on the page: one megabyte."""

MOST_REPLACED, N_SUBSTITUTES = 20, 3
"""Maximum number of features of a support with substitutes, and substitutes of each; more take seconds."""

SUGGESTED_SHARES = (0.9, 0.95)
"""The page suggests the fewest features that keep these shares of PCA's variance, and opens at the first of them."""


@dataclass(frozen=True, eq=False)
class SampledRows(Stacked):
    """``X[samples][:, features]`` and ``X[samples] @ V`` of sorted samples: small for any number of rows."""

    samples: Indices
    features: Indices
    V: Array

    def map(self, block: Any) -> list[Array]:
        """The samples in the block."""
        first, last = np.searchsorted(self.samples, [block.start, block.stop])
        here = self.samples[first:last] - block.start
        return [np.hstack([block.columns(self.features)[here], block.matmat(self.V)[here]])]


def sampled(n_samples: int, n_steps: int, n_components: int, rng: np.random.Generator) -> Indices:
    """The samples to draw: all of them, or a random subset of the size that the page allows."""
    most = max(1, min(MOST_SAMPLES, MOST_SCORES // max(n_steps * n_components, 1)))
    if n_samples <= most:
        return np.arange(n_samples)
    return np.sort(rng.choice(n_samples, most, replace=False))


def steps_of(
    walk: PathSearch,
    encoders: Sequence[Encoder],
    certificates: Sequence[Certificate],
    names: Sequence[str],
    samples: Indices,
    predicted: Indices,
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[int, str], float]:
    """Numbers and texts for each number of features; PCA's scores; values of features for colours; the unit.

    Components are ordered and oriented as PCA's, so that pictures of neighbouring numbers of features look alike. PCA's
    signs are those with which most of the largest loadings are positive.
    """
    view, spectrum = walk.view, walk.spectrum
    union = np.unique(np.concatenate([certificate.support for certificate in certificates]))
    drawn = SampledRows(samples, union, spectrum.basis)
    both: Array = view.one_pass(drawn)[0] * np.sqrt(view.square_unit)
    columns, pca = both[:, : len(union)], both[:, len(union) :]
    unit = _unit(pca)
    diagonal, pulls = view.gram_diagonal()[predicted], spectrum.cross
    turned = [oriented(certificate.loadings, pulls[certificate.support]) for certificate in certificates]
    signs = upright(turned, spectrum.rank)
    pca, turned = pca * signs, [loadings * signs[: len(loadings), None] for loadings in turned]
    steps, replaced = [], substitutes_of(walk)
    for number, (certificate, found, loadings) in enumerate(zip(certificates, encoders, turned, strict=True), start=1):
        used = [names[j] for j in certificate.support]
        scores = columns[:, np.searchsorted(union, certificate.support)] / unit @ loadings.T
        steps.append(
            {
                "features": number,
                **_kept(certificate),
                "sentence": str(certificate).splitlines(),
                "equations": [equation(component_name(i), row, used) for i, row in enumerate(loadings)],
                "support": certificate.support.tolist(),
                "loadings": [[_rounded(value) for value in row] for row in loadings],
                "scores": [_packed(column) for column in scores.T],
                **({"substitutes": _substitutes(replaced[number - 1])} if number <= len(replaced) else {}),
                "r2": _packed(1000 * np.clip(share_explained(found.explained[predicted], diagonal), 0, 1), "<u2"),
            }
        )
    explained = share_of_total(spectrum.least_variance / spectrum.total)  # as in the sentences
    of_pca = {"scores": [_packed(column) for column in pca.T / unit], "explainedText": explained}
    most = MOST_SCORES // max(len(samples), 1)
    colours = {int(j): _packed(column) for j, column in zip(union[:most], columns.T / unit, strict=False)}
    return steps, of_pca, colours, unit


def substitutes_of(walk: PathSearch) -> list[list[list[tuple[int, float]]]]:
    """The best substitutes of each chosen feature and the share then kept, for small numbers of features.

    One more reading of X: Gram columns of all candidates together.
    """
    supports = [support for support in walk.supports if len(support) <= MOST_REPLACED]
    known, spectrum = walk.view.cached(), walk.spectrum
    union = np.unique(np.concatenate(supports)) if supports else np.empty(0, dtype=np.intp)
    with fit_context(walk.view, spectrum.rank):
        known.gram_columns(union)
        allowed = walk.view.gram_diagonal() > 0
        tried = candidates(known, spectrum, supports, allowed, 3 * N_SUBSTITUTES)
        if tried:
            known.gram_columns(np.unique(np.concatenate([union, *(some for places in tried for some in places)])))
        return [
            [
                best_substitutes(known, spectrum, np.delete(support, place), some, N_SUBSTITUTES)
                for place, some in enumerate(places)
            ]
            for support, places in zip(supports, tried, strict=True)
        ]


def oriented(loadings: Array, pulls: Array) -> Array:
    """Loadings (m x r) in the order and with the signs of the principal components with the most similar scores.

    ``pulls`` (r x k) are rows of A V, which determine the inner products of scores with those of PCA.
    """
    alike = loadings @ pulls
    components, matches = linear_sum_assignment(-np.abs(alike) / np.linalg.norm(alike, axis=1, keepdims=True))
    order = components[np.argsort(matches, kind="stable")]
    signs = np.where(alike[order, np.sort(matches)] < 0, -1.0, 1.0)
    return np.asarray(loadings[order] * signs[:, None])


def upright(steps: Sequence[Array], n_components: int) -> Array:
    """Signs of components with which the largest loading is positive in most of the steps."""
    votes = np.zeros(n_components)
    for loadings in steps:
        largest = np.abs(loadings).argmax(axis=1)
        votes[: len(loadings)] += np.sign(loadings[np.arange(len(loadings)), largest])
    return np.where(votes < 0, -1.0, 1.0)


def predicted_features(squares: Array, supports: Sequence[Indices], n_steps: int) -> Indices:
    """Features whose predictions are shown: all, or those that vary most and those ever chosen."""
    most = max(MOST_PREDICTIONS // max(n_steps, 1), 1)
    if len(squares) <= most:
        return np.arange(len(squares))
    largest = np.argsort(-squares, kind="stable")[:most]
    return np.unique(np.concatenate([largest, *supports]))


def new_samples(kept: float, error: float, pca: float) -> dict[str, Any]:
    """The share kept of new samples and its standard error, relative to the share that PCA keeps; also as text."""
    text = f"{kept / pca:.1%} ± {error / pca:.1%}" if transfers(kept, error) else ""
    return {"held": _rounded(kept / pca), "heldSe": _rounded(error / pca), "heldText": text}


def suggestions(steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Suggested numbers of features, each with a reason; the page opens at the first."""
    full = [step for step in steps if len(step["loadings"]) == max(len(other["loadings"]) for other in steps)]
    out = []
    for share in SUGGESTED_SHARES:
        first = next((step for step in full if step["kept"] >= share), None)
        if first is not None:
            out.append({"features": first["features"], "reason": f"fewest that keep {share:.0%}"})
    held = [step for step in full if step.get("heldText")]
    if held:
        best = max(held, key=lambda step: step["held"])
        one_se = next(step for step in held if step["held"] >= best["held"] - best["heldSe"])
        out.append({"features": one_se["features"], "reason": "one-standard-error rule"})
    return out


def opening_step(steps: Sequence[dict[str, Any]]) -> int:
    """The number of features that the page opens with, large enough to show all components."""
    return int(next((one["features"] for one in suggestions(steps)), steps[-1]["features"]))


def searchable(names: Sequence[str], steps: Sequence[dict[str, Any]], predicted: Indices) -> dict[int, str]:
    """Names by feature: all of them, or only those in use if all would make the page too large."""
    if sum(map(len, names)) <= NAMES_LENGTH:
        return {j: shown(name) for j, name in enumerate(names)}
    used = {j for step in steps for j in step["support"]}
    used |= {j for step in steps for one in step.get("substitutes", ()) for j, _ in one}
    return {j: shown(names[j]) for j in sorted(used | set(predicted.tolist()))}


def _substitutes(places: list[list[tuple[int, float]]]) -> list[list[list[float]]]:
    return [[[j, _rounded(share)] for j, share in place] for place in places]


def _kept(certificate: Certificate) -> dict[str, Any]:
    """The share kept of PCA's variance, its upper bound, and the explained share of the total; also as text."""
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
    """1, or the power of ten that scales values to about 1 if single precision could not represent them."""
    largest = float(np.abs(values).max())
    return 1.0 if largest == 0 or 1e-20 < largest < 1e20 else 10.0 ** round(np.log10(largest))


def _rounded(value: float, digits: int = 6) -> float:
    return float(f"{value:.{digits}g}")


def _packed(column: Array, dtype: str = "<f4") -> str:
    """Single precision or integers, in the byte order of browsers."""
    values = np.rint(column) if dtype == "<u2" else column
    return base64.b64encode(values.astype(dtype).tobytes()).decode("ascii")
