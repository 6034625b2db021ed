"""Input handling that all estimators share: how X is read and how often, names of features, context of the fit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast, overload

import numpy as np
from sklearn.utils.validation import validate_data

from sparing import errors
from sparing.data import ArrayRows, Preprocessing, Rows, as_rows, as_view, is_symmetric
from sparing.data.checkpoint import Checkpoint
from sparing.data.containers import column_names, is_frame
from sparing.data.readers.notes import repeated_note, unique_names
from sparing.data.rows import InMemoryRows
from sparing.data.sketch import Condensed, CountSketch, sketch_of
from sparing.data.tracked import TrackedRows
from sparing.errors import listed
from sparing.gram import DataMatrix
from sparing.linalg import single_threaded_blas
from sparing.search_limits import SEARCH

Fit = TypeVar("Fit", bound=Callable[..., Any])

PASSES = ("auto", "any", "few")
"""How often the data may be read."""

CHOSEN = "The features were chosen in {} passes over the data, from a sketch of them; {} is exact."
"""A note of certificates."""

NO_MATTER = ("checkpoint", "verbose", "time_limit", "feature_names_out")
"""Parameters that may change when a fit is resumed."""


def restore_on_failure(fit: Fit) -> Fit:
    """Restore the estimator if a fit fails or is interrupted: fitted to earlier data, or not fitted."""

    @wraps(fit)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return cast(Fit, guarded)


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Raw rows of X, with names and number of features stored (``reset``) or compared with the stored ones."""
    rows = as_rows(X)
    named = X if is_frame(X) else rows
    names = column_names(X)
    kinds = {isinstance(name, str) for name in names}
    if len(kinds) > 1:
        others = [name for name in names if not isinstance(name, str)]
        raise TypeError(
            f"Some column names of X are strings and others are not, such as {listed(others)}. Feature names "
            "are only supported if all of them are text: use X.columns = X.columns.astype(str), or pass X.to_numpy()."
        )
    stored = rows.feature_names
    if stored is None and len(set(names)) < len(names) and isinstance(names[0], str):
        stored = names
    if stored is None:
        validate_data(estimator, named, skip_check_array=True, reset=reset)
    else:
        unique, repeated = unique_names(stored)
        if repeated:
            warnings.warn(f"X: {repeated_note(repeated)}.", errors.SparingWarning, stacklevel=6)
        _named_by_file(estimator, rows, unique, reset)
    return _coded(estimator, rows, reset)


def _named_by_file(estimator: Any, rows: Rows, names: list[str], reset: bool) -> None:
    """Check the feature names of a file as scikit-learn checks the columns of data frames."""
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    if known is not None and list(known) != names:
        here, learned = set(names), set(known)
        absent, extra = [name for name in known if name not in here], [name for name in names if name not in learned]
        parts = [f"{listed(absent)} missing"] * bool(absent) + [f"{listed(extra)} not known to it"] * bool(extra)
        raise ValueError(
            f"X has other features than those {type(estimator).__name__} was fitted on: "
            f"{' and '.join(parts) or 'the same ones in another order'}. Pass the same columns, in the same order, as "
            "at fit."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        validate_data(estimator, rows, skip_check_array=True, reset=reset)
    if reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)


def _coded(estimator: Any, rows: Rows, reset: bool) -> Rows:
    """Apply the coding of the fit to records, so that the numbers of a row do not depend on the others of its file."""
    if not reset:
        return rows.with_coding(getattr(estimator, "coding_", None))
    estimator.__dict__.pop("coding_", None)  # of an earlier fit
    if (coding := rows.coding) is not None:
        estimator.coding_ = coding
    return rows


@dataclass(frozen=True)
class Reading:
    """How rows are read: all of them as often as needed, their Gram matrix at once, or with a sketch in few passes."""

    rows: Rows
    gram: bool = False
    sketch: CountSketch | Condensed | None = None


def reading_of(
    rows: Rows, passes: Any, possible: bool, n_nonzero: int, rng: np.random.Generator, preprocessing: Preprocessing
) -> Reading:
    """The reading for the size of the rows and the user's setting; ``possible`` tells whether the method has a few-pass
    form."""
    n, d = rows.shape
    few = _few(rows, passes) and not preprocessing.precomputed
    if not few or not possible or d <= SEARCH.one_pass_features:
        return gram_or_rows(rows, passes=passes, precomputed=preprocessing.precomputed)
    length = sketch_length(rows.is_dense, n_nonzero, d)
    if n <= (2 * length if rows.is_dense else length):  # a sketch would have as many rows
        return Reading(InMemoryRows(rows))
    return Reading(rows, sketch=sketch_of(rows, length, int(rng.integers(2**63)), scale=preprocessing.scale))


def gram_or_rows(rows: Rows, *, passes: Any, precomputed: bool) -> Reading:
    """For methods without a few-pass form: the Gram matrix if there are few features."""
    few, most = _few(rows, passes) and not precomputed, SEARCH.one_pass_features
    if few and rows.shape[1] > most and passes == "few":
        raise ValueError(
            f"passes='few' with more than {most} features is for SparseEncoder with selector='auto' or 'greedy', no "
            "sketch and, unless strategy='batch', a given n_nonzero; and for SparsePCA and NonnegativeSparsePCA with a "
            "number of features and without n_rows and exclude. Use these, or passes='any', with which X is read as "
            "often as the method needs."
        )
    return Reading(rows, gram=few and rows.shape[1] <= most)


