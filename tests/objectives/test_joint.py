"""Moves of several directions: they end with the budget, and the features to give up are the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.gram import DenseGram
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.objectives.joint import LossAlternation, VarianceAlternation
from sparing.objectives.loadings import best_loadings
from sparing.objectives.residual import without_scores
from sparing.run import Budget


class Looks(Budget):
    """A budget spent after it has been looked at so many times."""

    left = 0

    @property
    def expired(self) -> bool:
        self.left -= 1
        return self.left < 0


def looks(count):
    budget = Looks()
    budget.left = count
    return budget


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((60, 20)) @ rng.standard_normal((20, 20))
    return X.T @ X, unit_columns(keep_largest(rng.standard_normal((20, 4)), 6))


GOALS = [
    pytest.param(lambda A, budget=None: VarianceAlternation(DenseGram(A), 0.01, budget), id="variance"),
    pytest.param(lambda A, budget=None: LossAlternation(A, A @ A, budget), id="loss"),
]


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("move", ["improve", "refit"])
def test_moves_end_with_the_budget_and_keep_what_they_have(problem, goal, move):
    A, H = problem
    reached = [goal(A).captured(H)]
    for spent_after in (0, 2, 5):
        found = getattr(goal(A, looks(spent_after)), move)(H, 30)
        assert np.count_nonzero(found) <= np.count_nonzero(H)
        reached.append(goal(A).captured(found))
    unlimited = goal(A).captured(getattr(goal(A), move)(H, 30))
    assert np.all(np.diff(reached) >= -1e-9 * unlimited)
    assert reached[1] <= reached[0] * (1 + 0.5 * (unlimited / reached[0] - 1))  # nothing, or a single step
    assert unlimited > reached[0] * 1.01


def test_loadings_stop_with_the_budget(problem):
    A, H = problem
    goal = VarianceAlternation(DenseGram(A), 0.01)
    first, later, best = (goal.captured(best_loadings(A, H, 0.01, 500, b)) for b in (looks(0), looks(4), None))
    assert goal.captured(H) < first < later < best


def test_what_directions_leave_is_the_same_from_rows_and_has_more_digits(problem, rng):
    A, H = problem
    R, core = np.linalg.cholesky(A).T, np.arange(3, 20)
    by_squares = LossAlternation(A[np.ix_(core, core)], (A @ A)[np.ix_(core, core)])
    by_rows = LossAlternation(by_squares.gram, by_squares.squared, rows=R, core=core)
    support, H = np.array([1, 4, 8]), H[core]
    assert by_rows.without(H).solve(support)[0] == pytest.approx(by_squares.without(H).solve(support)[0], rel=1e-8)
    X = rng.standard_normal((30, 5))
    X[:, 0] *= 1e5
    scores = X[:, :1] + 1e-3 * X[:, 1:2]
    rest = without_scores(X, np.column_stack([scores, scores, 0 * scores]))  # repeated ones and none count once
    along = scores / np.linalg.norm(scores)
    wanted = X.astype(np.longdouble) - along.astype(np.longdouble) @ (along.T.astype(np.longdouble) @ X)
    np.testing.assert_allclose(np.square(rest[:, 1:]).sum(), np.square(wanted[:, 1:]).sum().astype(float), rtol=1e-12)
    assert not without_scores(X, X[:, :1])[:, 0].any()
