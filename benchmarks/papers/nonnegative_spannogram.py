"""Figures 1 and 2 of [asteris2014]: a spannogram of rank 2, and an optimum at the end of its feasible arc.

The paper draws both for arbitrary numbers, so these are ours: the first for five features, with r = 2, where all
supports can be tried; the second for the support whose best direction would have negative entries.

    python benchmarks/papers/nonnegative_spannogram.py
"""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
from matplotlib import pyplot as plt
from summary import Compared, compared, draw, keep, picture, section, verdict

from sparing.plots import SpannogramDisplay

R = 2
V = np.array([[1.0, 0.3], [0.7, -0.8], [-0.4, 0.9], [0.2, 0.6], [-0.9, -0.1]])
"""Five features in two directions."""


def best_on(rows: np.ndarray, angles: np.ndarray) -> tuple[float, float]:
    """The largest |V_I c|^2 over angles where V_I c >= 0, and its angle."""
    entries = rows @ np.stack([np.sin(angles), np.cos(angles)])
    values = np.where((entries >= 0).all(axis=0), np.square(entries).sum(axis=0), -1.0)
    return float(values.max()), float(angles[values.argmax()])


def ends_at_a_border(angles: np.ndarray) -> list[int]:
    """A support whose leading direction has entries of both signs, so that the optimum is at the end of the arc."""
    for support in combinations(range(len(V)), 3):
        rows = V[list(support)]
        top = np.linalg.eigh(rows.T @ rows)[1][:, -1]
        value, _ = best_on(rows, angles)
        if value > 0 and len(set(np.sign(rows @ top))) > 1:
            return list(support)
    raise RuntimeError("every support has a leading direction of one sign")


def draw_arc(ax: plt.Axes, support: list[int], angles: np.ndarray) -> bool:
    """c'Qc around the circle, the feasible arc, the leading eigenvector; is the optimum at an end of the arc?"""
    rows = V[support]
    circle = np.stack([np.sin(angles), np.cos(angles)])
    values = np.square(rows @ circle).sum(axis=0)
    feasible = (rows @ circle >= 0).all(axis=0)
    _, best = best_on(rows, angles)
    top = np.linalg.eigh(rows.T @ rows)[1][:, -1]
    ax.plot(angles, values, color="0.6", label="c'Qc")
    ax.plot(np.where(feasible, angles, np.nan), values, color="tab:orange", linewidth=4, label="where V_I c >= 0")
    at = float(np.arctan2(*top))
    for number, angle in enumerate((at, at - np.pi if at > 0 else at + np.pi)):
        ax.axvline(angle, color="tab:blue", linestyle=":", label=None if number else "leading eigenvector of Q")
    ax.plot([best], [np.square(rows @ [np.sin(best), np.cos(best)]).sum()], "k*", markersize=11, label="optimum")
    ax.set(xlabel="angle", title=f"features {', '.join(str(j + 1) for j in support)}")
    ax.legend(fontsize=7)
    inside = np.flatnonzero(feasible)
    return bool(min(abs(angles[inside] - best)[[0, -1]]) < 2 * (angles[1] - angles[0]))


def main() -> None:
    angles = np.linspace(-np.pi, np.pi, 200_001)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
    display = SpannogramDisplay(V, R, [str(j + 1) for j in range(len(V))]).plot(ax=left)
    everything = chain.from_iterable(combinations(range(len(V)), size) for size in range(1, R + 1))
    tried = max(best_on(V[list(support)], angles)[0] for support in everything)
    found = float(display.optimum_.value)
    support = ends_at_a_border(angles)
    at_the_end = draw_arc(right, support, angles)
    figure.tight_layout()
    draw(figure, "nonnegative_figure2")
    plt.close(figure)
    rows = [
        Compared(
            "Figure 1: the best angle gives the best support",
            "of all supports",
            f"{found:.6f}; by brute force {tried:.6f}",
            verdict(abs(found - tried) < 1e-6 * tried),
        ),
        Compared(
            "Figure 2: the optimum where the leading eigenvector is not feasible",
            "at an end of the arc",
            "at an end of the arc" if at_the_end else "within the arc",
            verdict(at_the_end),
        ),
    ]
    text = section(
        "Nonnegative sparse PCA, Figures 1 and 2 [asteris2014]",
        "A spannogram of rank 2, drawn by `SpannogramDisplay`, and one of its quadratic problems on an arc. The paper "
        "does not print the numbers of its example. Ours has five features and r = 2 on the left, and three of the "
        "features on the right.",
        compared(rows),
        picture("nonnegative_figure2", "A spannogram of five features, and an optimum at the end of its feasible arc"),
    )
    keep("nonnegative_spannogram", text)


if __name__ == "__main__":
    main()
