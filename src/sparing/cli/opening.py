"""From names of files to rows, and what is said on the way."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from sparing import errors, open_data
from sparing.cli.text import shortened, terminal_width
from sparing.data import Rows
from sparing.data.chosen import ChosenColumns
from sparing.errors import files
from sparing.wording import names_of, shown

CLEAR_LINE = "\r\x1b[K"

MOST_NAMES = 10
"""Names of columns that one line may have."""


class Table(NamedTuple):
    """Rows of a file without the columns that are no features."""

    path: str
    rows: Rows
    feature_names: list[str] | None
    not_numeric: list[str]
    dropped: list[str]

    @property
    def labels(self) -> list[str]:
        """A name for each feature, as it may be shown."""
        return names_of(self.feature_names, self.rows.shape[1])

    def say_left_out(self) -> None:
        """Name the columns that are not used, on the error stream."""
        for why, columns in (("because not numeric", self.not_numeric), ("as asked", self.dropped)):
            if columns:
                more = f" and {len(columns) - MOST_NAMES} more" if len(columns) > MOST_NAMES else ""
                click.echo(f"Left out, {why}: {', '.join(map(shown, columns[:MOST_NAMES]))}{more}.", err=True)


def opened(path: str, key: str | None = None, label: str | None = None, drop: Sequence[str] = ()) -> Table:
    """The columns of a file that are features."""
    rows: Any = open_data(path, key=key)
    names, unwanted = rows.feature_names, [*([label] if label is not None else []), *drop]
    known = [*(names or []), *rows.left_out]
    for name in unwanted:
        if name not in known:
            raise files.no_column(path, name, known)
    not_numeric = [name for name in rows.left_out if name not in unwanted]
    dropped = list(dict.fromkeys(unwanted))
    kept = [j for j, name in enumerate(names or []) if name not in unwanted]
    if names is not None and len(kept) < len(names):
        if not kept:
            raise files.every_column_left_out(path)
        names = [names[j] for j in kept]
        rows = ChosenColumns(rows, np.array(kept), names)
    return Table(path, rows, names, not_numeric, dropped)


@contextmanager
def features_named(names: Sequence[str]) -> Iterator[None]:
    """Put names in place of indices into what is said about single features."""
    try:
        yield
    except errors.NotFiniteError as flaw:
        raise flaw.named(names) from None


@contextmanager
def progress(quiet: bool) -> Iterator[bool]:
    """Is progress to be shown? In one line of the error stream then, where results are not disturbed."""
    if quiet or not sys.stderr.isatty():
        yield False
        return
    with redirect_stdout(_OneLine()):
        try:
            yield True
        finally:
            click.echo(CLEAR_LINE, nl=False, err=True)


class _OneLine(io.TextIOBase):
    """Each line in the place of the one before it."""

    def write(self, text: str) -> int:
        """Show the last line of a text that has one."""
        lines = text.strip().splitlines()
        if lines:
            click.echo(CLEAR_LINE + shortened(lines[-1], terminal_width() - 1), nl=False, err=True)
        return len(text)


def writable(path: str | None, force: bool) -> None:
    """Refuse early, before anything is computed, what could not be written in the end."""
    if path is None:
        return
    place = Path(path).expanduser()
    if place.is_dir():
        raise files.cannot_write(path, IsADirectoryError(21, "it is a folder"))
    if not place.parent.is_dir():
        raise files.cannot_write(path, FileNotFoundError(2, f"there is no folder {str(place.parent)!r}"))
    if place.is_file() and not force:
        raise files.already_there(path, "--force")
