"""Noise on the readings: the user's value, and the levels that are tried for "auto"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing.estimators.feature_rules import values_by_feature
from sparing.estimators.parameters import is_number
from sparing.gram import DataMatrix
from sparing.results import Array
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
class NoiseLevel:
    """Noise on the readings: a multiple of the mean variance of the features, or a given variance."""

    multiple: float | None = None
    variance: Noise = None

    def of(self, view: DataMatrix) -> Noise:
        """The variance for these data; None for no noise."""
        noise = self.variance if self.multiple is None else self.multiple * mean_variance(view)
        return None if noise is None or not np.any(noise) else noise


def noise_levels(noise: Noise | str) -> list[NoiseLevel]:
    """The levels to try: the grid for "auto", otherwise the given one."""
    if isinstance(noise, str):
        return [NoiseLevel(level) for level in SEARCH.noise_levels]
    return [NoiseLevel(variance=noise)]
