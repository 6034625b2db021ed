"""What every estimator does with what it is given."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import validate_data

from sparing import errors
from sparing.data import ArrayRows, Preprocessing, Rows, as_rows, as_view, is_symmetric
from sparing.data.checkpoint import Checkpoint
from sparing.data.tracked import TrackedRows
from sparing.errors import checkpoints
from sparing.errors.settings import check_settings
from sparing.estimators.few_passes import Reading
from sparing.gram import DataMatrix
from sparing.linalg import single_threaded_blas

Fit = TypeVar("Fit", bound=Callable[..., Any])

MISSING = ("error", "mean")
"""What NaN may mean."""

NO_MATTER = ("checkpoint", "verbose", "time_limit")
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
    named = X if hasattr(X, "columns") else rows
    names = list(getattr(X, "columns", []))
    if len(set(map(str, names))) < len(names):
        raise errors.duplicate_names(
            sorted({str(name) for name in names if list(map(str, names)).count(str(name)) > 1})
        )
    kinds = {isinstance(name, str) for name in names}
    if len(kinds) > 1:
        raise errors.names_of_several_kinds(names)
    in_file = getattr(rows, "feature_names", None)
    if in_file is None or len(set(in_file)) < len(in_file):
        validate_data(estimator, named, skip_check_array=True, reset=reset)
    else:
        _named_by_file(estimator, rows, in_file, reset)
    return _coded(estimator, rows, reset)


def _named_by_file(estimator: Any, rows: Rows, names: list[str], reset: bool) -> None:
    """What scikit-learn does with the columns of data frames, for the names of features in a file."""
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    if known is not None and list(known) != names:
        raise errors.other_features(names, list(known), type(estimator).__name__)
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


def preprocessing_of(estimator: Any) -> Preprocessing:
    """How X is prepared, by the parameters of an estimator."""
    return preprocessing_from(estimator.center, estimator.scale, estimator.precomputed, estimator.missing)


def preprocessing_from(center: Any, scale: Any, precomputed: Any = False, missing: Any = "error") -> Preprocessing:
    """The same from what a user gave."""
    flags = (flag("center", center), flag("scale", scale), flag("precomputed", precomputed))
    return Preprocessing(*flags, one_of("missing", missing, MISSING))


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
        warnings.warn(errors.looks_precomputed(), errors.SparingWarning, stacklevel=5)
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
        raise errors.not_psd(float(values[0]), float(values[-1]))
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
    names = getattr(X, "columns", None)
    return named_or_numbered(getattr(rows, "feature_names", None) if names is None else names, rows.shape[1])


def named_or_numbered(names: Iterable[object] | None, n_features: int) -> list[str]:
    """These names as text; x0, x1, ... where features have none, as in scikit-learn."""
    return [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]


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
        raise errors.ill_conditioned() from trouble


def checkpoint_of(estimator: Any) -> Checkpoint | None:
    """Where an estimator keeps its passes; a folder that belongs to other parameters is refused."""
    from sparing import __version__

    path = estimator.checkpoint
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes) or not os.fspath(path):
        raise checkpoints.not_a_folder(path)
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NO_MATTER}
    return Checkpoint(path, {"estimator": type(estimator).__name__, "version": __version__, **parameters})


def generator_of(random_state: Any, checkpoint: Checkpoint | None = None) -> np.random.Generator:
    """The generator of a fit, from any of scikit-learn's ways to say ``random_state``; a resumed fit has its own."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng(None if checkpoint is None else checkpoint.seed)
    if is_whole(random_state) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    raise errors.bad_random_state(random_state)


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise errors.not_a_flag(name, value)
    return bool(value)


def one_of(name: str, value: Any, allowed: Collection[str], also: tuple[object, ...] = ()) -> str:
    """A name from a short list; ``also`` is allowed elsewhere, and said where this is not."""
    if not isinstance(value, str) or value not in allowed:
        raise errors.unknown_choice(name, value, [*allowed, *also])
    return value


def is_whole(value: Any) -> bool:
    """An integer of Python or NumPy; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def count(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    if not is_whole(value):
        raise errors.not_an_integer(name, value)
    if value < 1:
        raise errors.not_positive(name, value)
    return int(value)


def feature_count(name: str, value: Any, n_features: int) -> int:
    """A number of features that X has."""
    checked = count(name, value)
    if checked > n_features:
        raise errors.n_nonzero_out_of_range(checked, n_features)
    return checked


def loss_limit(value: Any) -> float:
    """A loss ratio that something can reach."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not value >= 1:
        raise errors.max_loss_out_of_range(value)
    return min(float(value), sys.float_info.max)


def share(name: str, value: Any, example: str) -> float:
    """A number above 0 and at most 1."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:
        raise errors.not_a_share(name, value, example)
    return float(value)


def resolved(parameter: str, registry: Mapping[str, Any], verb: str, choice: Any, also: tuple[str, ...] = ()) -> Any:
    """An algorithm by its name, or the user's own instance with its settings."""
    if isinstance(choice, str):
        if choice not in registry:
            raise errors.unknown_choice(parameter, choice, [*registry, *also])
        return registry[choice]()
    if isinstance(choice, type) or not callable(getattr(choice, verb, None)):
        raise errors.unknown_choice(parameter, choice, [*registry, *also])
    check_settings(choice)
    return choice
