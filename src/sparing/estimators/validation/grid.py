"""Cross-validation by paths: one nested path for each fold and noise gives every number of features and components."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing import errors
from sparing.estimators.validation.folds import Fold, over_folds, standard_error
from sparing.estimators.validation.held_out import held_out_shares, pca_shares
from sparing.estimators.validation.noise import Noise, mean_variance
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.eigen import with_uniform_noise
from sparing.methods.encoders.path import nested_order
from sparing.results import Array, Indices, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import SEARCH, Budget, Run

Judged = tuple[Array, Array, Array]
"""Shares that a fold keeps of unread and of all features, for each noise that was reached, and those that PCA keeps."""


@dataclass(frozen=True)
class NoiseLevel:
    """Noise on the readings: a multiple of the mean variance of the features, or a variance that is given."""

    multiple: float | None = None
    variance: Noise = None

    def of(self, view: DataMatrix) -> Noise:
        """Its variance for these data; None for no noise."""
        noise = self.variance if self.multiple is None else self.multiple * mean_variance(view)
        return None if noise is None or not np.any(noise) else noise


def noise_levels(noise: Noise | str) -> list[NoiseLevel]:
    """What is tried: the grid for "auto", else what was given."""
    if isinstance(noise, str):
        return [NoiseLevel(level) for level in SEARCH.noise_levels]
    return [NoiseLevel(variance=noise)]


@dataclass(frozen=True, eq=False)
class PathGrid:
    """What is kept of held-out samples, for every fold, noise, number of features and number of components.

    Attributes
    ----------
    unread, everything : ndarray of shape (n_folds, n_levels, R, K)
        Of features that are not read, and of all.
    pca : ndarray of shape (n_folds, K)
        By PCA, of all features.
    """

    unread: Array
    everything: Array
    pca: Array
    folds: list[Fold]
    levels: list[NoiseLevel]

    @property
    def mean(self) -> Array:
        """Means over the folds of what is kept of features that are not read, shape (n_levels, R, K)."""
        return np.asarray(self.unread.mean(axis=0))

    @property
    def error(self) -> Array:
        """Standard errors of these means."""
        return standard_error(self.unread, self.folds)


def path_grid(
    view: DataMatrix,
    folds: list[Fold],
    levels: list[NoiseLevel],
    n_components: int,
    n_features: int,
    run: Run,
    *,
    rules: Rules = NO_RULES,
    n_jobs: int | None = None,
) -> PathGrid:
    """Every fold selects one nested path for each noise, toward as many components as are asked for at most.

    When the time is over the first fold ends after the noise it is at, and other folds are left out unless they got as
    far.
    """
    seed, done = int(run.rng.integers(2**31)), []

    def judged(fold: Fold) -> Judged | None:
        if fold is not folds[0] and run.budget.expired:
            return None
        found = _fold(view, fold, levels, n_components, n_features, rules, seed, run.budget)
        done.append(1)
        run.budget.say(f"cross-validation: {len(done)} of {len(folds)} folds")
        return found

    return _complete(over_folds(judged, ((fold,) for fold in folds), n_jobs), folds, levels)


def _complete(found: list[Judged | None], folds: list[Fold], levels: list[NoiseLevel]) -> PathGrid:
    """The folds that know every noise that the first one knows; warns where that is not all of both."""
    reached = 0 if found[0] is None else len(found[0][0])
    pairs = zip(found, folds, strict=True)
    known = [(part, fold) for part, fold in pairs if part is not None and len(part[0]) >= reached]
    if reached < len(levels) or len(known) < len(folds):
        noises = f", each with {reached} of {len(levels)} levels of noise" if len(levels) > 1 else ""
        warnings.warn(
            f"time_limit ended cross-validation: {len(known)} of {len(folds)} folds are used{noises}. A larger "
            "time_limit, fewer folds or fewer numbers to try let it end.",
            errors.SparingWarning,
            stacklevel=5,
        )
    unread, everything = (np.array([part[which][:reached] for part, _ in known]) for which in (0, 1))
    pca = np.array([part[2] for part, _ in known])
    return PathGrid(unread, everything, pca, [fold for _, fold in known], levels[:reached])


def _fold(
    view: DataMatrix,
    fold: Fold,
    levels: Sequence[NoiseLevel],
    n_components: int,
    n_features: int,
    rules: Rules,
    seed: int,
    budget: Budget,
) -> Judged:
    train, test = view.split(*fold)
    shape = (len(levels), n_features, n_components)
    unread, everything = np.zeros(shape), np.zeros(shape)
    if train.total <= 0 or test.total <= 0:
        return unread, everything, np.zeros(n_components)
    spectrum = top_spectrum(train, n_components, np.random.default_rng(seed))
    known = train.cached()  # Gram columns are those of all noises, but for their diagonal
    for place, level in enumerate(levels):
        if place > 0 and budget.expired:
            return unread[:place], everything[:place], _pca(spectrum, test, n_components)
        noise = level.of(train)
        noisy = known if noise is None else known.noisy(noise)
        target = _target(noisy, spectrum, n_components, seed)
        order = nested_order(noisy, target, n_features, np.random.default_rng(seed), rules)
        if len(order) == 0:
            continue
        shares = held_out_shares(noisy, test, order, n_components)
        for out, part in ((unread, shares.unread), (everything, shares.everything)):
            out[place] = np.pad(part, ((0, n_features - len(part)), (0, 0)), mode="edge")
    return unread, everything, _pca(spectrum, test, n_components)


def _pca(spectrum: Spectrum, test: DataMatrix, n_components: int) -> Array:
    shares = pca_shares(spectrum.basis, test)
    return np.pad(shares, (0, n_components - len(shares)), mode="edge")


def _target(noisy: DataMatrix, spectrum: Spectrum, n_components: int, seed: int) -> Spectrum:
    """The components that features are chosen for: where noise is the same for all features, those without noise."""
    if noisy.noise is None:
        return spectrum
    if np.ptp(noisy.noise) == 0:
        return with_uniform_noise(spectrum, noisy)
    return top_spectrum(noisy, n_components, np.random.default_rng(seed))


def fewest_within_one_error(grid: PathGrid, sizes: Indices, ranks: Indices, rule: str) -> tuple[int, int, int]:
    """Places (noise, features, components) of the choice: the best, or the fewest features within one standard error.

    Components and noise are the best for that number of features: they cost nothing where the features are read
    anyway. Candidates are compared on the same folds, so that the plain standard error is already a cautious one.
    """
    mean = grid.mean[:, sizes - 1][:, :, ranks - 1]
    mean = np.where(ranks[None, None, :] <= sizes[None, :, None], mean, -np.inf)
    if not np.isfinite(mean).any():
        mean = grid.mean[:, sizes - 1][:, :, ranks - 1]  # fewer features than components, whatever is chosen
    best: Any = np.unravel_index(int(np.argmax(mean)), mean.shape)
    level, size, rank = (int(place) for place in best)
    if rule == "one_se":
        error = float(standard_error(grid.unread[:, level, sizes[size] - 1, ranks[rank] - 1]))
        floor = mean[level, size, rank] - (0.0 if np.isnan(error) else error)
        size = int(np.flatnonzero((mean >= floor).any(axis=(0, 2)))[0])
        level, rank = (int(place) for place in np.unravel_index(int(np.argmax(mean[:, size])), mean[:, size].shape))
    return level, size, rank
