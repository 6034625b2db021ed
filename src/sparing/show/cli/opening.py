"""Opening of the input files of a command, with messages."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from sparing import errors
from sparing.data import ArrayRows, Rows, is_symmetric
from sparing.data.readers import open_rows
from sparing.data.readers.base import Options
from sparing.data.readers.notes import repeated_note, unique_names
from sparing.data.readers.text_columns import column_place, is_annotated_file, read_column, read_lines
from sparing.data.rows import ChosenColumns
from sparing.results import Indices
from sparing.show.cli.options import as_options
from sparing.show.cli.text import one_line, shortened, terminal_width
from sparing.show.report.page import place_for
from sparing.show.wording import names_of, shown

CLEAR_LINE = "\r\x1b[K"

MOST_NAMES = 10
"""Maximum number of column names in a line."""


class Table(NamedTuple):
    """Rows of a file without the columns that are not features."""

    path: str
    rows: Rows
    feature_names: list[str] | None
    not_numeric: list[str]
    dropped: list[str]
    precomputed: bool = False
    notes: Sequence[str] = ()

    @property
    def labels(self) -> list[str]:
        """A printable name for each feature."""
        return names_of(self.feature_names, self.rows.shape[1])

    def restricted(self, J: Indices) -> Table:
        """Only these features, in this order; for a covariance also only their rows."""
        names = None if self.feature_names is None else [self.feature_names[j] for j in J]
        rows: Any = ChosenColumns(self.rows, J, names)
        if self.precomputed and self.rows.is_dense and self.rows.shape[0] == self.rows.shape[1]:
            rows = ArrayRows(rows.source[J])
            rows.feature_names = names
        return self._replace(rows=rows, feature_names=names)

    def say_left_out(self) -> None:
        """Print the unused columns, and notes about the others, on the error stream."""
        for why, columns in (("not numeric", self.not_numeric), ("as requested", self.dropped)):
            if columns:
                more = f" and {len(columns) - MOST_NAMES} more" if len(columns) > MOST_NAMES else ""
                names = ", ".join(self.called(name) for name in columns[:MOST_NAMES])
                click.echo(f"Not used as features ({why}): {names}{more}.", err=True)
        for note in self.notes:
            click.echo(f"Note: {one_line(as_options(note))}.", err=True)

    def called(self, name: str) -> str:
        """The name of a column in messages; its position if it has no name."""
        if name.strip():
            return shown(name)
        place = column_place(self.path, name)
        return "(no name)" if place is None else f"(column {place + 1}, no name)"


def asked_for(path: str, chosen: Mapping[str, Any], *, elsewhere: Collection[str] = ()) -> Table:
    """The table defined by the options of a command, with a note if it may not be the expected one.

    Columns named in ``elsewhere`` may be dropped without being in it.
    """
    precomputed = chosen.get("precomputed", False)
    if chosen["label"] is not None and is_annotated_file(path):
        read_column(path, chosen["label"])  # a column of obs; raises an error if there is none
        chosen = {**chosen, "label": None}
    if precomputed and chosen["missing"] == "mean":
        raise click.UsageError("--missing mean is for samples; a covariance (--precomputed) has no rows to average.")
    table = opened(
        path,
        reading_of(chosen),
        chosen["label"],
        chosen["drop"],
        names=chosen["feature_names"],
        precomputed=precomputed,
        elsewhere=elsewhere,
    )
    table.say_left_out()
    if not precomputed and is_symmetric(table.rows):
        then = "pass --precomputed" if "precomputed" in chosen else "pass the samples that they came from"
        click.echo(f"Note: the table is symmetric: if it holds covariances or correlations {then}.", err=True)
    return table


def reading_of(chosen: Mapping[str, Any]) -> Options:
    """Arguments for reading a file, from the options of a command."""
    names = ("key", "transpose", "delimiter", "decimal", "drop_unreadable")
    delimiter = {"\\t": "\t", "tab": "\t"}.get(chosen["delimiter"] or "", chosen["delimiter"])
    if delimiter is not None and len(delimiter) != 1:
        raise click.UsageError("--delimiter must be a single character, or tab.")
    return Options(**{**{name: chosen[name] for name in names}, "delimiter": delimiter})


def opened(
    path: str,
    reading: Options,
    label: str | None = None,
    drop: Sequence[str] = (),
    *,
    names: str | None = None,
    precomputed: bool = False,
    elsewhere: Collection[str] = (),
) -> Table:
    """The feature columns of a file, with the names in the file ``names`` if given."""
    unwanted = list(dict.fromkeys([*([label] if label is not None else []), *drop]))
    all_of_them = precomputed or names is not None  # a covariance needs all rows and columns, names are for all columns
    rows: Any = open_rows(path, reading if all_of_them else replace(reading, drop=tuple(unwanted)))
    if names is not None:
        rows.feature_names, more = _names(names, path, rows.shape[1])
        rows.notes = [*rows.notes, *more]
    known = [*rows.left_out, *(rows.feature_names or [])]  # labels are among those left out, most likely
    for name in unwanted:
        if name not in known and name not in elsewhere:
            raise errors.no_column(path, name, known)
    dropped = [name for name in unwanted if name in known]
    not_numeric = [name for name in rows.left_out if name not in unwanted]
    table = Table(path, rows, rows.feature_names, not_numeric, dropped, precomputed, rows.notes)
    kept = [j for j, name in enumerate(table.feature_names or []) if name not in unwanted]
    if len(kept) == len(table.feature_names or []):
        return table
    if not kept:
        raise errors.unreadable(path, "all numeric columns were dropped. Keep at least one")
    return table.restricted(np.array(kept))


def _names(path: str, data: str, n_features: int) -> tuple[list[str], list[str]]:
    """A name for each feature, from a file with one per line, and a note about repeated names."""
    names = read_lines(path)
    if len(names) != n_features:
        raise ValueError(
            f"Cannot use {str(path)!r}: it has {len(names)} names, and {str(data)!r} has {n_features} numeric columns. "
            "Write one name on each line, in the order of the numeric columns."
        )
    unique, repeated = unique_names(names)
    return unique, [repeated_note(repeated)] if repeated else []


@contextmanager
def progress(quiet: bool) -> Iterator[bool]:
    """Whether to show progress, on one line of the error stream, apart from results."""
    if quiet or not sys.stderr.isatty():
        yield False
        return
    with redirect_stdout(_OneLine()):
        try:
            yield True
        finally:
            click.echo(CLEAR_LINE, nl=False, err=True)


class _OneLine(io.TextIOBase):
    """A stream that replaces each line by the next one."""

    def write(self, text: str) -> int:
        """Show the last line of a text, if any."""
        lines = text.strip().splitlines()
        if lines:
            click.echo(CLEAR_LINE + shortened(lines[-1], terminal_width() - 1), nl=False, err=True)
        return len(text)


def writable(path: str | None, force: bool, *inputs: str) -> None:
    """Reject output files, before any computation, that cannot be written or would replace an input."""
    if path is None:
        return
    place = place_for(path)
    read = [given for name in inputs if (given := Path(name).expanduser()).exists()]
    if place.exists() and any(place.samefile(given) for given in read):
        raise errors.UnwritableError(
            f"Cannot write {str(path)!r}: it is an input of this command. Choose another name."
        )
    if place.is_file() and not force:
        raise errors.UnwritableError(
            f"Cannot write {str(path)!r}: it exists already. Choose another name, or pass --force."
        )
