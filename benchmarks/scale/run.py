"""`make bench-scale`: data of any storage and size, or the parts named; output is kept in benchmarks/results."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import dask_arrays
import few_passes
import generated
import genotypes
import linear_cost
import network
import sparse_counts

PARTS = {
    "few_passes": few_passes,
    "sparse_counts": sparse_counts,
    "linear_cost": linear_cost,
    "dask_arrays": dask_arrays,
    "network": network,
    "genotypes": genotypes,
    "generated": generated,
}
RESULTS = Path(__file__).parents[1] / "results"


class Tee(io.StringIO):
    """Keeps what it passes on."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        said = Tee()
        with contextlib.redirect_stdout(said):
            PARTS[name].main()
        (RESULTS / f"{name}.txt").write_text(said.getvalue().rstrip() + "\n")
