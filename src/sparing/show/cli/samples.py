"""What the samples of a file are called."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sparing.data.readers.text_columns import COLUMNAR, read_column, sample_names

TITLE = "sample"
"""Of a column of names that has no title of its own."""

USUAL = {"", "unnamed: 0", "id", "ids", "name", "names", "index", TITLE, "samples", "sample_id", "sample id"}
"""What a column of names is called, in lower case."""


class Samples(NamedTuple):
    """Names of the samples, and the title of their column."""

    title: str
    names: list[str]


def samples_of(path: str, column: str | None, columns: Iterable[str], n_samples: int) -> Samples | None:
    """Names from the column asked for; else those that the file has a place for, or one of ``columns`` by its title."""
    if column is None:
        names = sample_names(path)
        if names is not None:
            return Samples(TITLE, names) if len(names) == n_samples else None
        if Path(path).suffix.lower() in COLUMNAR:
            column = next((name for name in columns if name.strip().lower() in USUAL), None)
    return None if column is None else Samples(column.strip() or TITLE, read_column(path, column))
