"""Few readings: how many there are, how little they cost in excess loss, and what makes that possible."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from counted_rows import CountedRows, factors
from sparing import SparseEncoder
from sparing.data import Preprocessing, StandardizedRows, as_view
from sparing.data.blocks import DenseBlock
from sparing.data.sketch import sketch_of
from sparing.data.stream import SketchedGram
from sparing.effort import QUICK
from sparing.estimators.inputs import sketch_length
from sparing.linalg import top_spectrum
from sparing.linalg.krylov import RitzSpace
from sparing.methods.encoders import Batch, FewPasses
from sparing.methods.encoders.candidate_pool import CandidatePool
from sparing.methods.encoders.few_passes import completed, fewest, leading_directions, merged, ranked
from sparing.methods.selectors import DualSet, Greedy
from sparing.objectives.shared import SharedCapture
from sparing.results import Enough
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task


def few(X, k, r, *, scale=False, length=None, cuts=700, max_loss=1.0):
    rows = CountedRows(X, cuts)
    length = length or sketch_length(rows.is_dense, r or SEARCH.sketch_features, rows.shape[1])
    view = StandardizedRows(rows, scale=scale, sketch=sketch_of(rows, length, 7, scale=scale))
    run = Run(np.random.default_rng(1), effort=QUICK)
    found, spectrum, selection = FewPasses(Greedy()).encode(view, k, r, run, enough=Enough(max_loss=max_loss))
    return found, spectrum, selection, view, rows


def usual(X, k, r, *, scale=False):
    view, rng = as_view(X, Preprocessing(scale=scale)), np.random.default_rng(0)
    spectrum = top_spectrum(view, k, rng, tolerance=1e-9)
    return Batch(Greedy(), DualSet()).encode(Task.of_components(view, spectrum, r), Run(rng, effort=QUICK)), spectrum


def excess(found, spectrum):
    """The truth about PCA, for both."""
    return found.loss / spectrum.tail - 1


def shared_csr(path):
    with np.load(path) as file:
        return sparse.csr_matrix((file["data"].astype(float), file["indices"], file["indptr"]), shape=file["shape"])


def sparse_example(rng, n=900, d=240):
    """Counts of topics: a flat spectrum, features of very different frequency."""
    topics = rng.dirichlet(np.full(8, 0.3), n) @ rng.gamma(0.3, 2.0, (8, d))
    return sparse.csr_matrix(rng.poisson(0.4 * topics).astype(float))


def test_all_features_lose_what_pca_loses(rng):
    for X in (factors(rng, 300, 60, 6), sparse_example(rng, 300, 60)):
        found, spectrum, _, _, _ = few(X, 3, 60, length=40)
        assert len(found.support) == 60
        assert found.loss == pytest.approx(spectrum.tail, rel=1e-9)


def test_at_most_three_readings_of_dense_rows(rng):
    X = factors(rng, 600, 150, 6)
    found, spectrum, _, view, rows = few(X, 3, 18, cuts=60)
    assert view.passes == 3
    assert rows.readings == 3 + rows.first_block
    wanted, truth = usual(X, 3, 18)
    assert excess(found, truth) <= 1.03 * excess(wanted, truth)
    assert spectrum.least_loss <= truth.tail


def test_at_most_five_readings_of_sparse_rows(rng):
    X = sparse_example(rng)
    found, spectrum, _, view, rows = few(X, 3, 18, length=150, cuts=90)
    assert view.passes == 5
    assert rows.readings == 5 + rows.first_block
    wanted, truth = usual(X, 3, 18)
    assert excess(found, truth) <= 1.03 * excess(wanted, truth)
    assert spectrum.least_loss <= truth.tail


def test_the_loss_is_exact(rng):
    for X in (factors(rng, 300, 120), sparse_example(rng, 400, 120)):
        found, spectrum, selection, _, _ = few(X, 2, 9, length=60)
        Z = X.toarray() if sparse.issparse(X) else X
        Z = Z - Z.mean(axis=0)
        view = as_view(X)
        Q = np.linalg.qr(Z @ found.components.T)[0]
        assert found.loss * view.square_unit == pytest.approx(((Z - Q @ (Q.T @ Z)) ** 2).sum(), rel=1e-9)
        np.testing.assert_array_equal(found.support, np.sort(selection.columns))
        np.testing.assert_allclose(
            selection.gram_columns * view.square_unit, Z.T @ Z[:, selection.columns], atol=1e-9 * (Z**2).sum()
        )
        assert spectrum.total * view.square_unit == pytest.approx((Z**2).sum())


REAL = {
    "cells": ("pbmc_facs.npz", False),
    "words": ("classic2_counts.npz", False),
    "scaled": ("classic2_counts.npz", True),
}


@pytest.mark.parametrize(
    ("name", "scale"),
    [pytest.param(*given, id=name, marks=[pytest.mark.long] * (name != "scaled")) for name, given in REAL.items()],
)
def test_within_three_percent_on_real_sparse_data(name, scale, shared_path):
    X = shared_csr(shared_path(name))
    found, spectrum, _, view, rows = few(X, 5, 30, scale=scale)
    wanted, truth = usual(X, 5, 30, scale=scale)
    assert excess(found, truth) <= 1.03 * excess(wanted, truth)
    assert spectrum.least_loss <= truth.tail
    assert spectrum.tail_error < 0.1 * excess(found, truth) * truth.tail
    assert view.passes == 5
    assert rows.readings <= 5 + rows.first_block


def test_within_three_percent_on_genotypes(shared):
    X = shared("genotypes/joint_hm3_1kg.npz")[:, ::2]
    X = np.where(X < 0, 1, X).astype(np.float32)
    found, spectrum, _, view, rows = few(X, 5, 30)
    wanted, truth = usual(X, 5, 30)
    assert excess(found, truth) <= 1.03 * excess(wanted, truth)
    assert spectrum.least_loss <= truth.tail
    assert view.passes == 3
    assert rows.readings <= 3 + rows.first_block


def test_control_norms_of_features_must_be_exact(shared):
    """Choosing on the kept directions alone, as though the rest of each feature were nothing, is worse."""
    X = np.where((G := shared("genotypes/joint_hm3_1kg.npz")[:, :1500]) < 0, 1, G).astype(np.float32)
    losses = {}
    for name in ("exact norms", "none"):
        rows = CountedRows(X, 300)
        view = StandardizedRows(rows, sketch=sketch_of(rows, 100, 7, scale=False))
        B = view.sketch.rows
        extra = np.maximum(view.gram_diagonal() - np.square(B, dtype=float).sum(axis=0), 0.0)
        surrogate = SketchedGram([B], extra if name == "exact norms" else np.zeros_like(extra))
        rng = np.random.default_rng(0)
        target = top_spectrum(surrogate, 5, rng)
        chosen = Greedy().select(Task.of_columns(surrogate, 30, target), Run(rng, effort=QUICK))
        core = SharedCapture(*_gram_and_square(view, chosen.columns), 5)
        losses[name] = view.total - float(core.fitted(np.arange(len(chosen.columns))[None])[0][0])
    tail = top_spectrum(view, 5, rng, tolerance=1e-9).tail
    assert losses["none"] - tail > 1.25 * (losses["exact norms"] - tail)


def _gram_and_square(view, J):
    columns = view.gram_columns(J)
    return columns[J], columns.T @ columns


def test_copies_do_not_fill_the_pool(rng):
    """A hundred features, thirty times each: candidates are different ones."""
    X = np.repeat(factors(rng, 300, 100, 8, noise=1.0), 30, axis=1)
    found, _, _, _, _ = few(X, 4, 24, length=60)
    assert len(set(found.support // 30)) == 24
    once, truth = usual(X, 4, 24)
    assert excess(found, truth) <= 1.03 * excess(once, truth)
    gains = np.repeat(rng.random(100), 30)
    assert len(set(ranked(gains, 400) // 30)) == len(ranked(gains, 400)) == 100


def test_rankings_take_turns():
    first, second = np.array([4, 2, 0]), np.array([4, 1, 3, 5])
    np.testing.assert_array_equal(merged([first, second], 10), [4, 2, 1, 0, 3, 5])
    np.testing.assert_array_equal(merged([first, second], 3), [4, 2, 1])
    np.testing.assert_array_equal(ranked(np.array([1.0, 0.0, 3.0, 3.0 * (1 - 1e-9), 2.0]), 3), [2, 4, 0])


@pytest.mark.parametrize("max_loss", [1.02, 1.1])
def test_fewest_features_keep_the_loss(max_loss, rng):
    X = factors(rng, 400, 130, 5, noise=1.0)
    found, spectrum, _, view, _ = few(X, 3, None, max_loss=max_loss, cuts=100)
    assert view.passes == 3
    assert spectrum.loss_ratio(found.loss) <= max_loss
    wanted = SparseEncoder(3, max_loss=max_loss, random_state=0, passes="any", effort="quick", certify=False).fit(X)
    assert len(found.support) <= len(wanted.support_) + max(1, len(wanted.support_) // 10)


def test_fewest_is_the_shortest_run_or_better(rng):
    A = np.cov(factors(rng, 200, 30, 4), rowvar=False)
    view = as_view(A, Preprocessing(precomputed=True))
    spectrum = top_spectrum(view, 2, rng)
    core = SharedCapture(view.gram(), view.gram() @ view.gram(), 2)
    ratios = [spectrum.loss_ratio(spectrum.total - core.fitted(np.arange(r)[None])[0][0]) for r in range(2, 31)]
    chosen = fewest(core, spectrum, 1.05 * spectrum.tail, 30, Run(rng))
    assert spectrum.loss_ratio(spectrum.total - core.fitted(chosen[None])[0][0]) <= 1.05
    assert len(chosen) <= 2 + int(np.argmax(np.array(ratios) <= 1.05))
    assert len(fewest(core, spectrum, spectrum.tail, 3, Run(rng))) == 3  # not reached: all there are
    assert len(fewest(core, spectrum, np.inf, 30, Run(rng))) == 2


def test_a_completed_sketch_has_exact_directions_and_norms(rng):
    X = factors(rng, 200, 40, 3)
    X -= X.mean(axis=0)
    A = X.T @ X
    B = (rng.standard_normal((25, 200)) / 5 @ X).astype(np.float32)
    space = RitzSpace(leading_directions(B, 5))
    for _ in range(4):
        space.absorb(A @ space.wanted)
    view = SketchedGram(completed(B, space, np.diag(A).copy()), np.zeros(40))
    np.testing.assert_allclose(view.gram_diagonal(), np.diag(A), rtol=1e-5)
    for vector, value in zip(space.basis.T[:2], space.values[:2], strict=True):
        assert vector @ view.gram() @ vector == pytest.approx(value, rel=1e-3)


def test_directions_of_rows_of_low_rank(rng):
    B = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 50))
    V = leading_directions(B.astype(np.float32), 9)
    assert 3 <= V.shape[1] <= 9
    Q = np.linalg.qr(V[:, :3])[0]
    np.testing.assert_allclose(B - B @ Q @ Q.T, 0, atol=1e-4)


@pytest.mark.parametrize(("k", "r"), [(5, 2), (1, 1), (60, 70), (3, 90), (90, 90)])
def test_counts_at_their_limits(k, r, rng):
    """Also where more than half of all directions are followed."""
    X = factors(rng, 300, 90, 5)
    found, spectrum, _, _, _ = few(X, k, r, length=140)
    wanted, truth = usual(X, min(k, r), r)
    assert len(found.loadings) == min(k, r)
    spectrum = spectrum.leading(min(k, r))
    assert len(found.support) <= r
    assert found.loss <= wanted.loss * 1.1 + 1e-9 * spectrum.total
    assert spectrum.least_loss <= truth.tail + 1e-9 * spectrum.total
    assert spectrum.tail == pytest.approx(truth.tail, rel=0.05, abs=1e-9 * spectrum.total)


def test_memory_grows_as_promised(rng):
    """By (s + 4 m + r) d numbers, whatever the number of rows; 16 features more, and products beside their sums."""
    length, k, r = 100, 3, 30
    peaks = []
    for d in (16000, 20000):  # where pools have reached their largest size
        X = Endless(rng.standard_normal((5, d)).astype(np.float32), 300)
        tracemalloc.start()
        view = StandardizedRows(X, sketch=sketch_of(X, length, 7, scale=False))
        FewPasses(Greedy()).encode(view, k, r, Run(rng, effort=QUICK))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    numbers = (peaks[1] - peaks[0]) / 8 / 4000
    block = 3 * 100 / 2  # a hundred rows in single precision, as they are made
    assert numbers < length + 4 * (k + SEARCH.sketch_beside) + 2 * (r + SEARCH.sketch_core) + block


class Endless(CountedRows):
    """Rows made when they are read."""

    def __init__(self, mixing, n):
        super().__init__(np.empty((0, mixing.shape[1]), np.float32))
        self.mixing, self.shape = mixing, (n, mixing.shape[1])

    def blocks(self):
        for start in range(0, self.shape[0], 100):
            rng = np.random.default_rng(start)
            rows = rng.standard_normal((100, len(self.mixing)), dtype=np.float32) @ self.mixing
            yield DenseBlock(rows + rng.standard_normal(rows.shape, dtype=np.float32), start)


def test_what_stands_for_other_features_has_their_products(rng):
    """Along all directions it does so exactly: A^2 of the candidates comes from the small matrix."""
    X = rng.standard_normal((40, 12)) * np.arange(1, 13)
    A, features = X.T @ X, np.array([1, 4, 5, 9])
    basis = np.linalg.eigh(A)[1][:, ::-1]
    for count, error in ((12, 1e-12), (10, 0.02)):
        V = basis[:, :count]
        pool = CandidatePool(
            as_view(X, Preprocessing(center=False)), features, A[np.ix_(features, features)], V, A @ V, RitzSpace(V)
        )
        G = pool.beside_the_rest().gram()
        assert G.shape == (4 + count, 4 + count)
        squares = (A @ A)[np.ix_(features, features)]
        np.testing.assert_allclose((G @ G)[:4, :4], squares, atol=error * squares.max())
        assert np.linalg.eigvalsh(G)[0] >= -1e-12 * np.linalg.norm(G)
