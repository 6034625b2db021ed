"""Exceptions and warnings, and the sentences that several checks share; all others stand at their check.

A sentence says what was passed, what is allowed and why, and what to do next. Functions here build an exception or a
text and leave raising to the caller, so that a traceback ends where the mistake is.
"""

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
        fill = ", or pass missing='mean' where the estimator has it" if value != value else ""
        super().__init__(
            f"Input X contains {nan_or_infinity(value)} (first at row {row}, feature {column!r}); principal components "
            f"need finite numbers. Drop those rows, or impute them (sklearn.impute.SimpleImputer){fill}."
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
            "your data: X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single sample."
        )


class UnreadableError(ValueError):
    """A file that holds no table of numbers that can be read."""


class UnwritableError(OSError):
    """A file that cannot be written."""


class ModelFileError(ValueError):
    """A file that holds no model that can be loaded."""


class CheckpointError(ValueError):
    """A checkpoint that is damaged, belongs to another fit or cannot be written."""


class SparingWarning(UserWarning):
    """The answer is valid, but not quite what was asked for."""


# --- words ---


LONGEST_QUOTE = 80
"""Characters of a name or a cell that a sentence shows."""


def quoted(item: object) -> str:
    """A name or a cell as a sentence shows it: without its middle where it is long."""
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
    """The system's reason, to be read inside a sentence."""
    return (refused.strerror or str(refused)).lower()


# --- parameters ---


def not_an_integer(name: str, value: object) -> TypeError:
    """A count that is no count."""
    return TypeError(f"{name}={value!r} is a {type(value).__name__}. Pass an integer of at least 1.")


def not_positive(name: str, value: object) -> ValueError:
    """A count below one."""
    return ValueError(f"{name}={value!r} must be at least 1. Pass a positive integer.")


def not_a_flag(name: str, value: object) -> TypeError:
    """Something that is neither True nor False."""
    return TypeError(f"{name}={value!r} must be True or False, not a {type(value).__name__}.")


def not_a_positive_number(name: str, value: object) -> ValueError:
    """A size that must be a number above zero."""
    return ValueError(f"{name}={value!r} must be a positive number. Pass one above 0.")


def not_a_nonnegative_number(name: str, value: object) -> ValueError:
    """A size that may be zero but not less."""
    return ValueError(f"{name}={value!r} must be a number of at least 0.")


def not_a_share(name: str, value: object, example: str, *, below_one: bool = False) -> ValueError:
    """A number that is no share of one."""
    limit = "below 1" if below_one else "at most 1"
    return ValueError(f"{name}={value!r} must be a number above 0 and {limit}. {example}")


def unknown_choice(parameter: str, value: object, allowed: Iterable[object]) -> ValueError:
    """A name that is not registered."""
    names = listed(sorted(map(str, allowed)), 20)
    if isinstance(value, type):
        own = value.__name__
        return ValueError(
            f"{parameter}={own} is not known: it is a class. Pass an instance, {own}(), or one of {names}."
        )
    return ValueError(f"{parameter}={value!r} is not known. Choose one of {names}.")


def more_than_there_are(name: str, value: int, limit: int, things: str) -> ValueError:
    """More features or data points wanted than X has."""
    return ValueError(
        f"{name}={value} is outside [1, {limit}]: X has {limit} {things}. Pass an integer between 1 and {limit}."
    )


def n_components_too_large(n_components: int, n_features: int) -> ValueError:
    """More components than features."""
    return ValueError(
        f"n_components={n_components}, but X has n_features={n_features}: there cannot be more components than "
        f"features. Pass n_components between 1 and {n_features}."
    )


def constraint_decides(constraint: str, deflation: object) -> ValueError:
    """A constraint and a deflation at once."""
    return ValueError(
        f"constraint={constraint!r} and deflation={deflation!r} were both given, but the constraint decides what is "
        "left for the next component. Leave deflation='auto'; for components one after the other pass "
        "deflation=OrthogonalConstraint() or UncorrelatedConstraint() from sparing.deflation instead."
    )


