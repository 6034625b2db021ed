"""Noise on the readings: check of the user's value, and its choice by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from sparing import errors
from sparing.estimators.feature_rules import values_by_feature
from sparing.estimators.parameters import is_number
from sparing.estimators.validation.folds import held_out_shares
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders.path import nested_order
from sparing.results import Array, Enough
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search_limits import SEARCH

Noise = float | Array | None


def checked_noise(value: Any, names: Sequence[str]) -> Noise | str:
    """Check a user's value: None, "auto", one variance, or one for each feature."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    if isinstance(value, str):
        raise ValueError(f"noise_variance={value!r} was passed; {_ALLOWED}")
    if is_number(value):
        if value < 0:
            raise ValueError(f"noise_variance={value!r} is negative, but a variance cannot be; {_ALLOWED}")
        return float(value)
    if isinstance(value, float | np.floating):
        raise ValueError(f"noise_variance={value!r} is not finite; {_ALLOWED}")
    variances = values_by_feature("noise_variance", value, names, "0 for one that is measured without noise")
    return variances if (variances > 0).any() else 0.0


_ALLOWED = (
    "a number of at least 0 is needed, in squared units of X (after scaling), one such number for each feature, 'auto' "
    "to choose it by cross-validation, or None for no noise."
)


def mean_variance(view: DataMatrix) -> float:
    """The mean variance of the features, in the user's units after scaling."""
    n = view.n_samples if view.total_weight is None else view.total_weight
    return view.total * view.square_unit / ((n or 1) * view.n_features)


@dataclass(frozen=True)
class Ask:
    """The sizes for which noise is chosen: numbers of components and features, or the fewest features that are
    enough."""

    n_components: int
    n_nonzero: int | None
    enough: Enough | None = None
    rules: Rules = NO_RULES
    along: bool = False  # for all numbers of features up to this one


def with_noise(view: DataMatrix, level: float) -> DataMatrix:
    """A view with noise of this multiple of its mean variance on every reading."""
    return view.noisy(level * mean_variance(view)) if level > 0 else view


def chosen_noise(view: DataMatrix, ask: Ask, run: Run) -> float:
    """The multiple of the mean variance, of a grid, that keeps most of the unread features."""
    if not view.has_rows:
        raise ValueError(
            "noise_variance='auto' needs samples, but a covariance has none. Pass the samples themselves, "
            "or a number: the variance of the noise in the units of the covariance."
        )
    n = view.n_samples or 0
    levels = SEARCH.noise_levels
    folds = KFold(min(SEARCH.noise_folds, n), shuffle=True, random_state=int(run.rng.integers(2**31)))
    kept: list[list[float]] = []
    for train, test in folds.split(np.zeros(n)):
        fitted, new = view.split(train, test)
        shares: list[float] = []
        for level in levels:
            if (kept or shares) and run.budget.expired:
                break
            shares.append(_kept(with_noise(fitted, level), new, ask, run) if fitted.total > 0 else 0.0)
        if kept and len(shares) < len(kept[0]):
            break  # time is up: completed folds decide
        kept.append(shares)
        run.budget.say(f"noise: fold {len(kept)} of {folds.n_splits}")
    if len(kept) * len(kept[0]) < folds.n_splits * len(levels):
        message = (
            f"time_limit ended the choice of noise_variance after {len(kept)} of {folds.n_splits} folds and "
            f"{len(kept[0])} of {len(levels)} levels. Increase time_limit, or set noise_variance to a number."
        )
        warnings.warn(message, errors.SparingWarning, stacklevel=2)
    best = int(np.argmax(np.mean(kept, axis=0)))
    run.budget.say(f"noise of {levels[best]:g} mean variances keeps most of new samples")
    return levels[best] * mean_variance(view)


def _kept(train: DataMatrix, test: DataMatrix, ask: Ask, run: Run) -> float:
    """The share of unread features that the requested number of features keeps."""
    spectrum = top_spectrum(train, ask.n_components, run.rng)
    limit = min(ask.rules.most_features(train.n_features), train.signal.n_samples or train.n_features)
    longest = limit if ask.n_nonzero is None else ask.n_nonzero
    most_loss = None if ask.enough is None else ask.enough.loss(spectrum)
    order = nested_order(train, spectrum, longest, run.rng, ask.rules, most_loss)
    if len(order) == 0:
        return 0.0
    unread = held_out_shares(train, test, order, spectrum.rank).unread[:, -1]
    return float(unread.mean() if ask.along else unread[-1])


def noise_on(view: DataMatrix, noise: Noise | str, ask: Ask, run: Run) -> tuple[DataMatrix, Noise]:
    """The view with the requested noise on its readings, and the noise; None without noise."""
    if isinstance(noise, str):
        noise = chosen_noise(view, ask, run.share(1 / 2))
    return (view, None) if noise is None or not np.any(noise) else (view.noisy(noise), noise)
