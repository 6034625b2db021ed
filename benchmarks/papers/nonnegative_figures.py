"""Figures 3 to 6 of [asteris2014] again: parts of faces, and variance against sparsity with what is proved.

Beside the curves of the paper (its Algorithm 3 with d = 3, eps = .1, the EM algorithm and NSPCA, best of ten restarts)
ours, and two shaded bands that hold the optimum: the paper's, and the one of our certificates.

    SPARING_DATA=... python benchmarks/papers/nonnegative_figures.py [cbcl] [leukemia] [lrs]
"""

from __future__ import annotations

import sys
import time

import numpy as np
from matplotlib import pyplot as plt
from summary import AGREES, Compared, compared, keep, picture, section, shared, table, verdict
from summary import draw as draw_figure

from sparing import NonnegativeSparsePCA
from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.methods.solvers import ExpectationMaximization, Nspca, SpannogramNet
from sparing.run import Run
from sparing.task import Task

RANK, EPSILON = 3, 0.1

SETS = {
    "cbcl": ("Figure 4, CBCL faces", "cbcl_faces.npz", (20, 40, 60, 80, 100, 140, 180, 220, 260, 300, 340, 361)),
    "leukemia": ("Figure 5, Leukemia", "leukemia_armstrong.npz", (10, 25, 50, 100, 150, 200, 300, 400, 500)),
    "lrs": ("Figure 6, LRS", "lrs.npz", (5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90)),
}
"""Title, file and sparsities; the paper prints no ticks, these cover its axes."""

PRINTED = {("cbcl", 180): "58%", ("leukemia", 50): "44.6%", ("lrs", 20): "86%", ("lrs", 90): "nearly 93%"}
"""Shares of the optimum that the paper proves, by its text."""

ABOVE = (
    "not reproduced: with 68% of the largest eigenvalue, 58% would mean a bound above that eigenvalue; "
    "perhaps other preparation of the faces"
)
REASONS = {
    ("cbcl", 180): ABOVE,
    ("leukemia", 50): "not reproduced: perhaps another version or scale of the expression values",
    ("lrs", 20): AGREES,
    ("lrs", 90): "not reproduced: the best nonnegative component uses 11 of the 93 bands however many are allowed",
}

COLUMNS = ("set", "r", "ours", "proved", "share", "by", "net", "em", "nspca", "paper_proved", "paper_share", "seconds")


def rows_of(name: str) -> list[dict[str, object]]:
    _, file, sizes = SETS[name]
    X = np.load(shared(file))["X"].astype(float)
    view = as_view(X, Preprocessing())
    values = top_spectrum(view, RANK + 1, np.random.default_rng(0), tolerance=1e-9).values
    rows = []
    for r in sizes:
        start = time.perf_counter()
        model = NonnegativeSparsePCA(n_nonzero=r, random_state=0).fit(X)
        seconds, certificate = time.perf_counter() - start, model.certificate_
        unit = certificate.pca_value
        paper = solved(SpannogramNet(rank=RANK, accuracy=EPSILON, refit=False), view, r)
        bound = surrogate_value(view, paper) / (1 - EPSILON) + values[RANK]
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
                "paper_proved": min(bound / values[0], 1.0),
                "paper_share": paper.variance / bound,
                "seconds": seconds,
            }
        )
        show(rows[-1])
    return rows


def solved(solver, view, r):
    return solver.solve(Task.of_component(view, r), Run(np.random.default_rng(0)))


def surrogate_value(view, component) -> float:
    """|V'x|^2 for the surrogate of rank three: what Algorithm 3 maximises."""
    spectrum = top_spectrum(view, RANK, np.random.default_rng(0), tolerance=1e-9)
    return float(np.square(spectrum.basis.T @ component.vector(view.n_features)) @ spectrum.values)


def show(row: dict[str, object]) -> None:
    cells = (f"{value:.4f}" if isinstance(value, float) else str(value) for value in (row[name] for name in COLUMNS))
    print("  ".join(f"{cell:>9}" for cell in cells), flush=True)


def draw(name: str, rows: list[dict[str, object]]) -> None:
    title, _, _ = SETS[name]
    figure, ax = plt.subplots(figsize=(5.2, 3.6))
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
    ax.legend(fontsize=8, loc="best")
    figure.tight_layout()
    draw_figure(figure, f"nonnegative_figure{4 + list(SETS).index(name)}")
    plt.close(figure)


