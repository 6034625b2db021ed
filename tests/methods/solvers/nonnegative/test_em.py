"""Expectation-maximisation: its two steps, what the constraints leave, and what it finds."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from small_problems import nonnegative_optimum, planted_direction, random_gram, solving
from sparing.data import as_view
from sparing.gram import DenseGram
from sparing.linalg.metric import NearIdentity
from sparing.linalg.truncation import keep_largest
from sparing.methods.solvers.nonnegative.em import ExpectationMaximization, m_step, unit_or_zero
from sparing.run import Budget
from sparing.search.truncated_power import truncated_powers

solve = solving(ExpectationMaximization)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_a_step_is_an_e_step_and_an_m_step(rng, nonnegative):
    """y = Xw / w'w, then least squares for these y under the constraint on the count, by trying all supports."""
    for _ in range(10):
        X = rng.standard_normal((8, 7))
        w = np.abs(rng.standard_normal(7))
        y = X @ w / (w @ w)
        best = np.inf
        for S in combinations(range(7), 3):
            v = X[:, S].T @ y / (y @ y)
            v = np.bincount(S, np.maximum(v, 0.0) if nonnegative else v, 7)
            loss = np.square(X - np.outer(y, v)).sum()
            if loss < best:
                best, wanted = loss, v
        stepped = m_step((X.T @ X @ w)[:, None], 3, nonnegative=nonnegative, soft=False)
        np.testing.assert_allclose(unit_or_zero(stepped)[:, 0], wanted / np.linalg.norm(wanted), atol=1e-12)


def test_the_soft_step_solves_the_problem_with_an_l1_bound(rng):
    """Nearest to f among |w|_1 <= B, with the B that the step ends with: no feasible point nearby is closer."""
    f = rng.standard_normal(9)
    w = m_step(f[:, None], 4, nonnegative=False, soft=True)[:, 0]
    assert np.count_nonzero(w) == 4
    for _ in range(2000):
        other = w + 0.1 * rng.standard_normal(9)
        other *= min(1.0, np.abs(w).sum() / np.abs(other).sum())
        assert np.linalg.norm(other - f) >= np.linalg.norm(w - f)
    np.testing.assert_allclose(np.sort(np.abs(w))[-4:], np.sort(np.abs(f))[-4:] - np.sort(np.abs(f))[-5])


def test_the_sparse_version_is_the_truncated_power_step(rng):
    """One hard step without signs, and where many of them lead."""
    A = random_gram(rng)
    view, starts = DenseGram(A), unit_or_zero(keep_largest(rng.standard_normal((15, 6)), 4))
    allowed = np.ones(starts.shape, dtype=bool)
    for steps, error in ((1, 1e-12), (500, 1e-3)):
        solver = ExpectationMaximization(nonnegative=False, threshold="hard", max_iter=steps)
        ours = solver._ends(view, starts, 4, allowed, 0.0, Budget())
        theirs = truncated_powers(view, starts, 4, max_iter=steps, settled=100, budget=Budget())
        np.testing.assert_array_equal(ours != 0, theirs != 0)
        np.testing.assert_allclose(ours, theirs, atol=error)
    soft = ExpectationMaximization(nonnegative=False, max_iter=1)._ends(view, starts, 4, allowed, 0.0, Budget())
    hard = truncated_powers(view, starts, 4, max_iter=1, settled=100, budget=Budget())
    np.testing.assert_array_equal(soft != 0, hard != 0)  # the same features
    assert np.abs(soft - hard).max() > 0.01  # other loadings


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("r", [3, 15])
def test_hard_steps_never_lower_the_variance(rng, nonnegative, r):
    for _ in range(10):
        A = random_gram(rng)
        w = np.abs(rng.standard_normal((15, 1)))
        values = []
        for _ in range(30):
            w = unit_or_zero(m_step(A @ w, r, nonnegative=nonnegative, soft=False))
            values.append((w.T @ A @ w).item())
        assert (np.diff(values) >= -1e-9 * values[-1]).all()


def test_soft_steps_may_lower_it_as_the_docstring_says(rng):
    falls = 0
    for _ in range(20):
        A = random_gram(rng)
        w = unit_or_zero(m_step(np.abs(rng.standard_normal((15, 1))), 4, nonnegative=True, soft=False))
        for _ in range(10):
            before, w = w, unit_or_zero(m_step(A @ w, 4, nonnegative=True, soft=True))
            falls += (w.T @ A @ w).item() < (before.T @ A @ before).item() * (1 - 1e-6)
    assert falls > 0


@pytest.mark.parametrize("threshold", ["soft", "hard"])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("nonnegative", [True, False])
def test_feasible_and_the_value_is_its_own(rng, threshold, refit, nonnegative):
    A = random_gram(rng)
    for r in (1, 4, 15, 99):
        found = solve(DenseGram(A), r, threshold=threshold, refit=refit, nonnegative=nonnegative)
        x = found.vector(15)
        assert 1 <= np.count_nonzero(x) <= r
        assert np.linalg.norm(x) == pytest.approx(1.0)
        assert x @ A @ x == pytest.approx(found.variance)
        if nonnegative:
            assert (x >= 0).all()
        elif r >= 15:
            assert found.variance == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-4)


@pytest.mark.parametrize("threshold", ["soft", "hard"])
@pytest.mark.parametrize("refit", [True, False])
def test_planted_directions_are_found(rng, threshold, refit):
    for _ in range(5):
        A, support = planted_direction(rng)
        found = solve(DenseGram(A), 6, threshold=threshold, refit=refit)
        np.testing.assert_array_equal(found.support, support)
        assert found.variance == pytest.approx(np.linalg.eigvalsh(A[np.ix_(support, support)])[-1], rel=1e-6)


