"""Sparse quotients: exact on a support, swaps judged rightly, alternation that never loses ground."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import linalg

from small_problems import covariance
from sparing.data import Preprocessing, as_view
from sparing.gram import DenseGram
from sparing.linalg import information_loss_of
from sparing.linalg.metric import Whole
from sparing.linalg.truncation import keep_largest
from sparing.methods.deflation import GeneralizedDeflation
from sparing.objectives.joint import LossAlternation
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import RayleighObjective


def pair(rng, u=8):
    B, M = rng.standard_normal((2, u, u + 3))
    return B @ B.T, M @ M.T


@pytest.mark.parametrize("seed", range(10))
def test_solves_on_a_support_and_swaps_to_a_local_optimum(seed):
    B, M = pair(np.random.default_rng(seed))
    objective = RayleighObjective(DenseGram(B), Whole(M))

    def best_on(S):
        return float(linalg.eigh(B[np.ix_(S, S)], M[np.ix_(S, S)], eigvals_only=True)[-1])

    rho, v = objective.solve(np.array([1, 4, 6]))
    np.testing.assert_allclose(rho, best_on([1, 4, 6]), rtol=1e-9)
    np.testing.assert_allclose(v @ B[np.ix_([1, 4, 6], [1, 4, 6])] @ v / (v @ M[np.ix_([1, 4, 6], [1, 4, 6])] @ v), rho)
    rho, S, _ = objective.improved(np.array([0, 1, 2]), 50)
    assert rho >= best_on([0, 1, 2]) * (1 - 1e-9)
    swaps = [[*(i for i in S if i != out), into] for out in S for into in range(8) if into not in S]
    assert max(best_on(T) for T in swaps) <= rho * (1 + 1e-7)


def test_the_test_for_swaps_has_the_right_sign(rng):
    """phi > 0 exactly where a swap raises the quotient: no wrong sign among all swaps."""
    wrong = tried = 0
    for _ in range(30):
        B, M = pair(rng, 7)
        objective, S = RayleighObjective(DenseGram(B), Whole(M)), np.sort(rng.choice(7, 3, replace=False))
        rho, _ = objective.solve(S)
        promising = {tuple(sorted(T)) for T in _all_promising(objective, S)}
        for out in S:
            for into in set(range(7)) - set(S):
                T = tuple(sorted([*(i for i in S if i != out), into]))
                tried += 1
                wrong += (objective.solve(np.array(T))[0] > rho * (1 + 1e-9)) != (T in promising)
    assert tried == 30 * 12
    assert wrong == 0


def _all_promising(objective, S):
    now = objective._solved(S)
    return objective._promising(S, now, objective._outside(S, now)[-1], most=10**6)


def test_captured_by_directions_is_the_loss_of_the_encoder(rng):
    X = rng.standard_normal((30, 8))
    view, A = as_view(X, Preprocessing(center=False)), X.T @ X
    H = keep_largest(rng.standard_normal((8, 3)), [3, 2, 4])
    search = LossAlternation(A, A @ A)
    np.testing.assert_allclose(
        (X**2).sum() - search.captured(H), information_loss_of(view, H.T) * view.square_unit, rtol=1e-9
    )
    others = H[:, :2]
    objective = search.without(others)
    v = H[:, 2]
    gained = v @ objective.view.gram() @ v / (v @ objective.metric.matrix @ v)
    np.testing.assert_allclose(search.captured(H), search.captured(others) + gained, rtol=1e-9)


def test_alternation_never_loses_ground_and_keeps_counts(rng):
    A = np.cov(rng.standard_normal((40, 10)) @ rng.standard_normal((10, 10)), rowvar=False)
    search = LossAlternation(A, A @ A)
    H = keep_largest(rng.standard_normal((10, 3)), [2, 3, 4])
    values = [search.captured(H), search.captured(search.refit(H, 30)), search.captured(search.improve(H, 30))]
    assert values[0] <= values[1] * (1 + 1e-12) <= values[2] * (1 + 1e-9)
    assert list(np.count_nonzero(search.improve(H, 30), axis=0)) == [2, 3, 4]
    ordered = search.ordered(H)
    assert search.captured(ordered[:, :1]) == max(search.captured(H[:, [j]]) for j in range(3))


def test_one_component_reaches_the_optimum_of_brute_force_often(rng):
    reached = 0
    for _ in range(20):
        A = np.cov(rng.standard_normal((30, 8)) @ rng.standard_normal((8, 8)), rowvar=False)
        objective = RayleighObjective(DenseGram(A @ A), Whole(A))
        found, _, _ = objective.improved(objective.grown(3), 20)
        best = max(objective.solve(np.array(S))[0] for S in combinations(range(8), 3))
        assert found <= best * (1 + 1e-9)
        reached += found >= best * (1 - 1e-9)
    assert reached >= 15


@pytest.mark.parametrize("kind", [RayleighObjective, NonnegativeObjective])
@pytest.mark.parametrize("deflated", [False, True])
def test_several_counts_at_once(kind, deflated, rng):
    """Quotients are those of the directions returned, within their counts; more steps never have less."""
    A, H = covariance("dense", rng, 12), np.eye(12, 1)
    view, metric = GeneralizedDeflation().deflate(DenseGram(A), H) if deflated else (DenseGram(A), None)
    objective, counts = kind(view, metric), np.array([1, 3, 7, 12])
    x = np.abs(rng.standard_normal(12))
    first, _ = objective.at_counts(x, counts, 1)
    values, X = objective.at_counts(x, counts, 6)
    assert (values >= first - 1e-12 * np.abs(first)).all()
    assert (np.count_nonzero(X, axis=0) <= counts).all()
    assert kind is RayleighObjective or X.min() >= 0
    below = X if metric is None else metric.matmat(X)
    ratios = np.einsum("ij,ij->j", X, view.gram_matmat(X)) / np.einsum("ij,ij->j", X, below)
    np.testing.assert_allclose(values, ratios, rtol=1e-9)
