"""``sparing explore``: one page to look at, to share and to trust."""

from __future__ import annotations

from typing import Any

import click

from sparing.cli import options
from sparing.cli.opening import opened, writable
from sparing.data import Imputed
from sparing.data.readers.labels import read_column


@click.command(short_help="One HTML page to look at and to share.")
@options.data
@click.option("-o", "--output", metavar="PAGE", type=click.Path(), required=True, help="The HTML file to write.")
@options.components
@click.option("--max-features", type=click.IntRange(min=1), help="The end of the slider; 40 by default.")
@options.preparation
@options.missing
@options.columns
@click.option("--names", metavar="COLUMN", help="A column with names of the samples.")
@click.option("--title", help="Of the page.")
@options.effort
@options.force
def explore(data: str, output: str, label: str | None, names: str | None, force: bool, **chosen: Any) -> None:
    """Write one HTML page about DATA: a slider over the number of features moves loss, loadings and scores.

    The page works offline and holds all it needs. --label colours the scores by a column of the table.

    \b
    Examples:
      sparing explore wine.csv -o page.html --label cultivar --scale
    """
    from sparing.report import explore as write_page

    writable(output, force)
    drop = [*chosen["drop"], *([] if names is None else [names])]
    table = opened(data, chosen["key"], label, drop)
    table.say_left_out()
    place = write_page(
        Imputed(table.rows) if chosen["missing"] == "mean" else table.rows,
        output,
        n_components=chosen["components"],
        labels=None if label is None else _numbers_or_text(read_column(data, label)),
        feature_names=table.feature_names,
        sample_names=None if names is None else read_column(data, names),
        random_state=chosen["seed"],
        **{name: chosen[name] for name in ("max_features", "scale", "center", "title", "time_limit")},
    )
    click.echo(f"Wrote {place}. Open it in a browser.")


def _numbers_or_text(cells: list[str]) -> list[Any]:
    """Labels as numbers where all of them are, so that many of them make a scale; missing ones are None."""
    try:
        numbers = [None if cell == "" else float(cell) for cell in cells]
    except ValueError:
        return [cell or None for cell in cells]
    whole = all(number is None or number.is_integer() for number in numbers)
    return [None if number is None else int(number) if whole else number for number in numbers]
