"""The l1 relaxation, its stationary points, and their rounding at equal counts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from small_problems import random_gram, solving
from sparing.data import as_view
from sparing.datasets import load_pitprops, make_hidden_direction
from sparing.gram import DenseGram
from sparing.linalg.soft_threshold import l1_l2_maximiser
from sparing.methods.solvers import Rounding
from sparing.methods.solvers.rounding import _with_count, sparsify
from sparing.run import Budget

solve = solving(Rounding)


def relaxed(A, r, start, **settings):
    return Rounding(**settings)._relaxed(DenseGram(A), start, r, 0.0, Budget())


@pytest.mark.parametrize("relaxation", ["linear", "gradient"])
@pytest.mark.parametrize("r", [1, 3, 7])
def test_stationary_points(rng, relaxation, r):
    """Feasible, and no feasible point is better for the linearised objective."""
    A = random_gram(rng)
    x = relaxed(A, r, rng.standard_normal((15, 3)), relaxation=relaxation)
    assert np.linalg.norm(x) <= 1 + 1e-9
    assert np.abs(x).sum() <= np.sqrt(r) * (1 + 1e-9)
    slope = A @ x
    assert slope @ x >= slope @ l1_l2_maximiser(slope, np.sqrt(r)) * (1 - 1e-4)


def test_gradient_and_linear_maximisation_reach_the_same_points(rng):
    A = random_gram(rng)
    start = np.linalg.eigh(A)[1][:, -1:]
    x, y = (relaxed(A, 4, start, relaxation=relaxation) for relaxation in ("linear", "gradient"))
    assert x @ A @ x == pytest.approx(y @ A @ y, rel=1e-4)


def test_the_relaxation_is_above_the_sparse_optimum(rng):
    """Lemma 2 of the paper: from the best sparse direction no step goes down."""
    A = random_gram(rng, d=9)
    supports = [np.array(S) for S in combinations(range(9), 3)]
    values = [np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] for S in supports]
    S = supports[int(np.argmax(values))]
    best = np.zeros((9, 1))
    best[S, 0] = np.linalg.eigh(A[np.ix_(S, S)])[1][:, -1]
    x = relaxed(A, 3, best)
    assert x @ A @ x >= max(values) * (1 - 1e-9)


def test_a_hidden_direction_is_found_from_its_features_not_from_the_leading_eigenvector():
    """.80 from the largest column, .024 from v1, of a leading eigenvalue of 1.0."""
    X = make_hidden_direction(random_state=0).X
    view = as_view(X)
    leading = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:1].T
    largest = np.eye(1000)[:, [int(np.argmax(view.gram_diagonal()))]]
    found = {name: solve(view, 20, start=start).variance * view.square_unit
             for name, start in {"default": None, "column": largest, "leading": leading}.items()}  # fmt: skip
    assert found["column"] == found["default"] == pytest.approx(0.80, abs=0.01)
    assert found["leading"] == pytest.approx(0.024, abs=0.002)


def test_draws_are_compared_at_equal_counts():
    x = np.array([0.5, -0.4, 0.3, 0.2, 0.1, 0.0])
    many = np.array([0.5, 0.0, 0.3, 0.25, 0.25, 0.0])
    np.testing.assert_array_equal(_with_count(many, x, 3), [0.5, 0, 0.3, 0.25, 0, 0])
    few = np.array([0.0, 0.0, 0.3, 0.0, 0.25, 0.0])
    np.testing.assert_array_equal(_with_count(few, x, 3), [0.5, 0, 0.3, 0, 0.25, 0])
    np.testing.assert_array_equal(np.flatnonzero(_with_count(few, x, 6)), np.arange(5))


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("draws", [None, 3, 40])
def test_exactly_r_features_whatever_the_draws(rng, refit, draws):
    view = as_view(rng.standard_normal((40, 25)) @ rng.standard_normal((25, 25)))
    for r in (1, 4, 12):
        assert len(solve(view, r, draws=draws, refit=refit).support) == r


def test_rounding_is_never_worse_than_the_cut_and_sometimes_better():
    better = 0
    for seed in range(20):
        A = random_gram(np.random.default_rng(seed), 20, 30)
        cut, drawn = solve(DenseGram(A), 6, rounding=False), solve(DenseGram(A), 6)
        assert drawn.variance >= cut.variance * (1 - 1e-12)
        better += drawn.variance > cut.variance * (1 + 1e-9)
    assert better >= 2


def test_without_rounding_there_is_no_chance(rng):
    """SCoTLASS: the largest entries of a stationary point."""
    A = load_pitprops().correlation
    start = np.linalg.eigh(A)[1][:, -2:]
    first, second = (solve(DenseGram(A), 5, seed=seed, start=start, rounding=False) for seed in (0, 1))
    np.testing.assert_array_equal(first.vector(13), second.vector(13))
    x = relaxed(A, 5, start)
    np.testing.assert_array_equal(first.support, np.sort(np.argsort(-np.abs(x))[:5]))


def test_reaches_the_optima_of_pitprops():
    A = DenseGram(load_pitprops().correlation)
    optima = {2: 1.954, 3: 2.475331, 4: 2.937479, 5: 3.406155, 6: 3.770960, 8: 4.068607}
    for r, best in optima.items():
        assert solve(A, r).variance == pytest.approx(best, abs=1e-5)


def test_sparsify_is_unbiased_and_keeps_what_is_sure(rng):
    x = np.array([0.6, -0.3, 0.05, 0.05, 0.0])
    draws = np.array([sparsify(x, 2.0, rng) for _ in range(20000)])
    np.testing.assert_allclose(draws.mean(axis=0), x, atol=0.01)
    assert set(draws[:, 0]) == {0.6}
    np.testing.assert_allclose(np.unique(np.abs(draws[:, 2:4])), [0.0, 0.5])
    assert not draws[:, 4].any()
    assert np.count_nonzero(draws, axis=1).mean() <= 2.0
    np.testing.assert_array_equal(sparsify(np.zeros(3), 2.0, rng), np.zeros(3))


def test_bad_settings_get_a_sentence():
    with pytest.raises(ValueError, match=r"relaxation='convex' is not known.*gradient.*linear"):
        Rounding(relaxation="convex")
    with pytest.raises(ValueError, match="repeats=0 must be at least 1"):
        Rounding(repeats=0)
    with pytest.raises(ValueError, match="draws=0 must be at least 1"):
        Rounding(draws=0)
