"""Nonnegative components with proof."""

from __future__ import annotations

import numpy as np
import pytest

from laws import checked
from small_problems import covariance, nonnegative_optimum, solving
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.methods.solvers import NonnegativeAuto, NonnegativeExact
from sparing.results import Problem
from sparing.run import Budget

solve = solving(NonnegativeExact)


class WorstFeature:
    """An incumbent that is of no use."""

    def solve(self, task, run):
        from sparing.results import Component

        diagonal = task.gram.gram_diagonal()
        j = int(np.argmin(np.where(diagonal > 0, diagonal, np.inf)))
        return Component(np.array([j]), np.ones(1), float(diagonal[j]))


@pytest.mark.parametrize("kind", ["dense", "integer", "tied", "rank_deficient", "block", "noisy"])
def test_brute_force_is_reached_and_proved(kind):
    rng, proved = np.random.default_rng(7), 0
    for _ in range(6):
        A, r = covariance(kind, rng, 7), int(rng.integers(1, 8))
        found, best = solve(DenseGram(A), r), nonnegative_optimum(A, r)
        assert found.variance == pytest.approx(best, rel=1e-9)
        assert found.bound.value >= best
        proved += found.bound.value <= best * (1 + 1e-6)
        problem = Problem(1, r, 7, "variance", nonnegative=True)
        assert checked(found.bound, DenseGram(A), problem) == pytest.approx(found.bound.value)
    assert proved == 6


def test_a_poor_incumbent_is_improved_by_the_search():
    A = load_pitprops().correlation
    for r in (3, 10):
        found = solve(DenseGram(A), r, incumbent=WorstFeature())
        assert found.variance == pytest.approx(nonnegative_optimum(A, r), rel=1e-6)


def test_few_samples_are_searched_on_the_sphere(rng):
    """More features than are searched one by one: three samples make a surrogate of rank three exact."""
    X = rng.standard_normal((4, 1200)) * np.linspace(2, 1, 1200)
    found = solve(as_view(X, Preprocessing(center=True)), 20)
    assert found.bound.value <= found.variance * (1 + 1e-6)


def test_what_runs_out_leaves_a_valid_bound(rng):
    A = np.corrcoef(rng.standard_normal((30, 40)))
    best = solve(DenseGram(A), 4)
    for settings in ({"max_nodes": 1, "max_cells": 1}, {"budget": Budget(deadline=0.0)}):
        found = solve(DenseGram(A), 4, **settings)
        assert found.bound is None or found.bound.value >= best.variance * (1 - 1e-9)


@pytest.mark.parametrize(
    "settings", [{"max_nodes": 0}, {"max_cells": 2.5}, {"max_nodes": True}, {"incumbent": NonnegativeAuto}]
)
def test_bad_settings_get_a_sentence(settings):
    with pytest.raises((ValueError, TypeError), match=next(iter(settings))):
        NonnegativeExact(**settings)
