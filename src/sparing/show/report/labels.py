"""Labels of samples, as colours of a legend or of a scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparing import errors
from sparing.data import Rows
from sparing.estimators.inputs import feature_names_of
from sparing.results import Indices
from sparing.show.wording import shown

MOST_CATEGORIES = 20
"""Maximum number of groups told apart by colour and shape; the rarest are shown as one."""

FEW_NUMBERS = 10
"""Up to this many distinct numbers are groups; more are a scale."""

MISSING = "(missing)"


def label_column(labels: Any, n_samples: int) -> list[Any] | None:
    """One label for each sample, None if it is missing."""
    if labels is None:
        return None
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__len__"):
        raise TypeError(
            f"labels={labels!r} is a {type(labels).__name__}; one label for each sample is needed. Pass the column "
            "itself, such as frame['species']."
        )
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "M":  # otherwise nanoseconds, as integers
        labels = [None if np.isnat(date) else str(np.datetime_as_string(date, "auto")) for date in labels.flat]
    column = np.asarray(labels, dtype=object)
    if column.shape != (n_samples,):
        raise ValueError(
            f"labels has shape {column.shape}, but X has {n_samples} samples: each sample is coloured by its own "
            "label. Pass one label for each sample, in their order, or none."
        )
    return [None if _is_missing(value) else value if _is_number(value) else str(value) for value in column]


def coloured(labels: Sequence[Any] | None, drawn: Indices) -> dict[str, Any] | None:
    """Colours of the samples: a scale of numbers, or groups and the code of each sample."""
    if labels is None:
        return None
    present = {value for value in labels if value is not None}
    if len(present) > FEW_NUMBERS and all(map(_is_number, present)):
        return {"kind": "scale", "values": [None if labels[i] is None else _finite(labels[i]) for i in drawn]}
    counts = Counter(MISSING if value is None else readable(value) for value in sorted(labels, key=_order))
    groups = list(counts)  # in the order of the labels
    if len(groups) > MOST_CATEGORIES:
        frequent = {text for text, _ in counts.most_common(MOST_CATEGORIES - 1)}
        groups = [*(text for text in groups if text in frequent), f"({len(groups) - len(frequent)} other labels)"]
    code = {text: i for i, text in enumerate(groups)}
    texts = (MISSING if labels[i] is None else readable(labels[i]) for i in drawn)
    return {"kind": "groups", "groups": groups, "values": [code.get(text, len(groups) - 1) for text in texts]}


def _order(value: Any) -> tuple[bool, bool, float, str]:
    """Sort numbers by size, then strings, then missing values."""
    number = _is_number(value)
    return value is None, not number, float(value) if number else 0.0, str(value)


def sample_column(names: Any, n_samples: int, drawn: Indices) -> list[str]:
    """Names of the samples drawn; otherwise their indices, from 0."""
    if names is None:
        return [str(i) for i in drawn]
    if isinstance(names, (str, bytes)) or not hasattr(names, "__len__") or len(names) != n_samples:
        raise errors.wrong_number_of_names(len(names) if hasattr(names, "__len__") else 1, n_samples, "samples")
    column = list(names)
    return [readable(column[i]) for i in drawn]


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, pandas' NA or NaT: values that do not equal themselves, or raise an error."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


NAME_CHARACTERS = 120
"""Maximum number of characters of a name; the rest becomes an ellipsis."""


def page_names(X: Any, rows: Rows, feature_names: Any) -> list[str]:
    """The given names, those of the data, or x0, x1, ...; equal names get their index in X."""
    names = feature_names_of(X, rows) if feature_names is None else feature_names
    n_features = rows.shape[1]
    if isinstance(names, (str, bytes)) or not hasattr(names, "__len__") or len(names) != n_features:
        raise errors.wrong_number_of_names(len(names) if hasattr(names, "__len__") else 1, n_features)
    return distinct([shortened(name) for name in names])


def shortened(name: object) -> str:
    """The beginning of a very long name."""
    text = str(name)
    return text if len(text) <= NAME_CHARACTERS else text[: NAME_CHARACTERS - 1] + "…"


def readable(name: object) -> str:
    """A name of bounded length, without unprintable characters."""
    return shown(shortened(name))


def distinct(names: Sequence[str]) -> list[str]:
    """Unique names: blank or repeated ones get the index of the feature in X."""
    counts = Counter(map(shown, names))
    placed = [f"{name} (feature {j})".strip() for j, name in enumerate(names)]
    told = [
        name if counts[shown(name)] == 1 and name.strip() else place for name, place in zip(names, placed, strict=True)
    ]
    return told if len(set(map(shown, told))) == len(told) else placed
