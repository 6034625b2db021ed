"""`make bench`: all benchmarks in one run, or those named."""

from __future__ import annotations

import sys

import import_time
import memory
import quality
import sparse_pca
import speed
import strategies

BENCHMARKS = {
    "quality": quality,
    "import_time": import_time,
    "memory": memory,
    "sparse_pca": sparse_pca,
    "speed": speed,
    "strategies": strategies,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name].main()
