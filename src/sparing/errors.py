"""Every sentence a user can be shown when something is wrong.

Each function builds one exception or warning text: what was passed, what is allowed and why,
what to do next. Raising is left to the caller, so that a traceback ends where the mistake is.
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
        name = "NaN" if value != value else "infinity"
        super().__init__(
            f"Input X contains {name} (first at row {row}, feature {column!r}). No principal component is defined for "
            f"data with NaN or inf: drop those rows, or impute them with sklearn.impute.SimpleImputer first."
        )

    def named(self, names: Sequence[object]) -> NotFiniteError:
        """The same, with the feature's name in place of its index."""
        if isinstance(self.column, int) and self.column < len(names):
            return NotFiniteError(self.value, self.row, str(names[self.column]))
        return self


class SparingWarning(UserWarning):
    """The answer is valid, but not quite what was asked for."""


def _listed(items: Iterable[object], most: int = 5) -> str:
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


# --- the data -------------------------------------------------------------------------------------------------------


def not_a_table(X: object) -> TypeError:
    """X is no matrix of any kind."""
    return TypeError(
        f"X is a {type(X).__name__}; a table of numbers is needed. Pass a NumPy array, a SciPy sparse matrix, "
        f"a pandas or polars DataFrame, or a numpy.memmap."
    )


