"""Four definitions of explained variance: where they agree, what bounds them, what they forget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.linalg.variance import DEFINITIONS, adjusted, basis, information, symmetric, symmetric_total

every = pytest.mark.parametrize("variance", DEFINITIONS.values(), ids=DEFINITIONS.keys())
UNCENTRED = Preprocessing(center=False)


def unit(H):
    return H / np.linalg.norm(H, axis=0)


def drawn(seed, n, d, k):
    """Small integers: ties, repeated and dependent components are common."""
    rng = np.random.default_rng(seed)
    X, H = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(-2, 3, (d, k)).astype(float)
    X[0, 0] += 1.0
    H[0, ~H.any(axis=0)] = 1.0
    return X, unit(H), rng


sizes = {"seed": st.integers(0, 10**6), "n": st.integers(2, 10), "d": st.integers(1, 7), "k": st.integers(1, 4)}


@every
def test_principal_components_have_their_eigenvalues(variance, rng):
    A = np.cov(rng.standard_normal((30, 6)) @ rng.standard_normal((6, 6)), rowvar=False)
    values, V = np.linalg.eigh(A)
    view = as_view(A, Preprocessing(precomputed=True))
    for order in ([5, 4, 3], [3, 5, 4]):  # in every order
        np.testing.assert_allclose(variance(view, V[:, order]) * view.square_unit, values[order])


def test_orthogonal_loadings_have_the_variance_along_them(rng):
    X = rng.standard_normal((30, 7)) @ rng.standard_normal((7, 7))
    view, H = as_view(X, UNCENTRED), np.linalg.qr(rng.standard_normal((7, 3)))[0]
    along = (np.square(X @ H)).sum(axis=0) / view.square_unit
    np.testing.assert_allclose(symmetric(view, H), along)
    np.testing.assert_allclose(basis(view, H), along)
    assert information(view, H)[0] > along[0]  # the others see what the scores share
    assert adjusted(view, H)[1] < along[1]


@settings(deadline=None, max_examples=100)
@given(**sizes)
def test_symmetric_and_basis_have_the_total_of_the_span_in_every_order(seed, n, d, k):
    X, H, rng = drawn(seed, n, d, k)
    view = as_view(X, UNCENTRED)
    Q = np.linalg.svd(H)[0][:, : np.linalg.matrix_rank(H)]
    total = np.square(X @ Q).sum() / view.square_unit
    order = rng.permutation(k)
    for directions in (H, H[:, order]):
        np.testing.assert_allclose(symmetric(view, directions).sum(), total, atol=1e-9 * view.total)
        np.testing.assert_allclose(basis(view, directions).sum(), total, atol=1e-9 * view.total)
    assert symmetric_total(view, H) == symmetric(view, H).sum()
    np.testing.assert_allclose(symmetric(view, H[:, order]), symmetric(view, H)[order], atol=1e-9 * view.total)


@settings(deadline=None, max_examples=100)
@given(**sizes)
def test_nothing_is_above_pca_and_the_decoder_sees_most(seed, n, d, k):
    X, H, _ = drawn(seed, n, d, k)
    view = as_view(X, UNCENTRED)
    best = np.cumsum(np.square(np.linalg.svd(X, compute_uv=False)))
    best = np.append(best, [best[-1]] * k)[:k] / view.square_unit
    rounding = 1e-9 * view.total
    assert np.all(np.cumsum(information(view, H)) <= best + rounding)
    assert symmetric_total(view, H) <= information(view, H).sum() + rounding
    for variance in DEFINITIONS.values():
        assert np.all(variance(view, H) >= 0)
        assert variance(view, H).sum() <= best[-1] + rounding


@settings(deadline=None, max_examples=100)
@given(**sizes)
@example(seed=999999, n=2, d=3, k=3)  # a direction without variance: its scores are rounding, and say nothing of others
def test_adjusted_is_the_diagonal_of_qr(seed, n, d, k):
    X, H, _ = drawn(seed, n, d, k)
    view, scores = as_view(X, UNCENTRED), X @ H
    wanted = []
    for j in range(k):
        before = np.linalg.lstsq(scores[:, :j], scores[:, j], rcond=1e-10)[0] if j else np.zeros(0)
        wanted.append(np.square(scores[:, j] - scores[:, :j] @ before).sum() / view.square_unit)
    np.testing.assert_allclose(adjusted(view, H), wanted, atol=1e-9 * view.total)


def test_only_adjusted_has_a_total_that_depends_on_the_order():
    view = as_view(load_pitprops().correlation, Preprocessing(precomputed=True))
    H = unit(np.array([[1.0] * 3 + [0.0] * 10, [0.0, 1.0, 1.0, 1.0] + [0.0] * 9]).T)
    for variance in DEFINITIONS.values():
        forth, back = variance(view, H).sum(), variance(view, H[:, ::-1]).sum()
        assert (abs(forth / back - 1) > 1e-3) == (variance is adjusted)


@every
def test_repeated_components_add_nothing(variance, rng):
    X = rng.standard_normal((30, 6)) @ rng.standard_normal((6, 6))
    view, H = as_view(X, UNCENTRED), unit(rng.standard_normal((6, 2)))
    total = variance(view, H).sum()
    mixed = unit(H @ np.array([[1.0], [2.0]]))
    for more in (H, -H[:, :1], mixed, H + 1e-15):
        repeated = variance(view, np.column_stack([H, unit(more)]))
        np.testing.assert_allclose(repeated.sum(), total, rtol=1e-9)
        assert variance is symmetric or np.all(repeated[2:] == 0)


@every
def test_features_without_variance_explain_nothing(variance, rng):
    X = rng.standard_normal((20, 4))
    X[:, 3] = 0.0
    assert list(variance(as_view(X, UNCENTRED), np.eye(4)[:, [3, 0]]) > 0) == [False, True]


@every
def test_storage_does_not_matter(variance, rng):
    X, H = rng.standard_normal((40, 8)) * (rng.random((40, 8)) < 0.5), unit(rng.standard_normal((8, 3)))
    shares = [
        variance(view, H) / view.total
        for view in (
            as_view(X),
            as_view(sparse.csr_array(X)),
            as_view(np.cov(X, rowvar=False), Preprocessing(precomputed=True)),
            as_view(1e6 * X),
        )
    ]
    np.testing.assert_allclose(shares, [shares[0]] * 4, atol=1e-12)
