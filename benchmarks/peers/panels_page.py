"""The section of `docs/peers.md` on features that predict all others on new samples."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "papers"))
from reasons import PANEL_REASONS, PANELS
from summary import table

HEADER = ("method", "least squares", "own decoder", "rows of the fit", "seconds")
ERRORS = {"same": "least squares", "own": "own decoder"}

Row = dict[str, Any]


def shown(row: Row, column: str) -> str:
    """A number as the table has it; empty where there is none."""
    if column not in row:
        return ""
    return f"{row[column]:.2g}" if column == "seconds" else f"{row[column]:.4f}"


def title(row: Row) -> str:
    return f"{row['package']} {row['name']}"


def ahead(rows: list[Row]) -> Iterator[tuple[Row, str, Row]]:
    """Cells in which a peer is ahead of all of ours under the same rule, in the digits shown; and the best of ours."""
    ours = [row for row in rows if row["package"] == "sparing"]
    for row in rows:
        for column in ERRORS:
            best = min(ours, key=lambda other, column=column: other[column])
            if row not in ours and column in row and float(shown(row, column)) < float(shown(best, column)):
                yield row, column, best


def rule_of(one: Row, kind: str) -> str:
    """In words."""
    words = {
        "free": "no rule",
        "costs": f"a budget: {one['costs']}",
        "region": f"at most {one['max_region']} of {one['region']}",
    }
    return words[kind]


def groups(found: list[Row]) -> Iterator[tuple[Row, str, list[Row]]]:
    """Rows that are compared: of one problem under one rule."""
    for one in found:
        for kind in dict.fromkeys(row["rule"] for row in one["rows"]):
            yield one, kind, [row for row in one["rows"] if row["rule"] == kind]


def lines(found: list[Row]) -> Iterator[list[str]]:
    """The table; bold where a peer is ahead."""
    for one, kind, rows in groups(found):
        n, d = one["shape"]
        where = (
            f"{one['data']}: {n} x {d}, k = {one['n_components']}, {one['n_features']} features; {rule_of(one, kind)}"
        )
        yield [f"*{where}*", *[""] * (len(HEADER) - 1)]
        bold = {(title(row), column) for row, column, _ in ahead(rows)}
        for row in rows:
            cells = [shown(row, column) for column in ("same", "own", "fit", "seconds")]
            marked = [column for column in ("same", "own") if (title(row), column) in bold]
            yield [
                title(row),
                *(
                    f"**{cell}**" if name in marked else cell
                    for name, cell in zip(("same", "own", "fit", "seconds"), cells, strict=True)
                ),
            ]


def verdict(found: list[Row]) -> str:
    """How many cells there are, and those in which a peer is ahead, each with its reason."""
    cells = sum(
        column in row
        for _, _, rows in groups(found)
        for row in rows
        if row["package"] != "sparing"
        for column in ERRORS
    )
    behind = [
        (
            title(row),
            ERRORS[column],
            f"{one['data']}, {rule_of(one, kind)}: {shown(row, column)}, ours {shown(best, column)}",
        )
        for one, kind, rows in groups(found)
        for row, column, best in ahead(rows)
    ]
    if not behind:
        return f"Of {cells} cells of peers none has a lower error than ours under the same rule, in the digits shown."
    missing = sorted({method for method, _, _ in behind} - set(PANEL_REASONS))
    if missing:
        raise LookupError(f"{missing[0]} is ahead on new samples, and reasons.py does not say why.")
    rows = [(*cell, PANEL_REASONS[cell[0]]) for cell in behind]
    counted = f"Of {cells} cells of peers {len(behind)} have a lower error than all of ours, in the digits shown:"
    return f"{counted}\n\n{table(('peer', 'column', 'where', 'why'), rows)}"


def section(found: list[Row]) -> str:
    """All of it."""
    return "\n\n".join([PANELS.strip(), verdict(found), table(HEADER, list(lines(found)))])
