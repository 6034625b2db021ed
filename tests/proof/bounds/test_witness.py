"""Whatever is in a witness, and whatever proof is named: it proves what is true, or nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from laws import checked
from sparing.gram import DenseGram
from sparing.proof.bounds import (
    BOUNDS,
    DisjointSupports,
    DoublyNonnegativeDual,
    LargestDiagonals,
    LeadingVariance,
    NonnegativeOptimality,
    OrthogonalDual,
    SemidefiniteDual,
    SharedPart,
    SharperDual,
)
from sparing.proof.bounds.base import as_floats
from sparing.results import Problem
from sparing.run import Run
from sparing.task import Task

D = 6
ONE = Problem(1, 2, D, "variance", nonnegative=True)
TWO = Problem(2, 2, D, "variance", shared_support=False, orthogonal=True, disjoint=True)


@pytest.fixture(scope="module")
def view():
    B = np.random.default_rng(0).standard_normal((D, 12))
    return DenseGram(B @ B.T)


@pytest.mark.parametrize("name", BOUNDS)
def test_every_proof_is_about_one_objective(name, view):
    """Those of losses say nothing of variances, and the other way round, before they look at any witness."""
    method = BOUNDS[name]()
    of_loss = method.applies(Task(view, replace(ONE, objective="loss")))
    other = replace(ONE, objective="variance" if of_loss else "loss")
    assert method.check(Task(view, other), None) == math.inf


@pytest.mark.parametrize(
    ("method", "problem", "wrap"),
    [
        (SharedPart(), TWO, lambda Y: ("part", Y)),
        (SharedPart(), TWO, lambda Y: ("dual", Y)),
        (OrthogonalDual(), TWO, lambda Y: ("dual", Y)),
        (OrthogonalDual(), TWO, lambda Y: ("part", Y)),
        (SemidefiniteDual(), ONE, lambda Y: Y),
        (DoublyNonnegativeDual(), ONE, lambda Y: Y),
        (SharperDual(), ONE, lambda Y: (Y, np.zeros(D))),
    ],
)
def test_matrices_of_another_shape_or_without_a_number_prove_nothing(method, problem, wrap, view):
    task = Task(view, problem)
    assert np.isfinite(method.check(task, wrap(np.eye(D))))
    for Y in (np.stack([1e3 * np.eye(D)] * 2), np.eye(D)[:1], np.eye(D + 1), np.full((D, D), np.nan)):
        assert method.check(task, wrap(Y)) == math.inf


@pytest.mark.parametrize("method", [SharedPart(), OrthogonalDual()])
def test_parts_and_duals_are_told_apart_by_name_alone(method, view):
    task = Task(view, TWO)
    assert method.check(task, ("whole", np.eye(D))) == math.inf
    assert method.check(task, ("part", np.eye(D))) != method.check(task, ("dual", np.eye(D)))
    together = Task(view, replace(TWO, shared_support=True))
    assert np.isfinite(OrthogonalDual().check(together, ("dual", np.eye(D))))
    assert OrthogonalDual().check(together, ("part", np.eye(D))) == math.inf  # it counts features of each


@pytest.mark.parametrize(
    ("method", "problem", "wrap"),
    [
        (SharedPart(), TWO, lambda Y: ("dual", Y)),
        (OrthogonalDual(), TWO, lambda Y: ("dual", Y)),
        (SemidefiniteDual(), ONE, lambda Y: Y),
    ],
)
def test_numbers_that_wrap_round_prove_no_more_than_others(method, problem, wrap, view):
    """|-128| is -128 in eight bits: a price below zero."""
    task, wrapped = Task(view, problem), np.full((D, D), -128, dtype=np.int8)
    assert np.abs(wrapped).max() < 0
    assert method.check(task, wrap(wrapped)) == method.check(task, wrap(wrapped.astype(float)))
    assert as_floats(wrapped, D, D).min() == -128.0


def test_a_short_float_is_no_shorter_proof(view):
    three = Task(view, replace(TWO, n_components=3))
    short = np.float16(0.8 * np.linalg.eigvalsh(view.gram())[-1])
    proved = LargestDiagonals().check(three, float(short))
    assert float(LargestDiagonals().check(three, short)) == proved


def test_prices_of_features_that_are_not_there_prove_nothing(view):
    wide = replace(TWO, n_nonzero=4)
    found = DisjointSupports().bound(Task(view, wide), None, Run(np.random.default_rng(0)))
    prices, supports, nodes = found.witness
    assert checked(found, view, wide) == pytest.approx(found.value)
    more = replace(found, witness=(np.append(prices, 1e3), supports, nodes))
    assert checked(more, view, wide) == math.inf


def test_wedges_in_other_spaces_prove_nothing(view):
    task, method = Task(view, ONE), NonnegativeOptimality()
    bound = method.bound(task, None, Run(np.random.default_rng(0)))
    cover = bound.witness
    assert method.check(task, cover) == pytest.approx(bound.value)
    for other in (cover._replace(plane=cover.plane[:, :1]), cover._replace(rays=cover.rays[:, :1])):
        assert method.check(task, other) == math.inf
    assert method.check(task, cover._replace(factor=cover.factor[:, :-1])) == math.inf


def test_pcas_variance_bounds_nothing_where_eigenvalues_are_negative(view):
    assert np.isfinite(LeadingVariance().check(Task(view, TWO), None))
    indefinite = DenseGram(view.gram())
    indefinite.is_psd = False
    assert LeadingVariance().check(Task(indefinite, TWO), None) == math.inf
