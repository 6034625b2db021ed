"""Nonnegative sparse PCA by low rank: Theorems 1 and 2 against brute force, each with a control that breaks it."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import nonnegative_optimum
from sparing.gram import DenseGram
from sparing.linalg.theorem_bounds import approximation_factor, rank_needed
from sparing.methods.solvers.nonnegative import spannogram
from sparing.methods.solvers.nonnegative.spannogram import Spannogram
from sparing.methods.solvers.nonnegative.spannogram_net import SpannogramNet, best_of_net, draws_needed
from sparing.run import Run
from sparing.task import Task


def covariances(count, seed=0):
    """Spectra that fall in every way, with all signs."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        d = int(rng.integers(3, 9))
        U = np.linalg.qr(rng.standard_normal((d, d)))[0]
        values = np.arange(1.0, d + 1) ** -float(number % 6)
        yield (U * values) @ U.T, values, int(rng.integers(1, d + 1)), rng


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("refit", [True, False])
def test_theorem_1(rank, refit):
    solver = Spannogram(rank=rank, refit=refit)
    for A, values, r, rng in covariances(30, rank):
        found = solver.solve(Task.of_component(DenseGram(A), r), Run(rng))
        promised = approximation_factor(values, len(A), r, rank)
        assert r / (2 * len(A)) <= promised <= 1
        assert found.variance >= promised * nonnegative_optimum(A, r) * (1 - 1e-9)


def test_theorem_1_is_broken_by_the_worst_feature():
    broken = 0
    for A, values, r, _ in covariances(30):
        broken += np.diagonal(A).min() < approximation_factor(values, len(A), r, 3) * nonnegative_optimum(A, r)
    assert broken > 10


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_theorem_1_is_sharper_for_lowered_eigenvalues_alone(rank, monkeypatch):
    true = spannogram.leading_factors
    monkeypatch.setattr(spannogram, "leading_factors", lambda *args: (true(*args)[1],) * 2)
    solver = Spannogram(rank=rank, refit=False)
    for A, values, r, rng in covariances(60, rank):
        found = solver.solve(Task.of_component(DenseGram(A), r), Run(rng))
        promised = approximation_factor(values, len(A), r, rank, shifted=True)
        assert approximation_factor(values, len(A), r, rank) <= promised <= 1
        assert found.variance >= promised * nonnegative_optimum(A, r) * (1 - 1e-9)


def test_theorem_1_as_a_number():
    values = np.array([4.0, 2.0, 1.0, 0.0])
    assert approximation_factor(values, 10, 5, 2) == pytest.approx(1 / (1 + 2 * 2 * 0.25))
    assert approximation_factor(np.ones(10), 10, 9, 3) == pytest.approx(0.45)
    assert approximation_factor(values, 10, 5, 3) == 1.0
    assert approximation_factor(values[:3], 10, 5, 3) == 1.0


def test_rank_needed_is_the_least_that_does():
    values = 1 / np.arange(1.0, 200) ** 2
    for accuracy in (0.5, 0.1, 0.01):
        rank = rank_needed(values, 100, 50, accuracy)
        assert 1 / (1 + 4 * values[rank]) >= 1 - accuracy
        assert rank == 1 or 1 / (1 + 4 * values[rank - 1]) < 1 - accuracy
    assert rank_needed(values, 100, 50, 1e-6) is None
    assert rank_needed(np.ones(5), 100, 50, 0.1) is None
    assert rank_needed(np.zeros(0), 100, 50, 0.1) is None


def failures(V, r, draws, accuracy, runs, best):
    missed = 0
    for seed in range(runs):
        x = best_of_net(V, r, draws, Run(np.random.default_rng(seed)))[:, 0]
        missed += np.square(V.T @ x).sum() < (1 - accuracy) * best
    return missed / runs


@pytest.mark.parametrize("rank", [2, 3])
def test_theorem_2_fails_no_more_often_than_promised_and_needs_its_draws(rank):
    """r = 1 and one long row: only its own direction is good, so that the count is nearly attained."""
    accuracy, d, runs = 0.1, 10, 400
    V = np.random.default_rng(rank).standard_normal((d, rank))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    V[0] *= 1.2
    best = 1.44
    draws = draws_needed(rank, accuracy, 1 / d)
    slack = 3 * np.sqrt(0.1 * 0.9 / runs)
    assert failures(V, 1, draws, accuracy, runs, best) <= 1 / d + slack
    assert failures(V, 1, 3, accuracy, runs, best) > 1 / d + slack


def test_theorem_2_by_the_solver():
    solver = SpannogramNet(rank=2, accuracy=0.2, refit=False)
    missed, runs = 0, 0
    for A, values, r, rng in covariances(30, 9):
        promised = 0.8 * approximation_factor(values, len(A), r, 2) * nonnegative_optimum(A, r)
        for _ in range(5):
            missed += solver.solve(Task.of_component(DenseGram(A), r), Run(rng)).variance < promised
            runs += 1
    assert missed / runs <= 1 / 8
