"""Figure 2 of [fountoulakis2016]: time against the share of features kept, on two chromosomes.

Times are shares of MaxComp's in the same run. As in the paper all methods are "naive"; each relaxation is followed by
one rounding and starts from the SNP of most variance, so that it needs no principal component.

    SPARING_DATA=... python benchmarks/papers/rounding_figure2.py
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from rounding_methods import OURS, SOLVERS, Problem, chromosome
from summary import Compared, compared, draw, keep, picture, section, table, verdict

from sparing.gram import DataMatrix
from sparing.methods.solvers import Rounding
from sparing.run import Run
from sparing.task import Task

RATIOS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9)
REPEATS = 5


def rounded(relaxation: str, given: Problem, r: int) -> None:
    start = np.zeros((given.view.n_features, 1))
    start[int(np.argmax(given.view.gram_diagonal()))] = 1.0
    solver = Rounding(repeats=1, relaxation=relaxation, refit=False)
    solver.solve(Task.of_component(given.view, r, start=start), Run(np.random.default_rng(0)))


METHODS = {
    "rspca, projected gradient": partial(rounded, "gradient"),
    "rspca, linear maximisation": partial(rounded, "linear"),
    "Spasm": SOLVERS["Spasm"],
    "MaxComp": SOLVERS["MaxComp"],
    "sparing": OURS,
}
STYLES = {
    "rspca, projected gradient": "o:",
    "rspca, linear maximisation": "o-",
    "Spasm": "s-",
    "MaxComp": "v-",
    "sparing": "k-",
}


def seconds(given: Problem) -> dict[str, np.ndarray]:
    """The fastest of a few runs for each method and ratio; methods take turns."""
    found = {name: np.full(len(RATIOS), np.inf) for name in METHODS}
    for i, ratio in enumerate(RATIOS):
        r = round(ratio * given.view.n_features)
        for _ in range(REPEATS):
            for name, method in METHODS.items():
                start = time.perf_counter()
                method(given, r)
                found[name][i] = min(found[name][i], time.perf_counter() - start)
    unit = np.median(found["MaxComp"])
    return {name: values / unit for name, values in found.items()}


class Counted:
    """A view that counts products with A."""

    def __init__(self, view: DataMatrix) -> None:
        self.view, self.products = view, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.view, name)

    def gram_matmat(self, B: np.ndarray) -> np.ndarray:
        self.products += 1
        return self.view.gram_matmat(B)


def products(relaxation: str, ratio: float) -> int:
    """Products with A that a relaxation takes on the first chromosome."""
    given = chromosome(1)
    counted = Counted(given.view)
    rounded(relaxation, given._replace(view=counted), round(ratio * given.view.n_features))
    return counted.products


def claims(found: list[dict[str, np.ndarray]]) -> list[Compared]:
    def together(name: str) -> np.ndarray:
        return np.mean([times[name] for times in found], axis=0)

    def level(name: str) -> float:
        return float(together(name).max() / together(name).min())

    gradient, linear, spasm, quickest, _ = (together(name) for name in METHODS)
    beside = [float((values / quickest).min()) for values in (gradient, linear, spasm)]
    steps = {
        config: [products(config, ratio) for ratio in (RATIOS[0], RATIOS[-1])] for config in ("gradient", "linear")
    }
    beyond = gradient / gradient.min()
    few, many = f"{RATIOS[0]:.0%}", f"{RATIOS[-1]:.0%}"
    gram = "variances are computed from the Gram matrix of the features kept, which matters on such a small panel"
    return [
        Compared(
            "MaxComp is the fastest",
            "on all data",
            f"rspca and Spasm take {min(beside):.1f} times as long or more",
            verdict(min(beside) > 0.95, "a relaxation that starts from one SNP needs no principal component"),
        ),
        Compared(
            "time of MaxComp and Spasm over the number of features kept",
            "constant",
            f"slowest over fastest {level('MaxComp'):.1f} and {level('Spasm'):.1f}",
            verdict(max(level("MaxComp"), level("Spasm")) < 1.5, gram),
        ),
        Compared(
            "rspca with projected gradient: iterations for few features",
            "more",
            f"{steps['gradient'][0]} products with A for {few}, {steps['gradient'][1]} for {many}",
            verdict(steps["gradient"][0] > steps["gradient"][1]),
        ),
        Compared(
            "its time over the number of features kept",
            "tends to decrease",
            f"{beyond[0]:.1f} times the fastest for {few}, {beyond[-1]:.1f} for {many}",
            verdict(beyond[-1] < 1.2, f"it falls, then rises: {gram}"),
        ),
        Compared(
            f"rspca compared with Spasm, {few} of the features",
            "slower",
            f"{gradient[0] / spasm[0]:.1f} times as long",
            verdict(gradient[0] > spasm[0]),
        ),
        Compared(
            '"more sophisticated optimization algorithms" for the relaxation',
            "anticipated to solve this",
            f"linear maximisation: {steps['linear'][0]} products for {few}, {linear[0] / gradient[0]:.1f} of the time",
            verdict(steps["linear"][0] < steps["gradient"][0]),
        ),
    ]


def main() -> None:
    from matplotlib import pyplot as plt

    found = [seconds(chromosome(number)) for number in (1, 2)]
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained", sharey=True)
    for ax, number, times in zip(axes, (1, 2), found, strict=True):
        for name, values in times.items():
            ax.plot(RATIOS, values, STYLES[name], label=name, markersize=4)
        ax.set(title=f"chromosome {number}", xlabel="share of SNPs kept", yscale="log")
    axes[0].set_ylabel("time / MaxComp's")
    axes[0].legend(fontsize=7)
    draw(figure, "rounding_figure2")
    plt.close(figure)
    rows = [
        (number, name, *(f"{value:.1f}" for value in values))
        for number, times in zip((1, 2), found, strict=True)
        for name, values in times.items()
    ]
    text = section(
        "Randomized rounding, Figure 2: speed [fountoulakis2016]",
        "Time divided by MaxComp's (fastest of five runs, one core); the numbers vary slightly from run to run. The "
        "data are chromosomes 1 and 2 of the joint panel, 1,113 and 1,024 SNPs of 1,485 people; the paper used 37,493 "
        "and 40,844 SNPs of about 2,500 people.",
        compared(claims(found)),
        picture("rounding_figure2", "Time over MaxComp's against the share of SNPs, two chromosomes"),
        table(("chromosome", "method", *(f"{ratio:.0%}" for ratio in RATIOS)), rows),
    )
    keep("rounding_figure2", text)


if __name__ == "__main__":
    main()
