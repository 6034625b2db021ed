"""``sparing explore``: write the explorer page of a table."""

from __future__ import annotations

import re
from typing import Any

import click

from sparing.data.readers.text_columns import read_column
from sparing.show.cli import options
from sparing.show.cli.opening import asked_for, progress, writable

NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,15}|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?|[+-]?(nan|inf)", re.IGNORECASE | re.ASCII)
EXACT = 2**53
"""Whole numbers below it are exact as floats."""

PASSED_ON = ("max_features", "scale", "center", "missing", "title", "effort", "time_limit")


@click.command()
@options.data
@click.option("-o", "--output", metavar="PAGE", type=click.Path(), required=True, help="The HTML file to write.")
@options.components
@click.option("--max-features", type=click.IntRange(min=1), help="The end of the slider; 40 by default.")
@options.preprocessing
@options.missing
@options.columns
@click.option("--names", metavar="COLUMN", help="A column with names of the samples.")
@click.option("--title", help="Of the page.")
@options.effort
@options.force
@options.quiet
def explore(
    data: str, output: str, label: str | None, names: str | None, force: bool, quiet: bool, **chosen: Any
) -> None:
    """Write one HTML page about DATA: a slider over the number of features moves loss, loadings and scores.

    The page works offline and holds all it needs. --label colours the scores by a column of the table.

    \b
    Examples:
      sparing explore wine.csv -o page.html --label cultivar --scale
    """
    from sparing.show.report import explore as write_page

    writable(output, force, data)
    drop = [*chosen["drop"], *([] if names is None else [names])]
    table = asked_for(data, {**chosen, "label": label, "drop": drop})
    with progress(quiet) as verbose:
        place = write_page(
            table.rows,
            output,
            n_components=chosen["components"],
            labels=None if label is None else _numbers_or_text(read_column(data, label, chosen["delimiter"])),
            feature_names=table.feature_names,
            sample_names=None if names is None else read_column(data, names, chosen["delimiter"]),
            random_state=chosen["seed"],
            verbose=verbose,
            **{
                name: chosen[name]
                for name in ("max_features", "scale", "center", "missing", "title", "effort", "time_limit")
            },
        )
    click.echo(f"Wrote {place}. Open it in a browser.")


def _numbers_or_text(cells: list[str]) -> list[Any]:
    """Labels as numbers where all of them are, so that many of them make a scale; missing ones are None.

    What a number would not give back, such as 007, 1_2 or an id of twenty digits, is a name.
    """
    present = {cell for cell in cells if cell}
    for kind in (int, float):
        numbers = {cell: number for cell in present if (number := _number(cell, kind)) is not None}
        if len(numbers) == len(present):
            return [numbers.get(cell) for cell in cells]
    return [cell or None for cell in cells]


def _number(cell: str, kind: type[int] | type[float]) -> int | float | None:
    """The number that a cell is, if it is one of this kind."""
    if not NUMBER.fullmatch(cell):
        return None
    number = float(cell)
    if kind is float:
        return number
    return int(number) if number.is_integer() and abs(number) < EXACT else None
