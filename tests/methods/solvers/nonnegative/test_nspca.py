"""Coordinate ascent: each update is the best there is, and the penalty leaves the count asked for."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from small_problems import planted_direction, random_gram, solving
from sparing.data import as_view
from sparing.gram import DenseGram
from sparing.linalg.metric import NearIdentity
from sparing.methods.solvers.nonnegative.nspca import Ascent, Nspca, best_entry
from sparing.run import Budget

solve = solving(Nspca)


def ascent_on(A, alpha=4.0, max_iter=50):
    return Ascent(A / np.linalg.eigvalsh(A)[-1], alpha, max_iter)


def quartic(u, alpha, c1, c2):
    return -alpha / 4 * u**4 + c1 / 2 * u**2 + c2 * u


GRID = np.linspace(0.0, 6.0, 6001)

COEFFICIENTS = [
    (alpha, c1, c2)
    for alpha in (0.5, 1.0, 7.0)
    for c1 in (-4.0, -1e-9, 0.0, 1e-9, 0.3, 2.0, 6.0)
    for c2 in (-5.0, -1.0, -0.4, -1e-12, 0.0, 1e-12, 0.7, 5.0)
]


def wrong_root(alpha, c1, c2):
    """The smallest positive root, or the largest without looking at zero: what the test must catch."""
    roots = np.roots([-alpha, 0.0, c1, c2])
    real = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
    positive = real[real > 0]
    return float(positive[0]) if len(positive) else 0.0


def largest_root_always(alpha, c1, c2):
    roots = np.roots([-alpha, 0.0, c1, c2])
    return max(float(roots[np.abs(roots.imag) < 1e-9].real.max()), 0.0)


def misses(update):
    """Coefficients for which a point of the grid is higher than the update."""
    found = 0
    for case in COEFFICIENTS:
        u = update(*case)
        assert u >= 0
        found += quartic(GRID, *case).max() > quartic(u, *case) + 1e-9
    return found


def test_an_entry_is_given_its_best_value():
    assert misses(best_entry) == 0
    for case in COEFFICIENTS:
        alpha, c1, c2 = case
        u = best_entry(*case)
        assert u == 0.0 or abs(-alpha * u**3 + c1 * u + c2) < 1e-9 * (1 + abs(c1 * u) + abs(c2))


@pytest.mark.parametrize("update", [wrong_root, largest_root_always])
def test_the_check_on_entries_catches_a_wrong_root(update):
    assert misses(update) > 0


def test_extreme_coefficients():
    for c1 in (-1e-300, 0.0, 1e-300, 1e90):
        for c2 in (-1.0, -1e-300, 0.0, 1e-300, 1.0):
            assert np.isfinite(best_entry(1.0, c1, c2))
    assert best_entry(1.0, 1e-30, 8.0) == pytest.approx(2.0)
    assert best_entry(1.0, -1e-30, 8.0) == pytest.approx(2.0)


def penalised(ascent, u, beta):
    """The objective that sweeps raise."""
    return u @ ascent.A @ u / 2 - ascent.alpha / 4 * (u @ u - 1) ** 2 - beta * u.sum()


@pytest.mark.parametrize("beta", [0.0, 0.05, 0.3])
def test_no_update_lowers_the_objective(rng, beta):
    """Entry by entry: each sweep has one feature only."""
    ascent = ascent_on(random_gram(rng))
    u = np.abs(rng.standard_normal(15)) / 4
    value = penalised(ascent, u, beta)
    for _ in range(5):
        for i in rng.permutation(15):
            ascent.sweep(u, beta, np.array([i]))
            after = penalised(ascent, u, beta)
            assert after >= value - 1e-12
            value = after
            trial = np.repeat(u[:, None], 200, axis=1)
            trial[i] = np.linspace(0.0, 2.0, 200)
            assert max(penalised(ascent, t, beta) for t in trial.T) <= value + 1e-9
    assert (u >= 0).all()


def test_features_passed_over_would_have_stayed_zero(rng):
    """A sweep over all features is the same as one without the shortcut."""
    for beta in (0.0, 0.1, 0.4):
        ascent = ascent_on(random_gram(rng))
        u = np.maximum(rng.standard_normal(15), 0.0) / 3
        plain = u.copy()
        visits = []
        for i in range(15):
            before = plain.copy()
            s, g = plain @ plain - plain[i] ** 2, ascent.A[i] @ plain - ascent.A[i, i] * plain[i]
            plain[i] = best_entry(4.0, ascent.A[i, i] + 4.0 * (1 - s), g - beta)
            visits.append(not np.array_equal(before, plain))
            ascent.sweep(u, beta, np.array([i]))
            np.testing.assert_allclose(u, plain, atol=1e-12)
        assert any(visits)


def test_without_a_penalty_it_is_the_leading_direction_of_a_nonnegative_matrix(rng):
    """Stationary: Au = alpha (u'u - 1) u, whatever alpha."""
    A = rng.random((20, 20))
    A = A @ A.T
    _, vectors = np.linalg.eigh(A)
    for alpha in (0.5, 4.0):
        ascent = ascent_on(A, alpha, max_iter=2000)
        u = ascent.end(np.full(20, 20**-0.5), 0.0, rng.permutation(20), Budget())
        assert u @ u == pytest.approx(1 + 1 / alpha, rel=1e-2)
        np.testing.assert_allclose(u / np.linalg.norm(u), np.abs(vectors[:, -1]), atol=0.02)


def test_beyond_the_limit_nothing_is_left(rng):
    for alpha in (0.5, 4.0):
        ascent = ascent_on(random_gram(rng), alpha, max_iter=500)
        for _ in range(3):
            x = np.abs(rng.standard_normal(15))
            assert not ascent.end(x, 1.0001 * ascent.limit, rng.permutation(15), Budget()).any()
    single = ascent_on(np.diag([1.0, 0.5]), 4.0)
    assert single.end(np.array([1.0, 0.0]), 0.7 * single.limit, np.arange(2), Budget()).any()


def near_rank_one(v):
    return DenseGram(np.outer(v, v) + 0.01 * np.eye(len(v)))


def test_the_binary_search_reaches_the_count():
    """Loadings that fall steeply: features leave one by one as the penalty rises, the smallest first."""
    view = near_rank_one(np.geomspace(3.0, 0.1, 30))
    for r in (3, 5, 8, 15, 22, 29):
        found = solve(view, r, refit=False, restarts=2, max_iter=200)
        np.testing.assert_array_equal(found.support, np.arange(r))


class Staircase:
    """An ascent that leaves the entries above the penalty."""

    limit, levels = 2.0, np.linspace(1.0, 0.05, 20)

    def __init__(self):
        self.tried = []

    def end(self, x, beta, order, budget):
        self.tried.append(beta)
        return np.where(self.levels > beta, x, 0.0)


@pytest.mark.parametrize("guess", [None, 0.6, 0.66, 0.7, 1.5])
def test_the_search_closes_in_on_the_count(guess):
    """Seven features: penalties from .65 up to .7. Counts of five and six come first and are given up."""
    steps = Staircase()
    (end,), penalty = Nspca(refit=False)._with_count(steps, np.ones(20), np.arange(20), 7, guess, Budget())
    assert np.count_nonzero(end) == 7
    assert 0.65 <= penalty < 0.7
    assert steps.tried[1] == (1.0 if guess is None else guess)


def test_a_search_that_cannot_succeed_ends_with_the_largest_count_below():
    steps = Staircase()
    steps.levels = np.repeat([1.0, 0.5], [5, 15])  # five features, or all
    (end,), penalty = Nspca(refit=False)._with_count(steps, np.ones(20), np.arange(20), 7, None, Budget())
    assert np.count_nonzero(end) == 5
    assert penalty == pytest.approx(0.5, rel=2e-3)
    assert len(steps.tried) < 16


def test_where_the_count_jumps_fewer_features_are_left():
    """Loadings of similar size hold each other up, and vanish together."""
    view = near_rank_one(np.linspace(3.0, 1.0, 30))
    assert len(solve(view, 22, refit=False, restarts=2, max_iter=200).support) == 22
    assert len(solve(view, 8, refit=False, restarts=2, max_iter=200).support) < 8
    np.testing.assert_array_equal(solve(view, 8, restarts=2, max_iter=200).support, np.arange(8))


@pytest.mark.parametrize("refit", [True, False])
def test_feasible_and_the_value_is_its_own(rng, refit):
    A = random_gram(rng)
    for r in (1, 4, 15, 99):
        found = solve(DenseGram(A), r, refit=refit, restarts=4)
        x = found.vector(15)
        assert 1 <= np.count_nonzero(x) <= r
        assert (x >= 0).all()
        assert np.linalg.norm(x) == pytest.approx(1.0)
        assert x @ A @ x == pytest.approx(found.variance)


def test_planted_directions_are_found(rng):
    for _ in range(3):
        A, support = planted_direction(rng)
        best = np.linalg.eigvalsh(A[np.ix_(support, support)])[-1]
        found = solve(DenseGram(A), 6, restarts=4)
        np.testing.assert_array_equal(found.support, support)
        assert found.variance == pytest.approx(best, rel=1e-6)
        shrunk = solve(DenseGram(A), 6, refit=False, restarts=4)
        assert set(shrunk.support) <= set(support)
        assert 0.5 * best < shrunk.variance <= best


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_do_not_matter(rng, unit):
    A = random_gram(rng)
    one, other = (solve(DenseGram(B), 4, refit=False, restarts=4) for B in (A, unit * A))
    np.testing.assert_array_equal(one.support, other.support)
    np.testing.assert_allclose(one.loadings, other.loadings, atol=1e-6)
    assert other.variance == pytest.approx(unit * one.variance)


@pytest.mark.parametrize("refit", [True, False])
def test_zero_and_duplicated_columns(rng, refit):
    X = rng.standard_normal((20, 5))
    X = np.column_stack([np.zeros(20), X, X, X, np.zeros(20)])
    for r in (1, 3, 8, 17):
        found = solve(as_view(X), r, refit=refit, restarts=3)
        assert 1 <= len(found.support) <= r
        assert not {0, 16} & set(found.support.tolist())
    alike = solve(DenseGram(np.ones((6, 6))), 3, refit=refit, restarts=3)  # the count may jump from six to none
    assert 1 <= len(alike.support) <= 3
    if refit:
        assert alike.variance == pytest.approx(3.0)


def test_eigenvalues_below_zero(rng):
    B = rng.standard_normal((8, 8))
    found = solve(DenseGram(B + B.T - 9 * np.eye(8), is_psd=False), 3)
    assert 1 <= len(found.support) <= 3
    assert (found.loadings >= 0).all()
    below = solve(DenseGram(-np.eye(4), is_psd=False), 2)
    assert len(below.support) >= 1
    assert below.variance == pytest.approx(-1.0)


def test_the_same_for_dense_and_sparse_storage(rng):
    X = rng.standard_normal((50, 30)) * (rng.random((50, 30)) < 0.3)
    for refit in (True, False):
        one, other = (solve(as_view(Y), 6, refit=refit, restarts=4) for Y in (X, sparse.csc_array(X)))
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_allclose(one.loadings, other.loadings, atol=1e-6)


def test_many_features_are_seen_through_a_pool(rng):
    X = 0.1 * rng.standard_normal((40, 1500))
    X[:, 700:710] += rng.standard_normal((40, 1)) * rng.uniform(0.5, 1.0, 10)
    found = solve(as_view(X), 10, restarts=2)
    np.testing.assert_array_equal(found.support, np.arange(700, 710))


def test_a_seed_gives_one_answer_and_a_start_takes_part(rng):
    A, support = planted_direction(rng, spike=3.0)
    first, second = (solve(DenseGram(A), 6, seed=3, restarts=2) for _ in range(2))
    np.testing.assert_array_equal(first.vector(40), second.vector(40))
    start = -np.bincount(support, minlength=40)[:, None].astype(float)  # of either sign
    given = solve(DenseGram(A), 6, seed=3, restarts=2, start=start)
    assert given.variance >= first.variance * (1 - 1e-9)


def test_the_metric_judges():
    """What a first direction explains counts for little: another feature wins."""
    A = np.diag([5.0, 5.0, 1.0, 1.0, 0.1])
    A[0, 1] = A[1, 0] = 4.0
    w = np.array([[1.0], [1.0], [0.0], [0.0], [0.0]]) / np.sqrt(2)
    found = solve(DenseGram(A), 2, metric=NearIdentity(w, np.array([99.0])))
    x = found.vector(5)
    assert found.variance == pytest.approx(x @ A @ x / (x @ x + 99.0 * (x @ w[:, 0]) ** 2))
    assert found.variance >= 1.0 - 1e-9


def test_no_time_still_gives_an_answer(rng):
    found = solve(DenseGram(random_gram(rng)), 4, budget=Budget(deadline=time.monotonic() - 1.0))
    assert 1 <= len(found.support) <= 4


def test_bad_settings_get_a_sentence():
    with pytest.raises(ValueError, match="restarts=0 must be at least 1"):
        Nspca(restarts=0)
    with pytest.raises(TypeError, match="max_iter=True is a bool"):
        Nspca(max_iter=True)
    with pytest.raises(ValueError, match=r"alpha=-1.0 must be a positive number"):
        Nspca(alpha=-1.0)
