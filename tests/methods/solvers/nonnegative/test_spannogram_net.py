"""The random net: how many draws it takes, and what is passed to it."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.gram import DenseGram
from sparing.methods.solvers.nonnegative.spannogram import Spannogram
from sparing.methods.solvers.nonnegative.spannogram_net import SpannogramNet, draws_needed
from sparing.run import Budget, Run
from sparing.task import Task


def covariance(seed, d=40, m=12):
    V = np.random.default_rng(seed).standard_normal((d, m)) * np.linspace(3, 1, m)
    return V @ V.T


def solve(A, r, solver, seed=0, budget=None):
    return solver.solve(Task.of_component(DenseGram(A), r), Run(np.random.default_rng(seed), budget or Budget()))


def test_draws_of_the_papers_setting():
    assert draws_needed(3, 0.1, 1 / 361) == 112
    assert draws_needed(1, 0.1, 1 / 361) == 1
    assert draws_needed(3, 1.0, 1 / 361) == 1
    assert draws_needed(2000, 0.1, 0.5) > 10**100


@pytest.mark.parametrize("rank", [2, 3, 5])
def test_chance_of_a_draw_is_that_of_random_directions(rank):
    """One draw fails as often as is said: p such that ln(p) / ln(p) = 1 draw."""
    C = np.random.default_rng(rank).standard_normal((200_000, rank))
    near = float(np.mean(C[:, 0] ** 2 >= 0.7 * np.square(C).sum(axis=1)))  # within the angle of c* or of -c*
    assert draws_needed(rank, 0.3, (1 - near) * 1.02) == 1
    assert draws_needed(rank, 0.3, (1 - near) * 0.98) == 2


@pytest.mark.parametrize("rank", [1, 2, 3, 5])
@pytest.mark.parametrize("refit", [True, False])
def test_is_nonnegative_sparse_and_near_the_exact_answer(rank, refit):
    A = covariance(rank)
    found, exact = (solve(A, 6, kind(rank=rank, refit=refit)) for kind in (SpannogramNet, Spannogram))
    assert len(found.support) <= 6
    assert (found.loadings > 0).all()
    x = found.vector(len(A))
    assert x @ A @ x == pytest.approx(found.variance)
    assert found.variance >= (0.9 if refit else 0.8) * exact.variance


def test_same_seed_same_answer():
    A = covariance(7)
    one, two = (solve(A, 6, SpannogramNet(refit=False), seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.vector(40), two.vector(40))


def test_features_without_variance_are_never_used():
    A = covariance(8)
    A[:30], A[:, :30] = 0.0, 0.0
    assert solve(A, 20, SpannogramNet()).support.min() >= 30


def test_an_expired_budget_still_gives_an_answer():
    budget = Budget()
    budget.interrupt()
    assert solve(covariance(9), 5, SpannogramNet(accuracy=0.001), budget=budget).variance > 0


def test_parameters_that_are_none():
    with pytest.raises(TypeError, match=r"rank=2\.5"):
        SpannogramNet(rank=2.5)
    with pytest.raises(ValueError, match="rank=0"):
        SpannogramNet(rank=0)
    for value in (0, 1.5, -0.1, float("nan"), "0.1", True):
        with pytest.raises(ValueError, match=r"accuracy=.*above 0 and at most 1"):
            SpannogramNet(accuracy=value)
    for value in (0, 1, 1.5, float("nan"), "0.1"):
        with pytest.raises(ValueError, match=r"failure=.*above 0 and below 1"):
            SpannogramNet(failure=value)


def test_too_many_draws_is_a_sentence():
    with pytest.raises(ValueError, match=r"SpannogramNet\(rank=12, accuracy=0.01\) needs .*lower rank"):
        solve(covariance(10), 5, SpannogramNet(rank=12, accuracy=0.01))
