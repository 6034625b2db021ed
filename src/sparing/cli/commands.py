"""Commands: they read, call an estimator and print; nothing is computed here."""

from __future__ import annotations

import warnings

import click

from sparing import SparseEncoder, __version__, errors
from sparing.cli.text import loadings_table, shown
from sparing.data.delimited import read_delimited


@click.group()
@click.version_option(__version__, prog_name="sparing")
def sparing() -> None:
    """The fewest features that say what PCA says, with proof."""


@sparing.command()
@click.argument("data", type=click.Path(path_type=str))
@click.option("-k", "--components", default=2, show_default=True, help="Number of components.")
@click.option("-r", "--features", type=int, help="Number of features to use.")
@click.option(
    "--max-loss", type=float, help="Use the fewest features that lose at most this many times what PCA loses."
)
@click.option("--scale", is_flag=True, help="Divide every feature by its standard deviation.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers.")
def fit(data: str, components: int, features: int | None, max_loss: float | None, scale: bool, seed: int) -> None:
    """Choose the few features of DATA (a CSV or TSV file with a header) that say what PCA says.

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5
      sparing fit wine.csv -k 3 --max-loss 1.05 --scale
    """
    try:
        table = read_delimited(data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SparseEncoder(
                components, n_nonzero=features, max_loss=max_loss, scale=scale, random_state=seed
            ).fit(table.values)
    except errors.NotFiniteError as flaw:
        raise click.ClickException(shown(str(flaw.named(table.names)))) from flaw
    except (ValueError, TypeError) as problem:
        raise click.ClickException(str(problem)) from problem
    if table.left_out:
        click.echo(f"Left out, because not numeric: {', '.join(map(shown, table.left_out))}.", err=True)
    for warning in caught:
        click.echo(f"Note: {warning.message}", err=True)
    click.echo(model.certificate_)
    click.echo()
    click.echo(loadings_table(model.components_, table.names))
