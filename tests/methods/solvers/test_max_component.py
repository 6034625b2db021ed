"""The largest entries of the leading eigenvector, and where they mislead."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.data import as_view
from sparing.datasets import load_pitprops, make_hidden_direction
from sparing.gram import DenseGram
from sparing.methods.solvers import Auto, MaxComponent
from sparing.run import Run
from sparing.task import Task


def solve(view, r, rng, **settings):
    return MaxComponent(**settings).solve(Task.of_component(view, r), Run(rng))


def test_takes_the_largest_entries_and_refits(rng):
    A = load_pitprops().correlation
    leading = np.linalg.eigh(A)[1][:, -1]
    for r in (1, 3, 6, 13):
        S = np.sort(np.argsort(-np.abs(leading))[:r])
        naive, refitted = (solve(DenseGram(A), r, rng, refit=refit) for refit in (False, True))
        for found in (naive, refitted):
            np.testing.assert_array_equal(found.support, S)
        cut = leading[S] / np.linalg.norm(leading[S])
        np.testing.assert_allclose(naive.loadings * np.sign(naive.loadings @ cut), cut, atol=1e-9)
        assert naive.variance == pytest.approx(cut @ A[np.ix_(S, S)] @ cut)
        assert refitted.variance == pytest.approx(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1])
        assert naive.variance <= refitted.variance * (1 + 1e-12)


def test_pitprops_three_features_are_not_the_best(rng):
    assert solve(DenseGram(load_pitprops().correlation), 3, rng).variance == pytest.approx(2.3293, abs=5e-4)


def test_misses_a_hidden_direction(rng):
    """1.0 on 980 features, 0.8 on 20 others: the largest entries have .024, the hidden features .80."""
    view = as_view(make_hidden_direction(random_state=0).X)
    assert solve(view, 20, rng).variance * view.square_unit == pytest.approx(0.024, abs=0.002)
    best = Auto().solve(Task.of_component(view, 20), Run(rng))
    assert best.variance * view.square_unit == pytest.approx(0.80, abs=0.01)


def test_ranks_entries_by_an_accurate_eigenvector():
    """On noise the leading eigenvalues are near one another, and an iteration that stops early ranks by chance."""
    X = np.random.default_rng(0).standard_normal((900, 600))
    leading = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
    for seed in range(3):
        found = solve(as_view(X), 50, np.random.default_rng(seed))
        np.testing.assert_array_equal(found.support, np.sort(np.argsort(-np.abs(leading))[:50]))
