"""What can be wrong with X, or with a covariance or a file in its place."""

from __future__ import annotations

from collections.abc import Sequence

from sparing.errors.kinds import NeedsRowsError, NotNumericError, listed


def not_a_table(X: object) -> TypeError:
    """X is no matrix of any kind."""
    return TypeError(
        f"X is a {type(X).__name__}; a table of numbers is needed. Pass a NumPy array, a SciPy sparse matrix, "
        f"a pandas or polars DataFrame, or a numpy.memmap."
    )


def lazy_table(X: object) -> TypeError:
    """A plan for a table that nobody has carried out."""
    return TypeError(
        f"X is a {type(X).__name__}: a plan for a table, whose numbers are not there yet. Call X.collect() first, and "
        f"pass what it returns."
    )


def bad_slice(kind: str, start: int, stop: int, said: str) -> ValueError:
    """A source of rows that does not keep what its shape and type promise."""
    return ValueError(
        f"X is a {kind}, which is read by slices of rows, and X[{start}:{stop}] failed: {said}. Such a slice must be "
        f"an array of real numbers, with as many rows as asked for and all features. Correct the source, or pass a "
        f"NumPy array."
    )


def ragged_rows() -> ValueError:
    """X is a nested list whose rows differ in length."""
    return ValueError(
        "X is a list whose rows differ in length, so it is no table. Give every sample the same number of features; "
        "a 2-D array is expected."
    )


def empty(shape: tuple[int, int]) -> ValueError:
    """X has no rows or no columns."""
    n, d = shape
    what = f"0 sample(s) (shape=({n}, {d}))" if n == 0 else f"0 feature(s) (shape=({n}, {d}))"
    return ValueError(f"X holds {what} while a minimum of 1 is required. Pass data with rows and columns.")


def one_row() -> ValueError:
    """Centring a single row leaves nothing."""
    return ValueError(
        "X has n_samples=1: after centring a single row nothing is left to explain. "
        "Pass at least 2 rows, or center=False to work on the row itself."
    )


def not_numeric(dtype: object, columns: Sequence[object] = ()) -> NotNumericError:
    """Strings, objects or dates among the values."""
    where = f" in columns {listed(columns)}" if len(columns) else ""
    return NotNumericError(
        f"X holds values of type {dtype}{where}; every argument must be a real number, and a string or an object is no "
        f"number. "
        f"Drop or encode such columns (sklearn.preprocessing.OneHotEncoder), or convert with X.astype(float)."
    )


def complex_values() -> ValueError:
    """Complex numbers."""
    return ValueError(
        "X holds complex numbers. Complex data not supported: stack real and imaginary parts as separate features."
    )


def out_of_scale(size: float) -> ValueError:
    """Squares of the values would leave the range of double precision."""
    return ValueError(
        f"X holds values of size {size:.3g}; sums of their squares leave the range of double precision, which covers "
        f"values between about 1e-150 and 1e+150. Change the unit of the data (multiply it by a constant)."
    )


def unknown_chunks() -> ValueError:
    """A Dask array that does not know how many rows it has."""
    return ValueError(
        "The Dask array does not know the lengths of its chunks, as after filtering rows. Call its method "
        "compute_chunk_sizes() first; from a data frame use to_dask_array(lengths=True)."
    )


def bad_weights(why: str) -> ValueError:
    """Weights of rows that cannot be used."""
    return ValueError(
        f"sample_weight cannot be used: {why}. Pass one number of at least zero for each row of X; a whole number "
        f"counts as that many copies of the row."
    )


def weights_of_a_covariance() -> ValueError:
    """Weights where there are no rows."""
    return ValueError(
        "sample_weight was given with precomputed=True, but a covariance has no rows to be weighted. Pass the data "
        "themselves, or a covariance that was computed with these weights."
    )


def not_representable() -> ValueError:
    """A number beyond double precision."""
    return ValueError(
        "X holds a number beyond the range of double precision (about 1e308). Change the unit of the data."
    )


def duplicate_names(names: Sequence[object]) -> ValueError:
    """Two features of one name."""
    return ValueError(
        f"X has several columns named {listed(names)}; features are told apart by their names. "
        f"Rename them, or pass X.to_numpy()."
    )


