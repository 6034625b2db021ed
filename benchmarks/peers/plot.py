"""The plot of the page: what is lost beyond PCA's loss, against the time it took."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

IMAGE = Path(__file__).parents[2] / "docs" / "images" / "peers" / "loss_against_seconds.png"
LEAST = 1e-4
"""Excess losses below it are drawn here."""

MARKS = "osDv^<>PX*"


def draw(found: dict[str, Any]) -> None:
    """One panel for loadings, one for columns; ours filled, peers hollow."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 6.4), sharey=True, layout="constrained")
    for axes, shared, title in zip(panels, (False, True), ("loadings of their own", "shared columns"), strict=True):
        points: dict[str, list[tuple[float, float]]] = {}
        for one in found["sets"].values():
            for row in one["rows"]:
                if row["shared"] == shared and "loss" in row:
                    name = f"{row['package']} {row['name']}"
                    points.setdefault(name, []).append((row["seconds"], max(row["loss"] - 1, LEAST)))
        for i, (name, pairs) in enumerate(points.items()):
            ours = name.startswith("sparing")
            axes.scatter(
                *zip(*pairs, strict=True),
                marker=MARKS[i % len(MARKS)],
                s=42,
                label=name,
                facecolor=f"C{i}" if ours else "none",
                edgecolor=f"C{i}",
            )
        axes.set(xscale="log", yscale="log", xlabel="seconds", title=title)
        axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    panels[0].set_ylabel("loss ratio minus 1")
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=80)
    plt.close(figure)
    IMAGE.parent.mkdir(parents=True, exist_ok=True)
    Image.open(drawn).convert("RGB").quantize(48).save(IMAGE, optimize=True)
