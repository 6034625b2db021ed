"""`make bench-scale`: data of any storage and size, or the parts named; output goes to benchmarks/results/scale."""

from __future__ import annotations

import sys
from pathlib import Path

import dask_arrays
import few_passes
import generated
import genotypes
import limits
import linear_cost
import network
import plan
import sparse_counts

sys.path.append(str(Path(__file__).parents[1]))
from stored import store_parts

PARTS = {
    "few_passes": few_passes,
    "limits": limits,
    "sparse_counts": sparse_counts,
    "linear_cost": linear_cost,
    "dask_arrays": dask_arrays,
    "network": network,
    "plan": plan,  # after linear_cost, whose rate it takes
    "genotypes": genotypes,
    "generated": generated,
}

if __name__ == "__main__":
    store_parts("scale", PARTS)
