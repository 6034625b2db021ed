"""More effort never proves less about a result: each effort computes all that those below compute, and goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from laws import mostly_long
from sparing.data import as_view
from sparing.effort import DEFAULT, EFFORTS, QUICK, THOROUGH, Effort
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.proof.policy import prove
from sparing.proof.relaxations.fantope import SharedPartSearch, projection_relaxation, split
from sparing.proof.relaxations.semidefinite import relaxation
from sparing.proof.trees.deletion_tree import DeletionTree
from sparing.proof.trees.support_lists import SupportLists
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

SHAPES = {"small": (60, 13, 4), "medium": (80, 40, 6), "large": (90, 120, 8), "wide": (40, 600, 10)}
KINDS = ("noise", "spiked", "correlated")
PROBLEMS = {
    "one": {},
    "one, nonnegative": {"nonnegative": True},
    "loss": {"objective": "loss", "n_components": 2},
    "loss, own features": {"objective": "loss", "n_components": 2, "shared_support": False},
    "free": {"n_components": 2, "shared_support": False},
    "limited": {"n_components": 2, "shared_support": False, "max_cosine": 0.3},
    "orthogonal": {"n_components": 2, "shared_support": False, "orthogonal": True},
    "disjoint": {"n_components": 2, "shared_support": False, "disjoint": True},
    "total": {"n_components": 2},
}


def table(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    noise = rng.standard_normal((n, d))
    if kind == "spiked":
        return noise + 2 * rng.standard_normal((n, 2)) @ (rng.standard_normal((2, d)) * (rng.random((2, d)) < 0.3))
    nearby = 0.6 ** np.abs(np.subtract.outer(range(d), range(d)))
    return noise @ np.linalg.cholesky(nearby).T if kind == "correlated" else noise


def task_of(X: np.ndarray, r: int, problem: dict) -> tuple[Task, object]:
    """A problem, and a result that it allows: the features of most variance."""
    given = {"n_components": 1, "objective": "variance"} | problem
    view, k = as_view(X), given["n_components"]
    best = np.argsort(-view.gram_diagonal())[:k]
    found = encoder_of(view, np.eye(X.shape[1])[:, best], view.total)
    asked = Problem(n_nonzero=r, n_features=X.shape[1], **given)
    return Task(view, asked, top_spectrum(view, k, np.random.default_rng(0))), found


def bound(task: Task, found, effort: Effort) -> float:
    """The tightest bound, as something that is to be small."""
    bounds = prove(task, found, Run(np.random.default_rng(0), effort=effort))
    return min(-one.value if task.problem.objective == "loss" else one.value for one in bounds)


def is_no_less(task: Task, found, lower: Effort, higher: Effort) -> bool:
    return bound(task, found, higher) <= bound(task, found, lower) + 1e-9 * task.gram.total


CASES = [(name, shape, kind) for name in PROBLEMS for shape in SHAPES for kind in KINDS]


@pytest.mark.parametrize(("name", "shape", "kind"), mostly_long(CASES, *CASES[::5]))
def test_default_proves_no_less_than_quick(name, shape, kind):
    n, d, r = SHAPES[shape]
    task, found = task_of(table(kind, n, d, np.random.default_rng(CASES.index((name, shape, kind)))), r, PROBLEMS[name])
    assert is_no_less(task, found, QUICK, DEFAULT)


@pytest.mark.parametrize(("name", "shape", "kind"), mostly_long(CASES, *CASES[::36]))
def test_thorough_proves_no_less_than_default(name, shape, kind):
    n, d, r = SHAPES[shape]
    task, found = task_of(table(kind, n, d, np.random.default_rng(CASES.index((name, shape, kind)))), r, PROBLEMS[name])
    assert is_no_less(task, found, DEFAULT, THOROUGH)


def test_without_the_efforts_below_more_effort_proves_less():
    """Control, on noise: expensive first steps leave too little for the semidefinite dual."""
    task, found = task_of(np.random.default_rng(3).standard_normal((150, 220)), 12, {})
    assert not is_no_less(task, found, QUICK, replace(DEFAULT, below=None))
    assert is_no_less(task, found, QUICK, DEFAULT)
    assert bound(task, found, DEFAULT) < 0.9 * bound(task, found, QUICK)


def test_an_effort_knows_those_below_and_changes_their_proofs_with_its_own():
    free = EFFORTS["thorough"].proving(lambda effort: replace(effort.proof, cost=0.0))
    assert [level.proof.cost for level in free.levels] == [0.0] * 3
    assert [level.proof.nodes for level in free.levels] == [level.proof.nodes for level in THOROUGH.levels]


# ---------------------------------------------------------------------------------- a search that goes on ends as one


@pytest.fixture
def A(rng):
    return np.cov(table("correlated", 40, 24, rng), rowvar=False)


@pytest.mark.parametrize("stops", [(1, 7, 40, 300), (33, 300), (299, 300)])
def test_a_tree(stops, rng):
    A = np.cov(rng.standard_normal((40, 30)), rowvar=False)
    incumbent, budget, whole = np.arange(5), Budget(), DeletionTree(A, A @ A, 2)
    at_once = whole.search(5, incumbent, budget=budget, max_nodes=300)
    tree, parts = DeletionTree(A, A @ A, 2), [None]
    for nodes in stops:
        parts.append(tree.search(5, incumbent, budget=budget, max_nodes=nodes, earlier=parts[-1]))
        assert parts[-1].nodes == nodes
    bounds = [part.bound for part in parts[1:]]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == pytest.approx(at_once.bound, rel=0.01)  # nodes are taken in other batches
    assert whole.search(5, incumbent, budget=budget, max_nodes=1).bound > bounds[-1] * 1.01
    assert parts[-1].captured == at_once.captured


@pytest.mark.parametrize("begin", [relaxation, lambda A, r: projection_relaxation(A, 2, 2.0 * r)])
def test_a_relaxation(begin, A):
    at_once, parts = begin(A, 4), begin(A, 4)
    wanted = at_once.run(60, 1e-9, Budget())
    for steps in (10, 30, 60):
        found = parts.run(steps, 1e-9, Budget())
    assert at_once.steps == parts.steps == 60
    np.testing.assert_array_equal(found, wanted)
    assert parts.possible < begin(A, 4).possible


def test_a_shared_part(A):
    start = split(A, np.zeros_like(A), 2)
    at_once, parts = SharedPartSearch(A, [3, 3], start), SharedPartSearch(A, [3, 3], start)
    wanted = at_once.run(4, Budget())
    for rounds in (0, 1, 1, 4):
        found = parts.run(rounds, Budget())
    np.testing.assert_array_equal(found, wanted)
    assert parts.reached < SharedPartSearch(A, [3, 3], start)._look(Budget())


def test_lists_of_supports(A):
    H = np.eye(len(A))[:, np.argsort(-np.diagonal(A))[:2]]
    start, one, other = split(A, np.zeros_like(A), 2), SupportLists(A, 3, 2), SupportLists(A, 3, 2)
    at_once, parts = one.begin([start], H), other.begin([start], H)
    wanted = at_once.run(9, Budget())
    for rounds in (2, 2, 9):
        found = parts.run(rounds, Budget())
    assert len(wanted.pool) > 5
    assert found.bound == wanted.bound
    np.testing.assert_array_equal(found.pool, wanted.pool)
