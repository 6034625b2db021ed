"""DSPCA: what its relaxed solution points to."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import solving
from sparing import SparsePCA
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg.metric import Whole
from sparing.methods.solvers import Semidefinite, TruncatedPower
from sparing.proof.bounds import SemidefiniteDual
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH
from sparing.task import Task

solve = solving(Semidefinite)

PITPROPS = [1, 1.954, 2.475331, 2.937479, 3.406155, 3.770960, 3.996190]
PITPROPS += [4.068607, 4.138647, 4.172638, 4.208276, 4.218245, 4.218633]


def test_pitprops_reaches_every_optimum():
    view = DenseGram(load_pitprops().correlation)
    np.testing.assert_allclose([solve(view, r).variance for r in range(1, 14)], PITPROPS, atol=6e-7)


def test_the_papers_own_rounding_is_feasible_and_no_better():
    A = load_pitprops().correlation
    for r in (1, 3, 5, 9, 13):
        found = solve(DenseGram(A), r, refit=False)
        x = found.vector(13)
        assert np.count_nonzero(x) <= r
        np.testing.assert_allclose(np.linalg.norm(x), 1.0)
        np.testing.assert_allclose(x @ A @ x, found.variance)
        assert found.variance <= PITPROPS[r - 1] + 6e-7


def test_a_hidden_sparse_direction_is_found_without_a_start(rng):
    """The leading eigenvector is dense and elsewhere: one start from it fails, the relaxation needs none."""
    dense, hidden = np.zeros(60), np.zeros(60)
    dense[:50], hidden[50:] = 50**-0.5, 10**-0.5
    A = np.outer(dense, dense) + 0.8 * np.outer(hidden, hidden) + 0.01 * np.eye(60)
    assert list(solve(DenseGram(A), 10).support) == list(range(50, 60))
    control = TruncatedPower(starts=0).solve(Task.of_component(DenseGram(A), 10), Run(rng))
    assert control.variance < 0.5 * solve(DenseGram(A), 10).variance


@pytest.mark.long
def test_reference_optima_of_larger_matrices(shared):
    for name, key, wanted in [
        ("bcp_covariances.npz", "normCommunities", {5: 4.860548, 10: 8.823616, 20: 14.326952}),
        ("colon_cov500.npz", "C", {10: 2641.22886}),
    ]:
        A = shared(name, key)
        view = as_view(A, Preprocessing(precomputed=True))
        for r, optimum in wanted.items():
            found = solve(view, r).variance * view.square_unit
            bound = SemidefiniteDual(max_iter=200).bound(Task(view, Problem(1, r, len(A), "variance")), None, Run(None))
            assert optimum * 0.999 <= found <= optimum * (1 + 1e-6)
            assert optimum * (1 - 1e-6) <= bound.value * view.square_unit <= 1.05 * optimum


def test_with_a_metric_the_value_is_the_quotient(rng):
    X, Y = rng.standard_normal((2, 30, 9))
    A, M = X.T @ X, Y.T @ Y
    found = solve(DenseGram(A), 4, metric=Whole(M))
    x = found.vector(9)
    np.testing.assert_allclose(x @ A @ x / (x @ M @ x), found.variance, rtol=1e-9)


def test_features_without_variance_do_not_count(rng):
    X = rng.standard_normal((30, 8))
    X[:, [1, 5]] = 2.0
    found = solve(as_view(X), 3)
    assert not {1, 5} & set(found.support)
    assert list(solve(as_view(X), 7).support) == [0, 2, 3, 4, 6, 7]


def test_an_expired_budget_still_gives_an_answer(rng):
    A = np.cov(rng.standard_normal((30, 12)), rowvar=False)
    found = solve(DenseGram(A), 4, budget=Budget(deadline=0.0))
    assert 1 <= len(found.support) <= 4
    np.testing.assert_allclose(found.vector(12) @ A @ found.vector(12), found.variance)


def test_too_many_features_are_refused_with_advice():
    many = SEARCH.relaxed_features + 1
    wide = as_view(np.random.default_rng(0).standard_normal((4, many)))
    with pytest.raises(ValueError, match=r"solver='auto'.*certificate bounds"):
        solve(wide, 3)
    X = np.random.default_rng(1).standard_normal((30, many)) * np.linspace(3, 1, many)
    instead = SparsePCA(n_nonzero=3, effort="quick").fit(X)  # the advice holds: a direction, and a bound on all others
    assert instead.certificate_.value <= instead.certificate_.bound < instead.certificate_.pca_value
    assert instead.certificate_.recheck(X)
