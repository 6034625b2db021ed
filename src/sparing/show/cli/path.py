"""``sparing path``: what each number of features loses."""

from __future__ import annotations

import csv
import io
from typing import Any

import click
import numpy as np

from sparing import SparsityPath, sparsity_path
from sparing.results import PROVED
from sparing.show.cli import options, records
from sparing.show.cli.opening import Table, asked_for, progress
from sparing.show.cli.text import NARROWEST, shortened, terminal_width

HEAD = f"{'features':>8}  {'loss / PCA':>11}  {'at least':>11}  "


PASSED_ON = ("max_features", "max_loss", "precomputed", "center", "scale", "missing", "effort", "time_limit")


@click.command(short_help="What each number of features loses.")
@options.data
@options.components
@click.option(
    "--max-features", type=click.IntRange(min=1), help="Where to stop; by default at 100 features, or at all of them."
)
@click.option("--max-loss", type=float, help="Stop as soon as at most this many times what PCA loses is lost.")
@options.fitting
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV.")
@options.quiet
def path(data: str, as_json: bool, as_csv: bool, quiet: bool, **chosen: Any) -> None:
    """Show what each number of features of DATA loses, beside what no choice of as many can go below.

    Both are multiples of what PCA loses with all features. The components share their features.

    \b
    Examples:
      sparing path wine.csv -k 2 --scale
      sparing path wine.csv -k 2 --scale --max-loss 1.05
      sparing path wine.csv -k 3 --max-features 6 --csv
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv both say how to print; give one of them.")
    table = asked_for(data, chosen)
    with progress(quiet) as verbose:
        found = sparsity_path(
            table.rows,
            chosen["components"],
            random_state=chosen["seed"],
            verbose=verbose,
            **{name: chosen[name] for name in PASSED_ON},
        )
    enough = _enough(found, chosen["max_loss"])
    if as_json:
        click.echo(records.dumped(_record(found, table, chosen["components"], enough)))
    elif as_csv:
        click.echo(_csv(found, records.raw_names(table)), nl=False)
    else:
        click.echo(_text(found, table.labels))
        if enough is not None:
            d, limit = table.rows.shape[1], chosen["max_loss"]
            click.echo(f"\n{enough} of {d} features lose at most {limit:g} times what PCA loses.")
    if chosen["max_loss"] is not None and enough is None:
        click.echo(
            f"Note: no number of features up to {len(found)} loses at most {chosen['max_loss']:g} times what PCA "
            f"loses; the last one loses {found.loss_ratio[-1]:.4g} times as much.",
            err=True,
        )


def _enough(found: SparsityPath, max_loss: float | None) -> int | None:
    """The first number of features that loses little enough."""
    if max_loss is None:
        return None
    fits = np.flatnonzero(found.loss_ratio <= max_loss)
    return int(found.n_features[fits[0]]) if len(fits) else None


def _text(found: SparsityPath, names: list[str]) -> str:
    room = max(terminal_width() - len(HEAD), NARROWEST)
    proved = found.loss_ratio <= found.bound * (1 + PROVED)
    marks = np.where(proved, "=", " ")
    lines = [f"{HEAD}which"]
    for r, ratio, mark, bound, support in zip(
        found.n_features, found.loss_ratio, marks, found.bound, found.supports, strict=True
    ):
        which = shortened(", ".join(names[j] for j in support), room)
        lines.append(f"{r:>8}  {ratio:>11.4f}  {mark}{bound:>10.4f}  {which}")
    return "\n".join([*lines, "", "(= where no other features can lose less: proved)"] if proved.any() else lines)


def _csv(found: SparsityPath, names: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["n_features", "loss_ratio", "bound", "features"])
    for r, ratio, bound, support in zip(found.n_features, found.loss_ratio, found.bound, found.supports, strict=True):
        writer.writerow([int(r), float(ratio), float(bound), ", ".join(names[j] for j in support)])
    return out.getvalue()


def _record(found: SparsityPath, table: Table, n_components: int, enough: int | None) -> dict[str, Any]:
    names = records.raw_names(table)
    steps = zip(found.n_features, found.loss_ratio, found.bound, found.supports, strict=True)
    return {
        "data": records.data_record(table),
        "n_components": n_components,
        "enough": enough,
        "steps": [
            {
                "n_features": r,
                "loss_ratio": ratio,
                "bound": bound,
                "support": [{"feature": j, "name": names[j]} for j in support.tolist()],
            }
            for r, ratio, bound, support in steps
        ],
    }
