"""Principal components: right, from few products, and never flattering."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.linalg.eigen import TAIL_TOLERANCE, top_eigenpairs
from sparing.linalg.krylov import MIN_BLOCKS, block_krylov, value_error
from sparing.linalg.rounding import orientations

UNCENTRED = Preprocessing(center=False)


def truth(X: np.ndarray, rank: int) -> tuple[np.ndarray, float]:
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    return squares[:rank], float(squares[rank:].sum())


@pytest.mark.parametrize(
    ("n", "d", "route"),
    [(60, 20, "exact"), (20, 300, "exact"), (900, 400, "iterated"), (400, 900, "iterated")],
)
def test_agrees_with_the_svd_on_every_route(n, d, route, rng):
    X = rng.standard_normal((n, 10)) @ rng.standard_normal((10, d)) + 0.5 * rng.standard_normal((n, d))
    view = as_view(X, UNCENTRED)
    found = top_spectrum(view, 3, rng)
    assert found.exact == (route == "exact")
    values, tail = truth(X, 3)
    unit = view.square_unit
    np.testing.assert_allclose(found.values * unit, values, rtol=1e-4 if route == "iterated" else 1e-10)
    np.testing.assert_allclose(found.tail * unit, tail, rtol=1e-4 if route == "iterated" else 1e-10)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(found.cross, view.gram_matmat(found.basis), atol=1e-8 * found.total)
    np.testing.assert_allclose(found.gram, found.basis.T @ found.cross, atol=1e-8 * found.total)
    assert orientations(found.basis).min() == 1


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("decay", [0.0, 0.2, 0.9])
def test_pca_loss_is_never_overstated(seed, decay):
    """The certified value stays below the truth; the computed one, a Ritz sum, does not (the control)."""
    rng = np.random.default_rng(seed)
    n, d, k = 350, 500, 3
    X = rng.standard_normal((n, d)) * (1 + np.arange(d)) ** -decay
    view = as_view(X, UNCENTRED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flat spectra may stop at the cap; the bound must hold all the same
        found = top_spectrum(view, k, rng, tolerance=1e-3)
    _, tail = truth(X, k)
    assert not found.exact
    assert found.least_loss * view.square_unit <= tail
    assert found.tail * view.square_unit >= tail * (1 - 1e-12)


def test_control_ritz_values_alone_would_overstate_pca_loss(rng):
    X = rng.standard_normal((300, 400))
    pairs = block_krylov(lambda U: X @ (X.T @ U), 300, 3, float((X**2).sum()), rng, tolerance=0.02)
    assert (X**2).sum() - pairs.values.sum() > truth(X, 3)[1] * (1 + 1e-6)


@pytest.mark.parametrize("flat", [False, True])
def test_images_follow_from_the_iteration_itself(flat, rng):
    """No product is spent on them: what leaves the basis is known from its last block."""
    values = np.ones(200) if flat else 0.9 ** np.arange(200)
    A = (Q := np.linalg.qr(rng.standard_normal((200, 200)))[0]) * values @ Q.T
    calls = []
    pairs = block_krylov(lambda U: (calls.append(U), A @ U)[1], 200, 4, float(values.sum()), rng, tolerance=1e-4)
    np.testing.assert_allclose(pairs.images, A @ pairs.vectors, atol=1e-12)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-12)
    assert values[:4].sum() - pairs.values.sum() <= pairs.error + 1e-12


@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_a_bulk_far_from_zero_does_not_wear_the_basis_down(tolerance, rng):
    """Little of each image is new there. With one pass of Gram and Schmidt values were several times too large."""
    values = np.sort(rng.uniform(1.0, 1.1, 400))[::-1]
    pairs = block_krylov(lambda U: values[:, None] * U, 400, 2, float(values.sum()), rng, tolerance=tolerance)
    assert pairs.values.sum() <= values[:2].sum() * (1 + 1e-12)
    assert values[:2].sum() - pairs.values.sum() <= pairs.error + 1e-12
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(2), atol=1e-12)


def test_a_gap_further_down_serves_as_well(rng):
    """Four eigenvalues of almost one size, three wanted: the fourth is no gap, the fifth is."""
    values, residuals = np.array([5.0, 1.001, 1.0, 0.999, 0.01]), np.full(5, 1e-2)
    assert value_error(values, residuals, 3) < 5e-4
    assert value_error(values[:4], residuals[:4], 3) > 1e-2  # the control: where nothing is known beyond the fourth


def test_the_next_eigenvalue_may_lie_above_its_ritz_value():
    """The gap is to where the next eigenvalue may be, not to where it was seen."""
    values, residuals = np.array([2.0, 1.0]), np.array([0.1, 0.5])
    assert value_error(values, residuals, 1) == pytest.approx(0.1**2 / (2.0 - 1.5))


def test_rank_deficient_data_give_fewer_components(rng):
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 8))
    found = top_spectrum(as_view(X, UNCENTRED), 4, rng)
    assert found.rank == 2
    assert found.tail < 1e-12 * found.total
    assert found.loss_ratio(0.0) == 1.0
    assert found.loss_ratio(0.1 * found.total) == np.inf


def test_iteration_finds_an_exact_low_rank(rng):
    X = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 600))
    found = top_spectrum(as_view(X, UNCENTRED), 5, rng)
    assert found.rank == 3
    assert found.tail <= 1e-11 * found.total


def test_same_seed_same_answer_in_every_storage(rng):
    X = rng.standard_normal((500, 700)) * (rng.random((500, 700)) < 0.1)
    found = [
        top_spectrum(as_view(Z), 4, np.random.default_rng(1)) for Z in (X, sparse.csr_array(X), np.asfortranarray(X))
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.values, found[0].values, rtol=1e-6)
        np.testing.assert_allclose(other.tail, found[0].tail, rtol=1e-6)


def test_a_flat_spectrum_is_reported_not_hidden(rng):
    """3000 eigenvalues, evenly spread: more digits are asked for than the iteration can give."""
    squares = np.linspace(1, 2, 3000)
    view = as_view(sparse.diags_array(np.sqrt(squares)).tocsr(), UNCENTRED)
    with pytest.warns(UserWarning, match="converged only to"):
        found = top_spectrum(view, 3, rng, tolerance=1e-12)
    assert found.least_loss < found.tail * (1 - 1e-10)
    assert found.least_loss * view.square_unit <= squares[:-3].sum() < found.tail * view.square_unit


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9), d=st.integers(1, 9), rank=st.integers(1, 4))
def test_small_matrices_of_small_integers(seed, n, d, rank):
    X = np.random.default_rng(seed).integers(-2, 3, (n, d)).astype(float)
    view = as_view(X, UNCENTRED)
    if view.total == 0:
        return
    found = top_spectrum(view, rank, np.random.default_rng(0))
    values, tail = truth(X, found.rank)
    np.testing.assert_allclose(found.values * view.square_unit, values, atol=1e-10 * view.total * view.square_unit)
    assert found.rank == min(rank, np.linalg.matrix_rank(X))
    assert found.least_loss * view.square_unit <= tail + 1e-13


def test_signs_do_not_follow_rounding():
    column = np.array([[0.5], [-0.5 - 1e-9], [0.1]])
    assert orientations(column)[0] == 1  # the first of the equals decides
    assert orientations(-column)[0] == -1
    assert orientations(np.zeros((3, 1)))[0] == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_weak_direction_that_a_random_start_hardly_meets(seed):
    """Stopping at the first small residual misses its eigenvalue and overstates PCA's loss: the control."""
    d = 20000
    rng = np.random.default_rng(seed)
    w = np.zeros(d)
    w[rng.choice(d, 50, replace=False)] = 50**-0.5
    view = as_view(sparse.vstack([sparse.identity(d), sparse.csr_array(10 * w[None])]).tocsc(), UNCENTRED)
    truth = d - 1  # d directions of square 1 and one of 101, which PCA takes
    assert top_spectrum(view, 1, rng).least_loss * view.square_unit <= truth
    for min_blocks, overstated in ((MIN_BLOCKS, False), (1, True)):
        found = block_krylov(view.gram_matmat, d, 1, view.total, rng, tolerance=TAIL_TOLERANCE, min_blocks=min_blocks)
        least = view.total - found.values.sum() - found.error
        assert (least * view.square_unit * (1 - 1e-12) > truth) == overstated


def test_a_matrix_whose_largest_eigenvalue_subset_drivers_miss():
    A = np.array([[0.75, 0, -0.75], [0, 2, 0], [-0.75, 0, 0.75]])
    values, vectors = top_eigenpairs(A, 1)
    np.testing.assert_allclose(values, [2.0])
    np.testing.assert_allclose(np.abs(vectors[:, 0]), [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize("size", [3, 99, 100, 150])
@pytest.mark.parametrize("kind", ["dense", "blocks"])
def test_pairs_in_falling_order(size, kind, rng):
    A = rng.standard_normal((size, size))
    A = A @ A.T
    if kind == "blocks":
        A *= np.equal.outer(np.arange(size) // 2, np.arange(size) // 2)
    values, vectors = top_eigenpairs(A, 3)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:3], rtol=1e-9)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-8 * values[0])


def test_all_are_computed_where_a_subset_of_eigenpairs_fails(rng, monkeypatch):
    W = rng.standard_normal((120, 120))
    W = W + W.T
    wanted = np.linalg.eigvalsh(W)[::-1][:3]

    def fails(*args, **kwargs):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr("scipy.linalg.eigh", fails)
    np.testing.assert_allclose(top_eigenpairs(W, 3)[0], wanted)
