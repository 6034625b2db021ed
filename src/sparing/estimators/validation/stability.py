"""Stability of the selection: frequencies on random half-samples, and groups of interchangeable features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sparing import errors
from sparing.data import Preprocessing, Rows, as_view
from sparing.effort import QUICK
from sparing.errors import listed
from sparing.estimators.base import ViewEstimator
from sparing.estimators.inputs import feature_names_of, fit_context
from sparing.estimators.parameters import count, generator_of, preprocessing_of
from sparing.estimators.path_search import PathSearch
from sparing.estimators.validation.cross_validated import new_view, residuals, share_kept
from sparing.estimators.validation.folds import Fold, named_rows, over_folds, random_halves
from sparing.gram import DataMatrix
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.encoders.path import improved_path
from sparing.results import Array, Indices, Selection
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH


@dataclass(frozen=True, eq=False)
class Stability:
    """How often features are chosen on random halves of the samples.

    Attributes
    ----------
    frequency : ndarray of shape (n_features,)
        Share of the half-samples on which a feature is chosen.
    groups : list of ndarray of int
        Interchangeable features, most frequent first: swapping one for another changes the share kept by less than its
        variation between half-samples, and they are rarely chosen together.
    group_frequency : ndarray
        Share of the half-samples on which one of the group is chosen.
    overlap : float
        Mean share of features that the two halves of one split have in common.
    kept, kept_se : float
        Share kept of the features that are not read in the other half, and its standard deviation between halves.
    supports : list of ndarray of int
    feature_names : list of str
    """

    frequency: Array
    groups: list[Indices]
    group_frequency: Array
    overlap: float
    kept: float
    kept_se: float
    supports: list[Indices] = field(repr=False)
    feature_names: list[str] = field(repr=False)

    @property
    def reliable(self) -> Indices:
        """Features chosen on more than half of the half-samples, alone or together with interchangeable ones.

        None if nothing is kept of the other half: then the choice says nothing about new samples.
        """
        if self.kept <= 0:
            return np.zeros(0, dtype=np.intp)
        chosen = {int(j) for j in np.flatnonzero(self.frequency > SEARCH.reliable_share)}
        of_groups = zip(self.groups, self.group_frequency, strict=True)
        chosen |= {int(group[0]) for group, share in of_groups if share > SEARCH.reliable_share}
        return np.array(sorted(chosen), dtype=np.intp)

    def __str__(self) -> str:
        halves = f"{len(self.supports)} half-samples"
        if len(self.reliable) == 0:
            return f"No feature is chosen reliably: none is chosen on more than half of {halves}, or nothing transfers."
        shares = {int(j): float(self.frequency[j]) for j in self.reliable}
        stand_in = {int(group[0]): group for group in self.groups}
        shares |= {
            int(g[0]): float(f) for g, f in zip(self.groups, self.group_frequency, strict=True) if g[0] in shares
        }
        lines = [f"{len(shares)} features are chosen on more than half of {halves} (overlap {self.overlap:.0%}):"]
        for j in sorted(shares, key=lambda j: -shares[j]):
            others = [self.feature_names[i] for i in stand_in.get(j, [j])[1:]]
            said = f", or {listed(others)} in its place" if others else ""
            lines.append(f"  {self.feature_names[j]}: {shares[j]:.0%}{said}")
        return "\n".join(lines)


def stability(
    estimator: Any, X: Any, *, n_resamples: int = 50, random_state: Any = 0, n_jobs: int | None = None
) -> Stability:
    """How often each feature is chosen when the estimator is fitted to random halves of the samples.

    Halves come in complementary pairs, and each half is fitted separately, so that interchangeable features are found
    as a group.

    Parameters
    ----------
    estimator : SparseEncoder, ColumnSelector, SparsePCA, NonnegativeSparsePCA or DoublySparseEncoder
        Its ``time_limit`` is that of each fit.
    X : array-like, sparse matrix, data frame, Dask array or rows of ``open_data``, of shape (n_samples, n_features)
    n_resamples : int, default=50
        Half-samples.
    random_state : int, Generator, RandomState or None, default=0
    n_jobs : int, optional
        Number of fits to run in parallel.

    Returns
    -------
    Stability
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparing import SparseEncoder, stability
    >>> wine = load_wine(as_frame=True).data
    >>> found = stability(SparseEncoder(2, n_nonzero=3, effort="quick"), wine, n_resamples=10)
    >>> [found.feature_names[j] for j in found.reliable]
    ['alcalinity_of_ash', 'magnesium', 'proline']
    """
    if not isinstance(estimator, ViewEstimator) or hasattr(estimator, "predict"):
        raise TypeError(
            f"stability was given a {type(estimator).__name__}; it needs an encoder, a ColumnSelector or a sparse PCA "
            "of sparing."
        )
    rows, rng = named_rows(X), generator_of(random_state)
    n, names = rows.shape[0], feature_names_of(X, rows)
    if n < 4:
        raise ValueError(f"X has {n} sample(s): halves of at least 2 are needed. Pass more samples.")
    if count("n_resamples", n_resamples) < 2:
        raise ValueError(f"n_resamples={n_resamples}: halves of the samples come in pairs. Pass 2 or more.")
    halves = random_halves(n, n_resamples, rng)
    found = over_folds(_half, ((estimator, rows, *half) for half in halves), n_jobs if rows.is_local else None)
    supports, kept, inside = (
        [each[0] for each in found],
        np.array([e[1] for e in found]),
        np.array([e[2] for e in found]),
    )
    chosen = np.zeros((len(supports), rows.shape[1]), dtype=bool)
    for row, support in zip(chosen, supports, strict=True):
        row[support] = True
    k = max(each[3] for each in found)
    groups = _groups(_view(estimator, rows, found[0][4]), supports, chosen, k, float(np.std(inside)))
    shares = [float(chosen[:, group].any(axis=1).mean()) for group in groups]
    pairs = [(supports[i], supports[i + 1]) for i in range(0, len(supports) - 1, 2)]
    overlap = np.mean([len(np.intersect1d(a, b)) / max(len(a), len(b), 1) for a, b in pairs]) if pairs else np.nan
    spread = float(np.std(kept))
    return Stability(
        chosen.mean(axis=0), groups, np.array(shares), float(overlap), float(kept.mean()), spread, supports, names
    )


def _half(
    estimator: Any, rows: Rows, half: Indices, other: Indices
) -> tuple[Indices, float, float, int, float | Array]:
    """The features of one half, the shares they keep of the other half and of their own, components and noise."""
    model = clone(estimator)
    if "certify" in model.get_params(deep=False):
        model.set_params(certify=False)
    model.fit(rows.chosen(half))
    (loadings, decoder), used = model._linear, model.support_
    kept = []
    for part in (other, half):
        view = new_view(model, rows.chosen(part))
        left = residuals(view, view.columns(used) @ loadings.T, decoder)
        kept.append(share_kept(view, left, np.delete(np.arange(view.n_features), used)))
    return used, kept[0], kept[1], len(loadings), getattr(model, "noise_variance_", 0.0)


def _view(estimator: Any, rows: Rows, noise: float | Array) -> DataMatrix:
    """All samples, preprocessed as by the estimator."""
    preprocessing: Preprocessing = preprocessing_of(estimator)
    return as_view(rows, replace(preprocessing, noise_variance=noise if np.any(noise) else None))


def _groups(view: DataMatrix, supports: list[Indices], chosen: Any, k: int, spread: float) -> list[Indices]:
    """Groups of interchangeable features: each has those that can replace its most frequent one."""
    counts = chosen.sum(axis=0)
    candidates = np.argsort(-counts, kind="stable")[: SEARCH.grouped_features]
    known, total = view.cached(), view.total
    free, groups = [int(j) for j in candidates[counts[candidates] > 0]], []
    known.gram_columns(np.array(free))
    taken: set[int] = set()
    while free:
        leader, group = free.pop(0), []
        for j in [*free, *(j for j in _alike(known, leader) if j not in free and j not in taken)]:
            both, either = (chosen[:, leader] & chosen[:, j]).sum(), (chosen[:, leader] | chosen[:, j]).sum()
            rarely_both = both <= SEARCH.together_share * either
            if rarely_both and _swap(known, supports, int(leader), int(j), k, total) <= spread:
                group.append(j)
        taken |= {leader, *group}
        if group:
            groups.append(np.array([leader, *group], dtype=np.intp))
            free = [j for j in free if j not in group]
    return groups


def _alike(known: DataMatrix, leader: int) -> list[int]:
    """Features so correlated with another one that they can replace it although no half-sample chose them."""
    squares = known.gram_diagonal()
    shared = np.square(known.gram_columns(np.array([leader]))[:, 0]) / max(float(squares[leader]), np.finfo(float).tiny)
    shared = np.divide(shared, squares, out=np.zeros(len(squares)), where=squares > 0)
    shared[leader] = 0.0
    best = np.argsort(-shared, kind="stable")[: SEARCH.group_unchosen]
    return [int(j) for j in best[shared[best] > SEARCH.group_common]]


def _swap(known: DataMatrix, supports: list[Indices], i: int, j: int, k: int, total: float) -> float:
    """Change of the kept share if one feature replaces another, in the selections with one of them."""
    having = [support for support in supports if (i in support) != (j in support)][: SEARCH.grouped_swaps]
    changes = []
    for support in having:
        old, new = (i, j) if i in support else (j, i)
        swapped = np.sort(np.append(support[support != old], new))
        changes.append(abs(kept_by(known, support, k, total) - kept_by(known, swapped, k, total)))
    return float(np.mean(changes)) if changes else np.inf


def kept_by(known: DataMatrix, support: Indices, k: int, total: float) -> float:
    """Share of all variance that the best encoder on these features explains."""
    return 1.0 - encoder_on(Selection(support, known.gram_columns(support)), k, total).loss / total


def chosen_again(walk: PathSearch, longest: int, n_halves: int, budget: Budget) -> list[list[int]]:
    """For 1, 2, ... features up to ``longest``, how many half-samples choose each feature of the support again.

    Nothing, with a warning, where the time is over before the last half-sample.
    """
    view, rank, sizes = walk.view.signal, walk.spectrum.rank, min(longest, len(walk.supports))

    def supports(fold: Fold) -> list[Indices] | None:
        if budget.expired:
            return None
        half, _ = view.split(*map(np.sort, fold))
        if half.total <= 0:
            return []
        run = Run(np.random.default_rng(0), effort=QUICK)
        return improved_path(half, top_spectrum(half, rank, run.rng), sizes, run, rules=walk.rules).supports

    halves = random_halves(view.n_samples or 0, n_halves, np.random.default_rng(0))
    with fit_context(walk.view, rank):
        found = over_folds(supports, ((half,) for half in halves))
    paths = [path for path in found if path is not None]
    if len(paths) < len(found):
        message = "time_limit ended before it was known how often features are chosen again; a larger one tells."
        warnings.warn(message, errors.SparingWarning, stacklevel=4)
        return []
    return [
        [sum(j in path[place] for path in paths if place < len(path)) for j in walk.supports[place]]
        for place in range(sizes)
    ]
