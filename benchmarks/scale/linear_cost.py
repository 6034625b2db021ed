"""Cost against nonzeros: four sizes, each twice the last, and the slope of their logarithms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from measured import alone
from sparse_counts import fitted

SIZES = (25_000, 50_000, 100_000, 200_000)


def main() -> None:
    print("Linear cost: word counts in memory with 50 words a row, d = n / 2, k=5, r=40")
    found = [alone(fitted, n, n // 2, 50, "any") for n in SIZES]
    nonzeros = np.array([each["nonzeros"] for each in found])
    seconds = np.array([each["cpu"] for each in found])  # of the processor: others use the machine, too
    for n, each in zip(SIZES, found, strict=True):
        size = f"{n:>7,} x {n // 2:>7,}: {each['nonzeros']:>10,} nonzeros"
        print(f"  {size}, {each['cpu']:6.2f} s of CPU, {each['passes']} passes")
    slope = np.polyfit(np.log(nonzeros), np.log(seconds), 1)[0]
    print(f"  they grow as nonzeros to the power {slope:.2f}")
    draw(nonzeros, seconds, slope)


def draw(nonzeros: np.ndarray, seconds: np.ndarray, slope: float) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
    ax.loglog(nonzeros, seconds, "o-", label="whole fit")
    ax.loglog(nonzeros, seconds[-1] * nonzeros / nonzeros[-1], "--", color="0.6", label="proportional")
    ax.set(xlabel="nonzeros", ylabel="seconds of CPU", title=f"power {slope:.2f}")
    ax.legend(frameon=False)
    target = Path(__file__).parents[2] / "docs" / "images" / "linear_cost.png"
    figure.savefig(target, dpi=100)
    print(f"  drawn: {target.relative_to(Path(__file__).parents[2])}\n")


if __name__ == "__main__":
    main()
