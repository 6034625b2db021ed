"""What the search for shared features reaches at each effort, and what it costs: the counts of Effort were set here.

Excess is the information loss over PCA's, less 1. Seconds are those of the processor, for the selection alone. Counts
were chosen on the first table and confirmed on the second, whose sets no count was chosen on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from shapes import DATA, genotypes, real_dense, real_sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from threadpoolctl import threadpool_limits

from sparing.data import Preprocessing, as_view
from sparing.effort import EFFORTS
from sparing.gram import DataMatrix
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors import Greedy
from sparing.run import Budget, Run
from sparing.task import Task

SEEDS = 5

Table = np.ndarray | sparse.csr_array


def gene_logs(name: str, least: float) -> Callable[[], Table] | None:
    read = real_dense(name)
    return None if read is None else lambda: np.log(np.maximum(read(), least))


def standardized(X: np.ndarray) -> np.ndarray:
    return X / X.std(axis=0)


TUNED: list[tuple[str, Callable[[], Table] | None, Sequence[tuple[int, int]]]] = [
    ("colon", gene_logs("colon_alon", 1), ((3, 3), (3, 6), (3, 15), (3, 30))),
    ("nci60", real_dense("nci60"), ((5, 5), (5, 25))),
    ("CBCL faces", real_dense("cbcl_faces"), ((5, 10), (5, 50))),
    ("breast_cancer", lambda: standardized(load_breast_cancer().data), ((3, 15),)),
    ("digits", lambda: load_digits().data, ((5, 10),)),
    ("wine", lambda: standardized(load_wine().data), ((3, 5),)),
]
CONFIRMED: list[tuple[str, Callable[[], Table] | None, Sequence[tuple[int, int]]]] = [
    ("lymphoma", real_dense("lymphoma_alizadeh62"), ((5, 10), (5, 30))),
    ("armstrong", gene_logs("leukemia_armstrong", 20), ((5, 15), (10, 60))),
    ("arcene", real_dense("arcene"), ((5, 15), (10, 60))),
    ("madelon", real_dense("madelon"), ((5, 20),)),
    ("genotypes", genotypes(), ((5, 15),)),
    ("associated_press", real_sparse("associated_press"), ((5, 20),)),
    ("tdt2", real_sparse("tdt2_all"), ((5, 20),)),
]


def reached(view: DataMatrix, k: int, r: int, effort: str, seeds: int) -> tuple[list[float], float]:
    """Excess in percent for each seed, and the median of seconds."""
    spectrum = top_spectrum(view, k, np.random.default_rng(0), tolerance=1e-7)
    excess, seconds = [], []
    for seed in range(seeds):
        run, start = Run(np.random.default_rng(seed), Budget(), EFFORTS[effort]), time.process_time()
        found = Greedy().select(Task.of_columns(view, r, spectrum), run)
        seconds.append(time.process_time() - start)
        excess.append(100 * (encoder_on(found, k, spectrum.total).loss / spectrum.tail - 1))
    return excess, float(np.median(seconds))


def table(title: str, sets: list[tuple[str, Callable[[], Table] | None, Sequence[tuple[int, int]]]]) -> None:
    print(f"{title}: excess over PCA's loss in %, mean of {SEEDS} seeds (worst), seconds")
    for name, read, cells in sets:
        if read is None:
            continue
        view = as_view(read(), Preprocessing())
        for k, r in cells:
            shown = []
            for effort in EFFORTS:
                excess, seconds = reached(view, k, r, effort, 1 if effort == "quick" else SEEDS)
                shown.append(f"{effort} {np.mean(excess):.4f} ({max(excess):.4f}) {seconds:.3f} s")
            print(f"  {name:17s} k={k:2d} r={r:2d}  " + "   ".join(shown), flush=True)


def main() -> None:
    if not DATA.exists():
        print("SPARING_DATA is not set: only the sets of scikit-learn")
    with threadpool_limits(1, user_api="blas"):
        table("Counts chosen on", TUNED)
        table("Confirmed on", CONFIRMED)


if __name__ == "__main__":
    main()
