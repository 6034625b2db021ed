"""The joint search: never below its parts, more effort is never less, and no feature is shut out."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine

from sparing import SparsePCA
from sparing.data import Preprocessing, as_view
from sparing.effort import QUICK, THOROUGH
from sparing.linalg import top_spectrum
from sparing.linalg.variance import symmetric_total
from sparing.methods.deflation import DEFLATIONS
from sparing.methods.encoders import JointVariance, Sequential
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.joint_starts import JointStarts
from sparing.methods.solvers import Auto
from sparing.objectives.blocks import BlockCapture
from sparing.run import Budget, Run
from sparing.search.descent import Descent
from sparing.search.iterated import Elite
from sparing.task import Task

SOLVER = Auto(starts=3, finalists=2, perturbations=0)
LEVELS = (QUICK, replace(THOROUGH, below=QUICK, joint_shared=10, joint_descents=16))


def factors(seed, n=40, d=16):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * [5, 4, 3, 2, 1] @ rng.standard_normal((5, d)) + rng.standard_normal((n, d))
    return as_view(X)


def reached(view, k, r, effort=QUICK, seed=0):
    rng = np.random.default_rng(seed)
    spectrum = top_spectrum(view, k, rng)
    task = Task.of_components(view, spectrum, r)
    H = JointVariance(SOLVER).encode(task, Run(rng, effort=effort)).components.T
    assert (np.count_nonzero(H, axis=0) <= np.max(r)).all()
    return symmetric_total(view, H)


@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), r=st.integers(2, 6))
@example(seed=64, k=4, r=4)
def test_more_effort_is_never_less(seed, k, r):
    view = factors(seed)
    quick, long = (reached(view, k, r, effort, seed) for effort in LEVELS)
    assert long >= quick * (1 - 1e-9)


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), r=st.integers(2, 6))
def test_never_below_components_one_after_the_other(seed, k, r):
    view = factors(seed)
    together = reached(view, k, r, seed=seed)
    for name in ("generalized", "orthogonalized", "disjoint"):
        rng = np.random.default_rng(seed)
        task = Task.of_components(view, top_spectrum(view, k, rng), r)
        parts = Sequential(SOLVER, DEFLATIONS[name]()).encode(task, Run(rng, effort=QUICK)).components.T
        assert together >= symmetric_total(view, parts) * (1 - 1e-3), name


@pytest.mark.parametrize("make", [lambda: as_view(load_wine().data, Preprocessing(scale=True)), lambda: factors(3)])
def test_what_is_kept_never_falls_with_the_number_of_features(make):
    view = make()
    values = [reached(view, 3, r) for r in (1, 2, 3, 4, 6, 7, 10, 11)]
    assert (np.diff(values) >= -1e-9 * values[-1]).all()


@pytest.mark.long
def test_digits_rise_with_the_number_of_features():
    view = as_view(load_digits().data)
    values = [reached(view, 4, r) for r in (4, 8, 12, 16, 24, 32, 48)]
    assert (np.diff(values) >= 0).all()


def test_numbers_may_differ_from_component_to_component():
    view, rng = factors(1), np.random.default_rng(0)
    task = Task.of_components(view, top_spectrum(view, 3, rng), [2, 5, 3])
    H = JointVariance(SOLVER).encode(task, Run(rng)).components
    assert sorted(np.count_nonzero(H, axis=1)) == [2, 3, 5]
    equal = reached(view, 3, 2)
    assert symmetric_total(view, H.T) >= equal


def test_a_race_ends_with_the_better_half():
    view = factors(0)
    A = view.gram()
    rng = np.random.default_rng(0)
    supports = np.array([np.concatenate([rng.choice(16, 4, replace=False) for _ in range(3)]) for _ in range(8)])
    objective = BlockCapture(A, None, 3, 0.01)
    raced, all_of_them = (Descent(objective, supports, shortlist=16, refined=8) for _ in range(2))
    raced.run(Budget(), race=True)
    all_of_them.run(Budget())
    assert (all_of_them.values >= raced.values * (1 - 1e-6)).all()
    assert np.isclose(all_of_them.values, raced.values).any()
    assert not np.allclose(all_of_them.values, raced.values)


def test_components_in_another_order_are_the_same_optimum():
    elite = Elite(2, trusted=16)
    ends = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [1, 3, 2, 4]])
    elite.admit(ends, np.array([1.0, 2.0, 3.0]), np.zeros((3, 4)), np.ones(3, dtype=bool))
    assert [found.value for found in elite.best] == [3.0, 2.0]


def test_the_search_ends_once_nearly_all_descents_end_at_known_optima():
    elite, ends = Elite(1, trusted=8), np.tile([[1, 2], [1, 3], [2, 3]], (3, 1))
    yes = np.ones(1, dtype=bool)
    for n in range(8):
        elite.admit(ends[[n]], np.ones(1), None, yes)
        assert elite.unseen == 1  # too few to tell
    elite.admit(ends[[8]], np.ones(1), None, yes)
    assert elite.unseen == 0
    elite.admit(np.array([[4, 5]]), np.ones(1), None, yes)
    assert elite.unseen == pytest.approx(0.1)


def test_two_searches_of_a_fit_start_from_the_same_rotations():
    view = factors(0)
    spectrum = top_spectrum(view, 3, np.random.default_rng(0))
    goal = JointVariances(view, [3, 3, 3], 0.01)
    starts = JointStarts(goal, SOLVER, spectrum)
    first, again = (list(islice(starts.rotations(), 4)) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    another = list(islice(JointStarts(goal, SOLVER, spectrum, seed=1).rotations(), 4))
    np.testing.assert_array_equal(first[0], another[0])  # varimax has no chance in it
    assert not np.allclose(first[3], another[3])


def test_a_covariance_of_more_features_than_starts_look_at():
    """Starts are sought among the most promising features, where the matrix is at hand as well."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)) @ rng.standard_normal((6, 600)) + rng.standard_normal((80, 600))
    config = {"n_components": 3, "n_nonzero": 4, "effort": "quick", "certify": False}
    of_covariance = SparsePCA(precomputed=True, **config).fit(np.cov(X, rowvar=False))
    assert of_covariance.variance_kept_ == pytest.approx(SparsePCA(**config).fit(X).variance_kept_, rel=0.01)
