"""Stand-ins for principal components: how much of PCA's loss they lose, and that storage does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing import errors
from sparing.data import ArrayRows, Preprocessing, as_view
from sparing.data.standardized import StandardizedRows
from sparing.gram import Projected
from sparing.linalg import top_spectrum
from sparing.methods.selectors.subspace import OVERSAMPLING, FrequentDirections, Subspace, randomly_projected, sketched


def slowly_falling(rng, n=120, d=40, power=0.5):
    """A spectrum without a gap, where an approximation has something to lose."""
    U, V = (np.linalg.qr(rng.standard_normal((m, d)))[0] for m in (n, d))
    return (U * np.arange(1, d + 1) ** -power) @ V.T


def accuracy(X, V, k):
    values = np.linalg.eigvalsh(X.T @ X)[::-1]
    return (values.sum() - np.square(X @ V).sum()) / values[k:].sum()


@pytest.mark.parametrize(("k", "n_rows"), [(1, 1), (2, 3), (3, 8), (5, 20)])
@pytest.mark.parametrize("power", [0.1, 0.5, 2.0])
def test_a_sketch_keeps_its_promise(k, n_rows, power, rng):
    """||X - XVV'||^2 <= (1 + k/(l + 1 - k)) ||X - X_k||^2, and 0 <= |Xv|^2 - |Bv|^2 <= ||X - X_k||^2 / (l + 1 - k)."""
    X = slowly_falling(rng, power=power)
    V = sketched(as_view(X, Preprocessing(center=False)), k, n_rows).basis
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    assert accuracy(X, V, k) <= 1 + k / (n_rows + 1 - k)
    B = FrequentDirections(n_rows).sketch(X[i : i + n_rows] for i in range(0, len(X), n_rows))
    tail = (np.linalg.svd(X, compute_uv=False)[k:] ** 2).sum()
    kept = np.linalg.eigvalsh(X.T @ X - B.T @ B)
    assert B.shape == (n_rows, 40)
    assert kept[0] >= -1e-10
    assert kept[-1] <= tail / (n_rows + 1 - k) * (1 + 1e-9)


def test_control_the_first_rows_are_no_sketch(rng):
    X = np.vstack([1e-3 * rng.standard_normal((10, 40)), slowly_falling(rng, power=2.0)])
    first = np.linalg.svd(X[:10])[2][:3].T
    assert accuracy(X, first, 3) > 5 * (1 + 3 / 8)
    assert accuracy(X, sketched(as_view(X, Preprocessing(center=False)), 3, 10).basis, 3) < 1 + 3 / 8


@pytest.mark.parametrize("scale", [False, True])
def test_a_sketch_is_good_in_every_storage(scale, rng):
    X = (slowly_falling(rng) + 1.0) * (rng.random((120, 40)) < 0.5)
    plain = as_view(X, Preprocessing(scale=scale))
    dense = plain.columns(np.arange(40))
    views = [
        plain,
        as_view(sparse.csr_array(X), Preprocessing(scale=scale)),
        StandardizedRows(ArrayRows(X, block_rows=7), scale=scale),
        StandardizedRows(ArrayRows(X.astype(np.float32), block_rows=50), scale=scale),
    ]
    for view in views:
        before = view.passes
        target = sketched(view, 3, 9)
        assert view.passes == before + 2
        assert accuracy(dense, target.basis, 3) <= 1 + 3 / 7
        np.testing.assert_allclose(target.cross, dense.T @ (dense @ target.basis), atol=1e-4)


def test_a_sketch_of_a_view_around_another(rng):
    X, H = slowly_falling(rng), rng.standard_normal((40, 2))
    view = Projected(as_view(X), directions=H)
    rows = view.columns(np.arange(40))
    assert accuracy(rows, sketched(view, 3, 9).basis, 3) <= 1 + 3 / 7


def test_a_sketch_that_holds_all_rows_is_exact(rng):
    X = rng.standard_normal((8, 30))
    view = as_view(X)
    spectrum = top_spectrum(view, 3, rng)
    np.testing.assert_allclose(sketched(view, 3, 8).basis, spectrum.basis, atol=1e-8)


@pytest.mark.parametrize("n_rows", [2, 3])
def test_a_sketch_of_a_flat_spectrum_keeps_what_survives(n_rows):
    X = np.eye(12)
    X[:, 0] = 0.0
    V = sketched(as_view(X, Preprocessing(center=False)), 2, n_rows).basis
    assert V.shape[1] <= 2
    assert not V[0].any()
    assert accuracy(X, V, 2) <= 1 + 2 / (n_rows + 1 - 2)


def test_a_sketch_needs_rows(rng):
    with pytest.raises(errors.NeedsRowsError, match="works on the rows"):
        sketched(as_view(np.eye(4), Preprocessing(precomputed=True)), 2, 3)


@pytest.mark.parametrize("power", [0.1, 0.5])
def test_a_random_projection_keeps_its_promise_in_expectation(power, rng):
    """E ||X - XVV'||^2 <= 7/6 ||X - X_k||^2; directions that have not been multiplied by A miss it."""
    X, k = slowly_falling(rng, d=100, power=power), 2
    view = as_view(X, Preprocessing(center=False))
    found = np.array([accuracy(X, randomly_projected(view, k, rng).basis, k) for _ in range(20)])
    assert found.min() >= 1 - 1e-9
    assert found.mean() + 3 * found.std() / np.sqrt(len(found)) <= 1 + 1 / OVERSAMPLING
    blind = np.linalg.qr(rng.standard_normal((100, k)))[0]
    assert power == 0.1 or accuracy(X, blind, k) > 1 + 1 / OVERSAMPLING


def test_a_random_projection_is_a_target_like_a_spectrum(rng):
    X = rng.standard_normal((50, 9)) * np.arange(9, 0, -1)
    view = as_view(X)
    target, spectrum = randomly_projected(view, 2, rng), top_spectrum(view, 2, rng)
    again = Subspace.of(view, target.basis)
    np.testing.assert_allclose(target.cross, again.cross)
    np.testing.assert_allclose(target.gram, again.gram, atol=1e-9)
    np.testing.assert_allclose(target.basis, spectrum.basis, atol=1e-8)  # as many directions as features: exact
