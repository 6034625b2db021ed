"""The laws of the data contract for a turned view, whose columns are the samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing.data import ArrayRows, Preprocessing, SparseRows, StandardizedRows, as_view
from sparing.effort import QUICK
from sparing.gram import DenseGram, Projected
from sparing.gram.base import CACHE_ENTRIES, GRAM_LIMIT
from sparing.gram.transposed import FEW_SAMPLES, Transposed
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors import DualSet, Greedy
from sparing.run import Run
from sparing.task import Task

N, D = 40, 9
DIRECTIONS = np.linalg.qr(np.random.default_rng(5).standard_normal((D, 2)))[0]
WEIGHTS = np.random.default_rng(6).integers(0, 4, N).astype(float)


def example() -> np.ndarray:
    """Zeros, large means, a constant, a zero column, a duplicated sample and one at the mean of many features."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6)
    X[:, 1] += 1e3
    X[:, 2] = 7.0
    X[:, 3] = 0.0
    X[4] = X[0]
    return X


def centred(X: np.ndarray, scale: bool = False, weights: np.ndarray | None = None) -> np.ndarray:
    Z = X - np.average(X, axis=0, weights=weights)
    Z[:, np.ptp(X, axis=0) == 0] = 0.0
    if scale:
        Z = Z / np.where(np.ptp(X, axis=0) == 0, 1.0, X.std(axis=0, ddof=1))
    return Z if weights is None else Z * np.sqrt(weights)[:, None]


def memmap_of(X: np.ndarray, folder) -> np.memmap:
    stored = np.memmap(folder / "X.bin", dtype=X.dtype, mode="w+", shape=X.shape)
    stored[:] = X
    return stored


BASES = {
    "dense": (lambda X, p: as_view(X), centred),
    "fortran": (lambda X, p: as_view(np.asfortranarray(X)), centred),
    "scaled": (lambda X, p: as_view(X, Preprocessing(scale=True)), lambda X: centred(X, scale=True)),
    "uncentred": (lambda X, p: as_view(X, Preprocessing(center=False)), lambda X: X),
    "csr": (lambda X, p: as_view(sparse.csr_array(X)), centred),
    "csr scaled": (
        lambda X, p: as_view(sparse.csr_array(X), Preprocessing(scale=True)),
        lambda X: centred(X, scale=True),
    ),
    "csr weighted": (
        lambda X, p: StandardizedRows(SparseRows(sparse.csr_array(X)), weights=WEIGHTS),
        lambda X: centred(X, weights=WEIGHTS),
    ),
    "memory map": (lambda X, p: as_view(memmap_of(X, p)), centred),
    "small blocks": (lambda X, p: StandardizedRows(ArrayRows(X, block_rows=7)), centred),
    "small blocks, weighted": (
        lambda X, p: StandardizedRows(ArrayRows(X, block_rows=7), weights=WEIGHTS),
        lambda X: centred(X, weights=WEIGHTS),
    ),
    "projected": (
        lambda X, p: Projected(as_view(X), directions=DIRECTIONS),
        lambda X: centred(X) @ (np.eye(D) - DIRECTIONS @ DIRECTIONS.T),
    ),
}


@pytest.fixture(params=BASES.values(), ids=BASES.keys())
def case(request, tmp_path):
    make, truth = request.param
    X = example()
    base, dense = make(X, tmp_path), truth(X)
    return base, dense.T / np.sqrt(base.square_unit)  # a view counts in its own unit


@pytest.mark.parametrize("few", [0, FEW_SAMPLES], ids=["from products", "XX' in memory"])
def test_agrees_with_the_turned_matrix(case, few, rng):
    base, dense = case
    view = Transposed(base, few_samples=few)
    K, V = dense.T @ dense, rng.standard_normal((N, 3))
    size = np.abs(K).max()
    assert (view.n_features, view.n_samples, view.square_unit) == (N, D, base.square_unit)
    assert view.has_gram == (few > 0)
    np.testing.assert_allclose(view.gram_matmat(V), K @ V, atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_columns([5, 39, 0]), K[:, [5, 39, 0]], atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_diagonal(), np.diag(K), atol=1e-9 * size)
    np.testing.assert_allclose(view.total, np.trace(K), rtol=1e-9)
    J = np.array([7, 0, 25])
    np.testing.assert_allclose(view.restricted(J).gram(), K[np.ix_(J, J)], atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_squared(J), (K @ K)[np.ix_(J, J)], atol=1e-9 * size**2)
    every = view.restricted(np.arange(N))  # more samples than features: held as themselves
    np.testing.assert_allclose(every.gram_columns([3]), K[:, [3]], atol=1e-9 * size)
    np.testing.assert_allclose(view.gram(), K, atol=1e-9 * size)


