"""Whatever is in a witness, and whatever proof is named: it proves what is true, or nothing."""

from __future__ import annotations

import inspect
import math
import pkgutil
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from sparing import search
from sparing.gram import DenseGram
from sparing.proof import bounds
from sparing.proof.bounds import (
    disjoint_supports,
    doubly_nonnegative_dual,
    largest_diagonals,
    leading_variance,
    loss_tree,
    nonnegative_optimality,
    orthogonal_dual,
    pca_loss,
    semidefinite_dual,
    shared_part,
    sharper_dual,
)
from sparing.proof.bounds._witness import as_floats
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


def checks():
    """All functions that a saved certificate may name."""
    for package in (bounds, search):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction):
                if name.startswith("recompute") and function.__module__ == module.name:
                    yield pytest.param(function, id=f"{module.name}:{name}")


@pytest.mark.parametrize("check", list(checks()))
def test_every_proof_is_about_one_objective(check, view):
    """Those of losses say nothing of variances, and the other way round, before they look at any witness."""
    of_loss = check in (pca_loss.recompute, loss_tree.recompute)
    other = replace(ONE, objective="variance" if of_loss else "loss")
    assert check(view, other, None) == math.inf


@pytest.mark.parametrize(
    ("check", "problem", "wrap"),
    [
        (shared_part.recompute, TWO, lambda Y: Y),
        (shared_part.recompute_dual, TWO, lambda Y: Y),
        (orthogonal_dual.recompute, TWO, lambda Y: Y),
        (orthogonal_dual.recompute_split, TWO, lambda Y: Y),
        (semidefinite_dual.recompute, ONE, lambda Y: Y),
        (doubly_nonnegative_dual.recompute, ONE, lambda Y: Y),
        (sharper_dual.recompute, ONE, lambda Y: (Y, np.zeros(D))),
    ],
)
def test_matrices_of_another_shape_or_without_a_number_prove_nothing(check, problem, wrap, view):
    assert np.isfinite(check(view, problem, wrap(np.eye(D))))
    for Y in (np.stack([1e3 * np.eye(D)] * 2), np.eye(D)[:1], np.eye(D + 1), np.full((D, D), np.nan)):
        assert check(view, problem, wrap(Y)) == math.inf


@pytest.mark.parametrize("check", [shared_part.recompute_dual, orthogonal_dual.recompute, semidefinite_dual.recompute])
def test_numbers_that_wrap_round_prove_no_more_than_others(check, view):
    """|-128| is -128 in eight bits: a price below zero."""
    problem = ONE if check is semidefinite_dual.recompute else TWO
    wrapped = np.full((D, D), -128, dtype=np.int8)
    assert np.abs(wrapped).max() < 0
    assert check(view, problem, wrapped) == check(view, problem, wrapped.astype(float))
    assert as_floats(wrapped, D, D).min() == -128.0


def test_a_short_float_is_no_shorter_proof(view):
    three, short = replace(TWO, n_components=3), np.float16(0.8 * np.linalg.eigvalsh(view.gram())[-1])
    proved = largest_diagonals.recompute(view, three, float(short))
    assert float(largest_diagonals.recompute(view, three, short)) == proved


def test_prices_of_features_that_are_not_there_prove_nothing(view):
    wide = replace(TWO, n_nonzero=4)
    found = disjoint_supports.DisjointSupports().bound(Task(view, wide), None, Run(np.random.default_rng(0)))
    prices, supports, nodes = found.witness
    assert found.check(view, wide, found.witness) == pytest.approx(found.value)
    assert found.check(view, wide, (np.append(prices, 1e3), supports, nodes)) == math.inf


def test_wedges_in_other_spaces_prove_nothing(view):
    bound = nonnegative_optimality.NonnegativeOptimality().bound(Task(view, ONE), None, Run(np.random.default_rng(0)))
    cover = bound.witness
    assert bound.check(view, ONE, cover) == pytest.approx(bound.value)
    for other in (cover._replace(plane=cover.plane[:, :1]), cover._replace(rays=cover.rays[:, :1])):
        assert bound.check(view, ONE, other) == math.inf
    assert bound.check(view, ONE, cover._replace(factor=cover.factor[:, :-1])) == math.inf


def test_pcas_variance_bounds_nothing_where_eigenvalues_are_negative(view):
    assert np.isfinite(leading_variance.recompute(view, TWO, None))
    indefinite = DenseGram(view.gram())
    indefinite.is_psd = False
    assert leading_variance.recompute(indefinite, TWO, None) == math.inf