def _few(rows: Rows, passes: Any) -> bool:
    """Whether the user, or the size of the rows, requires few passes.

    On a cluster the size always does: the overhead of many small tasks dominates a pass.
    """
    if not isinstance(passes, str) or passes not in PASSES:
        raise errors.unknown_choice("passes", passes, PASSES)
    if passes != "auto" or rows.is_resident:
        return passes == "few"
    return not rows.is_local or rows.n_bytes >= SEARCH.few_passes_bytes


def sketch_length(is_dense: bool, n_nonzero: int, n_features: int) -> int:
    """Number of rows of the sketch: grows with the number of features, and for sparse rows as far as it is cheap."""
    if is_dense:
        return max(SEARCH.sketch_rows_dense, 3 * n_nonzero // 2)
    least, for_each = SEARCH.sketch_rows
    cheap = min(SEARCH.sketch_rows_cheap, SEARCH.sketch_bytes // (4 * n_features))
    return max(least, for_each * n_nonzero, cheap)


def checked_view(
    estimator: Any,
    X: Any,
    preprocessing: Preprocessing,
    sample_weight: Any = None,
    say: Callable[[str], None] | None = None,
    checkpoint: Checkpoint | None = None,
    reading_of: Callable[[Rows], Reading] = Reading,
) -> DataMatrix:
    """The view that an estimator fits; errors use the user's feature names, and passes are reported to ``say``."""
    rows = checked_rows(estimator, X, reset=True)
    as_samples = hasattr(estimator, "precomputed") and preprocessing.center and not preprocessing.precomputed
    if as_samples and isinstance(rows, ArrayRows) and rows.is_resident and is_symmetric(rows):
        message = (
            "X is symmetric, as covariances and correlations are, and is taken for samples. If it holds covariances or "
            "correlations pass precomputed=True."
        )
        warnings.warn(message, errors.SparingWarning, stacklevel=5)
    if say is not None and not preprocessing.precomputed:
        rows = TrackedRows(rows, say, checkpoint, sample_weight)
    with features_named(estimator):
        reading = reading_of(rows)
        view = as_view(reading.rows, preprocessing, sample_weight, reading.sketch)
        if reading.gram:
            view.gram()
    return view


def check_has_variance(view: DataMatrix, centred: bool) -> DataMatrix:
    """Return the view; an error if it has no variance."""
    if not view.is_psd:
        values = np.linalg.eigvalsh(view.gram()) * view.square_unit
        raise ValueError(
            f"The covariance matrix has eigenvalue {values[0]:.3g} (the largest is {values[-1]:.3g}), so no "
            "data have this covariance: it is not positive semidefinite. Pairwise deletion of missing values can "
            "cause this. Clip its negative eigenvalues to zero, or compute it from complete rows."
        )
    if view.total <= 0:
        raise errors.no_variance(centred)
    return view


@contextmanager
def fit_context(view: DataMatrix, n_components: int) -> Iterator[None]:
    """Context of a fit: threads by the size of its largest product, and an explanation of LAPACK's errors."""
    rows = view.n_samples or view.n_features
    with numerical_trouble_explained(), single_threaded_blas(2.0 * rows * view.n_features * (n_components + 3)):
        yield


def feature_names_of(X: Any, rows: Rows) -> list[str]:
    """Names of the columns of X, those in the file of its rows, or x0, x1, ..."""
    names = column_names(X) or rows.feature_names
    return list(named_or_numbered(None if names is None else unique_names(names)[0], rows.shape[1]))


class Numbered(Sequence[str]):
    """x0, x1, ...: names of unnamed features, created on demand because most fits need hardly any."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        some = self._numbers[place]
        return Numbered(some) if isinstance(some, range) else f"x{some}"


def named_or_numbered(names: Iterable[object] | None, n_features: int) -> Sequence[str]:
    """These names as text; x0, x1, ... for unnamed features, as in scikit-learn."""
    return Numbered(range(n_features)) if names is None else [str(name) for name in names]


@contextmanager
def features_called(names: Sequence[object]) -> Iterator[None]:
    """Replace indices by names in messages about single features."""
    try:
        yield
    except errors.NotFiniteError as flaw:
        raise flaw.named(names) from None


def features_named(estimator: Any) -> AbstractContextManager[None]:
    """The same with the names that an estimator has stored; indices stay if it has none."""
    return features_called(getattr(estimator, "feature_names_in_", []))


@contextmanager
def numerical_trouble_explained() -> Iterator[None]:
    """Explain errors of LAPACK."""
    try:
        yield
    except np.linalg.LinAlgError as trouble:
        raise ValueError(
            "The numbers of X are so ill-conditioned that its variance is lost in rounding (most likely, means are "
            "many orders of magnitude above the spread). Subtract a reference row from X, or drop such features, "
            "before fitting."
        ) from trouble


def checkpoint_of(estimator: Any) -> Checkpoint | None:
    """The checkpoint of an estimator; a folder that belongs to other parameters is rejected."""
    from sparing import __version__

    path = getattr(estimator, "checkpoint", None)
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes) or not os.fspath(path):
        raise TypeError(
            f"checkpoint={path!r} was passed; the path of a folder is needed, as a str or pathlib.Path, or None for no "
            "checkpoint. The folder is created if needed."
        )
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NO_MATTER}
    return Checkpoint(path, {"estimator": type(estimator).__name__, "version": __version__, **parameters})
