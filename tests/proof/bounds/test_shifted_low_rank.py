"""The shifted low rank bound, against brute force: nothing passes it, and one shifted too little is caught."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from laws import checked
from small_problems import covariance, nonnegative_optimum, optimum
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.proof.bounds.shifted_low_rank import ShiftedLowRank
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "indefinite")


def bound(view, r, rank=6, budget=None, nonnegative=False, **options):
    problem = Problem(1, r, view.n_features, "variance", nonnegative=nonnegative)
    return ShiftedLowRank(rank=rank, **options).bound(
        Task(view, problem), None, Run(np.random.default_rng(0), budget or Budget())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_no_direction_passes(kind):
    """140 matrices, plain and nonnegative; a bound that adds the eigenvalue after the next is passed by some."""
    rng = np.random.default_rng(KINDS.index(kind))
    too_small = 0
    for _ in range(20):
        d, rank = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        A, r = covariance(kind, rng, d), int(rng.integers(1, d + 1))
        view = DenseGram(A, is_psd=kind != "indefinite")
        best, values = optimum(A, r), np.linalg.eigvalsh(A)[::-1]
        found = bound(view, r, rank).value
        assert best <= found <= values[0] + 1e-9 * abs(values).max()
        assert bound(view, r, rank, nonnegative=True).value >= nonnegative_optimum(A, r)
        if rank + 1 < d:
            too_small += found - values[rank] + values[rank + 1] < best * (1 - 1e-9)
    assert kind in ("tied", "rank_deficient") or too_small > 0


def test_is_the_inequality_for_the_low_rank_matrix(rng):
    """Never below lambda_(m+1) + the optimum of what is above it, and above by no more than the accuracy."""
    for _ in range(40):
        A = covariance("dense", rng, 7)
        values, vectors = np.linalg.eigh(A)
        for rank in (1, 3):
            V = vectors[:, -rank:] * np.sqrt(values[-rank:] - values[-rank - 1])
            exact = optimum(V @ V.T, 3)
            found = bound(DenseGram(A), 3, rank, accuracy=1e-4).value - values[-rank - 1]
            assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-4) + 1e-9


def test_a_higher_rank_is_tighter_and_six_are_within_a_two_hundredth():
    """Gaussian data with as many rows as features, 7 to 10 of them: the mean of bound / optimum."""
    rng, found = np.random.default_rng(0), []
    for _ in range(6):
        d = int(rng.integers(7, 11))
        X = rng.standard_normal((d, d))
        A = X.T @ X
        for r in (2, 4):
            best = optimum(A, r)
            found.append([bound(DenseGram(A), r, rank).value / best for rank in (1, 2, 3, 4, 5, 6)])
    means = np.mean(found, axis=0)
    assert (np.diff(means) < 0).all()
    assert means[0] > 1.05
    assert means[-1] <= 1.005


def test_low_rank_optima_are_proved(rng):
    X = rng.standard_normal((4, 12))
    A = X.T @ X
    for r in (3, 6):
        best = optimum(A, r)
        assert best <= bound(DenseGram(A), r).value <= best * (1 + 1e-6)


def test_pit_props():
    A = load_pitprops().correlation
    for r, best in ((6, 3.770960), (10, 4.172638), (13, 4.218633)):
        assert best - 1e-6 <= bound(DenseGram(A), r).value <= best * 1.09
    assert bound(DenseGram(A), 13).value <= 4.218634


@pytest.mark.parametrize("nonnegative", [False, True])
def test_few_rows_give_what_the_gram_matrix_gives(nonnegative, rng):
    """Through XX', from dense and sparse data, centred or not; with fewer rows than the rank too."""
    for n in (3, 9, 30):
        X = np.where(rng.random((n, 40)) < 0.5, rng.standard_normal((n, 40)), 0.0) + 0.1
        for storage, center in ((X, True), (X, False), (sparse.csr_array(X), True)):
            view = as_view(storage, Preprocessing(center=center))
            narrow = bound(view, 4, 4, nonnegative=nonnegative, accuracy=1e-9).value
            wide = bound(view, 4, 4, nonnegative=nonnegative, accuracy=1e-9, max_gram=10).value
            np.testing.assert_allclose(wide, narrow, rtol=1e-8)


