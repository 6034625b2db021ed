"""``sparing certify``: how good loadings from any program are, and whether a saved certificate holds."""

from __future__ import annotations

import dataclasses
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

import sparing
from sparing import errors, load_model
from sparing.certificates import Recheck, RegressionCertificate
from sparing.data import as_matrix
from sparing.data.readers import open_rows
from sparing.data.readers.base import FileRows, Options
from sparing.data.readers.text_columns import read_column
from sparing.errors import listed
from sparing.estimators.inputs import features_called
from sparing.estimators.saving import HEADER
from sparing.results import Array
from sparing.show.cli import records, text
from sparing.show.cli.opening import Table, asked_for, opened, reading_of
from sparing.show.wording import shown

PASSED_ON = ("objective", "precomputed", "center", "scale", "missing", "effort", "time_limit")
ARCHIVE = b"PK\x03\x04"
"""What a file of ``save_model`` begins with."""

NOT_HELD = 1
"""The exit code if a certificate does not hold for the data."""


def run(loadings: str, data: str, as_json: bool, **chosen: Any) -> None:
    """Run ``sparing certify``."""
    if is_model(loadings):
        _recheck(loadings, data, as_json, chosen)
        return
    given = open_rows(loadings, Options())
    table = asked_for(data, chosen, elsewhere=[*(given.feature_names or []), *given.left_out])
    n, d = table.rows.shape
    centred = chosen["center"] and not table.precomputed
    components = loadings_for(table, given, chosen["drop"], min(d, n - centred))
    with features_called(table.labels):
        certificate = sparing.certify(
            components, table.rows, random_state=chosen["seed"], **{name: chosen[name] for name in PASSED_ON}
        )
    if as_json:
        record = {
            "sparing": sparing.__version__,
            "data": records.data_record(table),
            "components": records.components_record(components, records.raw_names(table)),
            "certificate": records.certificate_record(certificate),
        }
        click.echo(records.dumped(record))
    else:
        click.echo(f"{certificate}\n\n{text.loadings_table(components, table.labels)}")


def _recheck(path: str, data: str, as_json: bool, chosen: dict[str, Any]) -> None:
    """Recheck the certificate of a saved model with these data."""
    model = certified(path)
    where = reading_of(chosen), chosen["label"], chosen["drop"]
    precomputed = model.certificate_.preprocessing.precomputed
    table = opened(data, *where, names=chosen["feature_names"], precomputed=precomputed)
    table.say_left_out()
    with features_called(table.labels):
        checked = rechecked(model, table)
    if as_json:
        record = {
            "sparing": sparing.__version__,
            "data": records.data_record(table),
            "recheck": dataclasses.asdict(checked),
            "certificate": records.certificate_record(model.certificate_),
        }
        click.echo(records.dumped(record))
    else:
        click.echo(f"{checked}\n\n{model.certificate_}" if checked else str(checked))
    if not checked:
        raise click.exceptions.Exit(NOT_HELD)


def is_model(path: str) -> bool:
    """Whether it is a file of ``save_model``, whatever its extension."""
    place = Path(path).expanduser()
    if not place.exists():
        raise errors.no_such_file(path)
    try:
        with zipfile.ZipFile(place) as archive:
            return HEADER in archive.namelist()
    except zipfile.BadZipFile:  # a damaged model still begins as an archive; of tables only .npz are archives
        with place.open("rb") as file:
            return place.suffix.lower() != ".npz" and file.read(len(ARCHIVE)) == ARCHIVE
    except OSError:
        return False


def certified(path: str) -> Any:
    """The model in a file, if its certificate can be rechecked from data only."""
    model = load_model(path)
    certificate = getattr(model, "certificate_", None)
    if certificate is None or isinstance(certificate, RegressionCertificate):
        raise ValueError(
            f"Cannot check {str(path)!r}: it holds a {type(model).__name__} without a certificate of its components. "
            "Pass a SparseEncoder, SparsePCA, NonnegativeSparsePCA or DoublySparseEncoder that was fitted with "
            "certify=True, or loadings."
        )
    return model


