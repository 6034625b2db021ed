"""Probing against brute force: in pairs of targets just above the optimum and just below, and one made too bold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from small_problems import optimum
from sparing.proof.trees.probing import (
    USUAL_LIMITS,
    Prober,
    ProbingLimits,
    Relaxation,
    _Meter,
    _Probes,
    least_gap,
    probed,
)
from sparing.proof.trees.schur_tree import SchurTree
from sparing.run import Budget

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "indefinite")


def matrix(kind, rng, d):
    X = rng.standard_normal((d + 3, d))
    if kind == "integer":
        X = rng.integers(-2, 3, X.shape).astype(float)
    elif kind == "tied":  # copies, opposite or not
        X = X[:, rng.integers(0, (d + 1) // 2, d)] * rng.choice([-1.0, 1.0], d)
    elif kind == "rank_deficient":
        X = X[:2]
    elif kind == "block":
        X[: d // 2, d // 2 :], X[d // 2 :, : d // 2] = 0.0, 0.0
    elif kind == "noisy":
        X = 0.3 * X + np.outer(rng.standard_normal(len(X)), rng.random(d) < 0.5)
    A = X.T @ X
    if kind == "indefinite":
        A = X[:d] + X[:d].T - (rng.random() < 0.3) * 10 * np.eye(d)
    return A


def unknown(r):
    return np.full(r + 1, -np.inf)


EAGER = ProbingLimits(patience=1, left_to_tree=0, not_inside=0)
"""Even small problems are probed: the tree gets only what cannot be."""


def solve(A, r, target, limits=USUAL_LIMITS, max_nodes=10**6, budget=None):
    return probed(A, r, target, unknown(r), max_nodes=max_nodes, budget=budget or Budget(), limits=limits)


def noise(seed, d=60, n=60):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X.T @ X / n


@pytest.mark.parametrize("kind", KINDS)
def test_finds_what_is_there_and_refutes_what_is_not(kind):
    """112 matrices, each with one target below the optimum and one above it, of which some are far."""
    rng = np.random.default_rng(KINDS.index(kind))
    for number in range(16):
        d = int(rng.integers(3, 10))
        A, r = matrix(kind, rng, d), int(rng.integers(2, d + 1))
        best, far = optimum(A, r), (1e-7, 1e-3, 0.03, 0.2)[number % 4] * float(np.abs(A).max())
        assert solve(A, r, best + far, EAGER).refuted
        found = solve(A, r, best - far, EAGER)
        assert not found.refuted
        S = found.support
        assert len(np.unique(S)) == len(S) <= r
        assert np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] >= best - far - 1e-9 * np.abs(A).max()


def test_floors_are_kept():
    rng = np.random.default_rng(1)
    for _ in range(16):
        A, r = matrix("dense", rng, 8), 4
        most = {t: optimum(A, t) for t in range(1, r + 1)}
        for target, there in ((most[r] * (1 - 1e-6), True), (most[r] * (1 + 1e-6), False)):
            floors = np.array([-np.inf, *(target - most[r - t] - 1e-9 for t in range(1, r)), -np.inf])
            outcome = probed(A, r, target, floors, max_nodes=10**6, budget=Budget(), limits=EAGER)
            assert (outcome.support is not None) == there
            assert outcome.refuted != there


@pytest.mark.parametrize("kind", KINDS)
def test_every_iterate_bounds(kind):
    """Also the first ones, and those of a feature fixed: there the target is part of the matrix."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(15):
        A, r = matrix(kind, rng, 7), int(rng.integers(2, 6))
        best, whole = optimum(A, r), Relaxation.of(A)
        for _ in range(12):
            whole.step(r, balance=True)
            assert whole.value(r) >= best
            assert not whole.refutes(r, best)
            value = whole.value(r)
            assert whole.refutes(r, value + 1e-8 * abs(value))
        S = max(combinations(range(7), r), key=lambda S: np.linalg.eigvalsh(A[np.ix_(S, S)])[-1])
        if best > A[S[0], S[0]]:
            probe = whole.fix(S[0], np.delete(np.arange(7), S[0]), best)
            for _ in range(6):
                probe.step(r - 1)
                assert not probe.refutes(r - 1, best * (1 - 1e-9) if best > 0 else best * (1 + 1e-9))


