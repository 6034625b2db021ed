"""Likenesses of X from one reading: what a count sketch is, and what condensed rows never miss."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from counted_rows import CountedRows, factors
from sparing.data import SparseRows, StandardizedRows
from sparing.data.blocks import CscBlock, DenseBlock
from sparing.data.sketch import Condensed, CountSketch, sketch_of
from sparing.data.standardized_block import Standardization, StandardizedBlock
from sparing.data.stream import SketchedGram

SIZE = 16


def sparse_example(rng, n=90, d=13):
    """Counts with an empty column, a full one and sizes far apart."""
    X = rng.integers(1, 9, (n, d)) * (rng.random((n, d)) < 0.2) * np.exp(rng.uniform(-6, 6, d))
    X[:, 4] = 0.0
    X[:, 7] += 3.0
    return sparse.csr_array(X)


def prepared(X, center=True, scale=False, weights=None):
    """The matrix that a view stands for, up to its unit."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    w = np.ones(len(X)) if weights is None else weights
    mean = w @ X / w.sum()
    Z = X - mean if center else X
    if scale:
        sd = np.sqrt(w @ Z**2 / (w.sum() - 1))
        Z = Z / np.where(sd > 0, sd, 1.0)
    return np.sqrt(w)[:, None] * Z


def explicit(n, seed, size=SIZE):
    """S itself, from sketching the identity."""
    job = CountSketch(size, seed, np.ones(n))
    block = StandardizedBlock(
        CscBlock(sparse.csr_array(np.eye(n))), Standardization(1.0, np.zeros(n), np.ones(n), None, None)
    )
    return job.finish(job.map(block)).rows.astype(float)


def sketch_of_rows(X, cuts, job, **kw):
    view = StandardizedRows(CountedRows(X, cuts), sketch=job, **kw)
    B, dropped, _ = view.sketch
    root = np.sqrt(view.square_unit)
    return B * root, dropped * view.square_unit, view


def test_a_count_sketch_puts_each_row_somewhere_once(rng):
    S = explicit(200, seed=5)
    assert (np.abs(S).sum(axis=0) == 1).all()
    assert (np.count_nonzero(S, axis=0) == 1).all()
    assert (np.count_nonzero(S, axis=1) > 0).all()  # 16 rows, 200 balls
    assert abs(S.sum()) < 60  # signs of both kinds
    assert not np.array_equal(S, explicit(200, seed=6))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_count_sketch_is_s_times_x(center, scale, weighted, rng):
    X = sparse_example(rng)
    weights = rng.integers(0, 3, X.shape[0]).astype(float) if weighted else None
    job = CountSketch(SIZE, 11, np.exp(rng.uniform(-2, 2, X.shape[1])))
    B, _, _ = sketch_of_rows(X, [31, 60], job, center=center, scale=scale, weights=weights)
    wanted = explicit(X.shape[0], 11) @ prepared(X, center, scale, weights)
    np.testing.assert_allclose(B, wanted, atol=3e-6 * np.abs(wanted).max(axis=0).max())
    assert (B[:, 4] == 0).all()  # nothing there, nothing made


@settings(deadline=None, max_examples=40)
@given(cuts=st.lists(st.integers(1, 89), max_size=12), seed=st.integers(0, 2**63 - 1))
def test_count_sketch_does_not_depend_on_how_rows_are_cut(cuts, seed):
    X = sparse_example(np.random.default_rng(1))
    job = CountSketch(SIZE, seed, np.ones(X.shape[1]))
    whole, parts = (sketch_of_rows(X, at, job)[0] for at in ([], cuts))
    np.testing.assert_allclose(parts, whole, atol=1e-5 * np.abs(whole).max())
    other = sketch_of_rows(X, cuts, CountSketch(SIZE, seed + 1, np.ones(X.shape[1])))[0]
    assert np.abs(other - whole).max() > 1e-2 * np.abs(whole).max()


