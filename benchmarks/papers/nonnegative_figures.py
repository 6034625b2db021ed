"""Figures 3 to 6 of [asteris2014] again: parts of faces, and variance against sparsity with what is proved.

Beside the curves of the paper (its Algorithm 3 with d = 3, eps = .1, the EM algorithm and NSPCA, best of ten restarts)
ours, and two shaded bands that hold the optimum: the paper's, and the one of our certificates. Pictures and a table
(`figures.csv`) are written to `out/nonnegative` or the folder given; the table is printed.

    SPARING_DATA=... python benchmarks/papers/nonnegative_figures.py [folder] [cbcl] [leukemia] [lrs]
"""

from __future__ import annotations

import csv
import os
import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np

from sparing import NonnegativeSparsePCA
from sparing.budget import Budget
from sparing.data import Preparation, as_view
from sparing.linalg import top_spectrum
from sparing.solvers import ExpectationMaximization, Nspca, SpannogramNet

mpl.use("Agg")
from matplotlib import pyplot as plt

DATA = Path(os.environ.get("SPARING_DATA", "/nonexistent"))
RANK, EPSILON = 3, 0.1

SETS = {
    "cbcl": ("Figure 4, CBCL faces", "cbcl_faces.npz", (20, 40, 60, 80, 100, 140, 180, 220, 260, 300, 340, 361)),
    "leukemia": ("Figure 5, Leukemia", "leukemia_armstrong.npz", (10, 25, 50, 100, 150, 200, 300, 400, 500)),
    "lrs": ("Figure 6, LRS", "lrs.npz", (5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90)),
}
"""Title, file and sparsities; the paper prints no ticks, these cover its axes."""

PRINTED = {("cbcl", 180): 0.58, ("leukemia", 50): 0.446, ("lrs", 20): 0.86, ("lrs", 90): 0.93}
"""Shares of the optimum that the paper proves, by its text."""

COLUMNS = ("set", "r", "ours", "proved", "share", "by", "net", "em", "nspca", "paper_proved", "paper_share", "seconds")


def rows_of(name: str) -> list[dict[str, object]]:
    _, file, sizes = SETS[name]
    X = np.load(DATA / file)["X"].astype(float)
    view = as_view(X, Preparation())
    values = top_spectrum(view, RANK + 1, np.random.default_rng(0), tolerance=1e-9).values
    rows = []
    for r in sizes:
        start = time.perf_counter()
        model = NonnegativeSparsePCA(n_nonzero=r, random_state=0).fit(X)
        seconds, certificate = time.perf_counter() - start, model.certificate_
        unit = certificate.pca_value
        paper = solved(SpannogramNet(rank=RANK, accuracy=EPSILON, refit=False), view, r)
        bound = min(surrogate_value(view, paper) / (1 - EPSILON) + values[RANK], values[0])
        rivals = {
            "net": paper.variance,
            "em": solved(ExpectationMaximization(), view, r).variance,
            "nspca": solved(Nspca(), view, r).variance,
        }
        rows.append(
            {
                "set": name,
                "r": r,
                "ours": certificate.value / unit,
                "proved": certificate.bound / unit,
                "share": certificate.value / certificate.bound,
                "by": certificate.witness.method,
                **{rival: variance / values[0] for rival, variance in rivals.items()},
                "paper_proved": bound / values[0],
                "paper_share": paper.variance / bound,
                "seconds": seconds,
            }
        )
        show(rows[-1])
    return rows


def solved(solver, view, r):
    return solver.solve(view, r, np.random.default_rng(0), budget=Budget())


def surrogate_value(view, component) -> float:
    """|V'x|^2 for the surrogate of rank three: what Algorithm 3 maximises."""
    spectrum = top_spectrum(view, RANK, np.random.default_rng(0), tolerance=1e-9)
    return float(np.square(spectrum.basis.T @ component.vector(view.n_features)) @ spectrum.values)


def show(row: dict[str, object]) -> None:
    cells = (f"{value:.4f}" if isinstance(value, float) else str(value) for value in (row[name] for name in COLUMNS))
    print("  ".join(f"{cell:>9}" for cell in cells), flush=True)


