"""``sparing explore``: write an interactive page about a table."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from sparing.data.readers.text_columns import is_annotated_file, read_column
from sparing.show.cli.opening import asked_for, progress, writable
from sparing.show.report.page import Source

NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,15}|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?|[+-]?(nan|inf)", re.IGNORECASE | re.ASCII)
EXACT_WHOLE = 2**53
"""Integers below it are exact as floats."""

COMPRESSED = (".gz", ".bz2", ".zst")
PASSED_ON = ("max_features", "scale", "center", "missing", "title", "effort", "time_limit")


def run(
    data: str,
    output: str | None,
    label: str | None,
    names: str | None,
    cv: int | None,
    opens: bool,
    force: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Run ``sparing explore``."""
    from sparing.show.report.explorer import explore as write_page

    output = _named_after(data) if output is None else output
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
            source=_source(data, {**chosen, "label": label, "drop": drop}),
            cv="auto" if cv is None else cv,
            random_state=chosen["seed"],
            verbose=verbose,
            **{name: chosen[name] for name in PASSED_ON},
        )
    click.echo(f"Wrote {place}.{'' if opens and _opened(place) else ' Open it in a browser.'}")


def _named_after(data: str) -> str:
    """wine.html for folder/wine.csv and wine.csv.gz."""
    place = Path(data).expanduser().resolve()
    return f"{(Path(place.stem) if place.suffix in COMPRESSED else place).stem}.html"


def _source(data: str, chosen: dict[str, Any]) -> Source:
    """The data file of the page, with the options and arguments to read it in the same way."""
    dropped = list(dict.fromkeys(chosen["drop"]))
    label = [] if chosen["label"] is None else [chosen["label"]]
    valued = {name: chosen[name] for name in ("key", "delimiter", "decimal") if chosen[name] is not None}
    flags = [name for name in ("transpose", "drop_unreadable") if chosen[name]]
    said = [("--label", label), ("--drop", dropped), *((f"--{name}", [value]) for name, value in valued.items())]
    options = [f"{option} {shlex.quote(value)}" for option, values in said for value in values]
    options += [f"--{name.replace('_', '-')}" for name in flags]
    opening = None
    if chosen["feature_names"] is None:
        columns = dropped if is_annotated_file(data) else [*label, *dropped]
        opening = tuple([f"drop={columns!r}"] if columns else [])
        opening += (*(f"{name}={value!r}" for name, value in valued.items()), *(f"{name}=True" for name in flags))
    else:
        options.append(f"--feature-names {shlex.quote(chosen['feature_names'])}")
    return Source(Path(data).name, tuple(options), opening)


def _opened(place: Path) -> bool:
    """Open the page if the output is a terminal and there is a graphical browser."""
    has_screen = sys.platform in {"win32", "darwin"} or bool({"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ))
    if not (sys.stdout.isatty() and has_screen):
        return False
    import webbrowser

    return webbrowser.open(place.resolve().as_uri())


def _numbers_or_text(cells: list[str]) -> list[Any]:
    """Labels as numbers if all of them are, so that many of them make a scale; missing ones are None.

    Text that would change when read as a number, such as 007, 1_2 or an id of twenty digits, is a name.
    """
    present = {cell for cell in cells if cell}
    for kind in (int, float):
        numbers = {cell: number for cell in present if (number := _number(cell, kind)) is not None}
        if len(numbers) == len(present):
            return [numbers.get(cell) for cell in cells]
    return [cell or None for cell in cells]


def _number(cell: str, kind: type[int] | type[float]) -> int | float | None:
    """The number in a cell, if it is one of this kind."""
    if not NUMBER.fullmatch(cell):
        return None
    number = float(cell)
    if kind is float:
        return number
    return int(number) if number.is_integer() and abs(number) < EXACT_WHOLE else None
