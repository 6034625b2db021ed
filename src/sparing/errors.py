"""Exceptions and warnings, and messages that several checks share; other messages are at their check.

A message says what was passed, what is allowed and why, and what to do next. Functions here build an exception or a
text, and the caller raises it, so that a traceback ends at the mistake.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence


class NeedsRowsError(ValueError):
    """An algorithm needs the rows of X, but only a covariance is known."""


class NotNumericError(TypeError, ValueError):
    """Values that are not real numbers; both a TypeError and a ValueError, so that callers can catch either."""


class NotFiniteError(ValueError):
    """NaN or infinity at a known position, so that callers who know feature names can name it."""

    def __init__(self, value: float, row: int, column: object) -> None:
        self.value, self.row, self.column = value, row, column
        instead = (
            "impute them (sklearn.impute.SimpleImputer), or pass missing='mean' where the estimator has it"
            if value != value
            else "replace infinity by a finite number"
        )
        super().__init__(
            f"Input X contains {nan_or_infinity(value)} (first at row {row}, feature {column!r}); principal components "
            f"need finite numbers. Drop those rows, or {instead}."
        )

    def named(self, names: Sequence[object]) -> NotFiniteError:
        """The same error with the feature's name instead of its index."""
        if isinstance(self.column, int) and self.column < len(names):
            return NotFiniteError(self.value, self.row, str(names[self.column]))
        return self


class ShapeError(ValueError):
    """A table that is not two-dimensional, so that callers who know its contents can suggest what to do."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        super().__init__(
            f"X has shape {shape}; two dimensions are needed, one row per sample and one column per feature. Reshape "
            "your data: X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single sample."
        )


class UnreadableError(ValueError):
    """A file without a readable table of numbers."""


class UnwritableError(OSError):
    """A file that cannot be written."""


class ModelFileError(ValueError):
    """A file without a loadable model."""


class CheckpointError(ValueError):
    """A checkpoint that is damaged, belongs to another fit or cannot be written."""


class SparingWarning(UserWarning):
    """The answer is valid, but differs from the request."""


# --- words ---


LONGEST_QUOTE = 80
"""Maximum number of characters of a name or cell in a message."""


def quoted(item: object) -> str:
    """A name or cell for a message, abbreviated in the middle if it is long."""
    shown = repr(item)
    if len(shown) <= LONGEST_QUOTE:
        return shown
    half = LONGEST_QUOTE // 2
    return f"{shown[:half]}...{shown[-half:]}"


def listed(items: Iterable[object], most: int = 5) -> str:
    """The first few items, in words."""
    shown = [quoted(item) for item in items]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def nan_or_infinity(value: float) -> str:
    """The name of a number that is not finite."""
    return "NaN" if value != value else "infinity"


def system_says(refused: OSError) -> str:
    """The reason given by the system, for use within a sentence."""
    return (refused.strerror or str(refused)).lower()


# --- parameters ---


def not_an_integer(name: str, value: object) -> TypeError:
    """The error for a count that is not an integer."""
    return TypeError(f"{name}={value!r} is a {type(value).__name__}. Pass an integer of at least 1.")


def not_positive(name: str, value: object) -> ValueError:
    """The error for a count below one."""
    return ValueError(f"{name}={value!r} must be at least 1. Pass a positive integer.")


def not_a_flag(name: str, value: object) -> TypeError:
    """The error for a flag that is neither True nor False."""
    return TypeError(f"{name}={value!r} must be True or False, not a {type(value).__name__}.")


def not_a_positive_number(name: str, value: object) -> ValueError:
    """The error for a value that is not a positive number."""
    return ValueError(f"{name}={value!r} must be a positive number. Pass one above 0.")


def not_a_nonnegative_number(name: str, value: object) -> ValueError:
    """The error for a value that is not a nonnegative number."""
    return ValueError(f"{name}={value!r} must be a number of at least 0.")


def not_a_share(name: str, value: object, example: str, *, below_one: bool = False) -> ValueError:
    """The error for a value that is not a share between 0 and 1."""
    limit = "below 1" if below_one else "at most 1"
    return ValueError(f"{name}={value!r} must be a number above 0 and {limit}. {example}")


def unknown_choice(parameter: str, value: object, allowed: Iterable[object]) -> ValueError:
    """The error for an unknown name."""
    names = listed(sorted(map(str, allowed)), 20)
    if isinstance(value, type):
        own = value.__name__
        return ValueError(
            f"{parameter}={own} is not known: it is a class. Pass an instance, {own}(), or one of {names}."
        )
    return ValueError(f"{parameter}={value!r} is not known. Choose one of {names}.")


def more_than_there_are(name: str, value: int, limit: int, things: str) -> ValueError:
    """The error for more features or samples than X has."""
    return ValueError(
        f"{name}={value} is outside [1, {limit}]: X has {limit} {things}. Pass an integer between 1 and {limit}."
    )


def n_components_too_large(n_components: int, n_features: int) -> ValueError:
    """The error for more components than features."""
    most = "n_components=1" if n_features == 1 else f"n_components between 1 and {n_features}"
    return ValueError(
        f"n_components={n_components}, but X has n_features={n_features}: there cannot be more components than "
        f"features. Pass {most}."
    )


def constraint_decides(constraint: str, deflation: object) -> ValueError:
    """The error for both a constraint and a deflation."""
    return ValueError(
        f"constraint={constraint!r} and deflation={deflation!r} were both given, but a constraint determines the "
        "deflation. Leave deflation='auto'; for components one after the other pass deflation=OrthogonalConstraint() "
        "or UncorrelatedConstraint() from sparing.methods.deflation instead."
    )


def bad_n_clusters(value: object, n_samples: int) -> ValueError:
    """The error for an impossible number of clusters."""
    return ValueError(
        f"n_clusters={value!r}, but X has {n_samples} samples. Pass an integer between 1 and {n_samples}."
    )


def bad_own_dissimilarity(what: str) -> ValueError:
    """The error for a user's function that is not a dissimilarity."""
    return ValueError(
        f"The function passed as difference returned {what}. f(a, b) gets two arrays of values of a feature that "
        "broadcast against each other, and must return finite numbers >= 0 in their broadcast shape, with "
        "f(a, b) = f(b, a); for example lambda a, b: np.abs(a - b) ** 0.5."
    )