def test_a_price_too_low_is_caught(monkeypatch):
    """With m - 2 in place of m - 1 something true is refuted."""
    honest = Relaxation.refutes
    monkeypatch.setattr(Relaxation, "refutes", lambda self, m, target: honest(self, max(m - 1, 1), target))
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(40):
        A = matrix("dense", rng, 8)
        wrong += solve(A, 4, optimum(A, 4) * (1 - 1e-6), EAGER).refuted
    assert wrong > 0


def test_features_are_deleted_and_the_optimum_survives():
    A, r = noise(0), 5
    best, S = 0.0, np.zeros(0, dtype=np.intp)
    found = SchurTree(A, r, 1.0001 * A.diagonal().max(), unknown(r)).search(10**6, Budget())
    while found.support is not None:
        S = found.support
        best = float(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1])
        found = SchurTree(A, r, best * (1 + 1e-9), unknown(r)).search(10**6, Budget())
    assert found.refuted
    meter = _Meter(10**6, Budget())
    whole = Prober(A, r, unknown(r)).begin(meter)
    probes = _Probes(whole, np.arange(60), ~np.eye(60, dtype=bool), r, best * (1 - 1e-9), meter)
    for most in USUAL_LIMITS.rounds:
        probes.round(most, 0)
    assert set(S) <= set(probes.alive)
    assert len(probes.alive) < 50
    assert solve(A, r, best * (1 + 1e-6)).refuted
    assert solve(A, r, best * (1 - 1e-6)).support is not None


def test_what_is_beside_a_feature_is_searched():
    """The same answers where every feature is settled by probes and trees of its own."""
    limits = ProbingLimits(rounds=(2, 2, 2), left_to_tree=10, not_inside=10)
    for seed in range(3):
        A, r = noise(seed, d=30), 4
        best = optimum(A, r)
        assert solve(A, r, best * (1 + 1e-6), limits).refuted
        S = solve(A, r, best * (1 - 1e-6), limits).support
        assert np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] >= best * (1 - 1e-6)


def test_nothing_is_refuted_without_nodes_or_time():
    A, r = noise(1, d=120), 8
    target = 1.15 * np.linalg.eigvalsh(A[:r, :r])[-1]
    for outcome in (
        *(solve(A, r, target, max_nodes=cap) for cap in (0, 1, 10, 100, 400)),
        solve(A, r, target, budget=Budget(interruption=[True])),
    ):
        assert not outcome.refuted
        assert outcome.support is None
    narrowed = least_gap(A, r, target, unknown(r), max_nodes=10, budget=Budget())
    assert narrowed.support is None


def test_the_gap_is_narrowed_and_true():
    for seed in range(3):
        A, r = noise(seed, d=30), 4
        best = optimum(A, r)
        tight = least_gap(A, r, best, unknown(r), max_nodes=10**5, budget=Budget())
        assert best <= tight.target <= best * (1 + 1e-8)
        loose = least_gap(A, r, best, unknown(r), max_nodes=600, budget=Budget())
        assert best <= loose.target
        better = least_gap(A, r, 0.97 * best, unknown(r), max_nodes=10**5, budget=Budget())
        S = better.support
        assert np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] > 0.97 * best


def test_counts_decide_without_a_deadline():
    A = noise(2, d=80)
    value = 1.1 * np.linalg.eigvalsh(A[:6, :6])[-1]
    runs = [least_gap(A, 6, value, unknown(6), max_nodes=1000, budget=Budget()) for _ in range(2)]
    assert runs[0].target == runs[1].target
    assert runs[0].nodes == runs[1].nodes
