"""Scaled features do not depend on their units, however far these are apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from counted_rows import CountedRows
from sparing.data import as_rows
from sparing.data.blocks import CscBlock, DenseBlock
from sparing.data.standardized import StandardizedRows

SIZES = np.array([1.0, 1e-170, 1e100, 1e-100, 1e30])


@pytest.mark.parametrize(
    "storage",
    [as_rows, lambda X: as_rows(sparse.csr_array(X)), CountedRows, lambda X: CountedRows(sparse.csr_array(X))],
    ids=["array", "sparse", "blocks", "sparse blocks"],
)
@pytest.mark.parametrize("center", [True, False])
def test_units_of_features_that_differ_by_hundreds_of_digits(storage, center, rng):
    X = rng.standard_normal((250, 5)) + 0.3
    X[:, 4] = 7.0  # constant, and in the sizes of the others it stays so
    wanted = StandardizedRows(as_rows(X), center=center, scale=True)
    found = StandardizedRows(storage(X * SIZES), center=center, scale=True)
    np.testing.assert_allclose(found.scale[:4] / SIZES[:4], wanted.scale[:4], rtol=1e-12)
    np.testing.assert_array_equal(found.factor > 0, wanted.factor > 0)
    np.testing.assert_allclose(found.gram_diagonal(), wanted.gram_diagonal(), rtol=1e-12)
    np.testing.assert_allclose(found.columns(np.arange(5)), wanted.columns(np.arange(5)), atol=1e-12)
    np.testing.assert_allclose(found.gram(), wanted.gram(), atol=1e-9)


def test_ordinary_features_cost_no_further_reading(rng):
    rows = CountedRows(np.c_[rng.standard_normal((250, 3)), np.zeros(250), np.full(250, 5.0)])
    StandardizedRows(rows, scale=True)
    assert rows.readings == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_sparse_directions_are_those_of_all_columns(dtype, order, rng):
    """Few columns are gathered; beside a direction that needs all of them nothing is."""
    X = np.asarray(rng.standard_normal((30, 200)), dtype=dtype, order=order)
    V = np.zeros((200, 2))
    V[[3, 77, 199], 0], V[[0, 77], 1] = (1.0, -2.0, 0.5), (3.0, 1.0)
    block = DenseBlock(X)
    few, among_all = block.matmat(V), block.matmat(np.column_stack([V, np.ones(200)]))
    np.testing.assert_allclose(few, X.astype(float) @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(few, among_all[:, :2], rtol=1e-12, atol=1e-12)


def test_the_gram_matrix_of_sparse_rows_is_that_of_dense_ones():
    """From stored entries where every column lacks half of them; with a full column, or weights, by centred sums."""
    rng = np.random.default_rng(0)
    few = sparse.random_array((400, 60), density=0.02, random_state=rng, format="csc")
    full = sparse.hstack([few, sparse.csc_array(5 + rng.random((400, 1)))], format="csc")
    weights, J = rng.random(400), np.arange(50)  # of which no column is full
    cases = ((few, None, False), (few * 1e-170, None, True), (full, None, True), (few, weights, False))
    for X, w, scale in (*cases, (few.astype(np.float32), None, True), (sparse.csr_matrix(full), None, False)):
        stored = StandardizedRows(as_rows(X), scale=scale, weights=w)
        dense = StandardizedRows(as_rows(X.toarray()), scale=scale, weights=w)
        A = dense.gram()
        np.testing.assert_allclose(stored.gram(), A, rtol=0, atol=1e-13 * A.max())
        again = StandardizedRows(as_rows(X), scale=scale, weights=w)  # that has no Gram matrix in memory
        np.testing.assert_allclose(again.gram_columns(J), A[:, J], rtol=0, atol=1e-13 * A.max())


def test_products_of_more_rows_than_the_cache_holds():
    """Columns are multiplied a few at a time there, and single precision is widened in strips."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((270_000, 40), density=0.02, random_state=rng, format="csr")
    V, U = rng.standard_normal((40, 19)), rng.standard_normal((270_000, 19))
    for dtype in (np.float64, np.float32):
        block = CscBlock(X.astype(dtype))
        wide = X.astype(dtype).astype(np.float64)
        np.testing.assert_allclose(block.matmat(V), wide @ V, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(block.rmatmat(U), wide.T @ U, rtol=1e-12, atol=1e-11)