def names_of_several_kinds(names: Sequence[object]) -> TypeError:
    """Text and something else as names."""
    others = [name for name in names if not isinstance(name, str)]
    return TypeError(
        f"Some columns of X have text as their name and others have not, such as {listed(others)}. Feature names are "
        f"only supported if all of them are text: use X.columns = X.columns.astype(str), or pass X.to_numpy()."
    )


def ill_conditioned() -> ValueError:
    """Rounding has eaten the data."""
    return ValueError(
        "The numbers of X are so ill-conditioned that its variance is lost in rounding (means many orders of magnitude "
        "above the spread, most likely). Subtract a reference row from X, or drop such features, before fitting."
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
        f"Pass the same columns, in the same order, as at fit."
    )


def other_features(got: Sequence[str], expected: Sequence[str], who: str) -> ValueError:
    """Data for transform have other features than those of fit, or the same in another order."""
    absent = [name for name in expected if name not in set(got)]
    extra = [name for name in got if name not in set(expected)]
    if absent or extra:
        parts = [f"{listed(absent)} missing"] * bool(absent) + [f"{listed(extra)} not known to it"] * bool(extra)
        why = " and ".join(parts)
    else:
        why = "the same ones in another order"
    return ValueError(
        f"X has other features than those {who} was fitted on: {why}. Pass the same columns, in the same order, as at "
        f"fit."
    )


def not_square(shape: tuple[int, int]) -> ValueError:
    """A covariance must be square."""
    return ValueError(
        f"precomputed=True expects a square covariance or correlation matrix, got shape {shape}. "
        f"Pass X.T @ X or numpy.cov(X, rowvar=False), or precomputed=False for a table of samples."
    )


def sparse_covariance() -> ValueError:
    """A covariance in sparse storage."""
    return ValueError(
        "precomputed=True expects a dense covariance matrix, got a sparse one. Pass matrix.toarray() if it fits in "
        "memory, or the sparse data X themselves with precomputed=False: their covariance is never formed."
    )


def not_symmetric(largest: float, i: int, j: int) -> ValueError:
    """A covariance must be symmetric."""
    return ValueError(
        f"The covariance matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by {largest:.3g}. "
        f"If that is rounding, pass (C + C.T) / 2; if C is a table of samples, pass precomputed=False."
    )


def not_psd(smallest: float, largest: float) -> ValueError:
    """A covariance must have no negative eigenvalue."""
    return ValueError(
        f"The covariance matrix has eigenvalue {smallest:.3g} (the largest is {largest:.3g}), so no data have this "
        f"covariance: it is not positive semidefinite. Pairwise deletion of missing values does this. "
        f"Clip its negative eigenvalues to zero, or compute it from complete rows."
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
        f"Use a method that works from columns and products instead."
    )


def cannot_read(path: object, why: str) -> ValueError:
    """A file that is no table of numbers."""
    return ValueError(f"Cannot read {str(path)!r}: {why}.")


def sizes_change_too_much() -> ValueError:
    """A sketch in single precision, in units taken from the first rows, that overflowed or came out as nothing."""
    return ValueError(
        "The first rows of X are of another order of magnitude than the rest, by more than single precision covers, so "
        "no sketch of X can be kept. Shuffle the rows, rescale the features, or use passes='any'."
    )


def stream_is_gone() -> ValueError:
    """A second reading of rows that came once."""
    return ValueError(
        "The rows given to partial_fit are gone: what needs to read them again cannot be done. Use fit with all rows."
    )


def stream_begins_alike(n_samples: int) -> ValueError:
    """First rows without any variance."""
    return ValueError(
        f"partial_fit begins with {n_samples} row(s) that have no variance: no feature differs between them, and the "
        f"first rows have to say how much features vary. Begin with at least 2 different rows; later batches may be as "
        f"small as a single row."
    )


def not_for_streams(parameter: str, value: object) -> ValueError:
    """A parameter that needs rows to be read more than once."""
    return ValueError(
        f"partial_fit sees each row once, and {parameter}={value!r} needs more than that. Leave it at its default, or "
        f"use fit with all rows."
    )
