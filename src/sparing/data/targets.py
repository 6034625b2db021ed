"""The targets of a regression, checked and scaled to a common unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.ingest import checked_weights
from sparing.data.standardized import ROUNDED
from sparing.gram import DataMatrix
from sparing.results import Array

TARGET_SIZES = (1e-150, 1e150)
"""Range of targets whose squares neither overflow nor vanish."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets Y of a regression: n x w, centred or not, in a unit in which the largest is near 1.

    The user's y is values * unit + mean; ``is_vector`` tells that y was a vector. With sample weights w, rows are
    multiplied by ``roots`` = sqrt(w), like those of X, so that squared residuals are weighted.
    """

    values: Array
    mean: Array
    unit: float
    is_vector: bool
    roots: Array | None = None

    @classmethod
    def of(
        cls, y: Any, n_samples: int, *, center: bool, sample_weight: Any = None, who: str = "A regression"
    ) -> Targets:
        """Check y, of any type, against the number of rows of X."""
        Y = _numbers_in(y, who)
        is_vector = Y.ndim == 1
        if Y.ndim not in (1, 2) or (Y.ndim == 2 and Y.shape[1] == 0):
            raise errors.targets_wrong_shape(Y.shape)
        if len(Y) != n_samples:
            raise ValueError(
                f"y has {len(Y)} row(s), but X has {n_samples}: inconsistent numbers of samples. Pass one target per "
                "row of X, in the same order."
            )
        if not np.isfinite(Y).all():
            place = np.argwhere(~np.isfinite(Y))[0]
            name = errors.nan_or_infinity(Y[tuple(place)])
            where = f"row {place[0]}" if is_vector else f"row {place[0]}, target {place[1]}"
            raise ValueError(
                f"Input y contains {name} (first at {where}). Nothing can be fitted to it: drop those rows of X and y."
            )
        Y = Y.reshape(n_samples, -1)
        size = float(np.abs(Y).max())
        if size != 0 and not TARGET_SIZES[0] < size < TARGET_SIZES[1]:
            raise ValueError(
                f"y holds values of size {size:.3g}; sums of their squares leave the range of double precision, which "
                "covers values between about 1e-150 and 1e+150. Change the unit of y (multiply it by a constant)."
            )
        weights = None if sample_weight is None else checked_weights(sample_weight, n_samples)
        mean, roots = np.zeros(Y.shape[1]), None if weights is None else np.sqrt(weights)
        if center:
            mean = np.average(Y, axis=0, weights=weights)
            mean = mean + np.average(Y - mean, axis=0, weights=weights)  # the first mean of large numbers loses digits
            Y = Y - mean
            Y[:, np.abs(Y).max(axis=0) <= ROUNDED * np.abs(mean)] = 0.0
        Y = Y if roots is None else Y * roots[:, None]
        size = float(np.abs(Y).max())
        unit = 1.0 if size == 0 else float(2.0 ** np.round(np.log2(size)))
        return cls(Y / unit, mean, unit, is_vector, roots)

    def centred(self, scores: Array) -> Array:
        """Scores of the same rows without the part that an intercept explains."""
        ones = np.ones(len(scores)) if self.roots is None else self.roots
        return scores - np.multiply.outer(ones, ones @ scores) / (ones @ ones)

    def beside(self, view: DataMatrix) -> Array:
        """The values, followed by zeros for the noise rows of a view."""
        return np.pad(self.values, ((0, (view.n_samples or 0) - len(self.values)), (0, 0)))

    @property
    def norm(self) -> float:
        """||Y||_F in the user's unit."""
        return float(np.linalg.norm(self.values)) * self.unit


def _numbers_in(y: Any, who: str) -> Array:
    """y as float64; an error if it is not an array of real numbers."""
    if y is None:
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None. Pass one number per row of X, or a table with "
            "one column per target."
        )
    if hasattr(y, "tocsr"):
        raise TypeError("y is a sparse matrix; targets are needed as dense numbers. Pass y.toarray().")
    try:
        array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError as ragged:
        raise _not_numeric_error("list of unequal lengths") from ragged
    if isinstance(y, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(y), np.nan, array)
    if array.dtype == object:
        flat = [np.nan if value is None or type(value).__name__ == "NAType" else value for value in array.flat]
        strange = next((v for v in flat if isinstance(v, (str, bytes, complex)) or not hasattr(v, "__float__")), None)
        if strange is not None:
            raise _not_numeric_error(type(strange).__name__)
        array = np.array([float(value) for value in flat]).reshape(array.shape)
    if array.dtype.kind not in "fiub":
        raise _not_numeric_error(array.dtype)
    return array.astype(np.float64)


def _not_numeric_error(kind: object) -> errors.NotNumericError:
    """The error for strings, dates, complex numbers or nested lists among the targets."""
    return errors.NotNumericError(
        f"y holds values of type {kind}; a regression needs real numbers. Convert with y.astype(float), or encode "
        "classes as numbers (sklearn.preprocessing.LabelBinarizer) to regress on them."
    )
