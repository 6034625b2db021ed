"""Dual set selection on a count sketch: its error, the promise that follows, and controls that must fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder
from sparing.data import Preprocessing, as_view
from sparing.data.sketch import signed_buckets
from sparing.linalg import encoder_on, top_spectrum
from sparing.linalg.theorem_bounds import count_sketch_error, count_sketch_factor, count_sketch_rows, dual_set_factor
from sparing.methods.selectors import CountSketch, DualSet
from sparing.methods.selectors.count_sketch import promise_of_sketch
from sparing.methods.selectors.subspace import SignedSums, count_sketched
from sparing.results import Selection
from sparing.run import Run
from sparing.task import Task

N, D, K = 20000, 30, 1
ROWS = count_sketch_rows(K, 0.6)


def strong_columns(seed=0):
    """Sparse rows, of which few columns say almost everything."""
    X = sparse.random(N, D, density=0.1, format="csr", random_state=np.random.default_rng(seed))
    return sparse.csr_array(X @ sparse.diags_array(np.r_[20.0, 15.0, np.full(D - 2, 0.3)]))


def off_by(X, Y, P):
    """How far ||Y - YP||^2 is from ||X - XP||^2, as a share of it."""
    rest = np.eye(len(P)) - P
    return abs(np.square(Y @ rest).sum() / np.square(X @ rest).sum() - 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_count_sketch_keeps_the_cost_of_every_projection(seed):
    X = strong_columns(seed).toarray() + 1.0
    rng = np.random.default_rng(seed)
    V = np.linalg.svd(X, full_matrices=False)[2][:1].T
    projections = [V @ V.T] + [np.outer(v, v) for v in np.linalg.qr(rng.standard_normal((D, 8)))[0].T]
    view = as_view(X, Preprocessing(center=False))
    sketch = view.one_pass(SignedSums(ROWS, seed, D))[0] * np.sqrt(view.square_unit)
    assert ROWS < N / 3
    assert max(off_by(X, sketch, P) for P in projections) <= count_sketch_error(K, ROWS) <= 0.6
    unsigned = np.zeros_like(sketch)  # control: sums without signs
    np.add.at(unsigned, signed_buckets(ROWS, seed, 0, N)[0], X)
    assert max(off_by(X, unsigned, P) for P in projections) > 0.6


def test_sketches_do_not_depend_on_storage_and_are_centred():
    X = strong_columns()
    for weights in (None, np.random.default_rng(0).random(N)):
        dense, csr = (as_view(kind, Preprocessing(scale=True), weights) for kind in (X.toarray(), X))
        job = SignedSums(50, 3, D)
        np.testing.assert_allclose(dense.one_pass(job)[0], csr.one_pass(job)[0], atol=1e-9 * np.sqrt(dense.total))
        np.testing.assert_allclose(job.of_products(csr), csr.one_pass(job)[0], atol=1e-9 * np.sqrt(dense.total))


def ratio_by(selector, X, r, seed):
    view, rng = as_view(X), np.random.default_rng(seed)
    spectrum = top_spectrum(view, K, rng)
    chosen = selector.select(Task.of_columns(view, r, spectrum), Run(rng))
    return spectrum.loss_ratio(encoder_on(chosen, K, spectrum.total).loss)


class SmallestColumns:
    """Sabotage: the columns of least norm."""

    def select(self, task, run):
        columns = np.argsort(task.gram.gram_diagonal())[: task.n_nonzero]
        return Selection(columns, task.gram.gram_columns(columns))


def test_the_promise_holds_and_bad_columns_break_it():
    X, r = strong_columns(), 4
    ratios = [ratio_by(CountSketch(accuracy=0.6), X, r, seed) for seed in range(5)]
    assert np.mean(np.array(ratios) <= count_sketch_factor(K, r, ROWS)) >= 0.9
    steep = sparse.csr_array(X @ sparse.diags_array(np.r_[50.0, np.full(D - 1, 0.05)]))
    assert ratio_by(CountSketch(accuracy=0.6), steep, r, 0) <= count_sketch_factor(K, r, ROWS)
    assert ratio_by(SmallestColumns(), steep, r, 0) > count_sketch_factor(K, r, ROWS)
    view = as_view(X)
    exact = top_spectrum(view, K, np.random.default_rng(0))
    V = count_sketched(view, K, ROWS, np.random.default_rng(0)).basis
    lost = view.total - np.einsum("ij,ij->", V, view.gram_matmat(V))
    assert exact.tail < lost <= exact.tail * 1.6 / 0.4


def test_the_promise_is_in_the_certificate_where_rows_are_enough():
    X, r = strong_columns(), 4
    model = SparseEncoder(K, n_nonzero=r, selector=CountSketch(rows=ROWS), effort="quick").fit(X)
    (promise,) = model.certificate_.guarantees
    assert promise.limit == count_sketch_factor(K, r, ROWS)
    assert promise.strength == "probability 0.9"
    assert model.certificate_.recheck(X)
    few = SparseEncoder(K, n_nonzero=r, selector="count_sketch", effort="quick").fit(X)
    assert few.certificate_.guarantees == ()  # 300 rows are too few for the theorem
    whole = SparseEncoder(K, n_nonzero=r, selector=CountSketch(rows=N), effort="quick").fit(X)
    assert whole.certificate_.guarantees[0].limit == dual_set_factor(K, r)  # X is its own sketch
    for wrong in ({"accuracy": 1.0}, {"rows": 0}, {"rows": 5, "accuracy": 0.5}):
        with pytest.raises(ValueError, match=r"accuracy|rows"):
            CountSketch(**wrong)
    assert promise_of_sketch(CountSketch(rows=10, start=DualSet(sketch=5)), 1, 4, N) is None