# --- data ---


def lazy_table(X: object) -> TypeError:
    """The error for a lazy table."""
    return TypeError(
        f"X is a {type(X).__name__}, which holds no values yet. Call X.collect() first and pass the result."
    )


def out_of_scale(size: float) -> ValueError:
    """The error for values whose squares leave the range of double precision."""
    return ValueError(
        f"X holds values of size {size:.3g}; sums of their squares leave the range of double precision, which covers "
        "values between about 1e-150 and 1e+150. Change the unit of the data (multiply it by a constant)."
    )


def no_variance(centred: bool) -> ValueError:
    """The error for data without variance."""
    what = "every feature is constant" if centred else "every value is zero"
    return ValueError(
        f"X has no variance: {what}, so there is no component to find. "
        f"Check that the right rows and columns were passed{'' if centred else ', or use center=True'}."
    )


def wrong_n_features(got: int, expected: int, who: str) -> ValueError:
    """The error for new data with another number of features than at fit (in scikit-learn's wording)."""
    return ValueError(
        f"X has {got} features, but {who} is expecting {expected} features as input. "
        "Pass the same columns, in the same order, as at fit."
    )


def needs_rows(what: str, d: int) -> NeedsRowsError:
    """The error for a view without rows."""
    return NeedsRowsError(
        f"{what} works on the rows of X, but only a {d} x {d} covariance is known. Fit on X itself (precomputed=False)."
    )


def gram_too_large(d: int, limit: int) -> ValueError:
    """The error for a d x d matrix with large d."""
    return ValueError(
        f"A {d} x {d} matrix was requested, but more than {limit} features would not fit in memory. Use a method that "
        "works with columns and products instead."
    )


def targets_wrong_shape(shape: tuple[int, ...]) -> ValueError:
    """The error for y that is a single number, has more than two axes or no column."""
    return ValueError(
        f"y has shape {shape}; one number per row of X is needed, shape (n_samples,), or one column per target, shape "
        "(n_samples, n_targets). Reshape y; y.reshape(len(y), -1) has two dimensions for any y."
    )


# --- files ---


def unreadable(path: object, why: str) -> UnreadableError:
    """The general error for a file: which one, what is wrong with it, what to do."""
    return UnreadableError(f"Cannot read {str(path)!r}: {why}.")


def no_such_file(path: object) -> FileNotFoundError:
    """The error for a missing file."""
    return FileNotFoundError(f"Cannot read {str(path)!r}: there is no such file. Check the path and the spelling.")


def broken_file(path: object, what: str, said: str) -> UnreadableError:
    """The error for a file that is damaged, truncated or of another format than its name says."""
    detail = f" ({said})" if said else ""
    return unreadable(
        path, f"it is damaged, truncated or not {what}{detail}. Write or copy it again, or correct its extension"
    )


