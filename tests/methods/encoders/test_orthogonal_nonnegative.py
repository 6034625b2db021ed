"""Features shared out among nonnegative components."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from small_problems import covariance, nonnegative_optimum
from sparing.effort import QUICK as QUICKLY
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.methods.encoders import OrthogonalNonnegative
from sparing.methods.encoders.orthogonal_nonnegative import _settled
from sparing.methods.solvers import NonnegativeAuto
from sparing.run import Budget, Run
from sparing.task import Task

QUICK = NonnegativeAuto(starts=3, finalists=2, perturbations=0)


def encode(A, k, r, **settings):
    view, rng = DenseGram(A), np.random.default_rng(0)
    budget = settings.pop("budget", Budget())
    return OrthogonalNonnegative(QUICK, **settings).encode(
        Task.of_components(view, top_spectrum(view, k, rng), r), Run(rng, budget, QUICKLY)
    )


def best_pair(A, r):
    """By brute force: two supports without a common feature, the best nonnegative direction on each."""
    supports = [S for size in range(1, r + 1) for S in combinations(range(len(A)), size)]
    best = {S: nonnegative_optimum(A[np.ix_(S, S)], len(S)) for S in supports}
    return max(best[S] + best[T] for S in supports for T in supports if not set(S) & set(T))


@pytest.mark.parametrize("kind", ["dense", "integer", "noisy", "block"])
def test_brute_force_is_reached_and_never_passed(kind):
    rng, missed = np.random.default_rng(3), 0
    for _ in range(4):
        A = covariance(kind, rng, 6)
        H = encode(A, 2, 2).components.T
        assert H.min() >= 0
        assert (H > 0).sum(axis=1).max() <= 1
        assert (H > 0).sum(axis=0).max() <= 2
        value, best = np.einsum("ij,ij->", H, A @ H), best_pair(A, 2)
        assert value <= best * (1 + 1e-9)
        missed += value < best * (1 - 1e-9)
    assert missed <= 1


def test_sharing_out_raises_the_sum_and_one_after_the_other_misses_more():
    """The control: without shaking and sharing the greedy start is kept."""
    rng, gained = np.random.default_rng(4), 0
    for _ in range(4):
        A = covariance("dense", rng, 12)
        start = encode(A, 3, 3, restarts=0).components.T
        value, _ = _settled(DenseGram(A), start, [3, 3, 3], Budget())
        assert value >= np.einsum("ij,ij->", start, A @ start) * (1 - 1e-12)
        better = encode(A, 3, 3).components.T
        gained += np.einsum("ij,ij->", better, A @ better) > value * (1 + 1e-6)
    assert gained >= 2


def test_an_expired_budget_still_has_an_answer(rng):
    assert len(encode(covariance("dense", rng, 8), 2, 3, budget=Budget(deadline=0.0)).components) == 2
