"""From what the cells found to `docs/peers.md`: two tables, one plot, and every cell in which a peer is ahead.

python benchmarks/peers/page.py    # put the page together again from the cells that are kept
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "papers"))
import panels_page
from pages import with_executed
from reasons import INTRODUCTION, REASONS, VERDICT
from summary import table

ROOT = Path(__file__).parents[2]
CELLS = ROOT / "benchmarks" / "results" / "peers" / "cells.json"
PAGE = ROOT / "docs" / "peers.md"

FASTER, SMALLER = 0.8, 8.0
"""A peer is faster below this part of our time, and smaller by so many MiB: what is closer is noise."""

HEADER = ("method", "loss ratio", "information", "symmetric", "adjusted", "seconds", "MiB", "search")

Row = dict[str, Any]


class Ahead(NamedTuple):
    """A cell in which a peer is ahead of all of ours."""

    data: str
    method: str
    column: str
    theirs: str
    best: str
    shared: bool


def kept() -> dict[str, Any]:
    """What the last runs found."""
    return (
        json.loads(CELLS.read_text()) if CELLS.exists() else {"versions": {}, "sets": {}, "panels": [], "published": ""}
    )


def keep(found: dict[str, Any]) -> None:
    """Store what was found, and the page and the plot from it."""
    from plot import draw

    CELLS.parent.mkdir(parents=True, exist_ok=True)
    CELLS.write_text(json.dumps(found, indent=1) + "\n")  # first: a page without all its reasons is not written
    PAGE.write_text(page(found))
    draw(found)


def shown(row: Row, column: str) -> str:
    """A number of a row as the table has it; empty where there is none."""
    if column == "search":
        return f"{row[column]:.1f}" if column in row else ""
    if column not in row:
        return ""
    value = row[column]
    if column == "loss":
        return f"{value:.4f}"
    if column == "seconds":
        return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"
    if column == "memory":
        return f"{value:.0f}"
    return f"{100 * value:.2f}"


def is_ours(row: Row) -> bool:
    return row["package"] == "sparing"


def title(row: Row) -> str:
    return f"{row['package']} {row['name']}"


def ahead(data: str, rows: Iterable[Row]) -> Iterator[Ahead]:
    """Cells in which a peer is ahead; rows that compare loadings, or rows that compare columns.

    In quality: ahead of the best of ours, in the digits shown. In seconds and MiB: ahead of each of ours that is as
    good, by loss or, for loadings, by symmetric variance.
    """
    rows = [row for row in rows if "loss" in row]
    ours = [row for row in rows if is_ours(row)]
    for row in rows:
        if is_ours(row):
            continue

        def wins(column: str, name: str, best: Row, row: Row = row) -> Ahead:
            return Ahead(
                data, title(row), name, shown(row, column), f"{shown(best, column)} ({best['name']})", row["shared"]
            )

        best = min(ours, key=lambda other: other["loss"])
        if float(shown(row, "loss")) < float(shown(best, "loss")):
            yield wins("loss", "loss", best)
        for column in ("symmetric", "adjusted"):
            if column in row:
                best = max(ours, key=lambda other, column=column: other[column])
                if float(shown(row, column)) > float(shown(best, column)):
                    yield wins(column, column, best)
        for by, sign in (("loss", 1), ("symmetric", -1)):
            if by not in row:
                continue
            as_good = [other for other in ours if sign * float(shown(other, by)) <= sign * float(shown(row, by))]
            for column in ("seconds", "memory"):
                best = min(as_good, key=lambda other, column=column: other[column], default=None)
                if best is not None and is_less(row[column], best[column], column):
                    yield wins(column, f"{column} at this {'loss' if by == 'loss' else 'symmetric variance'}", best)


def is_less(theirs: float, best: float, column: str) -> bool:
    return theirs < FASTER * best if column == "seconds" else theirs < best - SMALLER


def parts(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Rows that compare loadings, and rows that compare columns."""
    return [row for row in rows if not row["shared"]], [row for row in rows if row["shared"]]


def all_ahead(found: dict[str, Any]) -> list[Ahead]:
    return [cell for name, one in found["sets"].items() for rows in parts(one["rows"]) for cell in ahead(name, rows)]


def lines(name: str, one: dict[str, Any], rows: list[Row]) -> Iterator[list[str]]:
    """The rows of a data set; bold where a peer is ahead."""
    bold = {(cell.method, cell.column.split(" ")[0]) for cell in ahead(name, rows)}
    n, d = one["shape"]
    where = f"{name}: {n} x {d} {one['what']}, {one['components']} components, {one['features']} features"
    yield [f"*{where}; PCA {100 * one['pca']:.2f}%*", *[""] * (len(HEADER) - 1)]
    for row in rows:
        if "failed" in row:
            yield [title(row), row["failed"], *[""] * (len(HEADER) - 2)]
            continue
        cells = [title(row) + (", dense copy" if one["sparse"] and not is_ours(row) else "")]
        for column in ("loss", "information", "symmetric", "adjusted", "seconds", "memory", "search"):
            text = shown(row, column)
            cells.append(f"**{text}**" if (title(row), column) in bold else text)
        yield cells


def grouped(cells: list[Ahead]) -> str:
    """One row for each method and column in which it is ahead somewhere: where, by how much, and why."""
    groups: dict[tuple[str, str], list[Ahead]] = {}
    for cell in cells:
        groups.setdefault((cell.method, cell.column), []).append(cell)
    rows = [
        (
            method,
            column,
            "; ".join(f"{cell.data} {cell.theirs}, ours {cell.best}" for cell in group),
            why(method, column),
        )
        for (method, column), group in groups.items()
    ]
    return table(("peer", "column", "where", "why"), rows)


def why(method: str, column: str) -> str:
    """The reason, from the most special to the most general that is known."""
    kind = column.split(" ")[0]
    for key in ((method, column), (method, kind)):
        if key in REASONS:
            return REASONS[key]
    raise LookupError(f"{method} is ahead in {column}, and reasons.py does not say why.")


def count(found: dict[str, Any]) -> str:
    """How many cells there are, and in how many a peer is ahead, by column."""
    total: dict[str, int] = {}
    for one in found["sets"].values():
        for row in one["rows"]:
            if not is_ours(row) and "loss" in row:
                for column in ("loss", "symmetric", "adjusted", "seconds", "memory"):
                    total[column] = total.get(column, 0) + (column in row)
    won: dict[str, set[tuple[str, str]]] = {}
    for cell in all_ahead(found):
        won.setdefault(cell.column.split(" ")[0], set()).add((cell.data, cell.method))
    return table(
        ("column", "cells of peers", "in which a peer is ahead"),
        [(column, total[column], len(won.get(column, ()))) for column in total],
    )


def page(found: dict[str, Any]) -> str:
    """The whole page."""
    loadings, columns = [], []
    for name, one in found["sets"].items():
        for into, rows in zip((loadings, columns), parts(one["rows"]), strict=True):
            into.extend(lines(name, one, rows))
    without = [HEADER.index(name) for name in ("symmetric", "adjusted", "search")]
    few = [[cell for i, cell in enumerate(line) if i not in without] for line in (HEADER, *columns)]
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        "\n\n".join(
            [
                with_executed(INTRODUCTION.format(versions=versions, count=count(found)).strip()),
                "## Where a peer is ahead",
                VERDICT.strip(),
                grouped(all_ahead(found)),
                "## Each component reads its own features",
                table(HEADER, loadings),
                "## All components read the same features",
                table(few[0], few[1:]),
                panels_page.section(found["panels"]),
                found["published"].strip(),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    keep(kept())
