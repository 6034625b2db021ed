"""Substitutes of each chosen feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sparing.certificates.sentences import percent_kept
from sparing.data import as_view
from sparing.estimators.base import ViewEstimator
from sparing.estimators.inputs import feature_names_of, fit_context
from sparing.estimators.parameters import count, preprocessing_of
from sparing.estimators.validation.folds import named_rows
from sparing.gram import DataMatrix
from sparing.linalg import encoder_on, top_spectrum
from sparing.objectives.span import Spanning
from sparing.results import Array, Indices, Selection, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.search_limits import SEARCH


@dataclass(frozen=True, eq=False)
class Alternatives:
    """For each chosen feature the best substitutes.

    Attributes
    ----------
    support : ndarray of int
        The features that the model reads.
    substitutes : ndarray of int of shape (len(support), n_alternatives)
        The best substitutes of each, best first; -1 if there are no more.
    variance_kept : ndarray of shape (len(support), n_alternatives)
        Share of PCA's variance that is kept with the substitute.
    without : ndarray of shape (len(support),)
        Share that is kept without a substitute.
    kept : float
        Share that the model keeps.
    feature_names : list of str
    """

    support: Indices
    substitutes: Indices
    variance_kept: Array
    without: Array
    kept: float
    feature_names: list[str] = field(repr=False)

    def __str__(self) -> str:
        lines = [f"{len(self.support)} features keep {percent_kept(self.kept)} of PCA's variance. In place of"]
        for feature, others, kept, alone in zip(
            self.support, self.substitutes, self.variance_kept, self.without, strict=True
        ):
            told = [
                f"{self.feature_names[j]} {percent_kept(share)}"
                for j, share in zip(others, kept, strict=True)
                if j >= 0
            ]
            lines.append(f"  {self.feature_names[feature]}: {', '.join([*told, f'nothing {percent_kept(alone)}'])}")
        return "\n".join(lines)


def alternatives(model: Any, X: Any, *, n_alternatives: int = 3) -> Alternatives:
    """The best substitutes of each feature that a fitted model reads, and the share that is then kept.

    Candidates are ranked by the part of the principal components that they add to the other features; the best are then
    fitted exactly, with the noise and the rules of the model.

    Parameters
    ----------
    model : fitted SparseEncoder or SparseEncoderCV with shared features, or ColumnSelector
    X : the data of the fit, in any storage
    n_alternatives : int, default=3
        Substitutes of each feature.

    Returns
    -------
    Alternatives
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparing import SparseEncoder, alternatives
    >>> wine = load_wine(as_frame=True).data
    >>> model = SparseEncoder(2, n_nonzero=3, scale=True, effort="quick").fit(wine)
    >>> found = alternatives(model, wine, n_alternatives=1)
    >>> bool((found.variance_kept[:, 0] > found.without).all())
    True
    """
    if not isinstance(model, ViewEstimator) or not hasattr(type(model), "_linear"):
        raise TypeError(
            f"alternatives was given a {type(model).__name__}; a fitted SparseEncoder, SparseEncoderCV or "
            "ColumnSelector is needed."
        )
    check_is_fitted(model)
    wanted, rows = count("n_alternatives", n_alternatives), named_rows(X)
    noise = getattr(model, "noise_variance_", 0.0)
    preprocessing = replace(preprocessing_of(model), noise_variance=noise if np.any(noise) else None)
    view, support = as_view(rows, preprocessing), model.support_
    if view.n_features != model.n_features_in_:
        raise ValueError(f"X has {view.n_features} features; the model was fitted on {model.n_features_in_}.")
    k = getattr(model, "n_components_", None) or model.n_components or len(support)
    rules, known = model._rules(view.n_features, view.signal.n_samples), view.cached()
    allowed = rules.usable(view.n_features) if rules else np.ones(view.n_features, dtype=bool)
    with fit_context(view, k):
        pca = top_spectrum(view, k, np.random.default_rng(0))
        (tried,) = candidates(known, pca, [support], allowed, SEARCH.substitutes_verified * wanted)
        known.gram_columns(np.unique(np.concatenate([support, *tried])))
        substitutes = np.full((len(support), wanted), -1, dtype=np.intp)
        shares, without = np.full((len(support), wanted), np.nan), np.zeros(len(support))
        for place in range(len(support)):
            rest = np.delete(support, place)
            without[place] = _kept(known, pca, rest)
            best = best_substitutes(known, pca, rest, tried[place], wanted, rules)
            substitutes[place, : len(best)] = [j for j, _ in best]
            shares[place, : len(best)] = [share for _, share in best]
        everything = _kept(known, pca, support)
    return Alternatives(support, substitutes, shares, without, everything, feature_names_of(X, rows))


def candidates(
    known: DataMatrix, pca: Spectrum, supports: Sequence[Indices], allowed: NDArray[np.bool_], most: int
) -> list[list[Indices]]:
    """For each feature of each support, the features that span most of the part that is lost without it."""
    out = []
    for support in supports:
        places = []
        for feature in support:
            rest = support[support != feature]
            state = Spanning(pca.cross, known.gram_diagonal(), len(support))
            state.extend(rest, known.gram_columns(rest))
            gains = np.where(allowed, state.gains(), 0.0)
            gains[feature] = 0.0
            tried = np.argsort(-gains, kind="stable")[:most]
            places.append(tried[gains[tried] > 0])
        out.append(places)
    return out


def best_substitutes(
    known: DataMatrix, pca: Spectrum, rest: Indices, tried: Indices, wanted: int, rules: Rules = NO_RULES
) -> list[tuple[int, float]]:
    """The features that keep most together with the rest, and the shares that are then kept, best first."""
    sets = {int(j): np.sort(np.append(rest, j)) for j in tried}
    scored = {j: _kept(known, pca, columns) for j, columns in sets.items() if not rules or rules.permits(columns)}
    return sorted(scored.items(), key=lambda one: -one[1])[:wanted]


def _kept(known: DataMatrix, pca: Spectrum, columns: Indices) -> float:
    """Share of PCA's variance that the best encoder on these features keeps."""
    if len(columns) == 0:
        return 0.0
    selection = Selection(columns, known.gram_columns(columns))
    return pca.variance_kept(encoder_on(selection, pca.rank, pca.total).loss)
