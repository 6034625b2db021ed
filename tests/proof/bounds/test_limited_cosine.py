"""Components with limited cosines: nothing feasible passes their bound, and what the theorem excludes does."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import load_wine

from laws import checked
from small_problems import GAMED, covariance
from sparing.gram import DenseGram
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.bounds import LimitedCosine, OrthogonalDual, SharedPart
from sparing.proof.bounds.limited_cosine import limited_value
from sparing.proof.bounds.shared_part import best_single, largest_gram, most_absolute
from sparing.proof.relaxations.fantope import projection_value
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy")


@pytest.fixture(autouse=True)
def one_thread():
    """As in every fit: many small products are slower on several threads."""
    with single_threaded_blas():
        yield


def limited(k, r, d, cosine):
    return Problem(k, r, d, "variance", shared_support=False, max_cosine=cosine)


def within(H, cosine):
    unit = H / np.linalg.norm(H, axis=0)
    return np.abs(np.triu(unit.T @ unit, 1)).max() <= cosine


def variance(A, H):
    """tr(PA) for the projection P on the span."""
    U, s, _ = np.linalg.svd(H, full_matrices=False)
    U = U[:, s > 1e-9 * s[0]]
    return float(np.vdot(U, A @ U))


def reached(A, k, r, cosine, rng, draws=400):
    """The largest variance of components within the limit: leading directions on all supports, and random changes."""
    d, best = len(A), 0.0
    supports = [np.array(S) for S in combinations(range(d), min(r, d))]
    listed = [supports[i] for i in rng.permutation(len(supports))[:12]]
    for chosen in list(product(listed, repeat=k))[:draws]:
        H = np.zeros((d, k))
        for j, S in enumerate(chosen):
            H[S, j] = rng.standard_normal(len(S)) if rng.random() < 0.3 else np.linalg.eigh(A[np.ix_(S, S)])[1][:, -1]
        value = variance(A, H) if within(H, cosine) else -np.inf
        for _ in range(8):
            trial = H + 0.4 * rng.random() * rng.standard_normal(H.shape) * (H != 0)
            if within(trial, cosine) and (now := variance(A, trial)) > value:
                H, value = trial, now
        best = max(best, value)
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_no_components_within_the_limit_pass_it(kind):
    """Brute force over 72 problems; any W proves something."""
    rng = np.random.default_rng(KINDS.index(kind))
    for k, cosine in product((2, 3), (0.05, 0.3, 0.7)):
        d = int(rng.integers(4, 7))
        A = covariance(kind, rng, d)
        for r in (1, 2):
            problem = limited(k, r, d, cosine)
            task, best = Task(DenseGram(A), problem), reached(A, k, r, cosine, rng, draws=60)
            bound = LimitedCosine(rounds=2).bound(task, None, Run(rng))
            assert bound.value >= best, (k, r, cosine)
            assert checked(bound, task.gram, problem) == pytest.approx(bound.value, rel=1e-12)
            for _ in range(5):
                W = rng.standard_normal((d, d))
                W = rng.choice([0.1, 1.0, 10.0]) * (W + W.T) + rng.choice([0.0, 1.0]) * A
                assert limited_value(A, W, problem, best_single) >= best
                assert projection_value(A, W, k, most_absolute(problem, d)) >= best


def test_nothing_passes_it_where_sets_of_features_are_too_many_to_list(rng):
    """12,870 sets of eight features; then lambda^(8) stands for all of them."""
    A = covariance("noisy", rng, 16)
    for cosine in (0.1, 0.6):
        task = Task(DenseGram(A), limited(2, 4, 16, cosine))
        bound = LimitedCosine(rounds=3).bound(task, None, Run(rng))
        assert reached(A, 2, 4, cosine, rng, draws=100) <= bound.value
        assert bound.value <= np.linalg.eigvalsh(A)[-2:].sum() * (1 + 1e-9)
        assert checked(bound, task.gram, task.problem) == pytest.approx(bound.value, rel=1e-12)


def test_a_limit_that_is_not_kept_is_passed(rng):
    """Control: components at an angle pass the bound of a smaller one, and 1 + (k - 1) c is the least gamma."""
    strict, loose = (
        LimitedCosine(rounds=20).bound(Task(DenseGram(GAMED), limited(2, 3, 5, c)), None, Run(rng)).value
        for c in (0.01, 0.9)
    )
    wide = reached(GAMED, 2, 3, 0.9, rng)
    assert reached(GAMED, 2, 3, 0.01, rng) <= strict < wide <= loose
    for k, c in product((2, 3, 5), (0.1, 0.6)):
        G = (1 - c) * np.eye(k) + c
        gamma = largest_gram(limited(k, 2, 9, c))
        assert np.linalg.eigvalsh(G)[-1] <= gamma <= np.linalg.eigvalsh(G)[-1] * (1 + 1e-6)


def test_what_gamma_is_for(rng):
    """Control: with gamma = 1, the theorem for orthogonal components, GAMED's own components pass the same W."""
    free = reached(GAMED, 2, 3, 0.9, rng, draws=200)
    W = np.zeros((5, 5))
    assert limited_value(GAMED, W, limited(2, 3, 5, 0.0), best_single) == pytest.approx(24.849, abs=1e-3)
    assert limited_value(GAMED, W, limited(2, 3, 5, 0.0), best_single) < free
    assert limited_value(GAMED, W, limited(2, 3, 5, 0.9), best_single) >= free


