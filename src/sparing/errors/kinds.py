"""Kinds of errors and warnings that callers may want to tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class NeedsRowsError(ValueError):
    """An algorithm was asked to work on the rows of X, but only a covariance is known."""


class NotNumericError(TypeError, ValueError):
    """Values that are no real numbers; both a type and a value are wrong, and callers catch either."""


class NotFiniteError(ValueError):
    """NaN or infinity at a known place, so that callers who know the features' names can say which it is."""

    def __init__(self, value: float, row: int, column: object) -> None:
        self.value, self.row, self.column = value, row, column
        name = "NaN" if value != value else "infinity"
        super().__init__(
            f"Input X contains {name} (first at row {row}, feature {column!r}). No principal component is defined for "
            f"data with NaN or inf: drop those rows, or impute them with sklearn.impute.SimpleImputer first"
            + (' (missing="mean", where there is such a parameter, does so on the fly).' if value != value else ".")
        )

    def named(self, names: Sequence[object]) -> NotFiniteError:
        """The same, with the feature's name in place of its index."""
        if isinstance(self.column, int) and self.column < len(names):
            return NotFiniteError(self.value, self.row, str(names[self.column]))
        return self


class ShapeError(ValueError):
    """A table of another number of dimensions than two, so that callers who know what it holds can say what to do."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        super().__init__(
            f"X has shape {shape}; two dimensions are needed, one row per sample and one column per feature. Reshape "
            f"your data: X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single sample."
        )


class SparingWarning(UserWarning):
    """The answer is valid, but not quite what was asked for."""


def listed(items: Iterable[object], most: int = 5) -> str:
    """The first few items, in words."""
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
