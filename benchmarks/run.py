"""`make bench`: all benchmarks in one run, or those named; output goes to benchmarks/results/bench."""

from __future__ import annotations

import cliffs
import cosines
import defaults
import efforts
import exact
import gaps
import growth
import import_time
import memory
import new_samples
import noise
import nonnegative
import profile_paths
import quality
import searches
import shifted_low_rank
import sparse_pca
import sparse_pca_speed
import speed
import strategies
import variances
from stored import store_parts

import clustering

BENCHMARKS = {
    "exact": exact,  # first: it prints the peak memory of the process
    "clustering": clustering,
    "cliffs": cliffs,
    "cosines": cosines,
    "defaults": defaults,
    "efforts": efforts,
    "gaps": gaps,
    "quality": quality,
    "import_time": import_time,
    "memory": memory,
    "new_samples": new_samples,
    "noise": noise,
    "nonnegative": nonnegative,
    "shifted_low_rank": shifted_low_rank,
    "sparse_pca": sparse_pca,
    "sparse_pca_speed": sparse_pca_speed,
    "profile_paths": profile_paths,
    "growth": growth,
    "speed": speed,
    "searches": searches,
    "strategies": strategies,
    "variances": variances,
}

if __name__ == "__main__":
    store_parts("bench", BENCHMARKS)