def bad_n_clusters(value: object, n_samples: int) -> ValueError:
    """A number of clusters that cannot be."""
    return ValueError(
        f"n_clusters={value!r}, but X has {n_samples} samples. Pass an integer between 1 and {n_samples}."
    )


def bad_own_dissimilarity(what: str) -> ValueError:
    """A user's function that is no dissimilarity."""
    return ValueError(
        f"The function passed as difference returned {what}. f(a, b) gets two arrays of values of a feature that "
        "broadcast against each other, and must return finite numbers >= 0 in their broadcast shape, with "
        "f(a, b) = f(b, a); for example lambda a, b: np.abs(a - b) ** 0.5."
    )


# --- data ---


def lazy_table(X: object) -> TypeError:
    """A plan for a table that nobody has carried out."""
    return TypeError(
        f"X is a {type(X).__name__}, which holds no values yet. Call X.collect() first and pass the result."
    )


def out_of_scale(size: float) -> ValueError:
    """Squares of the values would leave the range of double precision."""
    return ValueError(
        f"X holds values of size {size:.3g}; sums of their squares leave the range of double precision, which covers "
        "values between about 1e-150 and 1e+150. Change the unit of the data (multiply it by a constant)."
    )


def no_variance(centred: bool) -> ValueError:
    """Nothing varies."""
    what = "every feature is constant" if centred else "every value is zero"
    return ValueError(
        f"X has no variance: {what}, so there is no component to find. "
        f"Check that the right rows and columns were passed{'' if centred else ', or use center=True'}."
    )


def wrong_n_features(got: int, expected: int, who: str) -> ValueError:
    """Data for transform or a recheck have another width than those of fit (scikit-learn's own wording)."""
    return ValueError(
        f"X has {got} features, but {who} is expecting {expected} features as input. "
        "Pass the same columns, in the same order, as at fit."
    )


def needs_rows(what: str, d: int) -> NeedsRowsError:
    """Rows were asked of a view that has none."""
    return NeedsRowsError(
        f"{what} works on the rows of X, but only a {d} x {d} covariance is known. Fit on X itself (precomputed=False)."
    )


def gram_too_large(d: int, limit: int) -> ValueError:
    """Somebody asked for d x d numbers with d large."""
    return ValueError(
        f"A {d} x {d} matrix was asked for; more than {limit} features would not fit in memory. "
        "Use a method that works from columns and products instead."
    )


def targets_wrong_shape(shape: tuple[int, ...]) -> ValueError:
    """y is a single number, has more than two axes or no column."""
    return ValueError(
        f"y has shape {shape}; one number per row of X is needed, shape (n_samples,), or one column per target, shape "
        "(n_samples, n_targets). Reshape y; y.reshape(len(y), -1) has two dimensions for any y."
    )


# --- files ---


def unreadable(path: object, why: str) -> UnreadableError:
    """The general sentence: which file, what is wrong with it, what to do."""
    return UnreadableError(f"Cannot read {str(path)!r}: {why}.")


def no_such_file(path: object) -> FileNotFoundError:
    """Nothing is there."""
    return FileNotFoundError(f"Cannot read {str(path)!r}: there is no such file. Check the path and the spelling.")


def broken_file(path: object, what: str, said: str) -> UnreadableError:
    """Damaged, cut short or of another format than its name says."""
    detail = f" ({said})" if said else ""
    return unreadable(
        path, f"it is damaged, truncated or not {what}{detail}. Write or copy it again, or correct its extension"
    )


def beyond_memory(path: object) -> UnreadableError:
    """More numbers than there is room for, or a size that is a lie."""
    return unreadable(
        path,
        "its declared size does not fit in memory. If that size is right, write it in a format that is read in blocks "
        "(.npy, .h5, .zarr, .parquet) and choose a smaller block_bytes; otherwise it is damaged: write it again",
    )


