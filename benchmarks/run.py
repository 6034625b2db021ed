"""`make bench`: all benchmarks in one run, or those named; output goes to benchmarks/results/bench."""

from __future__ import annotations

import exact
import import_time
import memory
import noise
import nonnegative
import quality
import shifted_low_rank
import sparse_pca
import speed
import strategies
import variances
from stored import store_parts

import clustering

BENCHMARKS = {
    "exact": exact,  # first: it prints the peak memory of the process
    "clustering": clustering,
    "quality": quality,
    "import_time": import_time,
    "memory": memory,
    "noise": noise,
    "nonnegative": nonnegative,
    "shifted_low_rank": shifted_low_rank,
    "sparse_pca": sparse_pca,
    "speed": speed,
    "strategies": strategies,
    "variances": variances,
}

if __name__ == "__main__":
    store_parts("bench", BENCHMARKS)
