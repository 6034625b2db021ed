"""`make bench`: all benchmarks in one run, or those named."""

from __future__ import annotations

import sys

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

import clustering

BENCHMARKS = {
    "clustering": clustering,
    "quality": quality,
    "exact": exact,
    "import_time": import_time,
    "memory": memory,
    "noise": noise,
    "nonnegative": nonnegative,
    "shifted_low_rank": shifted_low_rank,
    "sparse_pca": sparse_pca,
    "speed": speed,
    "strategies": strategies,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name].main()