def beyond_memory(path: object) -> UnreadableError:
    """The error for a table that does not fit into memory, or claims a wrong size."""
    return unreadable(
        path,
        "its declared size does not fit in memory. If that size is right, write it in a format that is read in blocks "
        "(.npy, .h5, .zarr, .parquet) and choose a smaller block_bytes; otherwise it is damaged: write it again",
    )


def no_part(path: object, key: str, found: Sequence[str]) -> UnreadableError:
    """The error for a key that is not in the file."""
    if not found:
        return unreadable(path, f"it has no table {key!r} and no other table. Write one, with a row per sample")
    return unreadable(path, f"it has no table {key!r}; it holds {listed(found)}. Pass one of these as key")


def which_part(path: object, found: Sequence[str]) -> UnreadableError:
    """The error for no table, or for several without a key."""
    if not found:
        return unreadable(path, "it holds no two-dimensional table. Write one, with a row per sample")
    return unreadable(path, f"it holds several tables, {listed(found)}. Choose one with key={found[0]!r}")


def key_not_used(path: object, key: object) -> UnreadableError:
    """The error for a key in a format with one table, or a key that is not a string."""
    return unreadable(path, f"key={key!r} was passed, but this format holds a single table. Leave key out")


def not_a_matrix(path: object, shape: tuple[int, ...]) -> UnreadableError:
    """The error for a table without two dimensions, or with an empty one."""
    return unreadable(
        path,
        f"its shape is {shape}; two dimensions are needed, one row per sample and one column per feature, and none "
        "may be empty. Reshape the data and write them again",
    )


def not_real(path: object, dtype: object) -> UnreadableError:
    """The error for text, objects, dates or complex numbers."""
    return unreadable(
        path,
        f"its values are of type {dtype}; real numbers are needed, and Python objects are never unpickled. "
        "Convert with astype(float), complex numbers into real and imaginary parts, and write them again",
    )


def no_numeric_column(path: object, columns: Sequence[str], hint: str = "") -> UnreadableError:
    """The error for a table without a numeric column."""
    said = f"no column holds only numbers (there are {listed(columns)}){hint}"
    return unreadable(path, f"{said}. Encode or drop text, and write it again")


def no_column(path: object, name: str, found: Sequence[str]) -> UnreadableError:
    """The error for a column that is not in the table."""
    there = f"its columns are {listed(found)}" if len(found) else "its columns have no names"
    return unreadable(path, f"it has no column {name!r}; {there}. Check the spelling")


def model_counts_features(path: object, got: int, expected: int) -> ValueError:
    """The error for data without names and with another number of features than at fit."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has {got} numeric columns, and the model was fitted on {expected}. Without "
        f"feature names in both, pass the same columns in the same order."
    )


def cannot_write(path: object, refused: OSError) -> UnwritableError:
    """The error for a file that cannot be written."""
    full = errno.errorcode.get(refused.errno or 0) in {"ENOSPC", "EDQUOT", "EFBIG"}
    remedy = "Choose another path or free some space." if full else "Choose another path."
    return UnwritableError(
        f"Cannot write {str(path)!r}: {system_says(refused)}. {remedy} Existing files are unchanged."
    )


# --- results and plots ---


def bad_components(shape: tuple[int, ...], n_features: int) -> ValueError:
    """The error for loadings with another number of features than the data."""
    return ValueError(
        f"components has shape {shape}, but X has {n_features} features: one row per component and one column per "
        "feature are expected. Transpose loadings that have one column per component."
    )


def fewer_components(asked: int, got: int, why: str) -> str:
    """The warning about fewer components than requested."""
    return f"n_components={asked} was requested, but {why}: {got} component(s) are returned."


def needs_package(what: str, package: str, extra: str) -> ModuleNotFoundError:
    """The error for an optional dependency that is not installed."""
    return ModuleNotFoundError(f"{what} needs {package}: pip install {package}, or pip install 'sparing[{extra}]'")


def wrong_number_of_names(got: int, wanted: int, things: str = "features") -> ValueError:
    """The error for a wrong number of names."""
    return ValueError(f"{got} names were given for {wanted} {things}. Pass one name for each, in their order, or none.")


def cannot_draw(estimator: object, attribute: str, drawn: str) -> TypeError:
    """The error for a plot of an object without the attributes to draw."""
    kind = type(estimator).__name__
    return TypeError(f"{kind} has no {attribute} to draw. Pass a fitted {drawn}.")