def rechecked(model: Any, table: Table) -> Recheck:
    """Recheck the certificate with these data; features are matched by name if both have names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and table.feature_names is not None and list(names) != table.feature_names:
        place = {name: j for j, name in enumerate(table.feature_names)}
        absent = [str(name) for name in names if name not in place]
        if absent:
            raise ValueError(
                f"Cannot use {str(table.path)!r}: the certificate is about data with the features {listed(absent)}, "
                "which are not among its numeric columns. Pass the data of the fit, with all features."
            )
        table = table.restricted(np.array([place[name] for name in names], dtype=np.intp))
    rows = table.rows.with_coding(getattr(model, "coding_", None))
    checked: Recheck = model.certificate_.recheck(rows)
    return checked


INDEX = {"", "unnamed: 0", "index", "component", "components", "pc"}
"""Names of a column that numbers the components, in lower case."""


class Place(NamedTuple):
    """The features of a table of loadings, and their columns in the file."""

    columns: list[int]
    features: list[int]
    by_rows: bool = False  # whether components are columns and features are rows


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
    """Columns that are used, without dropped ones and those that number the components."""
    names = given.feature_names
    if names is None:
        return list(range(given.shape[1]))
    known = set(table.feature_names or [])
    index = [name for name in names if name.strip().lower() in INDEX and name not in known and name not in drop]
    for name in index:
        called = f"column {shown(name)!r}" if name.strip() else "the column without a name"
        click.echo(f"Note: {called} of {given.path} looks like component numbers and is ignored.", err=True)
    return [j for j, name in enumerate(names) if name not in drop and name not in index]


def _place(given: FileRows, table: Table, columns: list[int]) -> Place:
    """Match by names if both have unique ones, otherwise by the order of the data."""
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
    """A text column with feature names shows that rows are features; without one the table is not transposed."""
    by_name = {name: j for names in (table.labels, table.feature_names or []) for j, name in enumerate(names)}
    for column in given.left_out:
        cells = read_column(given.path, column)
        unknown = [cell for cell in cells if cell not in by_name]
        if len(unknown) == len(cells) or len(set(cells)) < len(cells):
            continue
        if unknown:
            raise _unknown_features_error(given.path, unknown, table.path)
        click.echo(f"Note: {given.path} has one row per feature and is transposed.", err=True)
        return Place(columns, [by_name[cell] for cell in cells], by_rows=True)
    if given.shape[0] == table.rows.shape[1]:
        raise _transposed_error(given.path, len(columns), given.shape[0])
    names = given.feature_names or []
    raise _unknown_features_error(given.path, [names[j] for j in columns], table.path)


def _transposed_error(path: object, n_columns: int, n_features: int) -> ValueError:
    """The error for one row per feature without feature names."""
    return ValueError(
        f"Cannot use {str(path)!r}: its {n_features} rows and {n_columns} columns look like one row per feature, but "
        "each row is a component. Write the transpose (numpy.savetxt or to_csv of loadings.T), or a column of text "
        "with the name of the feature of each row."
    )


def _unknown_features_error(path: object, names: list[str], data: object) -> ValueError:
    """The error for loadings of features that are not in the data."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has loadings of {listed(names)}, which are not among the numeric columns of "
        f"{str(data)!r}. Name features as in the data: in the header, with one row per component, or in a column of "
        "text, with one row per feature."
    )


def _matrix(given: Any) -> Array:
    """All numbers of the file as a matrix of finite values."""
    stored = given.source if given.is_dense else given.source.toarray()
    try:
        with features_called(given.feature_names or []):
            return as_matrix(stored)
    except errors.NotFiniteError as flaw:
        raise ValueError(
            f"Cannot use {str(given.path)!r}: a loading is NaN or infinite (first at row {flaw.row}, feature "
            f"{flaw.column!r}). Write 0 where a component does not use a feature."
        ) from flaw
