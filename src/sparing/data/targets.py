"""The targets of a regression, checked and brought to a common unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing import errors
from sparing.results import Array

ACCEPTED = (1e-150, 1e150)
"""Sizes of targets whose squares are ordinary numbers."""

CONSTANT = 32 * float(np.finfo(float).eps)
"""Targets that deviate from their mean by less than this share of it are constant."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets Y as a regression sees them: n x w, centred or not, in a unit where their largest is near 1.

    In the user's terms y = values * unit + mean; ``is_vector`` says that y came as a vector.
    """

    values: Array
    mean: Array
    unit: float
    is_vector: bool

    @classmethod
    def of(cls, y: Any, n_samples: int, *, center: bool, who: str = "A regression") -> Targets:
        """Check y, in whatever it came, against the number of rows of X."""
        Y = _numbers_in(y, who)
        is_vector = Y.ndim == 1
        if Y.ndim not in (1, 2) or (Y.ndim == 2 and Y.shape[1] == 0):
            raise errors.targets_wrong_shape(Y.shape)
        if len(Y) != n_samples:
            raise errors.targets_wrong_length(len(Y), n_samples)
        if not np.isfinite(Y).all():
            place = np.argwhere(~np.isfinite(Y))[0]
            raise errors.targets_not_finite(float(Y[tuple(place)]), int(place[0]), None if is_vector else int(place[1]))
        Y = Y.reshape(n_samples, -1)
        size = float(np.abs(Y).max())
        if size != 0 and not ACCEPTED[0] < size < ACCEPTED[1]:
            raise errors.targets_out_of_scale(size)
        mean = np.zeros(Y.shape[1])
        if center:
            mean = Y.mean(axis=0)
            mean = mean + (Y - mean).mean(axis=0)  # sums of large numbers lose digits
            Y = Y - mean
            Y[:, np.abs(Y).max(axis=0) <= CONSTANT * np.abs(mean)] = 0.0
        size = float(np.abs(Y).max())
        unit = 1.0 if size == 0 else float(2.0 ** np.round(np.log2(size)))
        return cls(Y / unit, mean, unit, is_vector)

    @property
    def norm(self) -> float:
        """||Y||_F in the user's unit."""
        return float(np.linalg.norm(self.values)) * self.unit


def _numbers_in(y: Any, who: str) -> Array:
    """y as float64, with a sentence for what is no array of real numbers."""
    if y is None:
        raise errors.targets_missing(who)
    if hasattr(y, "tocsr"):
        raise errors.sparse_targets()
    try:
        array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError as ragged:
        raise errors.targets_not_numeric("list of unequal lengths") from ragged
    if isinstance(y, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(y), np.nan, array)
    if array.dtype == object:
        flat = [np.nan if value is None or type(value).__name__ == "NAType" else value for value in array.flat]
        strange = next((v for v in flat if isinstance(v, (str, bytes, complex)) or not hasattr(v, "__float__")), None)
        if strange is not None:
            raise errors.targets_not_numeric(type(strange).__name__)
        array = np.array([float(value) for value in flat]).reshape(array.shape)
    if array.dtype.kind not in "fiub":
        raise errors.targets_not_numeric(array.dtype)
    return array.astype(np.float64)
