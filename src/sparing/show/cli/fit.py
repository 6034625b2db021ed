"""``sparing fit``: components on few features, and their certificate."""

from __future__ import annotations

from typing import Any

import click

from sparing import HeldOut, NonnegativeSparsePCA, SparseEncoder, SparsePCA, cross_validated, save_model
from sparing.show.cli import records, rules, text
from sparing.show.cli.opening import asked_for, progress, writable

METHODS = {"encoder": SparseEncoder, "pca": SparsePCA, "nonnegative": NonnegativeSparsePCA}
OF_ENCODER = ("max_loss", "strategy", "columns", "costs", "max_cost", "groups", "max_per_group")
OF_METHODS = {"min_variance": set(METHODS), "max_cosine": {"pca"}, **{name: {"encoder"} for name in OF_ENCODER}}
"""Options that only some methods have."""

COUNTS = ("max_loss", "min_variance", "columns")
"""Options that set the number of features, in addition to -r."""


def run(data: str, method: str, as_json: bool, save: str | None, force: bool, quiet: bool, **chosen: Any) -> None:
    """Run ``sparing fit``."""
    given = {name: chosen[name] for name in OF_METHODS if chosen[name] not in (None, ())}
    _check(method, given, chosen["features"])
    rules.check_pairs(chosen)
    writable(save, force, data)
    table = asked_for(data, chosen)
    kept = rules.rules_of(chosen, table)
    fits = 1 + (chosen["cv"] or 0)
    seconds = None if chosen["time_limit"] is None else chosen["time_limit"] / fits
    passed = {name: given[name] for name in ("max_loss", "min_variance", "max_cosine", "strategy") if name in given}
    with progress(quiet) as verbose:
        model = METHODS[method](
            chosen["components"],
            n_nonzero=len(kept["include"]) if chosen["columns"] else chosen["features"],
            verbose=verbose,
            random_state=chosen["seed"],
            **{name: chosen[name] for name in ("precomputed", "center", "scale", "missing", "effort")},
            time_limit=seconds,
            **passed,
            **kept,
        ).fit(table.rows)
    if save is not None:
        model.verbose = False
        save_model(model, save)
    model.verbose = False
    held_out = None if chosen["cv"] is None else cross_validated(model, table.rows, cv=chosen["cv"])
    if as_json:
        record = records.model_record(model, table)
        click.echo(records.dumped(record if held_out is None else {**record, "held_out": _record(held_out)}))
        return
    click.echo(text.fitted(model, table.labels))
    if held_out is not None:
        click.echo(f"\n{held_out}")


def _record(found: HeldOut) -> dict[str, Any]:
    """The shares of new samples, by fold."""
    names = ("unread", "everything", "pca", "pca_everything", "in_sample")
    return {"kept": found.kept, "kept_se": found.kept_se, **{name: getattr(found, name).tolist() for name in names}}


def _check(method: str, given: dict[str, Any], features: int | None) -> None:
    """Raise usage errors for options that cannot be combined."""
    for name in given:
        option = "--" + name.replace("_", "-")
        if method not in OF_METHODS[name]:
            raise click.UsageError(
                f"{option} is for --method {' or '.join(sorted(OF_METHODS[name]))}, not for {method}."
            )
        if features is not None and name in COUNTS:
            raise click.UsageError(f"-r and {option} both say how many features to use; give one of them.")
