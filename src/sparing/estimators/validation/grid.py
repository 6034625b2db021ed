"""Cross-validation by paths: one nested path per fold and noise level gives all numbers of features and components.

It chooses these numbers, and the noise on the readings.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing import errors
from sparing.estimators.validation.folds import (
    Fold,
    explained_by_pca,
    folds_of,
    held_out_shares,
    over_folds,
    standard_error,
)
from sparing.estimators.validation.noise import Noise, NoiseLevel, mean_variance, noise_levels
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.eigen import with_uniform_noise
from sparing.methods.encoders.path import nested_order
from sparing.results import Array, Enough, Indices, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH

Judged = tuple[Array, Array, Array, Array]
"""Shares that a fold keeps of unread and of all features, and PCA of the same unread ones, for each completed noise
level; and the shares that PCA keeps of all features."""


@dataclass(frozen=True, eq=False)
class PathGrid:
    """Shares kept of held-out samples, for every fold, noise, number of features and number of components.

    Attributes
    ----------
    unread, everything : ndarray of shape (n_folds, n_levels, R, K)
        Shares of features that are not read, and of all features.
    pca_unread : ndarray of shape (n_folds, n_levels, R, K)
        Shares of the same unread features by PCA, which reads them.
    pca : ndarray of shape (n_folds, K)
        Shares of all features by PCA.
    """

    unread: Array
    everything: Array
    pca_unread: Array
    pca: Array
    folds: list[Fold]
    levels: list[NoiseLevel]

    @property
    def mean(self) -> Array:
        """Mean shares of unread features over the folds, shape (n_levels, R, K)."""
        return np.asarray(self.unread.mean(axis=0))

    @property
    def error(self) -> Array:
        """Standard errors of these means."""
        return standard_error(self.unread, self.folds)

    def curve(self, level: int, rank: int) -> tuple[Array, Array, Array]:
        """For each number of features: the mean share of unread features, its standard error, and PCA's share."""
        return self.mean[level, :, rank], self.error[level, :, rank], self.pca_unread[:, level, :, rank].mean(axis=0)


def path_grid(
    view: DataMatrix,
    folds: list[Fold],
    levels: list[NoiseLevel],
    n_components: int,
    n_features: int,
    run: Run,
    *,
    rules: Rules = NO_RULES,
    enough: Enough | None = None,
    n_jobs: int | None = None,
    advice: str = "use fewer folds or fewer numbers to try",
) -> PathGrid:
    """Every fold selects one nested path for each noise level, for the largest number of components.

    A path ends where the features are enough. What to do about too little time is the advice of the warning.

    When the time is over the first fold ends after the noise it is at, and other folds are left out unless they got as
    far.
    """
    seed, done = int(run.rng.integers(2**31)), []

    def judged(fold: Fold) -> Judged | None:
        if fold is not folds[0] and run.budget.expired:
            return None
        found = _fold(view, fold, levels, n_components, n_features, rules, enough, seed, run.budget)
        done.append(1)
        run.budget.say(f"cross-validation: {len(done)} of {len(folds)} folds")
        return found

    return _complete(over_folds(judged, ((fold,) for fold in folds), n_jobs), folds, levels, advice)


def _complete(found: list[Judged | None], folds: list[Fold], levels: list[NoiseLevel], advice: str) -> PathGrid:
    """The folds with all noise levels of the first one; warns if folds or levels are missing."""
    reached = 0 if found[0] is None else len(found[0][0])
    pairs = zip(found, folds, strict=True)
    known = [(part, fold) for part, fold in pairs if part is not None and len(part[0]) >= reached]
    if reached < len(levels) or len(known) < len(folds):
        noises = f", each with {reached} of {len(levels)} levels of noise" if len(levels) > 1 else ""
        warnings.warn(
            f"time_limit ended cross-validation: {len(known)} of {len(folds)} folds are used{noises}. Increase "
            f"time_limit, or {advice}.",
            errors.SparingWarning,
            stacklevel=5,
        )
    unread, everything, pca_unread = (np.array([part[which][:reached] for part, _ in known]) for which in (0, 1, 2))
    pca = np.array([part[3] for part, _ in known])
    return PathGrid(unread, everything, pca_unread, pca, [fold for _, fold in known], levels[:reached])