def test_rows_agree_and_products_are_adjoint(case, rng):
    base, dense = case
    view = Transposed(base)
    V, U, size = rng.standard_normal((N, 2)), rng.standard_normal((D, 2)), np.abs(dense).max()
    np.testing.assert_allclose(view.matmat(V), dense @ V, atol=1e-9 * size)
    np.testing.assert_allclose(view.rmatmat(U), dense.T @ U, atol=1e-9 * size)
    np.testing.assert_allclose(view.columns([6, 1, 39]), dense[:, [6, 1, 39]], atol=1e-9 * size)
    np.testing.assert_allclose((U * view.matmat(V)).sum(), (view.rmatmat(U) * V).sum())
    np.testing.assert_allclose(view.row_gram(), dense @ dense.T, atol=1e-9 * size**2)
    J = np.array([7, 0, 25])  # with X'X in memory squares take another route
    assert view.squares_cheaply == base.has_gram
    np.testing.assert_allclose(
        view.gram_squared(J), np.linalg.matrix_power(dense.T @ dense, 2)[np.ix_(J, J)], atol=1e-9 * size**4
    )


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, np.asfortranarray])
def test_no_cancellation_when_means_are_a_million_times_the_spread(storage, rng):
    X = rng.standard_normal((200, 5)) + 1e6
    view, Z = Transposed(as_view(storage(X))), X - X.mean(axis=0)
    np.testing.assert_allclose(view.gram_diagonal() * view.square_unit, (Z**2).sum(axis=1), rtol=1e-6)
    naive = (X**2).sum(axis=1) - 2 * X @ X.mean(axis=0) + (X.mean(axis=0) ** 2).sum()  # control: the textbook formula
    assert np.abs(naive / (Z**2).sum(axis=1) - 1).max() > 1e-5


@pytest.mark.parametrize("deflated", [False, True], ids=["rows", "products"])
def test_long_and_many_rows_are_taken_by_strips(deflated, rng):
    n, d = FEW_SAMPLES + 1, CACHE_ENTRIES // FEW_SAMPLES + 44  # XX' is not formed, all rows are more than one strip
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.3)
    many = np.arange(0, n, 2)[::-1]
    for storage in (X, sparse.csr_array(X)):
        base = as_view(storage)
        dense = (X - X.mean(axis=0)) / np.sqrt(base.square_unit)
        if deflated:
            base, dense = Projected(base, directions=np.eye(d, 1)), np.where(np.arange(d) == 0, 0.0, dense)
        view = Transposed(base)
        np.testing.assert_allclose(view.columns(many), dense[many].T, atol=1e-12)
        np.testing.assert_allclose(view.restricted(many).gram(), dense[many] @ dense[many].T, atol=1e-9)
        np.testing.assert_allclose(view.gram_diagonal(), (dense**2).sum(axis=1))


def test_a_covariance_has_no_samples_to_choose():
    for view in (DenseGram(np.eye(4)), Projected(DenseGram(np.eye(4)), directions=np.eye(4)[:, :1])):
        with pytest.raises(
            ValueError, match="Choosing data points works on the rows of X, but only a 4 x 4 covariance"
        ):
            Transposed(view)


def test_large_matrices_of_samples_are_refused(rng):
    n = GRAM_LIMIT + 1
    with pytest.raises(ValueError, match=f"A {n} x {n} matrix was requested"):
        Transposed(as_view(rng.standard_normal((n, 3)))).gram()


def test_passes_are_those_of_the_base_and_lengths_are_read_once(rng):
    base = as_view(rng.standard_normal((30, 5)))
    view, before = Transposed(base), base.passes
    view.gram_diagonal()
    view.gram_diagonal()
    assert view.passes == base.passes == before + 1


@pytest.mark.parametrize("selector", [Greedy(), DualSet()], ids=["greedy", "dual set"])
@pytest.mark.parametrize("shape", [(40, 300), (1500, 20)], ids=str)
def test_choosing_columns_of_it_is_choosing_columns_of_the_turned_table(selector, shape, rng):
    X = rng.standard_normal((shape[0], 6)) @ rng.standard_normal((6, shape[1])) + 0.3 * rng.standard_normal(shape)
    uncentred, losses = Preprocessing(center=False), []
    for storage in (X, sparse.csr_array(X)):
        turned = Transposed(as_view(storage, uncentred))
        for view in (turned, as_view(np.ascontiguousarray(X.T), uncentred)):
            spectrum = top_spectrum(view, 3, np.random.default_rng(0))
            found = selector.select(Task.of_columns(view, 8, spectrum), Run(np.random.default_rng(0), effort=QUICK))
            assert len(found.columns) == 8
            losses.append(spectrum.loss_ratio(encoder_on(found, 3, spectrum.total).loss))
    np.testing.assert_allclose(losses[0], losses[2], rtol=1e-7)  # one answer in every storage
    np.testing.assert_allclose(losses, losses[0], rtol=0.02)  # and as good as on the table turned by hand
