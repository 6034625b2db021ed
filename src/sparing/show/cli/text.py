"""Results as text for people and as records for programs; control characters never reach the terminal."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
from wcwidth import wcswidth

from sparing import __version__
from sparing.certificates import Certificate
from sparing.results import Array
from sparing.show.cli.opening import Table
from sparing.show.wording import (
    END_OF_ISOLATE,
    ISOLATE,
    LoadingsRow,
    against_pca,
    component_name,
    equation,
    loadings_rows,
    shown,
    terms,
)

CELL = 14
"""Columns of the terminal for one number."""

NARROWEST = 12
"""Columns that a name has at the least."""

MOST_ROWS, MOST_TERMS = 50, 20
"""Features in a table, and terms in an equation, that somebody may want to read."""


def terminal_width() -> int:
    """Columns of the terminal (or COLUMNS); 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def one_line(message: object) -> str:
    """A message without line breaks and control characters."""
    return shown(" ".join(str(message).split()))


def fitted(model: Any, names: Sequence[str]) -> str:
    """All that is said of a model: certificate, loss, loadings, equations."""
    width = terminal_width()
    explained = model.explained_variance_ratio_
    each = ", ".join(f"{share:.1%}" for share in explained)
    loss = against_pca(max(1.0 - float(explained.sum()), 0.0), float(model.loss_ratio_))
    components = f" Rebuilt from the scores, by what each component adds: {each}." if len(explained) > 1 else ""
    return "\n\n".join(
        [
            str(model.certificate_),
            loss + components,
            loadings_table(model.components_, names, width),
            equations(model.components_, names, width),
            _meaning(model.center, model.scale),
        ]
    )


def loadings_table(components: Array, names: Sequence[str], width: int | None = None) -> str:
    """Nonzero loadings with their names, the largest first; as many components side by side as fit."""
    width = terminal_width() if width is None else width
    H = np.asarray(components)
    rows = loadings_rows(H, names)
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
    if not value:
        return f"{'.':>{CELL}}"
    return f"{value:{CELL}.4f}" if abs(value) >= 0.00005 else f"{value:{CELL}.1e}"


def equations(components: Array, names: Sequence[str], width: int | None = None) -> str:
    """Each component as a sum of features, in lines that fit."""
    width = terminal_width() if width is None else width
    short = [shortened(shown(name), max(width // 2, NARROWEST)) for name in names]
    return "\n".join(
        _wrapped([f"{component_name(i)} =", *terms(row, short, most=MOST_TERMS)], width)
        for i, row in enumerate(np.asarray(components))
    )


def _wrapped(pieces: Sequence[str], width: int) -> str:
    """Pieces in lines that fit; none is broken."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if wide(lines[-1]) + 1 + wide(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(f"    {piece}")
    return "\n".join(lines)


def _meaning(center: bool, scale: bool) -> str:
    """What the names in an equation stand for."""
    done = ["less its mean"] * bool(center) + ["divided by its standard deviation"] * bool(scale)
    return f"(A name stands for the value of its feature{', ' if done else ' as it is'}{', '.join(done)}.)"


def padded(text: str, width: int) -> str:
    """Text in a column of the terminal, cut or filled up."""
    label = shortened(text, width)
    return label + " " * (width - wide(label))


def wide(text: str) -> int:
    """Columns of the terminal that a text takes."""
    return max(wcswidth(text), 0)


def shortened(name: str, width: int) -> str:
    """A name that takes no more than so many columns; an ellipsis stands for what is cut off."""
    if wide(name) <= width:
        return name
    text = name.removeprefix(ISOLATE).removesuffix(END_OF_ISOLATE)[: 2 * width]
    while wide(text) > width - 1:
        text = text[:-1]
    return f"{ISOLATE}{text}…{END_OF_ISOLATE}" if name.startswith(ISOLATE) else f"{text}…"


def dumped(record: Any) -> str:
    """JSON that every program reads; a number that is not finite is null."""
    return json.dumps(_plain(record), indent=2, allow_nan=False)


def model_record(model: Any, table: Table) -> dict[str, Any]:
    """All that is known of a fitted model."""
    names = raw_names(table)
    return {
        "sparing": __version__,
        "data": data_record(table),
        "class": type(model).__name__,
        "parameters": model.get_params(deep=False),
        "sentence": str(model.certificate_),
        "support": [{"feature": j, "name": names[j]} for j in model.support_.tolist()],
        "components": components_record(model.components_, names),
        "explained_variance_ratio": model.explained_variance_ratio_,
        "loss": model.loss_,
        "loss_ratio": model.loss_ratio_,
        "n_passes": model.n_passes_,
        "certificate": certificate_record(model.certificate_),
    }


def data_record(table: Table) -> dict[str, Any]:
    """Where the numbers come from."""
    n, d = table.rows.shape
    n_samples = None if table.precomputed else n
    left_out = {"not_numeric": table.not_numeric, "dropped": table.dropped}
    return {"path": str(table.path), "n_samples": n_samples, "n_features": d, "left_out": left_out}


def components_record(components: Array, names: Sequence[str]) -> list[dict[str, Any]]:
    """Each component: its equation, and its loadings by name, the largest first."""
    H = np.asarray(components)
    return [
        {
            "name": component_name(i),
            "equation": equation(component_name(i), row, names),
            "loadings": [
                {"feature": j, "name": names[j], "loading": value} for _, j, (value,) in loadings_rows([row], names)
            ],
        }
        for i, row in enumerate(H)
    ]


def certificate_record(certificate: Certificate) -> dict[str, Any]:
    """The numbers of a certificate, and its sentence."""
    c = certificate
    return {
        "sentence": str(c),
        "kind": type(c).__name__,
        **{name: getattr(c, name) for name in ("value", "bound", "pca_value", "total", "ratio", "gap")},
        "sense": c.sense,
        "proved_by": c.witness.method,
        "strength": c.strength,
        "problem": dataclasses.asdict(c.problem),
        "preparation": dataclasses.asdict(c.preprocessing),
        "guarantees": [{**dataclasses.asdict(promise), "holds": promise.holds} for promise in c.guarantees],
        "notes": c.notes,
        "parts": [certificate_record(part) for part in c.parts],
    }


def raw_names(table: Table) -> list[str]:
    """Names of the features as they are in the file: JSON says by itself what cannot be shown."""
    return table.labels if table.feature_names is None else list(table.feature_names)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