def draw(name: str, rows: list[dict[str, object]], folder: Path) -> None:
    title, _, _ = SETS[name]
    figure, ax = plt.subplots(figsize=(6, 4))
    r = [row["r"] for row in rows]
    column = {key: [row[key] for row in rows] for key in COLUMNS}
    ax.fill_between(r, column["net"], column["paper_proved"], color="0.9", label="the paper's band")
    ax.fill_between(r, column["ours"], column["proved"], color="tab:blue", alpha=0.35, label="our band")
    for key, style, label in (
        ("net", "v:", "Algorithm 3 (d = 3, eps = .1)"),
        ("em", "s--", "EM"),
        ("nspca", "x", "NSPCA"),
        ("ours", "o-", "sparing"),
    ):
        ax.plot(r, column[key], style, label=label, markersize=4)
    ax.set(title=title, xlabel="features allowed", ylabel="variance / largest eigenvalue", ylim=(0, 1.05))
    ax.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(folder / f"figure{4 + list(SETS).index(name)}.png", dpi=100)
    plt.close(figure)


def draw_parts(folder: Path, n_parts: int = 6, r: int = 40) -> None:
    """Figure 3: samples, and six disjoint components: together, then one after the other by us, Algorithm 3 and EM."""
    X = np.load(DATA / "cbcl_faces.npz")["X"].astype(float)
    pictures = {"faces": X[:: len(X) // n_parts][:n_parts]}
    for label, settings in (
        ("sparing", {"constraint": "orthogonal"}),
        ("in turn", {"deflation": "disjoint"}),
        ("Alg. 3", {"deflation": "disjoint", "solver": SpannogramNet(rank=RANK, accuracy=EPSILON, refit=False)}),
        ("EM", {"deflation": "disjoint", "solver": ExpectationMaximization()}),
    ):
        certify = label == "sparing"
        model = NonnegativeSparsePCA(n_parts, n_nonzero=r, certify=certify, random_state=0, **settings).fit(X)
        pictures[label] = model.components_
        shares = " ".join(f"{value:.4f}" for value in model.variance_ / leading(X))
        print(f"figure 3, {label}: {shares} of the largest eigenvalue, {model.variance_.sum() / leading(X):.4f} in all")
        if label == "sparing":
            print(model.certificate_)
    grid(pictures, folder / "figure3.png")
    grid({"parts": pictures["sparing"]}, folder / "parts.png")


def leading(X: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(np.cov(X, rowvar=False))[-1])


def grid(pictures: dict[str, np.ndarray], file: Path) -> None:
    """One line of 19 x 19 pictures for each entry."""
    lines, wide = len(pictures), max(map(len, pictures.values()))
    figure, axes = plt.subplots(lines, wide, figsize=(wide * 0.9, lines * 1.0), squeeze=False)
    for line, (label, images) in zip(axes, pictures.items(), strict=True):
        for ax, image in zip(line, images, strict=False):
            ax.imshow(image.reshape(19, 19), cmap="gray" if label == "faces" else "magma", vmin=0)
        for ax in line:
            ax.set(xticks=[], yticks=[])
        if lines > 1:
            line[0].set_ylabel(label, fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(file, dpi=80)
    plt.close(figure)


def main(arguments: list[str]) -> None:
    names = [argument for argument in arguments if argument in SETS] or list(SETS)
    folder = Path(next((argument for argument in arguments if argument not in SETS), "out/nonnegative"))
    folder.mkdir(parents=True, exist_ok=True)
    if not DATA.exists():
        sys.exit("SPARING_DATA names no folder: these figures need the real data.")
    print("  ".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    for name in names:
        own = rows_of(name)
        draw(name, own, folder)
        rows += own
    for row in rows:
        for rival in ("net", "em", "nspca"):
            if row["ours"] < row[rival] * (1 - 1e-9):
                print(f"{row['set']} r={row['r']}: {rival} is ahead, {row[rival]:.6f} against {row['ours']:.6f}")
        if (share := PRINTED.get((row["set"], row["r"]))) is not None:
            print(f"{row['set']} r={row['r']}: {row['share']:.4f} proved, {row['paper_share']:.4f} by the paper's way")
            print(f"    (the paper prints {share})")
    if "cbcl" in names:
        draw_parts(folder)
    with open(folder / "figures.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    print(f"written to {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