def not_two_dimensional(shape: tuple[int, ...]) -> ValueError:
    """X is a vector or has more than two axes."""
    return ValueError(
        f"X has shape {shape}; two dimensions are needed, one row per sample and one column per feature. "
        f"Reshape your data: X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single sample."
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
    where = f" in columns {_listed(columns)}" if len(columns) else ""
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


def not_representable() -> ValueError:
    """A number beyond double precision."""
    return ValueError(
        "X holds a number beyond the range of double precision (about 1e308). Change the unit of the data."
    )


def duplicate_names(names: Sequence[object]) -> ValueError:
    """Two features of one name."""
    return ValueError(
        f"X has several columns named {_listed(names)}; features are told apart by their names. "
        f"Rename them, or pass X.to_numpy()."
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


# --- a covariance instead of data -----------------------------------------------------------------------------------


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


# --- parameters -----------------------------------------------------------------------------------------------------


def not_an_integer(name: str, value: object) -> TypeError:
    """A count that is no count."""
    return TypeError(f"{name}={value!r} is a {type(value).__name__}; it counts things. Pass an integer of at least 1.")


def not_positive(name: str, value: object) -> ValueError:
    """A count below one."""
    return ValueError(f"{name}={value!r} must be at least 1: a model of nothing explains nothing. Pass 1 or more.")


def n_components_too_large(n_components: int, n_features: int) -> ValueError:
    """More components than features."""
    return ValueError(
        f"n_components={n_components}, but X has n_features={n_features}: there are at most as many components as "
        f"features. Pass n_components between 1 and {n_features}."
    )


def n_nonzero_out_of_range(n_nonzero: int, n_features: int) -> ValueError:
    """More features wanted than there are."""
    return ValueError(
        f"n_nonzero={n_nonzero} is outside [1, {n_features}]: X has {n_features} features. Pass an integer between 1 "
        f"and {n_features}, or max_loss=1.1 to get the fewest features that lose at most 10% more than PCA."
    )


def n_nonzero_per_component(strategy: str) -> ValueError:
    """A list of counts where all components share their features."""
    return ValueError(
        f"n_nonzero is a list, but strategy={strategy!r} gives all components the same features. Pass one integer: "
        f"the number of features shared by all components."
    )


def not_a_flag(name: str, value: object) -> TypeError:
    """Something that is neither True nor False."""
    return TypeError(f"{name}={value!r} must be True or False.")


def bad_random_state(value: object) -> ValueError:
    """No seed, no generator."""
    return ValueError(
        f"random_state={value!r} is neither a non-negative integer, a numpy Generator or RandomState, nor None. "
        f"Pass an integer such as random_state=0 for the same answer every time."
    )


def bad_components_values(problem: Exception) -> ValueError:
    """Loadings that are no finite numbers."""
    return ValueError(f"components are not usable: {problem}")


def bad_spike(spike: object) -> ValueError:
    """A variance that is none."""
    return ValueError(f"spike={spike!r} must be a positive number: it is the variance added along a component.")


def wrong_number_of_counts(got: int, n_components: int) -> ValueError:
    """A list of counts of another length than the number of components."""
    return ValueError(
        f"n_nonzero has {got} counts, but n_components={n_components}. Pass one count for each component, or one "
        f"integer for all of them."
    )


def orthonormal_needs_batch(strategy: str) -> ValueError:
    """Orthonormal loadings would mix the features of different components."""
    return ValueError(
        f"orthonormal=True mixes the features of all components, but strategy={strategy!r} gives each component its "
        f"own. Use strategy='batch'."
    )


def both_counts_given() -> ValueError:
    """n_nonzero and max_loss at once."""
    return ValueError(
        "Both n_nonzero and max_loss were given; one decides the other. Pass n_nonzero to fix the number of features, "
        "or max_loss to get the fewest features that reach it."
    )


def max_loss_out_of_range(max_loss: object) -> ValueError:
    """A loss ratio that nothing can reach, or no number."""
    return ValueError(
        f"max_loss={max_loss!r} must be a number of at least 1: it is the loss divided by PCA's, and no encoder loses "
        f"less than PCA. max_loss=1.1 allows 10% more than PCA."
    )


def unknown_choice(parameter: str, value: object, allowed: Iterable[object]) -> ValueError:
    """A name that is not registered."""
    return ValueError(f"{parameter}={value!r} is not known. Choose one of {_listed(sorted(map(str, allowed)), 20)}.")


def bad_time_limit(value: object) -> ValueError:
    """A time limit that is no positive number."""
    return ValueError(f"time_limit={value!r} must be a positive number of seconds, or None for no limit.")


def bad_components(shape: tuple[int, ...], n_features: int) -> ValueError:
    """Loadings whose width is not that of the data."""
    return ValueError(
        f"components has shape {shape}, but X has {n_features} features: one row per component and one column per "
        f"feature are expected. Transpose loadings that have one column per component."
    )


def zero_component(index: int) -> ValueError:
    """A component without loadings."""
    return ValueError(f"components[{index}] is all zero, so it encodes nothing. Remove it, or lower its penalty.")


def too_many_for_proof(n_features: int, limit: int) -> ValueError:
    """More features than an exhaustive search can settle."""
    return ValueError(
        f"selector='exact' searches supports of at most {limit} features; X has {n_features}. Use selector='auto', "
        f"whose certificate says how far from the best possible its choice can be."
    )


def more_than_there_are(name: str, value: int, limit: int, things: str) -> ValueError:
    """More features or data points wanted than X has."""
    return ValueError(
        f"{name}={value} is outside [1, {limit}]: X has {limit} {things}. Pass an integer between 1 and {limit}."
    )


def not_a_positive_number(name: str, value: object) -> ValueError:
    """A size that must be a number above zero."""
    return ValueError(f"{name}={value!r} must be a positive number.")


def too_few_samples(got: int, needed: int) -> ValueError:
    """A recheck on data that lack the data points a decoder is built on."""
    return ValueError(
        f"X has {got} sample(s), but this certificate is about a decoder built on data point {needed - 1}. Pass the "
        f"data of the fit, with their rows in the same order."
    )


# --- warnings -------------------------------------------------------------------------------------------------------


def fewer_components(asked: int, got: int, why: str) -> str:
    """Fewer components than asked for."""
    return f"n_components={asked} was asked for, but {why}: {got} component(s) are returned."


def not_proved(why: str) -> str:
    """The best found is returned, but nothing proves it the best possible."""
    return f"The features returned are the best found, but not proved to be the best possible: {why}."


def max_loss_missed(reached: float, asked: float, n_features: int) -> str:
    """The loss asked for was not reached."""
    return (
        f"max_loss={asked:g} was not reached: {n_features} feature(s) lose {reached:.4g} times what PCA loses. Further "
        f"features add nothing that double precision can tell, or time_limit ended the search."
    )


def spectrum_not_converged(relative_error: float) -> str:
    """The eigenvalue iteration stopped at its cap."""
    return (
        f"The principal components converged only to {relative_error:.1e} of PCA's loss; the loss ratio is overstated "
        f"by at most that much. The spectrum is nearly flat there: another n_components may separate it."
    )


def capped(name: str, asked: int, limit: int, things: str) -> str:
    """More wanted than there is, by a parameter that is harmless to cut."""
    return f"{name}={asked} was asked for, but X has {limit} {things}: no more can be kept."


def fewer_features(asked: int, got: int) -> str:
    """The features found say all that any features can say."""
    return (
        f"n_features_to_select={asked} was asked for, but {got} feature(s) already give what PCA gives, or the others "
        f"depend on them: {got} are kept. A larger n_components asks for more of X."
    )


# --- results --------------------------------------------------------------------------------------------------------


def path_too_short(max_loss: float, longest: int, reached: float) -> ValueError:
    """A loss that no step of a path keeps."""
    return ValueError(
        f"No number of features up to {longest} keeps the loss within {max_loss:g} times PCA's; {longest} features "
        f"lose {reached:.4g} times. Compute a longer path with max_features, or allow a larger max_loss."
    )


def needs_package(what: str, package: str, extra: str) -> ModuleNotFoundError:
    """An optional dependency that is not installed."""
    return ModuleNotFoundError(f"{what} needs {package}: pip install {package}, or pip install 'sparing[{extra}]'")


# --- files ----------------------------------------------------------------------------------------------------------


def cannot_read(path: object, why: str) -> ValueError:
    """A file that is no table of numbers."""
    return ValueError(f"Cannot read {str(path)!r}: {why}.")


# --- targets --------------------------------------------------------------------------------------------------------


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
