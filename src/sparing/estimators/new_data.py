"""New data for a fitted model: the features that it reads, by name or by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparing import errors
from sparing.data import Rows, as_rows
from sparing.data.containers import is_frame, is_lazy
from sparing.data.readers.notes import unique_names
from sparing.data.rows import ChosenColumns
from sparing.errors import listed
from sparing.estimators.inputs import checked_rows


def support_rows(estimator: Any, X: Any) -> Rows:
    """The columns of X that a fitted model reads, in the order of ``support_``.

    X is the full table, a table with the features of ``support_`` by name in any order (further columns are ignored),
    or an array of only these features. An array that could be either is the full table. Only the columns that are read
    must be numeric.
    """
    return as_rows(support_columns(estimator, X)).with_coding(_support_coding(estimator))


def support_columns(estimator: Any, X: Any) -> Any:
    """The same in the storage of X, unchecked."""
    if is_lazy(X):
        raise errors.lazy_table(X)
    if not isinstance(X, Rows) and not is_frame(X) and (found := as_rows(X)).feature_names is not None:
        X = found  # AnnData, xarray, Arrow: columns are found by name
    used, wanted = estimator.support_, _support_names(estimator)
    in_file, columns = getattr(X, "feature_names", None), getattr(X, "columns", None)
    named = in_file is not None or (columns is not None and all(isinstance(name, str) for name in columns))
    if wanted is not None and named:
        given = list(columns) if in_file is None and columns is not None else list(in_file or [])
        if len(given) == estimator.n_features_in_:  # as at fit, where repeated names were made unique
            given = unique_names(given)[0]
        places = _places(estimator, given, wanted)
        return _columns_of(X, places, wanted)
    rows = as_rows(X)
    width, n_features = rows.shape[1], estimator.n_features_in_
    if width == n_features:
        checked_rows(estimator, X, reset=False)  # warns about names that only one of them has
        return _columns_of(X if columns is not None or isinstance(X, Rows) else rows, used, wanted)
    if width != len(used):
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {n_features} features as input, or "
            f"the {len(used)} of support_ alone. Pass the same columns, in the same order, as at fit, or those of "
            "support_ in its order."
        )
    return X


def _support_names(estimator: Any) -> list[str] | None:
    """Names of the features that a model reads, if it has names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names[estimator.support_]]


def _support_coding(estimator: Any) -> Any:
    coding = getattr(estimator, "coding_", None)
    return None if coding is None else coding.of(estimator.support_)


def _places(estimator: Any, given: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Positions of the wanted columns."""
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
            f"X has several columns named {listed(repeated)}, which this {who} reads: features are identified by name. "
            "Rename the others."
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
    """The name of a column in messages, or its position in X."""
    names = _support_names(estimator)
    if names is not None:
        return names[place]
    width = X.shape[1] if hasattr(X, "shape") else len(X[0])
    return int(estimator.support_[place]) if width == estimator.n_features_in_ else place


def full_rows(estimator: Any, X: Any) -> Rows:
    """All columns of the fit, in their order: from a table with names in any order, or as they are."""
    names = getattr(estimator, "feature_names_in_", None)
    columns = getattr(X, "columns", None)
    given = list(getattr(X, "feature_names", None) or ([] if columns is None else columns))
    if names is not None and given and given != list(names):
        place = {name: j for j, name in enumerate(given)}
        absent = [name for name in names if name not in place]
        if absent:
            raise ValueError(
                f"X lacks {listed(absent)}. score compares every feature with its prediction, so all {len(names)} "
                "features of the fit are needed; transform and predict need those of support_ alone."
            )
        X = _columns_of(X, [place[name] for name in names], [str(name) for name in names])
    return checked_rows(estimator, X, reset=False)
