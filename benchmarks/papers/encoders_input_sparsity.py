"""Input-sparsity time [magdonismail2015, Theorem 6, comment 4]: seconds of selection against the nonzeros of X.

Rows of 40 words each, twice as many every time, from 30 topics; seconds of CPU of the choice alone: dual set selection
on a count sketch, and PCA by block Krylov iteration with dual set selection on its components. Losses are relative to
PCA's.

    python benchmarks/papers/encoders_input_sparsity.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse
from summary import keep, section, table

from sparing.data import as_view
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors import CountSketch, DualSet
from sparing.methods.selectors.subspace import Subspace
from sparing.run import Run
from sparing.task import Task

K, R, D, WORDS, TOPICS = 5, 30, 3000, 40, 30
SIZES = (20_000, 40_000, 80_000, 160_000)


def documents(n: int, seed: int = 0) -> sparse.csr_array:
    """Each row is of one topic, which uses a few hundred words often."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(D, 0.02), TOPICS).cumsum(axis=1)
    of = rng.integers(TOPICS, size=n)
    words = np.stack([np.searchsorted(topics[t], rng.random(WORDS)) for t in of]).clip(0, D - 1)
    X = sparse.csr_array((np.ones(n * WORDS), words.ravel(), np.arange(0, n * WORDS + 1, WORDS)), shape=(n, D))
    X.sum_duplicates()
    return X


def measured(n: int) -> tuple[str, ...]:
    X = documents(n)
    view, rng = as_view(X), np.random.default_rng(0)
    view.gram_matmat(np.ones((D, 1)))  # transposed once, for all
    began = time.process_time()
    blank = Subspace(np.zeros((D, K)), np.zeros((D, K)), np.zeros((K, K)))  # the sketch needs the number of components
    sketched = CountSketch().select(Task.of_columns(view, R, blank), Run(rng))
    ours = time.process_time() - began
    began = time.process_time()
    spectrum = top_spectrum(view, K, rng)
    plain = DualSet().select(Task.of_columns(view, R, spectrum), Run(rng))
    theirs = time.process_time() - began
    losses = [spectrum.loss_ratio(encoder_on(each, K, spectrum.total).loss) for each in (sketched, plain)]
    return f"{X.nnz:,}", f"{ours:.2f}", f"{theirs:.2f}", *(f"{loss:.4f}" for loss in losses)


def main() -> None:
    measured(SIZES[0] // 4)  # imports and caches
    rows = [measured(n) for n in SIZES]
    nonzeros = np.log([float(row[0].replace(",", "")) for row in rows])
    powers = [np.polyfit(nonzeros, np.log([float(row[column]) for row in rows]), 1)[0] for column in (1, 2)]
    text = section(
        "Sparse linear auto-encoders, input-sparsity time [magdonismail2015, Theorem 6, comment 4]",
        "The paper says that its algorithm can run in input-sparsity time, without measurements. We choose "
        f"{R} of {D:,} columns for {K} components from rows of {WORDS} words and measure CPU seconds. "
        '`selector="count_sketch"` reads every nonzero twice, once for the sketch and once for a product. Dual set '
        "selection on PCA's components first needs an iterative PCA. The times grow as the number of nonzeros to the "
        f"power {powers[0]:.2f} and {powers[1]:.2f}.",
        table(("nonzeros", "count sketch, s", "PCA and dual set, s", "loss / PCA's, sketch", "dual set"), rows),
    )
    keep("encoders_input_sparsity", text)


if __name__ == "__main__":
    main()
