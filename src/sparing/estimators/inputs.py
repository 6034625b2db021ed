"""Input handling that all estimators share: wrapping X, names of features, metadata of the fit."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, TypeVar, cast, overload

import numpy as np
from sklearn.utils.validation import validate_data

from sparing import errors
from sparing.data import ArrayRows, Preprocessing, Rows, as_rows, as_view, is_symmetric
from sparing.data.checkpoint import Checkpoint
from sparing.data.containers import column_names, is_frame
from sparing.data.readers.notes import repeated_note, unique_names
from sparing.data.rows import ChosenColumns
from sparing.data.sources import is_lazy
from sparing.data.tracked import TrackedRows
from sparing.errors import listed
from sparing.estimators.few_passes import Reading
from sparing.gram import DataMatrix
from sparing.linalg import single_threaded_blas

Fit = TypeVar("Fit", bound=Callable[..., Any])

NO_MATTER = ("checkpoint", "verbose", "time_limit", "feature_names_out")
"""Parameters that may change when a fit is resumed."""


def restore_on_failure(fit: Fit) -> Fit:
    """Let a fit that fails or is interrupted leave the estimator as it was: fitted to other data, or not at all."""

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
    """Raw rows of X, with names and number of features learned (``reset``) or compared with those learned."""
    rows = as_rows(X)
    named = X if is_frame(X) else rows
    names = column_names(X)
    kinds = {isinstance(name, str) for name in names}
    if len(kinds) > 1:
        others = [name for name in names if not isinstance(name, str)]
        raise TypeError(
            f"Some columns of X have text as their name and others have not, such as {listed(others)}. Feature names "
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


def support_rows(estimator: Any, X: Any) -> Rows:
    """The columns of X that a fitted model reads, in the order of ``support_``.

    X is the full table, a table with the features of ``support_`` by name in any order (further columns are ignored),
    or an array of these features alone. An array that could be either is the full table. Only the columns that are read
    have to be numbers.
    """
    return as_rows(support_columns(estimator, X)).with_coding(_support_coding(estimator))


def support_columns(estimator: Any, X: Any) -> Any:
    """The same in the storage of X, not yet checked."""
    if is_lazy(X):
        raise errors.lazy_table(X)
    if not isinstance(X, Rows) and not is_frame(X) and (found := as_rows(X)).feature_names is not None:
        X = found  # AnnData, xarray, Arrow: names, and columns that are told by them
    used, wanted = estimator.support_, _support_names(estimator)
    in_file, columns = getattr(X, "feature_names", None), getattr(X, "columns", None)
    named = in_file is not None or (columns is not None and all(isinstance(name, str) for name in columns))
    if wanted is not None and named:
        given = list(columns) if in_file is None and columns is not None else list(in_file or [])
        if len(given) == estimator.n_features_in_:  # as at fit, where names that repeat were told apart
            given = unique_names(given)[0]
        places = _places(estimator, given, wanted)
        return _columns_of(X, places, wanted)
    rows = as_rows(X)
    width, n_features = rows.shape[1], estimator.n_features_in_
    if width == n_features:
        checked_rows(estimator, X, reset=False)  # warns of names that only one of both has
        return _columns_of(X if columns is not None or isinstance(X, Rows) else rows, used, wanted)
    if width != len(used):
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {n_features} features as input, or "
            f"the {len(used)} of support_ alone. Pass the same columns, in the same order, as at fit, or those of "
            "support_ in its order."
        )
    return X


def _support_names(estimator: Any) -> list[str] | None:
    """Names of the features that a model reads, where it knows names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names[estimator.support_]]


def _support_coding(estimator: Any) -> Any:
    coding = getattr(estimator, "coding_", None)
    return None if coding is None else coding.of(estimator.support_)