def test_small_problems_are_nearly_always_solved(rng):
    reached = 0
    for _ in range(30):
        A = random_gram(rng, 12, 8)
        best = nonnegative_optimum(A, 3)
        value = solve(DenseGram(A), 3).variance
        assert value <= best * (1 + 1e-9)
        reached += value >= best * (1 - 1e-6)
    assert reached >= 25


def test_the_loadings_are_computed_again_on_the_support(rng):
    """Without that the soft threshold would have left other ones."""
    A, support = planted_direction(rng)
    leading = np.abs(np.linalg.eigh(A[np.ix_(support, support)])[1][:, -1])
    np.testing.assert_allclose(solve(DenseGram(A), 6, refit=False).loadings, leading, atol=1e-3)
    shrunk = m_step((A[:, support] @ leading)[:, None], 6, nonnegative=True, soft=True)[support, 0]
    assert np.abs(shrunk / np.linalg.norm(shrunk) - leading).max() > 1e-3


@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("threshold", ["soft", "hard"])
def test_units_do_not_matter(rng, unit, threshold):
    A = random_gram(rng)
    one, other = (solve(DenseGram(B), 4, threshold=threshold) for B in (A, unit * A))
    np.testing.assert_array_equal(one.support, other.support)
    np.testing.assert_allclose(one.loadings, other.loadings, atol=1e-6)
    assert other.variance == pytest.approx(unit * one.variance)


@pytest.mark.parametrize("threshold", ["soft", "hard"])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("nonnegative", [True, False])
def test_zero_and_duplicated_columns(rng, threshold, refit, nonnegative):
    X = rng.standard_normal((20, 5))
    X = np.column_stack([np.zeros(20), X, X, X, np.zeros(20)])
    settings = {"threshold": threshold, "refit": refit, "nonnegative": nonnegative}
    for r in (1, 2, 3, 8, 17):
        found = solve(as_view(X), r, **settings)
        assert 1 <= len(found.support) <= r
        assert not {0, 16} & set(found.support.tolist())
    alike = solve(DenseGram(np.ones((6, 6))), 3, **settings)  # all entries tie: nothing exceeds the threshold
    assert len(alike.support) == 3
    assert alike.variance == pytest.approx(3.0)


def test_matrices_without_anything_positive(rng):
    """No two features agree: one alone is best. And eigenvalues below zero."""
    A = 1.5 * np.eye(4) - 0.5
    assert len(solve(DenseGram(A), 4).support) == 1
    B = rng.standard_normal((8, 8))
    found = solve(DenseGram(B + B.T - 9 * np.eye(8), is_psd=False), 3)
    assert len(found.support) >= 1
    assert (found.loadings >= 0).all()


def test_the_same_for_dense_and_sparse_storage(rng):
    X = rng.standard_normal((50, 30)) * (rng.random((50, 30)) < 0.3)
    one, other = (solve(as_view(Y), 6) for Y in (X, sparse.csc_array(X)))
    np.testing.assert_array_equal(one.support, other.support)
    np.testing.assert_allclose(one.loadings, other.loadings, atol=1e-8)


def test_a_seed_gives_one_answer_and_a_start_takes_part(rng):
    """A direction of either sign is a start; chance alone does not lead there."""
    lost = 0
    for _ in range(10):
        A = random_gram(rng)
        first, second = (solve(DenseGram(A), 3, seed=3, restarts=1, refit=False) for _ in range(2))
        np.testing.assert_array_equal(first.vector(15), second.vector(15))
        best = solve(DenseGram(A), 3, restarts=100, threshold="hard")
        for start in (best.vector(15)[:, None], -best.vector(15)[:, None]):
            given = solve(DenseGram(A), 3, seed=3, restarts=1, start=start, threshold="hard", refit=False)
            assert given.variance >= best.variance * (1 - 1e-6)
        lost += first.variance < best.variance * (1 - 1e-6)
    assert lost > 0


def test_the_metric_judges():
    """What a first direction explains counts for nothing: the second one wins."""
    A = np.diag([5.0, 5.0, 1.0, 1.0, 0.1])
    A[0, 1] = A[1, 0] = 4.0
    w = np.array([[1.0], [1.0], [0.0], [0.0], [0.0]]) / np.sqrt(2)
    metric = NearIdentity(w, np.array([99.0]))
    found = solve(DenseGram(A), 2, metric=metric)
    x = found.vector(5)
    assert found.variance == pytest.approx(x @ A @ x / (x @ x + 99.0 * (x @ w[:, 0]) ** 2))
    assert found.variance >= 1.0 - 1e-9


def test_no_time_still_gives_an_answer(rng):
    A = random_gram(rng)
    found = solve(DenseGram(A), 4, budget=Budget(deadline=time.monotonic() - 1.0))
    assert 1 <= len(found.support) <= 4


def test_bad_settings_get_a_sentence():
    with pytest.raises(ValueError, match=r"threshold='firm' is not known.*hard.*soft"):
        ExpectationMaximization(threshold="firm")
    with pytest.raises(ValueError, match="restarts=0 must be at least 1"):
        ExpectationMaximization(restarts=0)
    with pytest.raises(TypeError, match=r"max_iter=2\.5 is a float"):
        ExpectationMaximization(max_iter=2.5)
