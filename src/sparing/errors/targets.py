"""What can be wrong with the targets of a regression."""

from __future__ import annotations

from collections.abc import Iterable

from sparing.errors.kinds import NotNumericError


def targets_missing(who: str) -> ValueError:
    """A regression without y (scikit-learn's own wording first)."""
    return ValueError(
        f"{who} requires y to be passed, but the target y is None. Pass one number per row of X, or a table with one "
        f"column per target."
    )


def targets_not_numeric(kind: object) -> NotNumericError:
    """Strings, dates, complex numbers or nested lists among the targets."""
    return NotNumericError(
        f"y holds values of type {kind}; a regression needs real numbers. Convert with y.astype(float), or encode "
        f"classes as numbers (sklearn.preprocessing.LabelBinarizer) to regress on them."
    )


def targets_wrong_shape(shape: tuple[int, ...]) -> ValueError:
    """y is a single number, has more than two axes or no column."""
    return ValueError(
        f"y has shape {shape}; one number per row of X is needed, shape (n_samples,), or one column per target, shape "
        f"(n_samples, n_targets). Reshape y; y.reshape(len(y), -1) makes a table of anything."
    )


def targets_wrong_length(got: int, expected: int) -> ValueError:
    """X and y disagree about the number of samples."""
    return ValueError(
        f"y has {got} row(s), but X has {expected}: inconsistent numbers of samples. Pass one target per row of X, in "
        f"the same order."
    )


def targets_not_finite(value: float, row: int, column: int | None) -> ValueError:
    """NaN or infinity among the targets."""
    name = "NaN" if value != value else "infinity"
    where = f"row {row}" if column is None else f"row {row}, target {column}"
    return ValueError(
        f"Input y contains {name} (first at {where}). Nothing can be fitted to it: drop those rows of X and y."
    )


def targets_out_of_scale(size: float) -> ValueError:
    """Squares of the targets would leave the range of double precision."""
    return ValueError(
        f"y holds values of size {size:.3g}; sums of their squares leave the range of double precision, which covers "
        f"values between about 1e-150 and 1e+150. Change the unit of y (multiply it by a constant)."
    )


def sparse_targets() -> TypeError:
    """y in sparse storage."""
    return TypeError("y is a sparse matrix; targets are needed as dense numbers. Pass y.toarray().")


def needs_targets(what: str) -> ValueError:
    """A target-aware selector where there is no y."""
    return ValueError(
        f"{what} chooses features for given targets y, but this model has none. Use it in SparsePCARegressor, or "
        f"choose features for X itself: selector='greedy'."
    )


def only_constant_features(n_nonzero: int) -> ValueError:
    """Features chosen without centring that an intercept makes useless."""
    return ValueError(
        f"With center=False the n_nonzero={n_nonzero} feature(s) chosen are constant, which an intercept explains "
        f"already. Pass center=True, fit_intercept=False, or a larger n_nonzero."
    )


def n_nonzero_exceeds_features(n_nonzero: int, n_features: int) -> ValueError:
    """More features wanted for a regression than there are."""
    return ValueError(
        f"n_nonzero={n_nonzero} is outside [1, {n_features}]: X has n_features={n_features}. Pass an integer between 1 "
        f"and {n_features}."
    )


def defaults_exceed_features(defaults: Iterable[str], n_features: int) -> str:
    """Default counts that X is too narrow for (a warning)."""
    return (
        f"The default {' and '.join(defaults)} exceed(s) the {n_features} feature(s) of X: as many as there are "
        f"are used. Pass smaller numbers to choose among them."
    )
