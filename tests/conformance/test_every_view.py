"""The laws of the data contract, for every view."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import sparing
from sparing.data import ArrayRows, Preprocessing, SparseRows, StandardizedRows, as_view
from sparing.data.stream import SketchedGram
from sparing.gram import (
    CachedGram,
    ColumnBlock,
    DataMatrix,
    DenseGram,
    Derived,
    LowRankUpdate,
    Masked,
    Noisy,
    Projected,
    SelectedFeatures,
    Transposed,
)
from sparing.objectives.residual import residual_view

N, D = 40, 9
DIRECTIONS = np.linalg.qr(np.random.default_rng(5).standard_normal((D, 2)))[0]


def example() -> np.ndarray:
    """Zeros, large means, a constant, a zero and a duplicated column."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6)
    X[:, 1] += 1e3
    X[:, 2] = 7.0
    X[:, 3] = 0.0
    X[:, 4] = X[:, 0]
    return X


def centred(X: np.ndarray, scale: bool = False) -> np.ndarray:
    Z = X - X.mean(axis=0)
    Z[:, np.ptp(X, axis=0) == 0] = 0.0
    if scale:
        sd = X.std(axis=0, ddof=1)
        Z = Z / np.where(np.ptp(X, axis=0) == 0, 1.0, sd)
    return Z


def memmap_of(X: np.ndarray, folder) -> np.memmap:
    stored = np.memmap(folder / "X.bin", dtype=X.dtype, mode="w+", shape=X.shape)
    stored[:] = X
    return stored


def off(X: np.ndarray) -> np.ndarray:
    return X - X @ DIRECTIONS @ DIRECTIONS.T


def residual(X: np.ndarray) -> np.ndarray:
    Q = np.linalg.qr(X @ DIRECTIONS)[0]
    return X - Q @ (Q.T @ X)


READ = np.arange(D)[::-1] + 2
KEPT = np.ones(D)
KEPT[[5, 6]] = 0.0


def wider(X: np.ndarray) -> np.ndarray:
    """With two features more, before the others."""
    return np.column_stack([X[:, 0] - X[:, 4], X[:, 3], X])


def adjusted(view) -> LowRankUpdate:
    """The view off DIRECTIONS, as A + W C W'."""
    Q, AQ, zero = DIRECTIONS, view.gram_matmat(DIRECTIONS), np.zeros((2, 2))
    C = np.block([[Q.T @ AQ, -np.eye(2)], [-np.eye(2), zero]])
    return LowRankUpdate(view, np.column_stack([Q, AQ]), C, is_psd=True)


NOISE = np.linspace(0.0, 2.0, D)


def with_noise(X: np.ndarray) -> np.ndarray:
    """Rows of noise after those of the data."""
    return np.concatenate([centred(X), np.diag(np.sqrt(N * NOISE))])


