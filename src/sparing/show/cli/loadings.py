"""Loadings of any program, in the order of the features of the data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import click
import numpy as np

from sparing import errors
from sparing.data import as_matrix
from sparing.data.readers.base import FileRows
from sparing.data.readers.text_columns import read_column
from sparing.errors import listed
from sparing.estimators.inputs import features_called
from sparing.results import Array
from sparing.show.cli.opening import Table
from sparing.show.wording import shown

INDEX = {"", "unnamed: 0", "index", "component", "components", "pc"}
"""What a column that numbers the components is called, in lower case."""


class Place(NamedTuple):
    """Which features the columns of a table of loadings are about, and in which columns of the file they are."""

    columns: list[int]
    features: list[int]
    by_rows: bool = False  # are components columns, and features rows?


def loadings_for(table: Table, given: FileRows, drop: Collection[str], n_most: int) -> Array:
    """One row per component, at most ``n_most`` of them, and one column per feature of the data."""
    columns = _kept(given, table, drop)
    place = _place(given, table, columns)
    n_components = len(place.columns) if place.by_rows else given.shape[0]
    if n_components > n_most:
        raise ValueError(
            f"Cannot use {str(given.path)!r}: it has {n_components} components, and the features and samples of "
            f"{str(table.path)!r} allow {n_most} at most. Pass loadings, with one row per component, and not the data."
        )
    H = _matrix(given)[:, place.columns]
    full = np.zeros((n_components, table.rows.shape[1]))
    full[:, place.features] = H.T if place.by_rows else H
    without = full.shape[1] - len(place.features)
    if without:
        click.echo(f"Note: {without} of {full.shape[1]} features have no loadings and count as zero.", err=True)
    return full


def _kept(given: FileRows, table: Table, drop: Collection[str]) -> list[int]:
    """Columns that are not left out: as asked, or because they number the components."""
    names = given.feature_names
    if names is None:
        return list(range(given.shape[1]))
    known = set(table.feature_names or [])
    index = [name for name in names if name.strip().lower() in INDEX and name not in known and name not in drop]
    for name in index:
        called = f"column {shown(name)!r}" if name.strip() else "the column without a name"
        click.echo(f"Note: {called} of {given.path} is taken for numbers of the components and left out.", err=True)
    return [j for j, name in enumerate(names) if name not in drop and name not in index]


def _place(given: FileRows, table: Table, columns: list[int]) -> Place:
    """By names where both have them and no two are alike, else by the order of the data."""
    d = table.rows.shape[1]
    by_name = {name: j for j, name in enumerate(table.feature_names or [])}
    if given.feature_names is None or len(by_name) < d:
        if len(columns) == d:
            return Place(columns, list(range(d)))
        if given.shape[0] == d:
            raise _transposed_error(given.path, len(columns), d)
        raise errors.bad_components((given.shape[0], len(columns)), d)
    names = [given.feature_names[j] for j in columns]
    unknown = [name for name in names if name not in by_name]
    if not unknown:
        return Place(columns, [by_name[name] for name in names])
    if len(unknown) < len(names):
        raise _unknown_features_error(given.path, unknown, table.path)
    return _transposed(given, table, columns)


def _transposed(given: FileRows, table: Table, columns: list[int]) -> Place:
    """A column of text that names features says that rows are features; nothing is guessed without one."""
    by_name = {name: j for names in (table.labels, table.feature_names or []) for j, name in enumerate(names)}
    for column in given.left_out:
        cells = read_column(given.path, column)
        unknown = [cell for cell in cells if cell not in by_name]
        if len(unknown) == len(cells) or len(set(cells)) < len(cells):
            continue
        if unknown:
            raise _unknown_features_error(given.path, unknown, table.path)
        click.echo(f"Note: {given.path} has one row per feature and is taken transposed.", err=True)
        return Place(columns, [by_name[cell] for cell in cells], by_rows=True)
    if given.shape[0] == table.rows.shape[1]:
        raise _transposed_error(given.path, len(columns), given.shape[0])
    names = given.feature_names or []
    raise _unknown_features_error(given.path, [names[j] for j in columns], table.path)


def _transposed_error(path: object, n_columns: int, n_features: int) -> ValueError:
    """One row per feature, and nothing that says which row is which."""
    return ValueError(
        f"Cannot use {str(path)!r}: its {n_features} rows and {n_columns} columns look like one row per feature, but "
        "each row is a component. Write the transpose (numpy.savetxt or to_csv of loadings.T), or a column of text "
        "with the name of the feature of each row."
    )


def _unknown_features_error(path: object, names: list[str], data: object) -> ValueError:
    """Loadings of features that the data do not have."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has loadings of {listed(names)}, which are not among the columns of numbers of "
        f"{str(data)!r}. Name features as in the data: in the header, with one row per component, or in a column of "
        "text, with one row per feature."
    )


def _matrix(given: Any) -> Array:
    """All numbers of the file, each of them finite."""
    stored = given.source if given.is_dense else given.source.toarray()
    try:
        with features_called(given.feature_names or []):
            return as_matrix(stored)
    except errors.NotFiniteError as flaw:
        raise ValueError(
            f"Cannot use {str(given.path)!r}: a loading is NaN or infinite (first at row {flaw.row}, feature "
            f"{flaw.column!r}). Write 0 where a component does not use a feature."
        ) from flaw