def test_entries_of_projections_within_the_limit(rng):
    """sum |P_ij| keeps the radius of the relaxation; that of orthogonal components does not bound it (control)."""
    passed = 0
    for _ in range(400):
        d, k, r = int(rng.integers(3, 9)), int(rng.integers(2, 4)), int(rng.integers(1, 5))
        H = np.zeros((d, k))
        for h in H.T:
            h[rng.choice(d, min(r, d), replace=False)] = 1 + 0.2 * rng.standard_normal(min(r, d))
        H /= np.linalg.norm(H, axis=0)
        cosine = float(np.abs(np.triu(H.T @ H, 1)).max())
        entries = np.abs(H @ np.linalg.pinv(H)).sum()
        if cosine < 1 - 1e-9:
            assert entries <= most_absolute(limited(k, r, d, cosine), d) * (1 + 1e-9)
            passed += entries > k * min(r, d) * (1 + 1e-9)
    assert passed > 0


def test_between_orthogonal_and_free_components(rng):
    """On wine it rises with the limit, from near that of orthogonal components to below that of free ones."""
    view = DenseGram(np.corrcoef(load_wine().data, rowvar=False))
    values = [
        LimitedCosine().bound(Task(view, limited(2, 5, 13, c)), None, Run(rng)).value for c in (0.01, 0.1, 0.3, 0.6)
    ]
    assert values == sorted(values)
    free = SharedPart(rounds=5).bound(Task(view, limited(2, 5, 13, 1.0)), None, Run(rng)).value
    assert values[0] >= 5.826
    assert values[-1] < free
    assert 1 - 5.8261 / values[2] <= 0.075
    orthogonal = replace(limited(2, 5, 13, 1.0), orthogonal=True)
    assert values[0] <= OrthogonalDual().bound(Task(view, orthogonal), None, Run(rng)).value * 1.01


def test_indefinite_matrices_an_expired_budget_and_other_problems(rng):
    A = rng.standard_normal((6, 6))
    A = A + A.T
    slack = -float(np.linalg.eigvalsh(A)[0])
    view = DenseGram(A, is_psd=False, psd_slack=slack)
    for budget in (Budget(), Budget(deadline=0.0)):
        for r in (1, 2, 3):
            bound = LimitedCosine().bound(Task(view, limited(2, r, 6, 0.4)), None, Run(rng, budget))
            assert bound.value >= reached(A, 2, r, 0.4, rng, draws=40)
    for problem in (limited(2, 3, 6, 1.0), limited(1, 3, 6, 0.3), replace(limited(2, 3, 6, 0.3), shared_support=True)):
        assert LimitedCosine().bound(Task(DenseGram(np.eye(6)), problem), None, Run(rng)) is None
    large = DenseGram(np.eye(501))
    assert LimitedCosine().bound(Task(large, limited(2, 3, 501, 0.3)), None, Run(rng)) is None
    for odd in (math.nan, -1.0, 7.0):  # from a file: no limit that could be believed
        W = np.zeros((6, 6))
        assert checked_value(W, odd) == checked_value(W, 1.0)


def checked_value(W, cosine):
    return LimitedCosine().check(Task(DenseGram(np.diag(np.arange(6.0))), limited(2, 3, 6, cosine)), W)