@pytest.mark.parametrize("filled", [(False, False), (True, False), (False, True), (True, True)])
def test_count_sketches_merge_whether_sparse_or_not(filled, rng):
    X = sparse_example(rng)
    job = CountSketch(SIZE, 3, np.ones(X.shape[1]))
    placement = Standardization(1.0, np.zeros(X.shape[1]), np.ones(X.shape[1]), None, None)
    parts = [
        job.map(StandardizedBlock(CscBlock(X[some], some.start), placement)) for some in (slice(0, 40), slice(40, 90))
    ]
    assert all(sparse.issparse(part.rows) for part in parts)
    parts = [job.finish(part) if full else part for part, full in zip(parts, filled, strict=True)]
    second = deepcopy(parts[1])
    found = job.finish(job.merge(*parts))
    np.testing.assert_allclose(found.rows, explicit(90, 3) @ X.toarray(), rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(found.signs, explicit(90, 3).sum(axis=1))
    left = parts[1].rows if filled[1] else parts[1].rows.toarray()
    np.testing.assert_array_equal(left, second.rows if filled[1] else second.rows.toarray())  # as it was


def test_a_sketch_in_the_making_stays_sparse_until_it_fills_up(rng):
    X = sparse.random_array((400, 2000), density=0.002, random_state=rng, format="csr")
    job = CountSketch(300, 3, np.ones(2000))
    placement = Standardization(1.0, np.zeros(2000), np.ones(2000), None, None)
    parts = [job.map(StandardizedBlock(CscBlock(X[i : i + 100], i), placement)) for i in range(0, 400, 100)]
    assert sparse.issparse(job.merge(parts[0], parts[1]).rows)
    full = sparse.csr_array(rng.standard_normal((100, 2000)))
    assert isinstance(job.merge(parts[0], job.map(StandardizedBlock(CscBlock(full), placement))).rows, np.ndarray)


def test_a_count_sketch_is_unbiased(rng):
    X = sparse_example(rng)
    Z = prepared(X)
    A = Z.T @ Z
    mean = np.zeros_like(A)
    for seed in range(300):
        B = explicit(X.shape[0], seed, 60) @ Z
        mean += B.T @ B / 300
    size = np.sqrt(np.multiply.outer(np.diag(A), np.diag(A))).max()
    assert np.abs(mean - A).max() < 0.05 * size


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(2, 120),
    length=st.integers(1, 12),
    cuts=st.lists(st.integers(1, 119), max_size=10),
    seed=st.integers(0, 10**6),
    drift=st.sampled_from([0.0, 1.0, 100.0]),
    center=st.booleans(),
    kind=st.sampled_from(["plain", "weights", "sparse"]),
)
def test_condensed_rows_never_hold_more_than_there_is_and_say_what_they_dropped(
    n, length, cuts, seed, drift, center, kind
):
    rng = np.random.default_rng(seed)
    X = factors(rng, n, 7, 2) + drift * np.linspace(0, 1, n)[:, None] * rng.standard_normal(7)
    weights = None
    if kind == "weights":
        weights = rng.integers(0, 3, n).astype(float)
        weights[rng.integers(n)] = 1.0
    stored = sparse.csr_array(X) if kind == "sparse" else X
    job = Condensed(length, np.exp2(rng.integers(-2, 3, 7)), double=True)
    B, dropped, _ = sketch_of_rows(stored, [cut for cut in cuts if cut < n], job, center=center, weights=weights)
    Z = prepared(X, center, weights=weights)
    values = np.linalg.eigvalsh(Z.T @ Z - B.T @ B)
    rounding = 1e-10 * (Z**2).sum() + 1e-12 * (X**2).sum()
    assert values[0] >= -rounding
    assert values[-1] <= dropped + rounding
    assert len(B) <= length + 1
    if np.linalg.matrix_rank(Z) <= length:
        assert dropped <= rounding


def test_what_was_dropped_is_not_nothing(rng):
    """Control: the bound above is needed, and it is not so large that it says nothing."""
    X = factors(rng, 300, 40, 5)
    B, dropped, _ = sketch_of_rows(X, 50, Condensed(8, np.ones(40), double=True))
    Z = prepared(X)
    values = np.linalg.eigvalsh(Z.T @ Z - B.T @ B)
    assert values[-1] > 0.01 * dropped > 0
    assert dropped < 0.2 * np.linalg.eigvalsh(Z.T @ Z)[-1]


@pytest.mark.parametrize("center", [True, False])
def test_condensed_rows_are_exact_while_they_fit(center, rng):
    X = factors(rng, 19, 30) + 5.0
    B, dropped, _ = sketch_of_rows(X, 4, Condensed(20, np.ones(30), double=True), center=center)
    Z = prepared(X, center)
    np.testing.assert_allclose(B.T @ B, Z.T @ Z, atol=1e-10 * (X**2).sum())
    assert dropped <= 1e-9 * (Z**2).sum()


def test_huge_means_cost_no_digits(rng):
    X = np.round(1024 * rng.standard_normal((150, 9))) / 1024 + 1e8 * np.arange(1, 10)
    for weights in (None, rng.integers(0, 3, 150).astype(float)):
        B, _, _ = sketch_of_rows(X, 20, Condensed(12, np.ones(9)), weights=weights)  # single precision
        Z = prepared(X, weights=weights)
        np.testing.assert_allclose(B.T @ B, Z.T @ Z, atol=1e-5 * (Z**2).sum())
    assert np.abs(prepared(X.astype(np.float32)) - prepared(X)).max() > 1  # control: rows in single precision lose all


def test_single_precision_is_kept_and_double_on_demand(rng):
    X = factors(rng, 60, 9)
    for double, kind in ((False, np.float32), (True, np.float64)):
        assert StandardizedRows(CountedRows(X), sketch=Condensed(9, np.ones(9), double)).sketch.rows.dtype == kind


