"""``sparing path``: the share of PCA's variance that each number of features keeps."""

from __future__ import annotations

import csv
import io
from typing import Any

import click
import numpy as np

from sparing import SparsityPath, sparsity_path
from sparing.certificates.sentences import counted, percent, percent_kept
from sparing.estimators.validation.folds import with_error
from sparing.results import PROVED
from sparing.show.cli import records, rules
from sparing.show.cli.opening import Table, asked_for, progress
from sparing.show.cli.text import NARROWEST, shortened, terminal_width

NUMBERS = ("variance_kept", "variance_kept_bound", "loss_ratio", "bound")
HEAD = f"{'features':>8}  {'kept':>6}  {'at most':>8}  "


PASSED_ON = (
    "max_features",
    "min_variance",
    "max_loss",
    "precomputed",
    "center",
    "scale",
    "missing",
    "effort",
    "time_limit",
    "cv",
)


def run(data: str, as_json: bool, as_csv: bool, quiet: bool, **chosen: Any) -> None:
    """Run ``sparing path``."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv both say how to print; give one of them.")
    rules.check_pairs(chosen)
    table = asked_for(data, chosen)
    kept = rules.rules_of(chosen, table)
    with progress(quiet) as verbose:
        found = sparsity_path(
            table.rows,
            chosen["components"],
            random_state=chosen["seed"],
            verbose=verbose,
            **{name: chosen[name] for name in PASSED_ON},
            **kept,
        )
    wanted = {name: chosen[name] for name in ("min_variance", "max_loss") if chosen[name] is not None}
    enough = _enough(found, **wanted)
    if as_json:
        click.echo(records.dumped(_record(found, table, chosen["components"], enough)))
    elif as_csv:
        click.echo(_csv(found, records.raw_names(table)), nl=False)
    else:
        click.echo(_text(found, table.labels))
        if chosen["cv"] is not None:
            folds = f"{chosen['cv']} folds" if chosen["time_limit"] is None else "cross-validated"
            click.echo(f"\n{_held_out(found, chosen['components'], folds)}")
        if enough is not None:
            step = enough - int(found.n_features[0])
            click.echo(f"\n{enough} of {table.rows.shape[1]} features {_asked(found, step, **wanted)}")
    if wanted and enough is None:
        most = found.n_features[-1]
        click.echo(f"Note: the target is not reached: {most} features {_asked(found, -1)}", err=True)


def _enough(found: SparsityPath, min_variance: float | None = None, max_loss: float | None = None) -> int | None:
    """The smallest number of features that keeps enough."""
    if max_loss is not None:
        fits = found.loss_ratio <= max_loss
    elif min_variance is not None:
        fits = found.variance_kept >= min_variance
    else:
        return None
    return int(found.n_features[fits.argmax()]) if fits.any() else None


def _asked(found: SparsityPath, step: int, min_variance: float | None = None, max_loss: float | None = None) -> str:
    """The result of a step, as share or as loss as requested."""
    if max_loss is not None:
        return f"lose at most {max_loss:g} times what PCA loses."
    return f"keep {percent_kept(found.variance_kept[step])} of PCA's variance."


def _held_out(found: SparsityPath, n_components: int, folds: str) -> str:
    """The most that is kept on new samples, compared with PCA."""
    curves = np.array([found.held_out, found.held_out_se, found.held_out_pca])
    best = int(curves[0].argmax())
    kept, error, pca = curves[:, best].tolist()
    features = counted(int(found.n_features[best]), "feature")
    return (
        f"New samples: {features} keep {with_error(kept, error)} of the variance of the features not read "
        f"({folds}), the most on this path.\n"
        f"PCA with {counted(n_components, 'component')} reads everything: it keeps {pca:.1%}."
    )


def _text(found: SparsityPath, names: list[str]) -> str:
    room = max(terminal_width() - len(HEAD), NARROWEST)
    proved = found.loss_ratio <= found.bound * (1 + PROVED)
    lines = [f"{HEAD}which"]
    steps = zip(found.n_features, found.variance_kept, proved, found.variance_kept_bound, found.supports, strict=True)
    for r, kept, optimal, most, support in steps:
        which = shortened(", ".join(names[j] for j in support), room)
        bound = "optimal" if optimal else percent(most)
        lines.append(f"{r:>8}  {percent_kept(kept):>6}  {bound:>8}  {which}")
    said = "(kept: share of PCA's variance; at most: proved bound for any choice of this many features)"
    return "\n".join([*lines, "", said])


def _numbers(found: SparsityPath) -> tuple[str, ...]:
    return NUMBERS if found.held_out is None else (*NUMBERS, "held_out", "held_out_se", "held_out_pca")


def _csv(found: SparsityPath, names: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = _numbers(found)
    writer.writerow(["n_features", *columns, "features"])
    for i, (r, support) in enumerate(zip(found.n_features, found.supports, strict=True)):
        numbers = (float(getattr(found, name)[i]) for name in columns)
        writer.writerow([int(r), *numbers, ", ".join(names[j] for j in support)])
    return out.getvalue()


def _record(found: SparsityPath, table: Table, n_components: int, enough: int | None) -> dict[str, Any]:
    names = records.raw_names(table)
    return {
        "data": records.data_record(table),
        "n_components": n_components,
        "enough": enough,
        "steps": [
            {
                "n_features": r,
                **{name: getattr(found, name)[i] for name in _numbers(found)},
                "support": [{"feature": j, "name": names[j]} for j in support.tolist()],
            }
            for i, (r, support) in enumerate(zip(found.n_features, found.supports, strict=True))
        ],
    }