def _fold(
    view: DataMatrix,
    fold: Fold,
    levels: Sequence[NoiseLevel],
    n_components: int,
    n_features: int,
    rules: Rules,
    enough: Enough | None,
    seed: int,
    budget: Budget,
) -> Judged:
    train, test = view.split(*fold)
    shape = (len(levels), n_features, n_components)
    found = np.zeros((3, *shape))
    if train.total <= 0 or test.total <= 0:
        return *found, np.zeros(n_components)
    spectrum = top_spectrum(train, n_components, np.random.default_rng(seed))
    by_pca = explained_by_pca(spectrum.basis, test, n_components)
    pca = by_pca.sum(axis=0) / max(float(test.total), np.finfo(float).tiny)
    known = train.cached()  # Gram columns are the same for all noise levels, except the diagonal
    for place, level in enumerate(levels):
        if place > 0 and budget.expired:
            return *found[:, :place], pca
        noise = level.of(train)
        noisy = known if noise is None else known.noisy(noise)
        target = _target(noisy, spectrum, n_components, seed)
        most_loss = None if enough is None else enough.loss(target)
        order = nested_order(noisy, target, n_features, np.random.default_rng(seed), rules, most_loss)
        if len(order) == 0:
            continue
        shares = held_out_shares(noisy, test, order, n_components, by_pca)
        parts = np.stack([shares.unread, shares.everything, shares.by_pca])
        found[:, place] = np.pad(parts, ((0, 0), (0, n_features - parts.shape[1]), (0, 0)), mode="edge")
    return *found, pca


def _target(noisy: DataMatrix, spectrum: Spectrum, n_components: int, seed: int) -> Spectrum:
    """The target components: those without noise if the noise is the same for all features."""
    if noisy.noise is None:
        return spectrum
    if np.ptp(noisy.noise) == 0:
        return with_uniform_noise(spectrum, noisy)
    return top_spectrum(noisy, n_components, np.random.default_rng(seed))


def fewest_within_one_error(grid: PathGrid, sizes: Indices, ranks: Indices, rule: str) -> tuple[int, int, int]:
    """Indices (noise, features, components) of the choice: the best, or the fewest features within one standard error.

    Components and noise are the best for that number of features: they cost nothing once the features are read.
    Candidates are compared on the same folds, so that the plain standard error is already a cautious one.
    """
    mean = grid.mean[:, sizes - 1][:, :, ranks - 1]
    mean = np.where(ranks[None, None, :] <= sizes[None, :, None], mean, -np.inf)
    if not np.isfinite(mean).any():
        mean = grid.mean[:, sizes - 1][:, :, ranks - 1]  # only fewer features than components
    best: Any = np.unravel_index(int(np.argmax(mean)), mean.shape)
    level, size, rank = (int(place) for place in best)
    if rule == "one_se":
        error = float(standard_error(grid.unread[:, level, sizes[size] - 1, ranks[rank] - 1]))
        floor = mean[level, size, rank] - (0.0 if np.isnan(error) else error)
        size = int(np.flatnonzero((mean >= floor).any(axis=(0, 2)))[0])
        level, rank = (int(place) for place in np.unravel_index(int(np.argmax(mean[:, size])), mean[:, size].shape))
    return level, size, rank


@dataclass(frozen=True)
class Ask:
    """The sizes for which noise is chosen: numbers of components and features, or the fewest features that are
    enough."""

    n_components: int
    n_nonzero: int | None
    enough: Enough | None = None
    rules: Rules = NO_RULES
    along: bool = False  # for all numbers of features up to this one


def noise_on(view: DataMatrix, noise: Noise | str, ask: Ask, run: Run) -> tuple[DataMatrix, Noise]:
    """The view with the requested noise on its readings, and the noise; None without noise."""
    if isinstance(noise, str):
        noise = _chosen_noise(view, ask, run.share(1 / 2))
    return (view, None) if noise is None or not np.any(noise) else (view.noisy(noise), noise)


def _chosen_noise(view: DataMatrix, ask: Ask, run: Run) -> float:
    """The level of noise that keeps most of the unread features of new samples."""
    if not view.has_rows:
        raise ValueError(
            "noise_variance='auto' needs samples, but a covariance has none. Pass the samples themselves, "
            "or a number: the variance of the noise in the units of the covariance."
        )
    n, k = view.n_samples or 0, ask.n_components
    folds = folds_of(min(SEARCH.noise_folds, n), n, random_state=int(run.rng.integers(2**31)))
    longest = ask.n_nonzero
    if longest is None:
        longest = min(ask.rules.most_features(view.n_features), *(len(train) for train, _ in folds))
    levels, advice = noise_levels("auto"), "set noise_variance to a number"
    grid = path_grid(view, folds, levels, k, longest, run, rules=ask.rules, enough=ask.enough, advice=advice)
    kept = grid.mean[:, :, k - 1]
    best = grid.levels[int(np.argmax(kept.mean(axis=1) if ask.along else kept[:, -1]))].multiple or 0.0
    run.budget.say(f"noise of {best:g} mean variances keeps most of new samples")
    return best * mean_variance(view)
