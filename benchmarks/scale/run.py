"""`make bench-scale`: data of any storage and size, or the parts named."""

from __future__ import annotations

import sys

import dask_arrays
import few_passes
import generated
import genotypes
import linear_cost
import sparse_counts

PARTS = {
    "few_passes": few_passes,
    "sparse_counts": sparse_counts,
    "linear_cost": linear_cost,
    "dask_arrays": dask_arrays,
    "genotypes": genotypes,
    "generated": generated,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name].main()
