"""How the time of a fit grows with rows, features, components, nonzeros of a component and nonzeros of the data.

One of them changes at a time; the slope is that of log seconds (of the processor, one BLAS thread) over log size. 1 is
proportional, 0 is no growth at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from shapes import counts, factors
from threadpoolctl import threadpool_limits

from sparing import SparseEncoder, SparsePCA

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "growth.png"
REPEATS = 3
MODELS: dict[str, Callable[..., Any]] = {"SparseEncoder": SparseEncoder, "SparsePCA": SparsePCA}


class Axis(NamedTuple):
    """What grows, what it is beside, and a fit's data, components and features for each size."""

    name: str
    beside: str
    sizes: tuple[int, ...]
    problem: Callable[[int], tuple[Any, int, int]]


AXES = (
    Axis("rows n", "d = 1000, k = 5, r = 15", (1000, 2000, 4000, 8000, 16000), lambda n: (factors(n, 1000), 5, 15)),
    Axis("features d", "n = 500, k = 5, r = 15", (1500, 3000, 6000, 12000, 24000), lambda d: (factors(500, d), 5, 15)),
    Axis("components k", "1000 x 5000, r = 40", (2, 4, 8, 16), lambda k: (factors(1000, 5000), k, 40)),
    Axis("features used r", "1000 x 5000, k = 5", (10, 20, 40, 80), lambda r: (factors(1000, 5000), 5, r)),
    Axis(
        "nonzeros of X",
        "8000 x 19000 sparse, k = 5, r = 15",
        (30, 60, 120, 240, 480),
        lambda w: (counts(8000, 19000, w), 5, 15),
    ),
)


def seconds(call: Callable[[], object]) -> float:
    """The least of a few runs, after a first."""
    taken = []
    for _ in range(1 + REPEATS):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken[1:])


def measured(axis: Axis) -> Iterator[tuple[float, dict[str, float]]]:
    """Size, and the seconds of each model."""
    for step in axis.sizes:
        X, k, r = axis.problem(step)
        size = float(X.nnz) if axis.name.startswith("nonzeros") else float(step)
        fits = {name: model(k, n_nonzero=r, certify=False, random_state=0) for name, model in MODELS.items()}
        yield size, {name: seconds(lambda fit=fit, X=X: fit.fit(X)) for name, fit in fits.items()}


def draw(found: dict[str, list[tuple[float, dict[str, float]]]]) -> None:
    """One panel for each axis, both scales logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(found), figsize=(3.0 * len(found), 3.0), sharey=True, layout="constrained")
    for panel, (axis, points) in zip(panels, found.items(), strict=True):
        sizes = [size for size, _ in points]
        for name, marker in zip(MODELS, "os", strict=True):
            panel.loglog(sizes, [taken[name] for _, taken in points], marker=marker, label=name)
        panel.set_xlabel(axis)
        panel.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("seconds of the processor")
    panels[0].legend()
    figure.savefig(IMAGE, dpi=70, pil_kwargs={"optimize": True})


def main() -> None:
    print("Growth: slope of log seconds over log size (certificate off); seconds at the smallest and the largest size")
    found = {}
    with threadpool_limits(1, user_api="blas"):
        for axis in AXES:
            found[axis.name] = points = list(measured(axis))
            sizes = np.array([size for size, _ in points])
            said = []
            for name in MODELS:
                taken = np.array([each[name] for _, each in points])
                slope = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
                said.append(f"{name} {slope:4.2f} ({taken[0]:.2f} to {taken[-1]:.2f} s)")
            spans = f"{sizes[0]:.0f} to {sizes[-1]:.0f}"
            print(f"  {axis.name:15s} {spans:18s} {'   '.join(said)}   at {axis.beside}", flush=True)
    draw(found)
    print()


if __name__ == "__main__":
    main()