def test_wide_data_against_brute_force(rng):
    for n in (2, 4, 7):
        X = rng.standard_normal((n, 9))
        view = as_view(X, Preprocessing(center=False))
        for r in (1, 3, 5):
            assert bound(view, r, 3, max_gram=2).value >= optimum(view.gram(), r)
            assert bound(view, r, 3, nonnegative=True, max_gram=2).value >= nonnegative_optimum(view.gram(), r)


@pytest.mark.parametrize("max_cells", [1, 300, 50_000])
def test_bounds_are_computed_again_from_data_and_witness(max_cells, rng):
    """The witness is four numbers; where cells ran out the second bound may be tighter, never weaker."""
    A = np.cov(rng.standard_normal((40, 20)), rowvar=False)
    view, problem = DenseGram(A), Problem(1, 6, 20, "variance")
    found = pickle.loads(pickle.dumps(bound(view, 6, max_cells=max_cells)))
    again = checked(found, view, problem)
    assert optimum(A, 6) <= again <= found.value * (1 + 1e-12)
    if max_cells == 50_000:
        np.testing.assert_allclose(again, found.value, rtol=1e-12)
    assert len(found.witness) == 4


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_bound_of_the_paper_is_the_sum_and_never_below_the_shifted_one(nonnegative, rng):
    for wide in (False, True):
        options = {"max_gram": 2 if wide else 1000}
        X = rng.standard_normal((12, 7)) * np.linspace(3, 1, 7)
        view = as_view(X, Preprocessing(center=False))
        values, vectors = np.linalg.eigh(view.gram())
        V = vectors[:, -3:] * np.sqrt(values[-3:])
        best = nonnegative_optimum(V @ V.T, 3) if nonnegative else optimum(V @ V.T, 3)
        printed = bound(view, 3, 3, nonnegative=nonnegative, shifted=False, **options)
        np.testing.assert_allclose(printed.value, best + values[-4], rtol=1e-6)
        assert bound(view, 3, 3, nonnegative=nonnegative, **options).value < printed.value
        problem = Problem(1, 3, 7, "variance", nonnegative=nonnegative)
        np.testing.assert_allclose(checked(printed, view, problem), printed.value, rtol=1e-9)


def test_units_do_not_matter(rng):
    X = rng.standard_normal((30, 9))
    values = [
        bound(view := as_view(X * unit), 3, 3).value * view.square_unit / unit**2 for unit in (1.0, 2.0**20, 1e-90)
    ]
    np.testing.assert_allclose(values[1:], values[0], rtol=1e-6)


def test_an_expired_budget_gives_a_weaker_bound_not_a_wrong_one(rng):
    A = np.cov(rng.standard_normal((12, 8)), rowvar=False)
    found = bound(DenseGram(A), 3, budget=Budget(deadline=0.0))
    assert optimum(A, 3) <= found.value <= np.linalg.eigvalsh(A)[-1] * (1 + 1e-9)


def test_what_it_does_not_bound(rng):
    small = DenseGram(np.eye(4))
    assert ShiftedLowRank().bound(Task(small, Problem(2, 2, 4, "variance")), None, Run(rng)) is None
    large = DenseGram(np.eye(1001))
    assert bound(large, 3) is None


def test_leukemia(shared):
    """12582 genes, 72 patients: by rows alone. Nobody can have more than this share of the leading variance."""
    view = as_view(shared("leukemia_armstrong.npz").astype(float))
    top = np.linalg.eigvalsh(view.row_gram())[-1]
    plain, nonnegative = (bound(view, 50, nonnegative=sign).value / top for sign in (False, True))
    assert 0.2309 <= nonnegative <= plain
    np.testing.assert_allclose([plain, nonnegative], [0.342, 0.32], atol=0.005)
