"""The arithmetic of docs/internet-scale.md: bytes and seconds of a fit to a billion rows, by the size of each pass."""

from __future__ import annotations

import math
import re
from pathlib import Path

from sparing.estimators.inputs import sketch_length
from sparing.search_limits import SEARCH

ROWS, FEATURES, WORDS = 10**9, 10**6, 100
COMPONENTS, NONZERO = 10, 100
WORKERS, CORES, CHUNKS = 100, 8, 400
NETWORK, DISK = 10e9 / 8, 1e9
"""Bytes a second of each worker."""

SINGLE, DOUBLE = 4, 8
DIRECTIONS_THERE = 8
"""Directions that a pass follows on average in the fit of `linear_cost`."""


def seconds_for_each_nonzero() -> float:
    """Of one core, for each direction, from the largest fit of `linear_cost`."""
    lines = (Path(__file__).parents[1] / "results" / "scale" / "linear_cost.txt").read_text()
    nonzeros, seconds, passes = re.findall(r"([\d,]+) nonzeros, +([\d.]+) s of CPU, (\d+) passes", lines)[-1]
    return float(seconds) / (float(nonzeros.replace(",", "")) * int(passes) * DIRECTIONS_THERE)


def results_of_passes(directions: int, sketch: int) -> dict[str, float]:
    """Bytes of what each pass finds."""
    candidates = max(SEARCH.sketch_pool, 8 * NONZERO)
    products = DOUBLE * directions * FEATURES
    return {
        "1": (SINGLE * sketch + DOUBLE * 3) * FEATURES,
        "2": products,
        "3": products,
        "4": DOUBLE * candidates**2 + products,
        "5": DOUBLE * (NONZERO + SEARCH.sketch_core) * FEATURES + products,
    }


def network(results: dict[str, float]) -> None:
    most, levels = CHUNKS + 2 * WORKERS + 2, math.ceil(math.log2(CHUNKS))
    ways = {name: levels * size / NETWORK for name, size in results.items()}
    for name, size in results.items():
        print(f"  pass {name}: result {size / 1e9:.2f} GB, at most {most} of them {most * size / 1e12:.2f} TB")
    total = most * sum(results.values())
    share = total / WORKERS
    print(f"  all: {total / 1e12:.1f} TB, each worker {share / 1e9:.0f} GB in {share / NETWORK:.0f} s")
    others = sum(ways.values()) - ways["1"] - ways["5"]
    print(f"  longest way: {levels} results, {ways['1']:.0f} s, {ways['5']:.0f} s, the others {others:.0f} s together")


def main() -> None:
    affordable = min(SEARCH.sketch_directions, SEARCH.sketch_entries // FEATURES)
    directions = max(COMPONENTS + SEARCH.sketch_beside, affordable)
    sketch = sketch_length(False, NONZERO, FEATURES)
    data, results = DOUBLE * ROWS * WORDS, results_of_passes(directions, sketch)
    print(f"Plan: {ROWS:,} x {FEATURES:,}, {data / 1e12:.1f} TB, {directions} directions, sketch of {sketch} rows")
    network(results)
    print(
        f"  worker: share {data / WORKERS / 1e9:.0f} GB, chunk {data / CHUNKS / 1e9:.0f} GB, two sketches "
        f"{2 * SINGLE * sketch * FEATURES / 1e9:.1f} GB"
    )
    held = [SINGLE * sketch, 2 * DOUBLE * directions, 2 * DOUBLE * NONZERO, DOUBLE * (NONZERO + SEARCH.sketch_core)]
    parts = " + ".join(f"{each * FEATURES / 1e9:.1f}" for each in held)
    print(f"  client: {parts} = {sum(held) * FEATURES / 1e9:.1f} GB")
    rate = seconds_for_each_nonzero()
    core = ROWS / WORKERS * WORDS * directions * rate
    print(
        f"  a pass: {1e9 * rate:.1f} ns for each nonzero and direction, {core:.0f} s of a core, {core / CORES:.0f} s "
        f"of a worker; reading in {len(results)} passes {len(results) * data / WORKERS / DISK:.0f} s"
    )
    wide = 10 * FEATURES
    print(f"  {wide:,} features: sketch {SINGLE * sketch_length(False, NONZERO, wide) * wide / 1e9:.0f} GB\n")


if __name__ == "__main__":
    main()
