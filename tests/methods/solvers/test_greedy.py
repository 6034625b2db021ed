"""Greedy search, against greedy search by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg.metric import NearIdentity, Whole
from sparing.methods.solvers import Greedy
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH
from sparing.task import Task

PITPROPS = [1, 1.954, 2.475331, 2.937479, 3.406155, 3.770960, 3.996190]
PITPROPS += [4.068607, 4.138647, 4.172638, 4.208276, 4.218245, 4.218633]


def solve(direction, A, r, M=None, start=None, budget=None):
    view = A if hasattr(A, "gram_columns") else DenseGram(A)
    metric = None if M is None else Whole(M)
    run = Run(np.random.default_rng(0), budget or Budget())
    return Greedy(direction).solve(Task.of_component(view, r, metric=metric, start=start), run)


def best_on(A, M, S):
    block = np.ix_(S, S)
    return float(linalg.eigh(A[block], None if M is None else M[block], eigvals_only=True)[-1])


def grown(A, r, M=None):
    S = []
    while len(S) < r:
        S.append(max(set(range(len(A))) - set(S), key=lambda j: best_on(A, M, [*S, j])))
    return sorted(S)


def pruned(A, r, M=None):
    S = list(range(len(A)))
    while len(S) > r:
        S.remove(max(S, key=lambda j: best_on(A, M, [i for i in S if i != j])))
    return S


@pytest.mark.parametrize(("direction", "naive"), [("forward", grown), ("backward", pruned)])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 8), with_metric=st.booleans())
def test_every_step_is_the_best_one(direction, naive, seed, r, with_metric):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((2, 12, 8))
    A, M = X.T @ X, Y.T @ Y if with_metric else None
    found = solve(direction, A, r, M)
    wanted = naive(A, r, M)
    assert list(found.support) == wanted
    np.testing.assert_allclose(found.variance, best_on(A, M, wanted), rtol=1e-9)


def test_approximate_follows_the_pull_of_the_present_direction(rng):
    X = rng.standard_normal((15, 9)) @ rng.standard_normal((9, 9))
    A = X.T @ X
    S = [int(np.argmax(np.diag(A)))]
    while len(S) < 5:
        x = np.linalg.eigh(A[np.ix_(S, S)])[1][:, -1]
        pull = np.abs(A[:, S] @ x)
        S.append(max(set(range(9)) - set(S), key=lambda j: pull[j]))
    assert list(solve("approximate", A, 5).support) == sorted(S)


@pytest.mark.parametrize("direction", ["forward", "backward", "approximate"])
def test_pitprops_reaches_every_optimum(direction):
    A = load_pitprops().correlation
    reached = [solve(direction, A, r).variance for r in range(1, 14)]
    np.testing.assert_allclose(reached, PITPROPS, atol=6e-7)


def test_where_variances_tie_the_leading_eigenvector_decides(rng):
    """The first of all features that tie is unrelated to the rest; the best three are elsewhere."""
    A = np.eye(8)
    A[4:7, 4:7] = 0.6
    np.fill_diagonal(A, 1.0)
    A[0, 1] = A[1, 0] = 0.1
    for direction in ("forward", "approximate"):
        assert list(solve(direction, A, 3).support) == [4, 5, 6]
    chosen = np.zeros((8, 1))
    chosen[1] = 1.0
    assert list(solve("forward", A, 2, start=chosen).support) == [0, 1]


def test_needs_columns_of_chosen_features_only(rng):
    class Counted(DenseGram):
        asked = 0

        has_gram = False

        def gram_columns(self, J):
            self.asked += len(J)
            return super().gram_columns(J)

    view = Counted(np.cov(rng.standard_normal((40, 30)), rowvar=False))
    solve("forward", view, 6)
    assert view.asked <= 6


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_singular_metric_gives_an_answer(direction, rng):
    """Directions that the metric does not see are left out, and features wholly within them are never used."""
    X = rng.standard_normal((20, 7))
    U = np.linalg.qr(rng.standard_normal((7, 2)))[0]
    U[:, 1] = np.eye(7)[3]
    U[:, 0] -= U[3, 0] * np.eye(7)[3]
    U[:, 0] /= np.linalg.norm(U[:, 0])
    metric = NearIdentity(U, np.array([-1.0, -1.0]))
    P = np.eye(7) - U @ U.T
    A = P @ X.T @ X @ P
    found = Greedy(direction).solve(Task.of_component(DenseGram(A), 4, metric=metric), Run(rng))
    x = found.vector(7)
    assert 3 not in found.support
    assert len(found.support) <= 4
    np.testing.assert_allclose(x @ A @ x / (x @ P @ x), found.variance, rtol=1e-8)


def test_backward_elimination_of_several_at_once(rng):
    """A planted block is found although hundreds of features go in batches."""
    X = rng.standard_normal((300, 280))
    X[:, 50:58] += 2 * rng.standard_normal((300, 1))
    found = solve("backward", as_view(X), 8)
    assert list(found.support) == list(range(50, 58))


@pytest.mark.parametrize("direction", ["forward", "backward", "approximate"])
def test_an_expired_budget_and_few_useful_features(direction, rng):
    X = rng.standard_normal((20, 10))
    X[:, 2:] = 0.0
    assert list(solve(direction, as_view(X), 5).support) == [0, 1]
    A = np.cov(rng.standard_normal((30, 12)), rowvar=False)
    found = solve(direction, A, 5, budget=Budget(deadline=0.0))
    assert 1 <= len(found.support) <= 5
    np.testing.assert_allclose(found.vector(12) @ A @ found.vector(12), found.variance)


def test_what_cannot_be_done_is_said():
    with pytest.raises(ValueError, match="direction='sideways' is not known"):
        Greedy("sideways")
    X = np.random.default_rng(0).standard_normal((5, SEARCH.backward_features + 1))
    wide = as_view(X, Preprocessing(center=False))
    with pytest.raises(ValueError, match="direction='forward'"):
        solve("backward", wide, 3)
