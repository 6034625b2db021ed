"""``sparing transform``: scores of new data by a saved model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from sparing import errors, load_model
from sparing.cli import options
from sparing.cli.opening import Table, opened, writable
from sparing.cli.scores import ENDINGS, score_file
from sparing.data import ArrayRows, Rows, SparseRows
from sparing.data.chosen import ChosenColumns
from sparing.errors import models
from sparing.estimators.narrowing import narrowed
from sparing.results import Array


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
@click.option("--key", metavar="NAME", help="Which table of a file that holds several, such as layers/counts.")
@options.force
@options.quiet
def transform(model: str, data: str, output: str | None, key: str | None, force: bool, quiet: bool) -> None:
    """Write the scores of DATA by a MODEL that `sparing fit --save` or save_model saved.

    One row per sample, one column per component. DATA is read in blocks, and only the features that the model uses
    are needed: found by their names, in any order, or by their places where there are no names.

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5 --scale --save scaled.model
      sparing transform scaled.model wine.csv
      sparing transform scaled.model wine.csv -o scores.csv
    """
    if output is not None and not output.lower().endswith(ENDINGS):
        raise click.BadParameter(f"its ending is none of {', '.join(ENDINGS)}.", param_hint="-o")
    writable(output, force)
    whole = load_model(model)
    narrow = narrowed(whole)
    rows = _used(whole, opened(data, key))
    n = rows.shape[0]
    with score_file(output, list(whole.get_feature_names_out()), n) as write:
        if quiet or not sys.stderr.isatty():
            for scores in _scores(narrow, rows):
                write(scores)
            return
        with click.progressbar(length=n, label="Scores", file=sys.stderr) as bar:
            for scores in _scores(narrow, rows):
                write(scores)
                bar.update(len(scores))


def _used(model: Any, table: Table) -> ChosenColumns:
    """The columns that the model reads, in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or table.feature_names is None:
        if table.rows.shape[1] != model.n_features_in_:
            raise models.model_counts_features(table.path, table.rows.shape[1], model.n_features_in_)
        known = None if names is None else [str(name) for name in names[model.support_]]
        return ChosenColumns(table.rows, model.support_, known)
    place = {name: j for j, name in enumerate(table.feature_names)}
    wanted = [str(name) for name in names[model.support_]]
    absent = [name for name in wanted if name not in place]
    if absent:
        raise models.model_needs_features(table.path, absent)
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
