"""Best loadings on given supports: nothing nearby captures more, and zeros stay."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.gram import DenseGram
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.objectives.joint import Alternation, VarianceAlternation
from sparing.objectives.loadings import best_loadings


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((40, 12)) @ rng.standard_normal((12, 12))
    return X.T @ X, unit_columns(keep_largest(rng.standard_normal((12, 3)), 6))


def captured(A, H, ridge):
    return float(np.trace(np.linalg.solve(H.T @ H + ridge * np.eye(H.shape[1]), H.T @ A @ H)))


def test_loadings_are_a_local_optimum_with_the_same_zeros(problem, rng):
    A, H = problem
    found = best_loadings(A, H, 0.01, 500)
    np.testing.assert_array_equal(found == 0, H == 0)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), 1.0)
    best = captured(A, found, 0.01)
    assert best > captured(A, H, 0.01) * 1.01
    for _ in range(50):
        nearby = unit_columns(found + 1e-3 * rng.standard_normal(H.shape) * (H != 0))
        assert captured(A, nearby, 0.01) <= best * (1 + 1e-9)


def test_turns_reach_no_more(problem):
    A, H = problem
    search = VarianceAlternation(DenseGram(A), 0.01)
    by_turns = Alternation.refit(search, H, 2000)
    assert search.captured(search.refit(H, 500)) >= search.captured(by_turns) * (1 - 1e-8)