def draw_parts(n_parts: int = 6, r: int = 40) -> dict[str, float]:
    """Figure 3: samples, and six disjoint components: together, then one after the other by us, Algorithm 3 and EM.

    Returns the variance of each line of components over the largest eigenvalue.
    """
    X = np.load(shared("cbcl_faces.npz"))["X"].astype(float)
    pictures, totals = {"faces": X[:: len(X) // n_parts][:n_parts]}, {}
    for label, settings in (
        ("sparing", {"constraint": "orthogonal"}),
        ("in turn", {"deflation": "disjoint"}),
        ("Alg. 3", {"deflation": "disjoint", "solver": SpannogramNet(rank=RANK, accuracy=EPSILON, refit=False)}),
        ("EM", {"deflation": "disjoint", "solver": ExpectationMaximization()}),
    ):
        model = NonnegativeSparsePCA(n_parts, n_nonzero=r, certify=False, random_state=0, **settings).fit(X)
        pictures[label] = model.components_
        totals[label] = float(model.variance_.sum()) / leading(X)
    grid(pictures, "nonnegative_figure3")
    return totals


def leading(X: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(np.cov(X, rowvar=False))[-1])


def grid(pictures: dict[str, np.ndarray], name: str) -> None:
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
    draw_figure(figure, name)
    plt.close(figure)


def claims(rows: list[dict[str, object]], totals: dict[str, float]) -> list[Compared]:
    """The statements of the paper's text about its figures."""
    of = {name: [row for row in rows if row["set"] == name] for name in SETS}
    apart = {name: max(abs(row["net"] / row["em"] - 1) for row in of[name]) for name in SETS}
    low = [row["r"] for row in of["leukemia"] if row["net"] > row["em"]]
    high = [row for row in of["leukemia"] if row["net"] <= row["em"]]
    proved = [
        Compared(
            f"{SETS[name][0]}, {r} features: share of the optimum proved",
            printed,
            f"{row['paper_share']:.1%} by the paper's bound; {row['share']:.1%} by our certificate",
            REASONS[name, r],
        )
        for (name, r), printed in PRINTED.items()
        for row in of[name]
        if row["r"] == r
    ]
    return [
        Compared(
            "Figure 3: six disjoint parts of 40 pixels, by Algorithm 3 and EM",
            "pictures",
            f"total variance: Algorithm 3 {totals['Alg. 3']:.3f}, EM {totals['EM']:.3f} times the largest eigenvalue",
            'not compared: the pictures are missing in the available copy. `constraint="orthogonal"`, which finds all '
            f"six together, has {totals['sparing']:.3f}",
        ),
        Compared(
            "Figure 4: Algorithm 3 and EM on CBCL",
            "nearly identical",
            f"within {apart['cbcl']:.1%}",
            verdict(apart["cbcl"] < 0.02),
        ),
        Compared(
            "Figure 5: Algorithm 3 compared with EM on Leukemia",
            "ahead for few features, similar for many",
            f"ahead up to {max(low)} features, within {max(1 - row['net'] / row['em'] for row in high):.1%} beyond",
            verdict(min(low) == of["leukemia"][0]["r"]),
        ),
        Compared(
            "Figure 6: Algorithm 3 and EM on LRS", "similar", f"within {apart['lrs']:.1%}", verdict(apart["lrs"] < 0.02)
        ),
        *proved,
    ]


def text_of(rows: list[dict[str, object]], totals: dict[str, float]) -> str:
    shown = ("ours", "proved", "net", "em", "nspca")
    lines = [
        (
            row["set"],
            row["r"],
            *(f"{row[name]:.4f}" for name in shown),
            f"{row['share']:.1%}",
            f"{row['paper_share']:.1%}",
        )
        for row in rows
    ]
    ahead = [
        f"{rival}, {row['set']}, {row['r']} features"
        for row in rows
        for rival in ("net", "em", "nspca")
        if row["ours"] < row[rival] * (1 - 1e-9)
    ]
    return section(
        "Nonnegative sparse PCA, Figures 3 to 6 [asteris2014]",
        "CBCL faces, the Leukemia data and LRS spectra, centred. We run Algorithm 3 as printed (rank 3, eps = .1, no "
        "local ascent), the EM algorithm and NSPCA (best of ten restarts), and `NonnegativeSparsePCA` with its "
        "certificate. The paper's bound is value / (1 - eps) plus the fourth eigenvalue; it can exceed the largest "
        "eigenvalue.",
        compared(claims(rows, totals)),
        picture("nonnegative_figure3", "Faces, and six parts of faces by four methods"),
        "\n".join(
            picture(
                f"nonnegative_figure{4 + i}",
                f"{SETS[name][0]}: variance and proved bound against the number of features",
            )
            for i, name in enumerate(SETS)
        ),
        f"All values are divided by the largest eigenvalue. Larger than ours: {', '.join(ahead) or 'none'}.",
        table(("set", "r", "ours", "proved", "Algorithm 3", "EM", "NSPCA", "our share", "the paper's share"), lines),
    )


def main(names: tuple[str, ...] = tuple(SETS)) -> None:
    print("  ".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    for name in names:
        own = rows_of(name)
        draw(name, own)
        rows += own
    if set(names) == set(SETS):
        keep("nonnegative_figures", text_of(rows, draw_parts()))


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or tuple(SETS))
