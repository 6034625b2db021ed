"""Rules on features as options: names, patterns, CSV files of costs and groups."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from sparing import errors
from sparing.data.readers.base import readable
from sparing.data.readers.text_columns import feature_column, read_lines
from sparing.show.cli.opening import Table

PAIRS = (("costs", "max_cost"), ("groups", "max_per_group"))


def check_pairs(chosen: Mapping[str, Any]) -> None:
    """Check that options that belong together are both given."""
    for pair in PAIRS:
        given = [name for name in pair if chosen.get(name) is not None]
        if len(given) == 1:
            other = pair[1 - pair.index(given[0])]
            raise click.UsageError(f"{_option(given[0])} needs {_option(other)}; give both or neither.")


def rules_of(chosen: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The rules in the options as parameters of the library; their files are read before the data."""
    names = table.labels if table.feature_names is None else table.feature_names
    own = _named(chosen.get("columns", ()), names)
    if unknown := [name for name in own if name not in names]:
        raise ValueError(
            f"--columns names {errors.listed(unknown)}, which the data do not have. Their features are "
            f"{errors.listed(names)}."
        )
    included = list(dict.fromkeys([*_named(chosen["include"], names), *own]))
    matching = [name for name in _matching(chosen["exclude_matching"], names) if name not in included]
    rules: dict[str, Any] = {
        "include": included,
        "exclude": list(dict.fromkeys([*_named(chosen["exclude"], names), *matching])),
        "costs": _pairs(chosen, "costs", names, float),
        "max_cost": chosen.get("max_cost"),
        "groups": _groups(chosen, table, names),
        "max_per_group": chosen.get("max_per_group"),
    }
    return {name: value for name, value in rules.items() if value is not None and value != []}


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _named(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names from several options; a name that contains a comma can be passed as a whole."""
    known, found = set(names), list[str]()
    for value in given:
        if value in known:
            found.append(value)
        elif value.startswith("@"):
            found += [name for name in read_lines(value[1:]) if name]
        else:
            found += [name for part in value.split(",") if (name := part.strip())]
    return list(dict.fromkeys(found))


def _matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names that have a match of one of the patterns."""
    found = list[str]()
    for pattern in patterns:
        try:
            matched = [name for name in names if re.search(pattern, name)]
        except re.error as wrong:
            raise click.UsageError(f"--exclude-matching {pattern!r} is not a regular expression: {wrong}.") from None
        if not matched:
            click.echo(f"Note: --exclude-matching {pattern!r} matches no feature.", err=True)
        found += matched
    return found


def _groups(chosen: Mapping[str, Any], table: Table, names: Sequence[str]) -> Any:
    """A group for each feature: from a file of pairs, or from the table of features of AnnData."""
    given = chosen.get("groups")
    if given is None or Path(given).expanduser().is_file():
        return _pairs(chosen, "groups", names, str)
    labels = feature_column(table.path, given)
    if labels is None:
        raise ValueError(
            f"--groups {given!r} is neither a file nor a column of .var of AnnData. Pass a CSV file with two columns: "
            "the name of a feature and its group."
        )
    listed = dict(zip(*labels, strict=True))
    return {name: listed[name] or None for name in names if name in listed}


def _pairs(chosen: Mapping[str, Any], option: str, names: Sequence[str], kind: Callable[[str], Any]) -> Any:
    """Values by name from a CSV file with two columns, without features that are not in the data."""
    if (path := chosen.get(option)) is None:
        return None
    place = Path(path).expanduser()
    what = "a CSV file in UTF-8 with two columns"
    with readable(place, what), place.open(encoding="utf-8-sig", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(cell.strip() for cell in row)]
    known, found = set(names), dict[str, Any]()
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise errors.unreadable(path, f"row {number} has {len(row)} cells; two are needed: a name and its value")
        if row[0] in known:
            try:
                found[row[0]] = kind(row[1])
            except ValueError:
                raise errors.unreadable(
                    path, f"row {number} gives {row[0]!r} the value {row[1]!r}, which is not a number"
                ) from None
    if not found:
        raise errors.unreadable(path, f"it names none of the features, which are {errors.listed(names)}")
    return found
