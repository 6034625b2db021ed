"""The commands with their options and help texts; each imports the module that runs it only to run."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from sparing.show.cli import options

SCORE_FILES = (".csv", ".npy", ".parquet")
"""File extensions of scores."""


@click.command()
@options.data
@click.option(
    "--method",
    type=click.Choice(["encoder", "pca", "nonnegative"]),
    default="encoder",
    show_default=True,
    help="encoder: features that rebuild the data almost as well as PCA; pca: components of maximal variance; "
    "nonnegative: the same without negative loadings.",
)
@options.components
@click.option(
    "-r",
    "--features",
    type=click.IntRange(min=1),
    help="Number of features: in total (encoder with --strategy batch, the default), or per component (all others).",
)
@click.option(
    "--max-loss", type=float, help="Use the fewest features whose loss is at most this multiple of PCA's loss."
)
@click.option(
    "--min-variance",
    type=float,
    help="Use the fewest features that keep this share of PCA's variance (encoder), or of the variance with all "
    "features (pca, nonnegative): of each component, or of their total if they are searched together.",
)
@click.option(
    "--max-cosine",
    type=float,
    help="The largest absolute cosine of the loadings of two components, from 0 (orthogonal) to 1 (no limit) (pca).",
)
@click.option(
    "--strategy",
    type=click.Choice(["batch", "iterative", "joint"]),
    help="batch (the default of encoder): all components share their features; iterative, joint: each component reads "
    "its own.",
)
@options.own_columns
@options.rules
@options.limits
@options.held_out
@options.fitting
@click.option("--save", metavar="MODEL", type=click.Path(), help="Save the model for `sparing transform`.")
@options.force
@options.quiet
def fit(**chosen: Any) -> None:
    """Fit components of DATA that read few features, and print their certificate.

    Without -r, --max-loss and --min-variance it uses the fewest features that keep 90% of the variance that PCA's
    components explain (encoder), or ten features per component (pca, nonnegative).

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5 --scale
      sparing fit wine.csv -k 3 --max-loss 1.05 --scale --drop proline
      sparing fit wine.csv --method pca -k 2 -r 4 --scale --json
      sparing fit wine.csv --method pca -k 3 -r 5 --scale --max-cosine 0.3
      sparing fit wine.csv --method nonnegative -k 2 --min-variance 0.8 --scale --label cultivar
      sparing fit wine.csv -k 2 -r 5 --scale --save wine.model
      sparing fit wine.csv -k 2 -r 5 --scale --cv 5
      sparing fit wine.csv -k 2 -r 5 --scale --include ash,hue --exclude-matching '^pro' --save panel.model
      sparing fit wine.csv -k 2 --scale --columns alcohol,ash,hue
    """
    _run("fit", chosen)


@click.command()
@options.data
@options.components
@click.option(
    "--max-features",
    type=click.IntRange(min=1),
    help="Largest number of features; by default 100, or all if there are fewer.",
)
@click.option("--min-variance", type=float, help="Stop when this share of PCA's variance is kept.")
@click.option("--max-loss", type=float, help="Stop when the loss is at most this multiple of PCA's loss.")
@options.rules
@options.limits
@options.held_out
@options.fitting
@click.option("--csv", "as_csv", is_flag=True, help="Output CSV.")
@options.quiet
def path(**chosen: Any) -> None:
    """Report the share of PCA's variance that each number of features of DATA keeps, and its upper bound.

    The bound holds for every choice of the same number of features. All components share their features.

    \b
    Examples:
      sparing path wine.csv -k 2 --scale
      sparing path wine.csv -k 2 --scale --min-variance 0.95
      sparing path wine.csv -k 3 --max-features 6 --csv
      sparing path wine.csv -k 2 --scale --cv 5
      sparing path wine.csv -k 2 --scale --include ash,hue --exclude proline
    """
    _run("path", chosen)


@click.command()
@options.data
@click.option(
    "-o",
    "--output",
    metavar="PAGE",
    type=click.Path(),
    help="HTML file to write; by default named after DATA, in the current folder.",
)
@options.components
@click.option(
    "--max-features", type=click.IntRange(min=1), help="Largest number of features on the page; by default 40."
)
@options.preprocessing
@options.missing
@options.columns
@click.option("--names", metavar="COLUMN", help="Column with sample names.")
@click.option("--title", help="Page title.")
@click.option(
    "--cv", type=click.IntRange(min=2), help="Number of cross-validation folds; by default 5 if that is quick."
)
@click.option(
    "--open/--no-open", "opens", default=True, help="Open the page in a browser when run in a terminal; on by default."
)
@options.effort
@options.force
@options.quiet
def explore(**chosen: Any) -> None:
    """Write one HTML page about DATA: how many features, which ones, and how they compare with PCA.

    The page is a single file that works offline. --label colours the scores by a column of the table.

    \b
    Examples:
      sparing explore wine.csv --label cultivar --scale
      sparing explore wine.csv -o page.html --label cultivar --scale
    """
    _run("explore", chosen)


@click.command()
@click.argument("model", type=click.Path())
@options.data
@click.option(
    "-o",
    "--output",
    metavar="SCORES",
    type=click.Path(),
    help=f"File to write, in the format of its extension: {', '.join(SCORE_FILES)}. Default: CSV on standard output.",
)
@click.option("--names", metavar="COLUMN", help="Column with sample names, written before the scores.")
@options.reading
@options.names_of_features
@options.force
@options.quiet
def transform(**chosen: Any) -> None:
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
    _run("transform", chosen)


@click.command()
@click.argument("loadings", type=click.Path())
@options.data
@click.option(
    "--objective",
    type=click.Choice(["loss", "variance"]),
    default="loss",
    show_default=True,
    help="loss: the variance that the best decoder cannot rebuild; variance: the variance of the span of the loadings.",
)
@options.fitting
def certify(**chosen: Any) -> None:
    """Report how good the LOADINGS of any program are for DATA, and bound how much better others could be.

    LOADINGS has one row per component and one column per feature. It is a table whose header has the feature names of
    DATA in any order (a feature without a column has loading zero), or an array with all features in the order of
    DATA. Non-numeric columns, such as names of components, and a column called component or index are ignored. --drop
    applies to both files. A table with one row per feature and a column of feature names is transposed.

    LOADINGS may also be a model saved by `sparing fit --save` or save_model. Its certificate is then checked again
    from DATA, preprocessed as in the fit, and the exit code is 1 if it does not hold.

    \b
    Examples:
      sparing certify loadings.csv wine.csv --scale
      sparing certify loadings.csv wine.csv --scale --objective variance --json
      sparing fit wine.csv -k 2 -r 5 --scale --save certified.model
      sparing certify certified.model wine.csv
    """
    _run("certify", chosen)


def _run(name: str, chosen: dict[str, Any]) -> None:
    """Run a command with its numerics, which ``--help`` and ``--version`` do without."""
    import_module(f"sparing.show.cli.{name}").run(**chosen)
