"""Principal components from few products: what is known is never lost, what is not known is admitted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from counted_rows import CountedRows, factors
from sparing.data import StandardizedRows
from sparing.data.sketch import sketch_of
from sparing.gram import DenseGram
from sparing.linalg.krylov import RitzSpace, block_krylov, orthonormal
from sparing.methods.encoders import FewPasses
from sparing.methods.selectors import Greedy
from sparing.run import Run


def spectrum_after(A, start, products, rank):
    view, space = DenseGram(A), RitzSpace(start)
    for _ in range(products):
        space.absorb(view.gram_matmat(space.wanted))
    return space, space.spectrum(view, rank)


def planted(seed):
    """Noise with hidden spikes: dense ones, single features, late rows, or sparse rows with one that is not."""
    rng = np.random.default_rng(seed)
    n, d, k, kind = 500, 260, int(rng.choice([1, 2, 5])), seed % 4
    X = rng.standard_normal((n, d))
    if kind < 3:
        for _ in range(rng.integers(1, k + 2)):
            u = np.eye(d)[rng.integers(d)] if kind == 1 else rng.standard_normal(d)
            late = 3.2 * (np.arange(n) > 0.9 * n) if kind == 2 else 1.0
            X += 10 ** rng.uniform(-0.3, 1.2) * np.outer(late * rng.standard_normal(n), u / np.linalg.norm(u))
        return X, k
    X *= rng.random((n, d)) < 0.05
    X[rng.integers(n), :90] = 3 * rng.standard_normal(90)
    return sparse.csr_matrix(X), k


def test_pca_never_loses_less_than_is_said():
    """And a control: without the error that is subtracted, it would be overstated nearly always."""
    overstated = 0
    for seed in range(12):
        X, k = planted(seed)
        rows = CountedRows(X, 130)
        view = StandardizedRows(rows, sketch=sketch_of(rows, 30 if rows.is_dense else 60, seed, scale=False))
        _, spectrum, _ = FewPasses(Greedy()).encode(view, k, 8, Run(np.random.default_rng(seed)))
        tail = np.linalg.eigvalsh(view.gram())[:-k].sum()
        assert spectrum.least_loss <= tail * (1 + 1e-12)
        assert spectrum.least_loss >= 0.9 * tail
        overstated += spectrum.tail > tail * (1 + 1e-12)
    assert overstated >= 4


@pytest.mark.parametrize("rank_of_data", [1, 3, 7, 40])
def test_spaces_stay_orthonormal_whatever_the_rank(rank_of_data, rng):
    X = rng.standard_normal((90, rank_of_data)) @ rng.standard_normal((rank_of_data, 50))
    A = X.T @ X
    values = np.linalg.eigvalsh(A)
    for products in range(1, 6):
        space, spectrum = spectrum_after(A, rng.standard_normal((50, 9)), products, 3)
        Q = np.concatenate([space.basis, space.wanted], axis=1)
        np.testing.assert_allclose(Q.T @ Q, np.eye(18), atol=1e-10)
        assert spectrum.rank == min(3, rank_of_data)
        assert spectrum.values.sum() <= values[-3:].sum() * (1 + 1e-12)
    if rank_of_data <= 7:  # five products find them all
        assert spectrum.tail == pytest.approx(max(values[:-3].sum(), 0.0), abs=1e-10 * values.sum())
        assert spectrum.least_loss <= values[:-3].sum() + 1e-10 * values.sum()


def test_every_product_helps(rng):
    A = np.cov(factors(rng, 200, 60), rowvar=False)
    start = rng.standard_normal((60, 8))
    spectra = [spectrum_after(A, start, products, 4)[1] for products in range(1, 7)]
    assert all(later.tail <= earlier.tail * (1 + 1e-12) for earlier, later in pairwise(spectra))
    assert spectra[-1].tail_error < 1e-3 * spectra[0].tail_error
    truth = np.linalg.eigvalsh(A)[:-4].sum()
    assert spectra[-1].tail == pytest.approx(truth, rel=1e-6)


def test_spaces_that_leave_no_room_for_as_many_directions_again(rng):
    """More than half of all dimensions: the next directions are fewer, and nothing is counted twice."""
    A = np.cov(factors(rng, 200, 20), rowvar=False)
    space, spectrum = spectrum_after(A, rng.standard_normal((20, 13)), 2, 10)
    assert space.wanted.shape == (20, 7)
    np.testing.assert_allclose(spectrum.values, np.linalg.eigvalsh(A)[:-11:-1])
    assert spectrum.least_loss == pytest.approx(np.linalg.eigvalsh(A)[:-10].sum())
    Q = np.concatenate([space.basis, space.wanted], axis=1)
    np.testing.assert_allclose(Q.T @ Q, np.eye(20), atol=1e-10)


@pytest.mark.parametrize("copies", [1, 3])
def test_what_is_known_exactly_is_not_counted_twice(copies):
    """Residuals are nothing at all, and directions made of nothing would be those of the basis again."""
    A = np.diag([4.0, 3.0, 3.0, 1.0, *np.zeros(30)])
    for products in range(1, 6):
        space, spectrum = spectrum_after(A, np.eye(34)[:, : 4 * copies], products, 3)
        np.testing.assert_allclose(spectrum.values, [4.0, 3.0, 3.0])
        assert spectrum.least_loss == pytest.approx(1.0)
        Q = np.concatenate([space.basis, space.wanted], axis=1)
        np.testing.assert_allclose(Q.T @ Q, np.eye(8 * copies), atol=1e-10)


def test_a_direction_hidden_from_the_start_is_met_by_chance(rng):
    """Random directions take the place of residuals that are nothing."""
    A = np.diag([9.0, 4.0, 3.0, *np.full(20, 0.01)])
    _, spectrum = spectrum_after(A, np.eye(23)[:, 1:5], 4, 2)
    np.testing.assert_allclose(spectrum.values, [9.0, 4.0], rtol=1e-6)


def test_long_columns_become_orthonormal_however_they_depend():
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((300, 6))
    nearly = np.column_stack([columns, columns[:, :2] + 1e-9 * rng.standard_normal((300, 2))])
    for some in (columns, columns * np.geomspace(1e-100, 1e100, 6), nearly, columns[:6]):
        Q = orthonormal(some)
        assert np.allclose(Q.T @ Q, np.eye(some.shape[1]), atol=1e-14)
        scaled = some / np.linalg.norm(some, axis=0)
        assert np.allclose(Q @ (Q.T @ scaled), scaled, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 10, 15, 16, 17, 40])
@pytest.mark.parametrize("rank", [1, 3, 9])
def test_blocks_that_hardly_fit_find_the_leading_values(size, rank):
    """A second block that had no room left the first where it was: 11.9 came out for a largest value of 20."""
    rng, rank = np.random.default_rng(size), min(rank, size)
    basis, values = np.linalg.qr(rng.standard_normal((size, size)))[0], 2.0 ** -np.arange(size)
    A = basis * values @ basis.T
    found = block_krylov(lambda V: A @ V, size, rank, float(values.sum()), rng, tolerance=1e-9)
    np.testing.assert_allclose(found.values, values[:rank], rtol=1e-9, atol=1e-9)