def test_digests_stay_small(rng):
    job = Condensed(5, np.ones(8))
    placement = Standardization(1.0, np.zeros(8), np.ones(8), None, None)
    digest = job.map(StandardizedBlock(DenseBlock(factors(rng, 3, 8)), placement))
    for _ in range(30):
        digest = job.merge(digest, job.map(StandardizedBlock(DenseBlock(factors(rng, 37, 8)), placement)))
        assert digest.room.shape == (10, 8)
    rows = job.finish(digest).rows
    assert rows.shape == (6, 8)
    assert not rows[-1].any()  # room for the distance of two means


def test_rows_that_are_not_finite_do_not_stop_lapack(rng):
    X = factors(rng, 60, 8)
    X[33, 2] = np.nan
    job = Condensed(5, np.ones(8))
    digest = job.map(StandardizedBlock(DenseBlock(X), Standardization(1.0, np.zeros(8), np.ones(8), None, None)))
    assert np.isnan(job.finish(digest).rows).any()


@pytest.mark.parametrize("scale", [True, False])
def test_sizes_come_from_the_first_rows_that_have_any(scale, rng):
    X = factors(rng, 400, 6) * 2.0 ** np.arange(-60, 60, 20)
    X[:200] = 7.0
    X[250, 0] = np.nan
    rows = CountedRows(X, 100)
    job = sketch_of(rows, 5, 0, scale=scale)
    assert rows.rows_read == 300
    assert (np.log2(job.reference) % 1 == 0).all()  # powers of two
    sizes = X[200:300, 1:].std(axis=0)
    if scale:
        np.testing.assert_array_less(np.abs(np.log2(job.reference[1:] / sizes)), 0.51)
    else:
        assert len(set(job.reference)) == 1
        assert abs(np.log2(job.reference[0] / np.median(sizes))) < 0.51
    assert isinstance(job, Condensed)
    assert isinstance(sketch_of(SparseRows(sparse.csr_array(X)), 5, 0, scale=scale), CountSketch)


def test_looking_at_everything_is_counted(rng):
    several, one = CountedRows(factors(rng, 50, 4), 10), CountedRows(factors(rng, 50, 4), [])
    sketch_of(several, 5, 0, scale=False)
    sketch_of(one, 5, 0, scale=False)
    assert (several.passes, one.passes) == (0, 1)


@pytest.mark.parametrize("kinds", [(np.float64,), (np.float64, np.float32)])
def test_sketched_keeps_the_laws_of_views(kinds, rng):
    parts = [np.round(8 * rng.standard_normal((6, 11))).astype(kind) for kind in kinds]
    extra = rng.random(11)
    view, B = SketchedGram(parts, extra, square_unit=4.0), np.concatenate(parts).astype(float)
    A, V, J = B.T @ B + np.diag(extra), rng.standard_normal((11, 3)), np.array([5, 0, 8])
    np.testing.assert_allclose(view.gram_matmat(V), A @ V)
    np.testing.assert_allclose(view.gram_columns(J), A[:, J])
    np.testing.assert_allclose(view.gram_diagonal(), np.diag(A))
    np.testing.assert_allclose(view.gram(), A)
    np.testing.assert_allclose(view.restricted(J).gram(), A[np.ix_(J, J)])
    np.testing.assert_allclose(view.gram_squared(J), (A @ A)[np.ix_(J, J)])
    assert view.total == pytest.approx(np.trace(A))
    assert (view.n_features, view.n_samples, view.square_unit, view.has_rows) == (11, len(B), 4.0, False)
    with pytest.raises(ValueError, match="Fit on X itself"):
        view.matmat(V)


def test_a_sketch_may_be_looked_at_again_until_it_is_taken(rng):
    for X, job, leading in (
        (rng.standard_normal((60, 9)), Condensed(5, np.ones(9)), True),
        (sparse_example(rng), CountSketch(SIZE, 3, np.ones(sparse_example(rng).shape[1])), False),
    ):
        view = StandardizedRows(CountedRows(X, [20, 40]), scale=True, sketch=job)
        first, copy = view.sketch, view.sketch.rows.copy()
        assert view.sketch is first
        assert first.has_leading == leading
        np.testing.assert_array_equal(first.rows, copy)  # centred and scaled once, not each time
        passes = view.passes
        assert view.take_sketch() is first
        assert view.sketch is None
        assert view.passes == passes


def test_views_without_a_sketch_say_so(rng):
    view = StandardizedRows(CountedRows(rng.standard_normal((10, 3))))
    assert view.sketch is None
    assert view.cached().sketch is None
    with pytest.raises(ValueError, match="A sketch works on the rows"):
        view.cached().take_sketch()
