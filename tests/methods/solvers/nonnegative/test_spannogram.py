"""The spannogram as a solver: exact for low rank, on the full matrix no worse, and clear about what it will not do."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import nonnegative_optimum
from sparing.data import as_view
from sparing.gram import DenseGram
from sparing.linalg.eigen import top_spectrum
from sparing.methods.solvers.nonnegative import spannogram as module
from sparing.methods.solvers.nonnegative.spannogram import Spannogram
from sparing.run import Budget, Run
from sparing.task import Task


def solve(A, r, solver=None, budget=None, metric=None):
    rng = np.random.default_rng(0)
    return (solver or Spannogram()).solve(
        Task.of_component(DenseGram(A), r, metric=metric), Run(rng, budget or Budget())
    )


def check(A, r, found):
    assert 1 <= len(found.support) <= r
    assert (found.loadings > 0).all()
    x = found.vector(len(A))
    assert np.linalg.norm(x) == pytest.approx(1.0)
    assert x @ A @ x == pytest.approx(found.variance)


def low_rank(rng, d, m):
    V = rng.standard_normal((d, m))
    return V @ V.T


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("sigma", [0.0, 2.0])
def test_is_exact_for_low_rank_with_and_without_a_multiple_of_the_identity(rank, refit, sigma):
    rng = np.random.default_rng(rank)
    for _ in range(8):
        d = int(rng.integers(4, 10))
        A, r = low_rank(rng, d, rank) + sigma * np.eye(d), int(rng.integers(1, d + 1))
        found = solve(A, r, Spannogram(rank=rank, refit=refit))
        check(A, r, found)
        assert found.variance == pytest.approx(nonnegative_optimum(A, r), rel=1e-9)


def test_leading_eigenpairs_alone_are_not_exact_beside_the_identity(monkeypatch):
    """The control: without the lowered eigenvalues A = sigma I + C is not solved by a rank of C."""
    true = module.leading_factors
    monkeypatch.setattr(module, "leading_factors", lambda *args: (true(*args)[0],) * 2)
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(60):
        A = low_rank(rng, 8, 2) + 5 * np.eye(8)
        missed += solve(A, 3, Spannogram(rank=2, refit=False)).variance < nonnegative_optimum(A, 3) * (1 - 1e-6)
    assert missed > 0


def test_refit_never_lowers_and_often_raises():
    rng = np.random.default_rng(1)
    raised = 0
    for _ in range(20):
        A = low_rank(rng, 30, 12)
        before, after = solve(A, 6, Spannogram(rank=2, refit=False)), solve(A, 6, Spannogram(rank=2))
        check(A, 6, after)
        assert after.variance >= before.variance * (1 - 1e-12)
        raised += after.variance > before.variance * (1 + 1e-9)
    assert raised > 10


def test_features_without_variance_are_never_used():
    A = low_rank(np.random.default_rng(2), 12, 3)
    A[:4], A[:, :4] = 0.0, 0.0
    found = solve(A, 12)
    check(A, 12, found)
    assert found.support.min() >= 4
    assert found.variance == pytest.approx(nonnegative_optimum(A[4:, 4:], 8), rel=1e-9)


def test_all_features_alone_when_nothing_goes_together():
    found = solve(np.diag([1.0, 3.0, 2.0]), 2)
    assert found.variance == pytest.approx(3.0)
    assert found.support.tolist() == [1]


def test_a_rank_above_that_of_the_data_is_that_of_the_data():
    A = low_rank(np.random.default_rng(3), 8, 2)
    assert solve(A, 4, Spannogram(rank=7)).variance == pytest.approx(nonnegative_optimum(A, 4), rel=1e-9)


def test_matrix_with_negative_eigenvalues():
    rng = np.random.default_rng(4)
    A = low_rank(rng, 8, 2) - 0.5 * low_rank(rng, 8, 1)
    view = DenseGram(A, is_psd=False)
    found = Spannogram().solve(Task.of_component(view, 3), Run(np.random.default_rng(0)))
    check(A, 3, found)


def test_an_expired_budget_still_gives_an_answer():
    budget = Budget()
    budget.interrupt()
    A = low_rank(np.random.default_rng(5), 60, 20)
    check(A, 5, solve(A, 5, budget=budget))


def test_too_many_sets_is_a_sentence():
    """Twenty copies of each of three features: no bound tells which copies are in the best component."""
    A = np.tile(low_rank(np.random.default_rng(6), 3, 3), (20, 20))
    with pytest.raises(
        ValueError, match=r"Spannogram\(rank=3\) would examine 1.33e\+03 sets.*max_sets=1000.*lower rank"
    ):
        solve(A, 5, Spannogram(max_sets=1000))


@pytest.mark.parametrize("name", ["rank", "max_sets"])
def test_parameters_that_are_none(name):
    with pytest.raises(TypeError, match=f"{name}=2.5"):
        Spannogram(**{name: 2.5})
    with pytest.raises(TypeError, match=f"{name}=True"):
        Spannogram(**{name: True})
    with pytest.raises(ValueError, match=f"{name}=0"):
        Spannogram(**{name: 0})


@pytest.mark.parametrize(("name", "r", "share"), [("lrs.npz", 20, 0.8869), ("leukemia_armstrong.npz", 50, 0.2309)])
def test_real_data_reach_what_is_known(shared, name, r, share):
    """Shares of the leading eigenvalue; rank three with all features."""
    view, rng = as_view(shared(name)), np.random.default_rng(0)
    found = Spannogram().solve(Task.of_component(view, r), Run(rng))
    assert found.variance / top_spectrum(view, 1, rng).values[0] >= share - 1e-4
