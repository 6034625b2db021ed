"""``sparing transform``: scores of new data with a saved model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import click

from sparing import errors, load_model
from sparing.data import ArrayRows, Rows, SparseRows
from sparing.estimators.inputs import support_rows
from sparing.results import Array
from sparing.show.cli import options
from sparing.show.cli.opening import Table, opened, reading_of, writable
from sparing.show.cli.scores import ENDINGS, Write, samples_of, score_file
from sparing.show.wording import component_name


@click.command()
@click.argument("model", type=click.Path())
@options.data
@click.option(
    "-o",
    "--output",
    metavar="SCORES",
    type=click.Path(),
    help=f"File to write, in the format of its extension: {', '.join(ENDINGS)}. Default: CSV on standard output.",
)
@click.option("--names", metavar="COLUMN", help="Column with sample names, written before the scores.")
@options.reading
@options.names_of_features
@options.force
@options.quiet
def transform(
    model: str,
    data: str,
    output: str | None,
    names: str | None,
    feature_names: str | None,
    force: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write the scores of DATA with a MODEL saved by `sparing fit --save` or save_model.

    The output has one row per sample and one column per component: component_1, component_2, ... Sample names come
    first, from --names, from AnnData or PLINK, or from a column that is unnamed or called id, sample, name or index
    (not in .npy, which holds numbers only).

    DATA is read in blocks and needs only the features that the model reads. They are matched by name, in any order.
    Without names they are matched by position, among all features or on their own.

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5 --scale --save scaled.model
      sparing transform scaled.model wine.csv
      sparing transform scaled.model wine.csv --names cultivar -o scores.csv
    """
    if output is not None and not output.lower().endswith(ENDINGS):
        raise click.BadParameter(f"its extension must be one of {', '.join(ENDINGS)}.", param_hint="-o")
    if names is not None and output is not None and output.lower().endswith(".npy"):
        raise click.UsageError("An array (.npy) holds numbers only; write .csv or .parquet with --names.")
    writable(output, force, model, data)
    whole = load_model(model)
    table = opened(data, reading_of(reading), names=feature_names)
    rows = _used(whole, table)
    n = rows.shape[0]
    columns = [component_name(i).replace(" ", "_") for i in range(len(whole.components_))]
    others = table.not_numeric if feature_names else _no_features(whole, table)
    samples = samples_of(data, names, others, n, reading["delimiter"])
    with score_file(output, columns, n, samples) as write:
        _write_scores(whole, rows, write, quiet)


def _write_scores(model: Any, rows: Rows, write: Write, quiet: bool) -> None:
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


def _used(model: Any, table: Table) -> Rows:
    """The columns that the model reads, in its order: by name, or by their places where there are no names."""
    if not hasattr(model, "components_"):
        raise TypeError(
            f"The model is a {type(model).__name__}, which has no components to make scores of. Scores come from "
            "SparseEncoder, SparsePCA, NonnegativeSparsePCA, DoublySparseEncoder and SparsePCARegressor."
        )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return support_rows(model, table.rows)
    except ValueError as flaw:
        raise ValueError(f"Cannot use {str(table.path)!r}: {flaw}") from flaw


def _scores(model: Any, rows: Rows) -> Iterator[Array]:
    """Scores of block after block."""
    for block in rows.blocks():
        raw: Any = block
        piece: Rows = ArrayRows(raw.rows, block_rows=len(raw.rows)) if raw.is_dense else SparseRows(raw.matrix)
        piece.feature_names = rows.feature_names
        try:
            yield model.transform(piece)
        except errors.NotFiniteError as flaw:
            raise errors.NotFiniteError(flaw.value, flaw.row + block.start, flaw.column) from None
