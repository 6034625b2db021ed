"""``sparing transform``: scores of new data by a saved model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from sparing import errors, load_model
from sparing.data import ArrayRows, Rows, SparseRows
from sparing.data.rows import ChosenColumns
from sparing.errors import listed
from sparing.estimators.saving import restricted_to
from sparing.results import Array
from sparing.show.cli import options
from sparing.show.cli.opening import Table, opened, writable
from sparing.show.cli.scores import ENDINGS, Write, samples_of, score_file
from sparing.show.wording import component_name


@click.command(short_help="Scores of data by a saved model.")
@click.argument("model", type=click.Path())
@options.data
@click.option(
    "-o",
    "--output",
    metavar="SCORES",
    type=click.Path(),
    help=f"Where to write them, by its ending: {', '.join(ENDINGS)}. By default CSV on the standard output.",
)
@click.option("--names", metavar="COLUMN", help="A column with names of the samples, to write beside their scores.")
@options.key
@options.names_of_features
@options.force
@options.quiet
def transform(
    model: str,
    data: str,
    output: str | None,
    names: str | None,
    key: str | None,
    feature_names: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write the scores of DATA by a MODEL that `sparing fit --save` or save_model saved.

    One row per sample, one column per component: component_1, component_2, ... Before them are the names of the
    samples: those of --names, of AnnData or PLINK, or of a column called id, sample, name or index or without a name
    (not in .npy, which holds numbers only). DATA is read in blocks, and only the features that the model uses
    are needed: found by their names, in any order, or by their places where there are no names.

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5 --scale --save scaled.model
      sparing transform scaled.model wine.csv
      sparing transform scaled.model wine.csv --names cultivar -o scores.csv
    """
    if output is not None and not output.lower().endswith(ENDINGS):
        raise click.BadParameter(f"its ending is none of {', '.join(ENDINGS)}.", param_hint="-o")
    if names is not None and output is not None and output.lower().endswith(".npy"):
        raise click.UsageError("An array (.npy) holds numbers only; write .csv or .parquet with --names.")
    writable(output, force, model, data)
    whole = load_model(model)
    narrow = restricted_to(whole)
    table = opened(data, key, names=feature_names)
    rows = _used(whole, table).with_coding(getattr(narrow, "coding_", None))
    n = rows.shape[0]
    columns = [component_name(i).replace(" ", "_") for i in range(len(whole.components_))]
    samples = samples_of(data, names, table.not_numeric if feature_names else _no_features(whole, table), n)
    with score_file(output, columns, n, samples) as write:
        _write_scores(narrow, rows, write, quiet)


def _write_scores(model: Any, rows: ChosenColumns, write: Write, quiet: bool) -> None:
    """All scores, with a bar of progress on terminals."""
    if quiet or not sys.stderr.isatty():
        for scores in _scores(model, rows):
            write(scores)
        return
    with click.progressbar(length=rows.shape[0], label="Scores", file=sys.stderr) as bar:
        for scores in _scores(model, rows):
            write(scores)
            bar.update(len(scores))


def _no_features(model: Any, table: Table) -> list[str]:
    """Columns of a table that the model knows nothing of."""
    names = getattr(model, "feature_names_in_", None)
    numeric = [] if names is None else [name for name in table.feature_names or [] if name not in set(names)]
    return [*table.not_numeric, *numeric]


def _used(model: Any, table: Table) -> ChosenColumns:
    """The columns that the model reads, in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or table.feature_names is None:
        if table.rows.shape[1] != model.n_features_in_:
            raise errors.model_counts_features(table.path, table.rows.shape[1], model.n_features_in_)
        known = None if names is None else [str(name) for name in names[model.support_]]
        return ChosenColumns(table.rows, model.support_, known)
    place = {name: j for j, name in enumerate(table.feature_names)}
    wanted = [str(name) for name in names[model.support_]]
    absent = [name for name in wanted if name not in place]
    if absent:
        raise ValueError(
            f"Cannot use {str(table.path)!r}: the model reads the features {listed(absent)}, which are not among its "
            "columns of numbers. Pass data with all features that the model uses; others may be absent."
        )
    return ChosenColumns(table.rows, np.array([place[name] for name in wanted], dtype=np.intp), wanted)


def _scores(model: Any, rows: ChosenColumns) -> Iterator[Array]:
    """Scores of block after block."""
    for block in rows.blocks():
        raw: Any = block
        piece: Rows = ArrayRows(raw.rows, block_rows=len(raw.rows)) if raw.is_dense else SparseRows(raw.matrix)
        piece.feature_names = rows.feature_names  # type: ignore[attr-defined]
        try:
            yield model.transform(piece)
        except errors.NotFiniteError as flaw:
            raise errors.NotFiniteError(flaw.value, flaw.row + block.start, flaw.column) from None
