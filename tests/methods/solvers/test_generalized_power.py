"""Generalized power through the covariance is generalized power through the rows; counts are exact."""

from __future__ import annotations

import numpy as np
import pytest

from laws import mostly_long
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.methods.solvers import GeneralizedPowerL0, GeneralizedPowerL1
from sparing.methods.solvers.generalized_power import PenaltyPath
from sparing.run import Budget, Run
from sparing.search.truncated_power import psd_shift
from sparing.task import Task

both = pytest.mark.parametrize("solver", [GeneralizedPowerL0, GeneralizedPowerL1])
penalties = pytest.mark.parametrize("soft", [False, True], ids=["l0", "l1"])


def data(rng, n=30, d=20):
    return rng.standard_normal((n, d)) @ (rng.standard_normal((d, d)) * (1 + np.arange(d)) ** -0.5)


def printed(X, level, soft, steps):
    """Algorithms 2 and 3 as printed: z in the sample space, from the longest column; gamma is level or its square."""
    i = np.argmax(np.linalg.norm(X, axis=0))
    z = X[:, i] / np.linalg.norm(X[:, i])
    objectives = []
    for _ in range(steps):
        c = X.T @ z
        if soft:
            weights = np.sign(c) * np.maximum(np.abs(c) - level, 0.0)
            objectives.append(np.square(weights).sum())
        else:
            weights = np.where(c**2 > level**2, c, 0.0)
            objectives.append(np.maximum(c**2 - level**2, 0.0).sum())
        z = X @ weights
        z /= np.linalg.norm(z)
    return weights, objectives


@penalties
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_gram_coordinates_are_those_of_the_rows(rng, soft, share):
    X = data(rng)
    view = as_view(X, Preprocessing(center=False))
    X = X / np.sqrt(view.square_unit)
    longest = np.linalg.norm(X, axis=0)
    path = PenaltyPath(view, np.ones(20, dtype=bool), soft, max_iter=400)
    (mine,) = path.ends(np.eye(20)[:, np.argmax(longest)], np.array([share * longest.max()]), Budget()).T
    theirs, objectives = printed(X, share * longest.max(), soft, 400)
    np.testing.assert_array_equal(mine != 0, theirs != 0)
    np.testing.assert_allclose(mine, theirs, atol=1e-3 * np.abs(theirs).max())
    assert np.all(np.diff(objectives) >= -1e-9 * objectives[0])


@penalties
def test_every_penalty_of_a_batch_is_that_penalty_alone(rng, soft):
    view = as_view(data(rng))
    path = PenaltyPath(view, np.ones(20, dtype=bool), soft)
    levels = np.linspace(0, 0.9, 5) * np.sqrt(view.gram_diagonal().max())
    start = np.eye(20)[:, int(np.argmax(view.gram_diagonal()))]
    together = path.ends(start, levels, Budget())
    for level, column in zip(levels, together.T, strict=True):
        np.testing.assert_allclose(path.ends(start, np.array([level]), Budget())[:, 0], column, atol=1e-12)


@both
@pytest.mark.parametrize("seed", mostly_long(range(5), 2, 4))
def test_counts_are_exact_on_generic_data(solver, seed):
    rng = np.random.default_rng(seed)
    view = as_view(data(rng))
    for r in range(1, 21):
        assert len(solver().solve(Task.of_component(view, r), Run(rng)).support) == r


@penalties
def test_where_the_count_jumps_the_largest_entries_stay(soft):
    """Five equal features come in together: three of them are the first three."""
    A = np.full((5, 5), 0.8) + 0.2 * np.eye(5)
    path = PenaltyPath(DenseGram(A), np.ones(5, dtype=bool), soft)
    found = path.with_count(np.full(5, 0.4), 3, Budget())
    assert 3 in np.count_nonzero(found, axis=0)
    (three,) = (column for column in found.T if np.count_nonzero(column) == 3)
    np.testing.assert_array_equal(np.flatnonzero(three), [0, 1, 2])


@penalties
def test_where_the_count_is_never_reached_all_there_is_stays(soft):
    A = np.eye(5)
    A[0, 1] = A[1, 0] = 0.5
    found = PenaltyPath(DenseGram(A), np.ones(5, dtype=bool), soft).with_count(np.eye(5)[:, 0], 4, Budget())
    np.testing.assert_array_equal(np.flatnonzero(found.any(axis=1)), [0, 1])


@both
@pytest.mark.parametrize(("r", "best"), [(2, 1.954), (3, 2.475331), (5, 3.406155), (8, 4.068607)])
def test_reaches_the_optima_of_pitprops(solver, rng, r, best):
    found = solver().solve(Task.of_component(DenseGram(load_pitprops().correlation), r), Run(rng))
    assert found.variance == pytest.approx(best, abs=1e-5)


@both
def test_refitting_never_lowers_the_variance(solver, rng):
    view = as_view(data(rng))
    for r in (2, 5, 9):
        plain, refitted = (
            solver(refit=refit).solve(Task.of_component(view, r), Run(np.random.default_rng(0)))
            for refit in (False, True)
        )
        assert plain.variance <= refitted.variance * (1 + 1e-12)
        assert len(plain.support) == r


def test_the_l1_penalty_shrinks_loadings(rng):
    """The refitted direction on the same features has more variance: why loadings are refitted."""
    view = as_view(data(rng))
    shrunk = GeneralizedPowerL1(refit=False).solve(Task.of_component(view, 6), Run(np.random.default_rng(0)))
    block = view.gram()[np.ix_(shrunk.support, shrunk.support)]
    assert shrunk.variance < np.linalg.eigvalsh(block)[-1] * (1 - 1e-3)


@both
def test_more_starts_are_never_worse(solver, rng):
    view = as_view(data(rng, 20, 40))
    one, many = (solver(starts=s).solve(Task.of_component(view, 5), Run(np.random.default_rng(0))) for s in (1, 8))
    assert many.variance >= one.variance * (1 - 1e-12)


def test_shift_makes_indefinite_matrices_fit_for_power_steps(rng):
    B = rng.standard_normal((15, 15))
    B = B + B.T
    shift = psd_shift(DenseGram(B, is_psd=False), rng)
    assert np.linalg.norm(B, 2) * 0.7 <= shift <= np.linalg.norm(B, 2) * (1 + 1e-9)
    assert psd_shift(DenseGram(B @ B), rng) == 0.0