def no_part(path: object, key: str, found: Sequence[str]) -> UnreadableError:
    """A key that is not in the file."""
    if not found:
        return unreadable(path, f"it has no table {key!r} and no other table. Write one, with a row per sample")
    return unreadable(path, f"it has no table {key!r}; it holds {listed(found)}. Pass one of these as key")


def which_part(path: object, found: Sequence[str]) -> UnreadableError:
    """No table, or several of them, and none was asked for."""
    if not found:
        return unreadable(path, "it holds no two-dimensional table. Write one, with a row per sample")
    return unreadable(path, f"it holds several tables, {listed(found)}. Choose one with key={found[0]!r}")


def key_not_used(path: object, key: object) -> UnreadableError:
    """A key for a format of one table, or one that is no name."""
    return unreadable(path, f"key={key!r} was passed, but this format holds a single table. Leave key out")


def not_a_matrix(path: object, shape: tuple[int, ...]) -> UnreadableError:
    """Not two dimensions, or one of them empty."""
    return unreadable(
        path,
        f"its shape is {shape}; two dimensions are needed, one row per sample and one column per feature, and none "
        "may be empty. Reshape the data and write them again",
    )


def not_real(path: object, dtype: object) -> UnreadableError:
    """Text, objects, dates or complex numbers."""
    return unreadable(
        path,
        f"its values are of type {dtype}; real numbers are needed, and Python objects are never unpickled. "
        "Convert with astype(float), complex numbers into real and imaginary parts, and write them again",
    )


def no_numeric_column(path: object, columns: Sequence[str], hint: str = "") -> UnreadableError:
    """A table of text."""
    said = f"no column holds only numbers (there are {listed(columns)}){hint}"
    return unreadable(path, f"{said}. Encode or drop text, and write it again")


def no_column(path: object, name: str, found: Sequence[str]) -> UnreadableError:
    """A column asked for by name that is not in the table."""
    there = f"its columns are {listed(found)}" if len(found) else "its columns have no names"
    return unreadable(path, f"it has no column {name!r}; {there}. Check the spelling")


def model_counts_features(path: object, got: int, expected: int) -> ValueError:
    """Data without names have another width than those of fit."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has {got} columns of numbers, and the model was fitted on {expected}. Without "
        f"feature names in both, pass the same columns in the same order."
    )


def cannot_write(path: object, refused: OSError) -> UnwritableError:
    """The disk, or whoever watches over it, says no."""
    return UnwritableError(
        f"Cannot write {str(path)!r}: {system_says(refused)}. Choose another path or free some space. Existing files "
        f"are unchanged."
    )


# --- results and pictures ---


def bad_components(shape: tuple[int, ...], n_features: int) -> ValueError:
    """Loadings whose width is not that of the data."""
    return ValueError(
        f"components has shape {shape}, but X has {n_features} features: one row per component and one column per "
        "feature are expected. Transpose loadings that have one column per component."
    )


def fewer_components(asked: int, got: int, why: str) -> str:
    """Fewer components than asked for."""
    return f"n_components={asked} was asked for, but {why}: {got} component(s) are returned."


def needs_package(what: str, package: str, extra: str) -> ModuleNotFoundError:
    """An optional dependency that is not installed."""
    return ModuleNotFoundError(f"{what} needs {package}: pip install {package}, or pip install 'sparing[{extra}]'")


def wrong_number_of_names(got: int, wanted: int, things: str = "features") -> ValueError:
    """Names for other things than there are."""
    return ValueError(f"{got} names were given for {wanted} {things}. Pass one name for each, in their order, or none.")


def cannot_draw(estimator: object, attribute: str, drawn: str) -> TypeError:
    """A picture of something that has none of what is drawn."""
    kind = type(estimator).__name__
    return TypeError(f"{kind} has no {attribute} to draw. Pass a fitted {drawn}.")
