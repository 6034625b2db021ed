"""Twelve sensors for faces of 361 pixels, within a budget and spread out: numbers and picture of docs/sensors.md.

SPARING_DATA=... python examples/story_sensors.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
from story_data import IMAGES, save, shared

from sparing import SparseEncoder

mpl.use("Agg")
from matplotlib import pyplot as plt

SIDE = 19
ROW, COLUMN = np.divmod(np.arange(SIDE * SIDE), SIDE)
MIDDLE = SIDE // 2
COSTS = 3 - 2 * np.maximum(abs(ROW - MIDDLE), abs(COLUMN - MIDDLE)) / MIDDLE
"""A sensor costs 1 at the rim and 3 in the middle."""

ZONES = [f"zone {i}{j}" for i, j in zip(ROW // 5, COLUMN // 5, strict=True)]
"""Four by four squares of five by five pixels, those at two sides one narrower."""

RULES: dict[str, dict[str, Any]] = {
    "no rule": {},
    "a budget of 15": {"costs": COSTS, "max_cost": 15},
    "one in a zone": {"groups": ZONES, "max_per_group": 1},
    "both": {"costs": COSTS, "max_cost": 15, "groups": ZONES, "max_per_group": 1},
}

NOISE = 10 ** (-(COSTS - 1) / 2)
"""Variance of a sensor's noise, in mean variances of a pixel: 1 for the cheapest, a tenth for the most expensive."""


def predicted(model: SparseEncoder, faces: np.ndarray, noise: np.ndarray | float = 0.0) -> float:
    """Share of the variance of new faces, about the mean of those of the fit, that the sensors predict."""
    left = faces - model.inverse_transform(model.transform((faces + noise)[:, model.support_]))
    return float(1 - np.square(left).sum() / np.square(faces - model.mean_).sum())


def row(name: str, model: SparseEncoder, new: float) -> str:
    """A line of the table."""
    spent, known = COSTS[model.support_].sum(), model.explained_variance_ratio_.sum()
    return f"{name:16} {len(model.support_):7d} {spent:5.1f} {known:11.1%} {new:10.1%} {model.feature_r2_.min():12.2f}"


def main(folder: Path) -> None:
    """Fit, print, draw."""
    faces = np.load(shared("cbcl_faces.npz"))["X"].astype(float)
    order = np.random.default_rng(0).permutation(len(faces))
    seen, new = faces[order[: len(faces) // 2]], faces[order[len(faces) // 2 :]]
    models = {name: SparseEncoder(None, n_nonzero=12, **rules).fit(seen) for name, rules in RULES.items()}
    print(models["both"].certificate_)

    print(f"\n{'':16} sensors  cost  these faces  new faces  worst pixel")
    for name, model in models.items():
        print(row(name, model, predicted(model, new)))
    grid = np.flatnonzero(np.isin(ROW, (4, 9, 14)) & np.isin(COLUMN, (2, 7, 11, 16)))
    regular = SparseEncoder(None, n_nonzero=12, include=grid, certify=False).fit(seen)
    print(row("a regular grid", regular, predicted(regular, new)))
    rng = np.random.default_rng(0)
    some = [
        SparseEncoder(None, n_nonzero=12, include=rng.choice(361, 12, replace=False), certify=False).fit(seen)
        for _ in range(20)
    ]
    print(
        f"12 at random predict {np.mean([predicted(model, new) for model in some]):.1%} of new faces, on average of 20"
    )

    both = models["both"]
    places = ", ".join(f"({ROW[j]}, {COLUMN[j]})" for j in both.support_)
    print(f"\nrow and column: {places}")
    worst = np.argsort(both.feature_r2_)[:5]
    print("worst: " + ", ".join(f"({ROW[j]}, {COLUMN[j]}) {both.feature_r2_[j]:.2f}" for j in worst))
    save(SimpleNamespace(figure_=maps(seen, models)), folder / "sensors.png")
    with_noise(models["no rule"], seen, new, folder)


def with_noise(plain: SparseEncoder, seen: np.ndarray, new: np.ndarray, folder: Path) -> None:
    """Sensors whose readings carry noise: where they go, and the prediction error of every pixel."""
    variance = NOISE * seen.var(axis=0).mean()
    refitted = SparseEncoder(None, n_nonzero=12, include=plain.support_, noise_variance=variance).fit(seen)
    aware = SparseEncoder(None, n_nonzero=12, noise_variance=variance).fit(seen)
    noise = np.random.default_rng(0).normal(size=new.shape) * np.sqrt(variance)
    print(f"\n{'places':16} decoder        mean noise  new faces, noisy readings")
    for places, decoder, model in (
        ("without noise", "without noise", plain),
        ("without noise", "for the noise", refitted),
        ("for the noise", "for the noise", aware),
    ):
        level = NOISE[model.support_].mean()
        print(f"{places:16} {decoder:14} {level:10.2f} {predicted(model, new, noise):26.1%}")
    errors = {"no noise": plain, "noise, same places": refitted, "noise, chosen for it": aware}
    unread = {name: np.delete(1 - model.feature_r2_, model.support_).mean() for name, model in errors.items()}
    print("mean error of pixels that are not read: " + "; ".join(f"{name} {e:.2f}" for name, e in unread.items()))
    save(SimpleNamespace(figure_=error_maps(errors)), folder / "sensors-noise.png")


def maps(faces: np.ndarray, models: dict[str, SparseEncoder]) -> Any:
    """The mean face, then for each choice how well each pixel is predicted, with the sensors."""
    figure, axes = plt.subplots(1, len(models) + 1, figsize=(11, 2.7), layout="constrained")
    axes[0].imshow(faces.mean(axis=0).reshape(SIDE, SIDE), cmap="gray")
    axes[0].set_title("mean face", fontsize=10)
    for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
        shown = ax.imshow(model.feature_r2_.reshape(SIDE, SIDE), cmap="viridis", vmin=0, vmax=1)
        ax.plot(COLUMN[model.support_], ROW[model.support_], "o", color="white", mec="black", ms=6)
        ax.set_title(name, fontsize=10)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    figure.colorbar(shown, ax=axes, label="R² of each pixel", shrink=0.8)
    return figure


def error_maps(models: dict[str, SparseEncoder]) -> Any:
    """The noise of a sensor at each pixel, then the prediction error of each pixel for each model, with the sensors."""
    figure, axes = plt.subplots(1, len(models) + 1, figsize=(10, 2.7), layout="constrained")
    maps = {"noise of a sensor": NOISE, **{name: 1 - model.feature_r2_ for name, model in models.items()}}
    for ax, (name, values) in zip(axes, maps.items(), strict=True):
        shown = ax.imshow(values.reshape(SIDE, SIDE), cmap="magma", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, fontsize=10)
        if name in models:
            places = models[name].support_
            ax.plot(COLUMN[places], ROW[places], "o", color="white", mec="black", ms=6)
    figure.colorbar(shown, ax=axes, label="share of variance", shrink=0.8)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
