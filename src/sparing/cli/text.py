"""Tables for the terminal."""

from __future__ import annotations

import numpy as np

from sparing.results import Array


def loadings_table(components: Array, names: list[str]) -> str:
    """Nonzero loadings with their names, the largest first; names are shown as they are, control characters aside."""
    used = np.flatnonzero(components.any(axis=0))
    order = used[np.argsort(-np.abs(components[:, used]).max(axis=0), kind="stable")]
    shown = {j: "".join(c if c.isprintable() else "?" for c in names[j]) for j in order}
    width = max([len("feature"), *(len(name) for name in shown.values())])
    lines = ["feature".ljust(width) + "".join(f"{f'component {i + 1}':>14}" for i in range(len(components)))]
    for j in order:
        cells = "".join(f"{value:14.4f}" if value else " " * 13 + "." for value in components[:, j])
        lines.append(shown[j].ljust(width) + cells)
    return "\n".join(lines)