VIEWS = {
    "noisy": (lambda X, p: as_view(X, Preprocessing(noise_variance=NOISE)), with_noise),
    "noisy, sparse": (lambda X, p: as_view(sparse.csr_array(X)).noisy(NOISE), with_noise),
    "noisy, covariance": (
        lambda X, p: as_view(np.cov(X.T, ddof=0), Preprocessing(precomputed=True)).noisy(NOISE),
        lambda X: with_noise(X) / np.sqrt(N),
    ),
    "noisy, gathered": (lambda X, p: Noisy(ColumnBlock(centred(X)), N * NOISE), with_noise),
    "noisy, remembered": (lambda X, p: CachedGram(as_view(X).noisy(NOISE)), with_noise),
    "remembered, noisy": (lambda X, p: Noisy(CachedGram(as_view(X)), N * NOISE * as_view(X).unit ** 2), with_noise),
    "dense": (lambda X, p: as_view(X), centred),
    "fortran": (lambda X, p: as_view(np.asfortranarray(X)), centred),
    "strided": (lambda X, p: as_view(np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]), centred),
    "scaled": (lambda X, p: as_view(X, Preprocessing(scale=True)), lambda X: centred(X, scale=True)),
    "uncentred": (lambda X, p: as_view(X, Preprocessing(center=False)), lambda X: X),
    "csr": (lambda X, p: as_view(sparse.csr_array(X)), centred),
    "csc": (lambda X, p: as_view(sparse.csc_matrix(X)), centred),
    "csr scaled": (
        lambda X, p: as_view(sparse.csr_array(X), Preprocessing(scale=True)),
        lambda X: centred(X, scale=True),
    ),
    "memory map": (lambda X, p: as_view(memmap_of(X, p)), centred),
    "small blocks": (lambda X, p: StandardizedRows(ArrayRows(X, block_rows=7)), centred),
    "covariance": (lambda X, p: as_view(centred(X).T @ centred(X), Preprocessing(precomputed=True)), centred),
    "gathered": (lambda X, p: ColumnBlock(centred(X)), centred),
    "projected": (lambda X, p: Projected(as_view(X), directions=DIRECTIONS), lambda X: off(centred(X))),
    "residual": (lambda X, p: Projected(as_view(X), residual_of=DIRECTIONS), lambda X: residual(centred(X))),
    "both, sparse": (
        lambda X, p: Projected(as_view(sparse.csr_array(X)), directions=DIRECTIONS, residual_of=DIRECTIONS),
        lambda X: off(residual(centred(X))),
    ),
    "both, covariance": (
        lambda X, p: Projected(
            DenseGram(centred(X).T @ centred(X)), directions=DIRECTIONS[:, :1], residual_of=DIRECTIONS
        ),
        lambda X: residual(centred(X)) @ (np.eye(D) - DIRECTIONS[:, :1] @ DIRECTIONS[:, :1].T),
    ),
    "adjusted": (lambda X, p: adjusted(as_view(X)), lambda X: off(centred(X))),
    "adjusted, remembered, sparse": (
        lambda X, p: adjusted(CachedGram(as_view(sparse.csr_array(X)))),
        lambda X: off(centred(X)),
    ),
    "remembered": (lambda X, p: CachedGram(as_view(X)), centred),
    "remembered, projected": (
        lambda X, p: CachedGram(Projected(as_view(X), directions=DIRECTIONS)),
        lambda X: off(centred(X)),
    ),
    "projected, remembered": (
        lambda X, p: Projected(CachedGram(as_view(X)), residual_of=DIRECTIONS),
        lambda X: residual(centred(X)),
    ),
    "residual of rows in memory": (lambda X, p: residual_view(centred(X), DIRECTIONS), lambda X: residual(centred(X))),
    "sketched": (lambda X, p: SketchedGram([centred(X)[:25], centred(X)[25:]], np.zeros(D)), centred),
    "turned twice": (lambda X, p: Transposed(Transposed(as_view(X))), centred),
    "masked": (lambda X, p: Masked(as_view(X), np.array([5, 6])), lambda X: centred(X) * KEPT),
    "narrowed": (lambda X, p: SelectedFeatures(as_view(wider(X)), READ), lambda X: centred(X)[:, ::-1]),
    "narrowed, sparse, remembered": (
        lambda X, p: CachedGram(SelectedFeatures(as_view(sparse.csr_array(wider(X))), READ)),
        lambda X: centred(X)[:, ::-1],
    ),
    "masked, remembered": (lambda X, p: CachedGram(Masked(as_view(X), np.array([5, 6]))), lambda X: centred(X) * KEPT),
}


@pytest.fixture(params=VIEWS.values(), ids=VIEWS.keys())
def case(request, tmp_path):
    make, truth = request.param
    X = example()
    view, dense = make(X, tmp_path), truth(X)
    root = np.sqrt(view.square_unit)  # a view counts in its own unit
    return view, dense / root


def view_classes():
    """The contract and all classes of views."""

    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    return {kind for kind in below(DataMatrix) if kind.__module__.startswith("sparing.")}


def test_every_view_is_here(tmp_path):
    """A class of view that nobody made above has no tested laws."""
    made = set()
    for make, _ in VIEWS.values():
        view = make(example(), tmp_path)
        while view is not None:
            made.add(type(view))
            view = getattr(view, "base", None)
    assert view_classes() - made == {DataMatrix, Derived}  # which nobody can make


