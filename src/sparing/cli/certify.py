"""``sparing certify``: how good anybody's loadings are."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import sparing
from sparing import errors, open_data
from sparing.cli import options, records, text
from sparing.cli.opening import Table, features_named, opened
from sparing.data import Imputed, as_matrix
from sparing.errors import models
from sparing.results import Array


@click.command(short_help="How good the loadings of any program are.")
@click.argument("loadings", type=click.Path())
@options.data
@click.option(
    "--objective",
    type=click.Choice(["loss", "variance"]),
    default="loss",
    show_default=True,
    help="loss: what the best decoder cannot rebuild; variance: that of the span of the loadings.",
)
@options.preparation
@options.missing
@options.columns
@options.effort
@options.as_json
def certify(loadings: str, data: str, objective: str, as_json: bool, **chosen: Any) -> None:
    """Say how good the LOADINGS of any program are for DATA, and how much better any could be.

    LOADINGS has one row per component and one column per feature: a table whose header names the features as DATA
    does, in any order (features without a column have loading zero), or an array with all features in the order of
    DATA. Columns that hold no numbers, such as names of components, are left out.

    \b
    Examples:
      sparing certify loadings.csv wine.csv --scale
      sparing certify loadings.csv wine.csv --scale --objective variance --json
    """
    table = opened(data, chosen["key"], chosen["label"], chosen["drop"])
    table.say_left_out()
    components = _components(loadings, table)
    rows = Imputed(table.rows) if chosen["missing"] == "mean" else table.rows
    with features_named(table.labels):
        certificate = sparing.certify(
            components,
            rows,
            objective=objective,
            random_state=chosen["seed"],
            **{name: chosen[name] for name in ("center", "scale", "time_limit")},
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


def _components(path: str, table: Table) -> Array:
    """Loadings of all features of the data, by name where both files have names."""
    rows: Any = open_data(path)
    stored: Any = rows.source if rows.is_dense else rows.source.toarray()
    try:
        with features_named(rows.feature_names or []):
            given = as_matrix(stored)
    except errors.NotFiniteError as flaw:
        raise models.loadings_not_finite(path, flaw.row, flaw.column) from flaw
    if rows.feature_names is None or table.feature_names is None:
        return given
    place = {name: j for j, name in enumerate(table.feature_names)}
    unknown = [name for name in rows.feature_names if name not in place]
    if unknown:
        raise models.loadings_unknown(path, unknown, table.path)
    full = np.zeros((len(given), len(place)))
    full[:, [place[name] for name in rows.feature_names]] = given
    without = len(place) - len(rows.feature_names)
    if without:
        click.echo(f"Note: {without} of {len(place)} features have no loadings and count as zero.", err=True)
    return full
