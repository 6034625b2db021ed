"""k times the best single component: for orthogonal components, and for no others."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

from laws import checked
from small_problems import GAMED, covariance, nonnegative_optimum, optimum
from sparing import NonnegativeSparsePCA
from sparing.gram import DenseGram
from sparing.proof.bounds import EachAlone, RowSums
from sparing.results import Bound, Problem
from sparing.run import Run
from sparing.task import Task


def alone(A, r, *, nonnegative=False):
    best = nonnegative_optimum(A, r) if nonnegative else optimum(A, r)
    return Bound(best, "branch_and_bound", "brute force", "always")


def together(single, A, k, r, **rules):
    problem = Problem(k, r, len(A), "variance", shared_support=False, **rules)
    return EachAlone(single).bound(Task(DenseGram(A), problem), None, Run(np.random.default_rng(0)))


def best_disjoint(A, r):
    """Two components on supports that have no feature in common."""
    supports = list(combinations(range(len(A)), r))
    best = {S: float(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1]) for S in supports}
    return max(best[S] + best[T] for S in supports for T in supports if not set(S) & set(T))


@pytest.mark.parametrize("kind", ["dense", "integer", "tied", "rank_deficient", "block"])
def test_no_disjoint_components_pass(kind, rng):
    for _ in range(10):
        A = covariance(kind, rng, 7)
        found = together(alone(A, 2), A, 2, 2, orthogonal=True, disjoint=True)
        assert found.value >= best_disjoint(A, 2) * (1 - 1e-12)


def test_components_at_an_angle_do_and_get_no_such_bound():
    """The control: 27.217 is reached by two components of three features, more than twice the best single one."""
    assert 2 * optimum(GAMED, 3) < 27.2
    assert together(alone(GAMED, 3), GAMED, 2, 3) is None
    assert together(alone(GAMED, 3), GAMED, 1, 3, orthogonal=True) is None


def test_checked_again_from_data_and_witness(rng):
    A = covariance("dense", rng, 6)
    view, one = DenseGram(A), Problem(1, 3, 6, "variance")
    single = RowSums().bound(Task(view, one), None, Run(rng))
    found = pickle.loads(pickle.dumps(together(single, A, 2, 3, orthogonal=True)))
    problem = Problem(2, 3, 6, "variance", shared_support=False, orthogonal=True)
    assert checked(found, view, problem) == pytest.approx(2 * single.value)


def test_it_serves_disjoint_nonnegative_parts(rng):
    """Two like blocks: each component has the best there is, and so has the sum."""
    X = rng.standard_normal((200, 2)) @ np.kron(np.eye(2), np.ones((1, 4))) + 0.01 * rng.standard_normal((200, 8))
    X[:, 4:] *= X[:, 0].std() / X[:, 4].std()
    model = NonnegativeSparsePCA(2, n_nonzero=4, deflation="disjoint", random_state=0).fit(X)
    assert model.certificate_.gap < 0.02
    assert model.certificate_.recheck(X)