def named_in(source):
    """All names that a module uses or imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def test_no_class_of_a_view_is_named_outside_its_folder():
    """Callers ask the contract (``cached``, ``projected``, ``view_of_gram`` ...), so that a view can be replaced."""
    package = Path(sparing.__file__).parent
    folders = {kind.__name__: package / kind.__module__.split(".")[1] for kind in view_classes() - {DataMatrix}}
    used = {(name, path) for path in package.rglob("*.py") for name in named_in(path.read_text()) if name in folders}
    assert {name for name, _ in used} == set(folders)
    assert not [(name, path) for name, path in used if folders[name] not in path.parents]


def test_agrees_with_the_matrix_it_stands_for(case, rng):
    view, dense = case
    A, V = dense.T @ dense, rng.standard_normal((D, 3))
    size = np.abs(A).max()
    np.testing.assert_allclose(view.gram_matmat(V), A @ V, atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_columns([5, 0, 8]), A[:, [5, 0, 8]], atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_diagonal(), np.diag(A), atol=1e-9 * size)
    np.testing.assert_allclose(view.gram(), A, atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_columns([5, 0]), A[:, [5, 0]], atol=1e-9 * size)  # once A is in memory
    np.testing.assert_allclose(view.total, np.trace(A), rtol=1e-9)
    J = np.array([0, 5, 7])
    np.testing.assert_allclose(view.restricted(J).gram(), A[np.ix_(J, J)], atol=1e-9 * size)
    np.testing.assert_allclose(view.gram_squared(J), (A @ A)[np.ix_(J, J)], atol=1e-9 * size**2)
    assert view.unprojected_diagonal().sum() >= view.total * (1 - 1e-12)


def test_a_cached_view_is_the_same_view(case):
    view, dense = case
    cached = view.cached()
    assert cached.cached() is cached
    assert cached.origin is view.origin
    told = ("n_features", "is_psd", "psd_slack", "square_unit", "total_weight", "passes", "is_residual")
    assert [getattr(cached, name) for name in told] == [getattr(view, name) for name in told]
    for name in ("mean", "scale", "rounding_errors"):
        np.testing.assert_array_equal(getattr(cached, name), getattr(view, name))
    np.testing.assert_array_equal(cached.unprojected_diagonal(), view.unprojected_diagonal())
    A = dense.T @ dense
    for J in ([5, 0], [0, 8, 5], [8]):
        np.testing.assert_allclose(cached.gram_columns(J), A[:, J], atol=1e-9 * np.abs(A).max())


def test_what_is_left_of_other_data_says_so():
    X = as_view(example())
    assert not X.is_residual
    assert not Masked(X, np.array([5])).is_residual
    for view in (Projected(X, directions=DIRECTIONS), residual_view(centred(example()), DIRECTIONS)):
        assert view.is_residual
        assert view.cached().is_residual
    np.testing.assert_array_equal(Projected(X, directions=DIRECTIONS).unprojected_diagonal(), X.gram_diagonal())


def test_rows_agree_and_products_are_adjoint(case, rng):
    view, dense = case
    if not view.has_rows:
        with pytest.raises(ValueError, match="Fit on X itself"):
            view.matmat(np.eye(D))
        return
    V, U = rng.standard_normal((D, 2)), rng.standard_normal((len(dense), 2))
    size = np.abs(dense).max()
    np.testing.assert_allclose(view.matmat(V), dense @ V, atol=1e-9 * size)
    np.testing.assert_allclose(view.rmatmat(U), dense.T @ U, atol=1e-9 * size)
    np.testing.assert_allclose(view.columns([6, 1]), dense[:, [6, 1]], atol=1e-9 * size)
    np.testing.assert_allclose((U * view.matmat(V)).sum(), (view.rmatmat(U) * V).sum())
    np.testing.assert_allclose(view.row_gram(), dense @ dense.T, atol=1e-9 * size**2)
    picked = np.concatenate(list(view.picked_rows(np.array([30, 2, 30]))), axis=1)
    np.testing.assert_allclose(picked, dense[[30, 2, 30]], atol=1e-9 * size)
    np.testing.assert_allclose(view.row_squares(), np.square(dense).sum(axis=1), atol=1e-9 * size**2)
    J = np.array([0, 5, 7])  # with XX' in memory squares take another route
    np.testing.assert_allclose(
        view.gram_squared(J), np.linalg.matrix_power(dense.T @ dense, 2)[np.ix_(J, J)], atol=1e-9 * size**4
    )


def test_constant_columns_are_exactly_zero():
    X = example()
    X[:, 2] = 1e9 + 0.1
    for storage in (X, sparse.csr_array(X)):
        view = as_view(storage)
        assert view.gram_diagonal()[2] == 0
        assert np.all(view.gram_columns([2]) == 0)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, np.asfortranarray])
def test_no_cancellation_when_means_are_a_million_times_the_spread(storage, rng):
    X = rng.standard_normal((200, 5)) + 1e6
    Z = X - X.mean(axis=0)
    view = as_view(storage(X))
    np.testing.assert_allclose(view.gram_diagonal() * view.square_unit, (Z**2).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(view.gram_columns([3]) * view.square_unit, Z.T @ Z[:, [3]], atol=1e-6)
    naive = np.einsum("ij,ij->j", X, X) - len(X) * X.mean(axis=0) ** 2  # control: the textbook formula fails here
    assert np.abs(naive / (Z**2).sum(axis=0) - 1).max() > 1e-7


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, np.bool_])
def test_other_types_are_widened_not_rounded(dtype, rng):
    X = (rng.integers(0, 100, (50, 6)) * (rng.random((50, 6)) < 0.5)).astype(dtype)
    wide = as_view(X.astype(np.float64))
    storages = [X] if dtype == np.float16 else [X, sparse.csr_array(X)]  # scipy has no sparse float16
    for storage in storages:
        np.testing.assert_allclose(as_view(storage).gram(), wide.gram(), rtol=1e-12, atol=1e-12)


def test_float32_stays_float32_in_storage(rng):
    X = rng.standard_normal((30, 4)).astype(np.float32)
    assert as_view(X).rows.source is X
    assert as_view(sparse.csc_array(X)).rows.block.matrix.dtype == np.float32


def test_whole_weights_count_as_copies(rng):
    X, weights = rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    for rows in (ArrayRows(X), SparseRows(sparse.csr_array(X)), ArrayRows(X, block_rows=3)):
        weighted = StandardizedRows(rows, scale=True, weights=weights.astype(float))
        repeated = StandardizedRows(ArrayRows(np.repeat(X, weights, axis=0)), scale=True)
        np.testing.assert_allclose(weighted.mean, repeated.mean)
        np.testing.assert_allclose(weighted.scale, repeated.scale)
        np.testing.assert_allclose(weighted.gram(), repeated.gram(), atol=1e-10)
        np.testing.assert_allclose(
            weighted.matmat(np.eye(4)).T @ weighted.columns([0, 1, 2, 3]), repeated.gram(), atol=1e-10
        )


def test_passes_are_counted_and_jobs_share_one(rng):
    from sparing.data.jobs import GramProduct, Product

    view = as_view(rng.standard_normal((30, 5)))
    assert view.passes == 1  # means and squares
    product, gram_product = view.one_pass(Product(np.eye(5)), GramProduct(np.eye(5)))
    assert view.passes == 2
    np.testing.assert_allclose(product.T @ product, gram_product, atol=1e-10)


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(2, 12),
    d=st.integers(1, 6),
    block=st.integers(1, 5),
    seed=st.integers(0, 10**6),
    exponent=st.sampled_from([-400, -20, 0, 20, 400]),
)
def test_blocks_and_powers_of_two_change_no_digit_that_matters(n, d, block, seed, exponent):
    X = np.random.default_rng(seed).integers(-3, 4, (n, d)).astype(float)
    whole, parts = as_view(X), StandardizedRows(ArrayRows(X * 2.0**exponent, block_rows=block))
    np.testing.assert_allclose(
        parts.gram() * 2.0 ** (2 * (np.log2(whole.unit) - np.log2(parts.unit) - exponent)), whole.gram(), atol=1e-12
    )
    np.testing.assert_allclose(parts.mean, whole.mean * 2.0**exponent, rtol=1e-12, atol=1e-14 * 2.0**exponent)
