"""Results as text: as wide as the terminal, without control characters."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
from wcwidth import wcswidth

from sparing.certificates.sentences import percent_kept
from sparing.results import Array
from sparing.show.wording import (
    END_OF_ISOLATE,
    ISOLATE,
    LoadingsRow,
    component_name,
    loadings_rows,
    shown,
    terms,
)

CELL = 14
"""Width of one number."""

NARROWEST = 12
"""Minimum width of a name."""

WORST, LONGEST = 10, 40
"""Number of worst predicted features to name, and the width of each name."""

MOST_ROWS, MOST_TERMS = 50, 20
"""Maximum number of features in a table, and of terms in an equation."""


def terminal_width() -> int:
    """Width of the terminal (or COLUMNS); 100 without a terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def one_line(message: object) -> str:
    """A message without line breaks and control characters."""
    return shown(" ".join(str(message).split()))


def fitted(model: Any, names: Sequence[str]) -> str:
    """The report on a model: certificate, prediction of features, loadings, equations."""
    width = terminal_width()
    return "\n\n".join(
        [
            str(model.certificate_),
            predicted(model, names),
            loadings_table(model.components_, names, width),
            equations(model.components_, names, width),
            _meaning(model.center, model.scale),
        ]
    )


def predicted(model: Any, names: Sequence[str]) -> str:
    """The variance that the scores explain, and the features that they explain worst."""
    explained, r2 = model.explained_variance_ratio_, model.feature_r2_
    each = f", by component: {', '.join(f'{part:.1%}' for part in explained)}" if len(explained) > 1 else ""
    worst = np.argsort(r2, kind="stable")[:WORST]
    named = ", ".join(f"{shortened(shown(names[j]), LONGEST)} {percent_kept(max(r2[j], 0.0))}" for j in worst)
    total = f"The scores explain {percent_kept(float(explained.sum()))} of the total variance{each}."
    return f"{total}\nPredicted worst (share of variance): {named}."


def loadings_table(components: Array, names: Sequence[str], width: int | None = None) -> str:
    """Nonzero loadings with their names, the largest first.

    Components that share features stand side by side, as many as fit; otherwise each has its own block.
    """
    width = terminal_width() if width is None else width
    H = np.asarray(components)
    rows = loadings_rows(H, names)
    if len(H) > 1 and any(not all(row.loadings) for row in rows):
        longest = min(max(len("feature"), *(wide(row.name) for row in rows)), max(width - CELL, NARROWEST))
        return "\n\n".join(_part(rows, range(i, i + 1), longest) for i in range(len(H)))
    longest = max([len("feature"), *(wide(row.name) for row in rows[:MOST_ROWS])])
    beside = min(longest, max(width - CELL * len(H), NARROWEST))
    at_once = max((width - beside) // CELL, 1)
    parts = [range(first, min(first + at_once, len(H))) for first in range(0, len(H), at_once)]
    return "\n\n".join(_part(rows, part, beside) for part in parts)


def _part(rows: Sequence[LoadingsRow], components: range, width: int) -> str:
    """The table of some of the components."""
    used = [row for row in rows if any(row.loadings[i] for i in components)]
    used.sort(key=lambda row: -max(abs(row.loadings[i]) for i in components))
    lines = [padded("feature", width) + "".join(f"{component_name(i):>{CELL}}" for i in components)]
    for row in used[:MOST_ROWS]:
        values = (row.loadings[i] for i in components)
        lines.append(padded(row.name, width) + "".join(_cell(value) for value in values))
    if len(used) > MOST_ROWS:
        lines.append(f"... and {len(used) - MOST_ROWS} more features (--json has them all)")
    return "\n".join(lines)


def _cell(value: float) -> str:
    return f"{value:{CELL}.4f}" if abs(value) >= 0.00005 else f"{value:{CELL}.1e}"


def equations(components: Array, names: Sequence[str], width: int | None = None) -> str:
    """Each component as a sum of features, wrapped to the terminal."""
    width = terminal_width() if width is None else width
    short = [shortened(shown(name), max(width // 2, NARROWEST)) for name in names]
    return "\n".join(
        _wrapped([f"{component_name(i)} =", *terms(row, short, most=MOST_TERMS)], width)
        for i, row in enumerate(np.asarray(components))
    )


def _wrapped(pieces: Sequence[str], width: int) -> str:
    """Wrap pieces into lines without breaking a piece."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if wide(lines[-1]) + 1 + wide(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(f"    {piece}")
    return "\n".join(lines)


def _meaning(center: bool, scale: bool) -> str:
    """The meaning of the names in an equation."""
    done = " minus its mean" * bool(center) + ", divided by its standard deviation" * bool(scale)
    return f"(Each name stands for the value of that feature{done}.)"


def padded(text: str, width: int) -> str:
    """Text shortened or padded to a width."""
    label = shortened(text, width)
    return label + " " * (width - wide(label))


def wide(text: str) -> int:
    """Width of a text on the terminal."""
    return max(wcswidth(text), 0)


def shortened(name: str, width: int) -> str:
    """A name shortened to a width, with an ellipsis."""
    if wide(name) <= width:
        return name
    text = name.removeprefix(ISOLATE).removesuffix(END_OF_ISOLATE)[: 2 * width]
    while wide(text) > width - 1:
        text = text[:-1]
    return f"{ISOLATE}{text}…{END_OF_ISOLATE}" if name.startswith(ISOLATE) else f"{text}…"