def _places(estimator: Any, given: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted columns are."""
    place = {name: j for j, name in enumerate(given)}
    who = type(estimator).__name__
    absent = [name for name in wanted if name not in place]
    if absent:
        raise ValueError(
            f"X lacks {listed(absent)}, which this {who} reads. Pass a table with the {len(wanted)} features of "
            "support_ by their names, in any order; others may be absent."
        )
    needed = set(wanted)
    repeated = sorted(name for name, times in Counter(given).items() if times > 1 and name in needed)
    if repeated:
        raise ValueError(
            f"X has several columns named {listed(repeated)}, which this {who} reads: features are told apart by their "
            "names. Rename the others."
        )
    return [place[name] for name in wanted]


def _columns_of(X: Any, places: Any, names: Sequence[str] | None) -> Any:
    """Some columns of a data frame, of rows or of a file."""
    if isinstance(X, Rows):
        return ChosenColumns(X, np.asarray(places, dtype=np.intp), names)
    if hasattr(X, "iloc"):
        return X.iloc[:, places]
    if hasattr(X, "select") and hasattr(X, "column_names"):  # an Arrow table
        return X.select([X.column_names[place] for place in places])
    return X[:, list(places)]  # polars, too


def support_label(estimator: Any, place: int, X: Any) -> Any:
    """What a column that is read is called in messages: by name, or by its place in X."""
    names = _support_names(estimator)
    if names is not None:
        return names[place]
    width = X.shape[1] if hasattr(X, "shape") else len(X[0])
    return int(estimator.support_[place]) if width == estimator.n_features_in_ else place


def full_rows(estimator: Any, X: Any) -> Rows:
    """All columns of the fit, in their order: of a table with names in any order, or as they are."""
    names = getattr(estimator, "feature_names_in_", None)
    columns = getattr(X, "columns", None)
    given = list(getattr(X, "feature_names", None) or ([] if columns is None else columns))
    if names is not None and given and given != list(names):
        place = {name: j for j, name in enumerate(given)}
        absent = [name for name in names if name not in place]
        if absent:
            raise ValueError(
                f"X lacks {listed(absent)}. score compares every feature with its prediction, so that all {len(names)} "
                "features of the fit are needed; transform and predict need those of support_ alone."
            )
        X = _columns_of(X, [place[name] for name in names], [str(name) for name in names])
    return checked_rows(estimator, X, reset=False)


def _named_by_file(estimator: Any, rows: Rows, names: list[str], reset: bool) -> None:
    """What scikit-learn does with the columns of data frames, for the names of features in a file."""
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
    """Records read as they were at fit: the numbers of a row must not depend on the others of its file."""
    if not reset:
        return rows.with_coding(getattr(estimator, "coding_", None))
    estimator.__dict__.pop("coding_", None)  # of an earlier fit
    if (coding := rows.coding) is not None:
        estimator.coding_ = coding
    return rows


def checked_view(
    estimator: Any,
    X: Any,
    preprocessing: Preprocessing,
    sample_weight: Any = None,
    say: Callable[[str], None] | None = None,
    checkpoint: Checkpoint | None = None,
    reading_of: Callable[[Rows], Reading] = Reading,
) -> DataMatrix:
    """The view that an estimator fits; errors name features as the user does, and passes are told to ``say``."""
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
    """The view, if it has a principal component to speak of."""
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
    """Surroundings of a fit: threads by the size of its largest product, and a sentence in place of LAPACK's."""
    rows = view.n_samples or view.n_features
    with numerical_trouble_explained(), single_threaded_blas(2.0 * rows * view.n_features * (n_components + 3)):
        yield


def feature_names_of(X: Any, rows: Rows) -> list[str]:
    """Names of the columns of X, those in the file that its rows are from, or x0, x1, ..."""
    names = column_names(X) or rows.feature_names
    return list(named_or_numbered(None if names is None else unique_names(names)[0], rows.shape[1]))


class Numbered(Sequence[str]):
    """x0, x1, ...: names of features that have none, made when one is asked for, as hardly any is in most fits."""

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
    """These names as text; x0, x1, ... where features have none, as in scikit-learn."""
    return Numbered(range(n_features)) if names is None else [str(name) for name in names]


@contextmanager
def features_called(names: Sequence[object]) -> Iterator[None]:
    """Put names in place of indices into what is said about single features."""
    try:
        yield
    except errors.NotFiniteError as flaw:
        raise flaw.named(names) from None


def features_named(estimator: Any) -> AbstractContextManager[None]:
    """The same, with the names that an estimator has learned; indices stay where it has none."""
    return features_called(getattr(estimator, "feature_names_in_", []))


@contextmanager
def numerical_trouble_explained() -> Iterator[None]:
    """A sentence in place of LAPACK's."""
    try:
        yield
    except np.linalg.LinAlgError as trouble:
        raise ValueError(
            "The numbers of X are so ill-conditioned that its variance is lost in rounding (means many orders of "
            "magnitude above the spread, most likely). Subtract a reference row from X, or drop such features, before "
            "fitting."
        ) from trouble


def checkpoint_of(estimator: Any) -> Checkpoint | None:
    """Where an estimator keeps its passes; a folder that belongs to other parameters is refused."""
    from sparing import __version__

    path = getattr(estimator, "checkpoint", None)
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes) or not os.fspath(path):
        raise TypeError(
            f"checkpoint={path!r} was passed; the path of a folder is needed, as a str or pathlib.Path, or None to "
            "keep nothing. The folder is created if needed."
        )
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NO_MATTER}
    return Checkpoint(path, {"estimator": type(estimator).__name__, "version": __version__, **parameters})
