"""Names as a page can show them: of bounded length, and no two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sparing import errors
from sparing.data import Rows
from sparing.estimators.inputs import feature_names_of
from sparing.show.wording import shown

LONGEST = 120
"""Signs of a name that are shown; the rest becomes an ellipsis."""


def page_names(X: Any, rows: Rows, feature_names: Any) -> list[str]:
    """Names given, those of the data, or x0, x1, ...; those that would read alike get their place in X."""
    names = feature_names_of(X, rows) if feature_names is None else feature_names
    n_features = rows.shape[1]
    if isinstance(names, (str, bytes)) or not hasattr(names, "__len__") or len(names) != n_features:
        raise errors.wrong_number_of_names(len(names) if hasattr(names, "__len__") else 1, n_features)
    return distinct([shortened(name) for name in names])


def shortened(name: object) -> str:
    """The beginning of a very long name."""
    text = str(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def readable(name: object) -> str:
    """A name of bounded length, without signs that cannot be shown."""
    return shown(shortened(name))


def distinct(names: Sequence[str]) -> list[str]:
    """Names that tell features apart: what is blank, or reads like another, says which feature of X it is."""
    counts = Counter(map(shown, names))
    placed = [f"{name} (feature {j})".strip() for j, name in enumerate(names)]
    told = [
        name if counts[shown(name)] == 1 and name.strip() else place for name, place in zip(names, placed, strict=True)
    ]
    return told if len(set(map(shown, told))) == len(told) else placed
