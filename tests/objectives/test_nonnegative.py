"""Climbing over nonnegative directions: never down, and to where no feature wants to move."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import covariance, nonnegative_optimum
from sparing.gram import DenseGram
from sparing.linalg.metric import NearIdentity
from sparing.objectives.nonnegative import (
    SUPPORT_DECOMPOSED,
    NonnegativeObjective,
    best_nonnegative,
    positive_part,
    upward,
)

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "indefinite")


def quotient_of(B, M, x):
    return x @ B @ x / (x @ x if M is None else x @ M @ x)


def metric_of(rng, d):
    return NearIdentity(np.linalg.qr(rng.standard_normal((d, 1)))[0], -np.ones(1), 1.05)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_metric", [False, True])
def test_upward_never_falls_and_ends_where_no_feature_wants_to_move(kind, with_metric):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(30):
        d = int(rng.integers(1, 9))
        B = covariance(kind, rng, d)
        M = metric_of(rng, d).block(np.arange(d)) if with_metric else None
        start = np.abs(rng.standard_normal(d)) * (rng.random(d) < 0.7)
        start[int(rng.integers(d))] = 1.0
        rho, x = upward(B, M, start)
        assert x.min() >= 0
        assert np.linalg.norm(x) == pytest.approx(1.0)
        assert rho == pytest.approx(quotient_of(B, M, x), rel=1e-9, abs=1e-9)
        assert rho >= quotient_of(B, M, start) - 1e-9 * np.abs(B).max()
        slope = B @ x - rho * (x if M is None else M @ x)
        tolerance = 1e-6 * np.abs(B).max()
        assert np.all(np.abs(slope[x > 1e-7]) <= tolerance)
        assert np.all(slope <= tolerance)


def test_a_climb_that_only_cuts_is_caught(rng):
    """The control: leading eigenvectors with negative entries cut off are no local optima."""
    worse = 0
    for _ in range(30):
        B = covariance("dense", rng, 7)
        leading = np.linalg.eigh(B)[1][:, [-1]]
        cut = positive_part(np.column_stack([leading, -leading]), 7)[:, 0]
        worse += upward(B, None, cut)[0] > quotient_of(B, None, cut) * (1 + 1e-6)
    assert worse > 20


@pytest.mark.parametrize("with_metric", [False, True])
def test_climbs_and_exchanges_only_rise(with_metric, rng):
    for kind in KINDS[:6]:
        A = covariance(kind, rng, 9)
        objective = NonnegativeObjective(DenseGram(A), metric_of(rng, 9) if with_metric else None)
        for r in (1, 3, 9):
            start = positive_part(np.abs(rng.standard_normal((9, 1))), r, objective.usable)[:, 0]
            climbed, x = objective.climbed(start, r)
            assert climbed >= objective.ratio(start) - 1e-9 * np.abs(A).max()
            exchanged, y = objective.exchanged(x, r, 50)
            assert exchanged >= climbed * (1 - 1e-12)
            for rho, z in ((climbed, x), (exchanged, y)):
                assert rho == pytest.approx(objective.ratio(z), rel=1e-8)
                assert z.min() >= 0
                assert np.count_nonzero(z) <= r


def test_exchanges_find_what_climbing_misses(rng):
    """Out of single features: climbing alone ends below the optimum far more often."""
    alone = together = 0
    for _ in range(40):
        A = np.corrcoef(rng.standard_normal((8, 24)))
        objective, best = NonnegativeObjective(DenseGram(A)), nonnegative_optimum(A, 3)
        _, x = objective.climbed(np.eye(8)[0], 3)
        alone += objective.ratio(x) < best * (1 - 1e-9)
        together += objective.exchanged(x, 3, 50)[0] < best * (1 - 1e-9)
    assert together < 0.6 * alone


def test_supports_too_large_to_decompose_are_climbed_by_products(rng):
    d = SUPPORT_DECOMPOSED + 50
    w = np.where(np.arange(d) < d - 30, rng.uniform(0.2, 1.2, d), rng.uniform(-1.0, 0.0, d))
    X = rng.standard_normal((600, d)) + rng.standard_normal((600, 1)) * w
    A = X.T @ X
    objective, start = NonnegativeObjective(DenseGram(A)), np.ones(d)
    exact, _ = upward(A, None, start)
    by_products, x = objective.climbed(start, d)
    assert SUPPORT_DECOMPOSED < np.count_nonzero(x) < d
    assert objective.ratio(start) < 0.9 * exact
    assert by_products == pytest.approx(exact, rel=1e-4)
    assert by_products == pytest.approx(objective.ratio(x), rel=1e-9)


def test_the_best_candidate_is_chosen_and_there_always_is_one(rng):
    A = covariance("dense", rng, 6)
    objective = NonnegativeObjective(DenseGram(A))
    none = best_nonnegative(objective, -np.ones((6, 2)), 3, refit=False)
    assert none.variance == pytest.approx(A.diagonal().max())
    X = positive_part(np.abs(rng.standard_normal((6, 5))), 3)
    kept = best_nonnegative(objective, X, 3, refit=False)
    assert kept.variance == pytest.approx(max(x @ A @ x for x in X.T))
    assert best_nonnegative(objective, X, 3, refit=True).variance >= kept.variance


@pytest.mark.parametrize("with_metric", [False, True])
def test_steps_never_fall_and_reach_what_plain_steps_reach_with_fewer_products(rng, with_metric):
    """Two nearly equal eigenvalues: plain truncated power converges slowly."""
    d, r = 900, SUPPORT_DECOMPOSED + 50
    X = rng.random((40, d)) + 0.2 * rng.random((40, 1)) * (np.arange(d) < 450)
    objective = NonnegativeObjective(DenseGram(X.T @ X), metric_of(rng, d) if with_metric else None)
    start = np.abs(rng.standard_normal(d))
    begun = objective.ratio(positive_part(start[:, None], r)[:, 0])
    reached = [objective.ratio(objective.stepped(start, r, steps)) for steps in (1, 2, 4, 8, 200)]
    assert reached[0] >= begun * (1 - 1e-12)
    assert (np.diff(reached) >= -1e-9 * reached[-1]).all()
    end = objective.stepped(start, r, 200)
    assert np.count_nonzero(end) <= r
    assert end.min() >= 0
    plain = start
    for _ in range(400):
        rho = objective.ratio(plain)
        plain = positive_part((objective.slope(rho, plain) + objective._curb(rho) * plain)[:, None], r)[:, 0]
    assert objective.ratio(end) >= objective.ratio(plain) * (1 - 1e-6)


def test_work_of_turns_is_counted(rng):
    X = rng.random((40, 900))
    objective = NonnegativeObjective(DenseGram(X.T @ X))
    objective.stepped(rng.random(900), 500, 3)
    assert objective.n_products == 3
