"""``sparing certify``: how good anybody's loadings are, and whether a saved certificate holds."""

from __future__ import annotations

import dataclasses
import zipfile
from pathlib import Path
from typing import Any

import click
import numpy as np

import sparing
from sparing import errors, load_model, open_data
from sparing.certificates import Recheck, RegressionCertificate
from sparing.errors import listed
from sparing.estimators.inputs import features_called
from sparing.estimators.saving import HEADER
from sparing.show.cli import options, records, text
from sparing.show.cli.loadings import loadings_for
from sparing.show.cli.opening import Table, asked_for, opened

PASSED_ON = ("objective", "precomputed", "center", "scale", "missing", "effort", "time_limit")
NOT_HELD = 1
"""The code where a certificate does not hold for the data."""


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
@options.precomputed
@options.preprocessing
@options.missing
@options.columns
@options.effort
@options.as_json
def certify(loadings: str, data: str, as_json: bool, **chosen: Any) -> None:
    """Say how good the LOADINGS of any program are for DATA, and how much better any could be.

    LOADINGS has one row per component and one column per feature: a table whose header names the features as DATA
    does, in any order (features without a column have loading zero), or an array with all features in the order of
    DATA. Columns that hold no numbers, such as names of components, are left out, and so is one called component or
    index. --drop is for both files. A table with one row per feature, and a column that names them, is taken
    transposed.

    LOADINGS may also be a model that `sparing fit --save` or save_model saved: its certificate is then checked again
    from DATA, prepared as the model says, and the exit code is 1 if it does not hold.

    \b
    Examples:
      sparing certify loadings.csv wine.csv --scale
      sparing certify loadings.csv wine.csv --scale --objective variance --json
      sparing fit wine.csv -k 2 -r 5 --scale --save certified.model
      sparing certify certified.model wine.csv
    """
    if is_model(loadings):
        _recheck(loadings, data, as_json, chosen)
        return
    given = open_data(loadings)
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
    """Does the certificate of a saved model hold for these data?"""
    model = certified(path)
    where = (chosen[name] for name in ("key", "label", "drop"))
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
    """Is this a file that ``save_model`` wrote, whatever its ending?"""
    place = Path(path).expanduser()
    if not place.exists():
        raise errors.no_such_file(path)
    try:
        with zipfile.ZipFile(place) as archive:
            return HEADER in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def certified(path: str) -> Any:
    """The model in a file, if it has a certificate that data alone can confirm."""
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
    """The certificate again, from these data; features are found by name where both have names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and table.feature_names is not None and list(names) != table.feature_names:
        place = {name: j for j, name in enumerate(table.feature_names)}
        absent = [str(name) for name in names if name not in place]
        if absent:
            raise ValueError(
                f"Cannot use {str(table.path)!r}: the certificate is about data with the features {listed(absent)}, "
                "which are not among its columns of numbers. Pass the data of the fit, with all features."
            )
        table = table.restricted(np.array([place[name] for name in names], dtype=np.intp))
    rows = table.rows.with_coding(getattr(model, "coding_", None))
    checked: Recheck = model.certificate_.recheck(rows)
    return checked
