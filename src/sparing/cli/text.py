"""Tables for the terminal."""

from __future__ import annotations

import numpy as np

from sparing.results import Array


def shown(name: str) -> str:
    """A name as it may be printed: control characters could command the terminal."""
    return "".join(character if character.isprintable() else "?" for character in name)


def loadings_table(components: Array, names: list[str]) -> str:
    """Nonzero loadings with their names, the largest first; names are shown as they are, control characters aside."""
    used = np.flatnonzero(components.any(axis=0))
    order = used[np.argsort(-np.abs(components[:, used]).max(axis=0), kind="stable")]
    labels = {j: shown(names[j]) for j in order}
    width = max([len("feature"), *(len(label) for label in labels.values())])
    lines = ["feature".ljust(width) + "".join(f"{f'component {i + 1}':>14}" for i in range(len(components)))]
    for j in order:
        cells = "".join(f"{value:14.4f}" if value else " " * 13 + "." for value in components[:, j])
        lines.append(labels[j].ljust(width) + cells)
    return "\n".join(lines)
