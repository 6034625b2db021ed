"""The laws of every bound in the registry: nothing feasible passes it, and its witness proves it and nothing else."""

from __future__ import annotations

import dataclasses
import inspect
import math
import pickle
import re
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from small_problems import GAMED, covariance, matrices, nonnegative_optimum, optimum
from sparing.certificates.certificate import UNFIT
from sparing.data import as_view
from sparing.effort import ProofEffort
from sparing.gram import DenseGram
from sparing.linalg import encoder_on, top_spectrum
from sparing.linalg.span import encoder_of
from sparing.objectives.variance import RayleighObjective
from sparing.proof import bounds
from sparing.proof.bounds import BOUNDS, EachAlone, RowSums
from sparing.proof.bounds.base import ContinuedBound
from sparing.results import Encoder, Problem, Selection
from sparing.run import Run
from sparing.task import Task

BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "references.bib"

every_bound = pytest.mark.parametrize("name", BOUNDS)

MATRICES = {"gamed": GAMED, "noisy": covariance("noisy", np.random.default_rng(3), 5)}
FREE = 27.2169
"""What two components of three features each reach on GAMED, at an angle."""

RULES = ("shared_support", "nonnegative", "orthogonal", "disjoint")
PROBLEMS = [
    Problem(k, 3, 5, objective, **dict(zip(RULES, rules, strict=True)))
    for objective, k, *rules in product(("loss", "variance"), (1, 2), *[(False, True)] * 4)
    if k > 1 or (rules[0] and rules[2] == rules[3])  # for one component most rules say the same
]
PROBLEMS += [Problem(2, 3, 5, "variance", shared_support=total, max_cosine=0.3) for total in (False, True)]
TASKS = list(product(MATRICES, PROBLEMS))


@cache
def task_of(matrix: str, problem: Problem) -> Task:
    view = DenseGram(MATRICES[matrix])
    return Task(view, problem, top_spectrum(view, problem.n_components, np.random.default_rng(0)))


def method_of(name, task):
    """A bound as the registry has it; that of each component alone needs one of them."""
    if name == "nonnegative_optimality":
        return BOUNDS[name](max_cells=6, max_iter=10)  # every step gives a bound
    if BOUNDS[name] is not EachAlone:
        return BOUNDS[name]()
    alone = Problem(1, task.n_nonzero, task.gram.n_features, "variance", nonnegative=task.problem.nonnegative)
    return EachAlone(RowSums().bound(Task(task.gram, alone), None, Run(np.random.default_rng(0))))


def bound_of(name, task):
    """With the features of most variance as what is known, one for each component: every problem allows that."""
    best = np.argsort(-task.gram.gram_diagonal())[: task.problem.n_components]
    incumbent = encoder_of(task.gram, np.eye(task.gram.n_features)[:, best], task.gram.total)
    return method_of(name, task).bound(task, incumbent, Run(np.random.default_rng(0)))


@cache
def issued(name) -> list:
    """All tasks where it applies, with its bound; it may not help where features are collinear."""
    tasks = [task_of(*at) for at in TASKS]
    found = [(task, bound_of(name, task)) for task in tasks if method_of(name, task).applies(task)]
    assert all(bound is not None or task.gram is task_of("gamed", task.problem).gram for task, bound in found)
    return [(task, bound) for task, bound in found if bound is not None]


def checked(name, task, witness) -> float:
    """What a recheck makes of a witness: not a number where it is none of its kind."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return float(BOUNDS[name]().check(task, witness))
    except UNFIT:
        return math.nan


@cache
def reached(matrix: str, problem: Problem) -> float:
    """A value that is feasible, by brute force: the best loss of any features, or variance of any disjoint supports."""
    A, d, r, k = MATRICES[matrix], problem.n_features, problem.n_nonzero, problem.n_components
    if problem.objective == "loss":
        view, supports = DenseGram(A), (np.array(S) for S in combinations(range(d), r))
        return min(encoder_on(Selection(S, view.gram_columns(S)), k, view.total).loss for S in supports)
    best = nonnegative_optimum if problem.nonnegative else optimum
    if k == 1:
        return best(A, r)
    is_free = problem.max_cosine == 1 and not (problem.nonnegative or problem.is_orthogonal)
    if matrix == "gamed" and is_free and not problem.shared_support:
        return FREE
    sizes = [(s, r - s) for s in range(1, r)] if problem.shared_support else [(s, d - s) for s in range(d - r, r + 1)]
    pairs = [(S, np.setdiff1d(range(d), S), t) for s, t in sizes for S in map(list, combinations(range(d), s))]
    return max(best(A[np.ix_(S, S)], len(S)) + best(A[np.ix_(T, T)], t) for S, T, t in pairs)


def is_true(value: float, matrix: str, problem: Problem) -> bool:
    """Does it prove nothing, or nothing that is passed?"""
    if not math.isfinite(value):
        return True
    best, slack = reached(matrix, problem), 1e-9 * np.trace(MATRICES[matrix])
    return value <= best + slack if problem.objective == "loss" else value >= best - slack


def matrix_of(task) -> str:
    return next(name for name, A in MATRICES.items() if A is task.gram.gram() or np.array_equal(A, task.gram.gram()))


def test_what_is_feasible_is_worth_testing_against():
    """Controls: one feature less, twice the best single component, PCA's loss of one component more are all passed."""
    one, two = Problem(1, 3, 5, "variance"), Problem(2, 3, 5, "variance", shared_support=False)
    for matrix, A in MATRICES.items():
        assert not is_true(optimum(A, 2), matrix, one)
        assert not is_true(np.linalg.eigvalsh(A)[:-1].sum(), matrix, Problem(2, 3, 5))
        assert is_true(math.inf, matrix, one)
    assert 2 * optimum(GAMED, 3) == pytest.approx(24.849, abs=1e-3)
    assert not is_true(2 * optimum(GAMED, 3), "gamed", two)
    assert is_true(2 * optimum(GAMED, 3), "gamed", dataclasses.replace(two, orthogonal=True))


def test_every_bound_is_here():
    assert {kind.__name__ for kind in BOUNDS.values()} == {*bounds.__all__} - {"BOUNDS", "BoundMethod"}
    for file in Path(bounds.__file__).parent.glob("[a-z]*.py"):
        module = import_module(f"{bounds.__name__}.{file.stem}")
        kinds = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if kind.__module__ == module.__name__]
        of_file = {kind for kind in kinds if hasattr(kind, "check") and kind.__name__[0] != "_"}
        assert of_file <= {*BOUNDS.values(), bounds.BoundMethod, ContinuedBound}, "a bound that is not registered"
        assert of_file, "a file without a bound"


@every_bound
def test_it_is_known_by_its_name_and_has_the_verbs_of_a_bound(name):
    kind = BOUNDS[name]
    assert kind.name == kind().name == name
    assert dataclasses.is_dataclass(kind)
    settings = {field.name for field in dataclasses.fields(kind)}
    public = {n for n, _ in inspect.getmembers(kind, inspect.isfunction) if n[0] != "_"} - settings
    assert public == {"applies", "cost", "bound", "check"}
    assert kind.__dataclass_params__.frozen


@every_bound
def test_it_cites_its_paper_in_code_and_in_prose(name):
    known = set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))
    kind = BOUNDS[name]
    assert kind.reference.key in known
    assert re.search(r"(Alg|Table|Theorem|Sec)", kind.reference.where), "name the numbered place"
    assert f"[{kind.reference.key}, " in inspect.getdoc(kind)


@every_bound
def test_where_it_applies_it_bounds_and_is_computed_again(name):
    assert issued(name), "it applies somewhere"
    for task, bound in issued(name):
        assert bound.name == name
        assert math.isfinite(bound.value)
        assert is_true(bound.value, matrix_of(task), task.problem), task.problem
        again = pickle.loads(pickle.dumps(bound))
        slack = 1e-9 * task.gram.total
        assert checked(name, task, again.witness) == pytest.approx(bound.value, rel=1e-7, abs=slack), task.problem


@every_bound
def test_where_it_does_not_apply_it_says_nothing_that_is_false(name):
    for matrix, problem in TASKS:
        task = task_of(matrix, problem)
        if not method_of(name, task).applies(task):
            bound = bound_of(name, task)
            assert bound is None or is_true(bound.value, matrix, problem), problem


@every_bound
def test_a_proof_of_one_problem_is_none_of_others_unless_it_holds_there(name):
    """Other objectives, numbers of components and rules; most say nothing, none says anything false."""
    refused = 0
    for task, bound in issued(name)[:: max(len(issued(name)) // 6, 1)]:
        for matrix, problem in TASKS:
            value = checked(name, task_of(matrix, problem), bound.witness)
            assert is_true(value, matrix, problem), (task.problem, problem)
            assert problem.objective == task.problem.objective or value == math.inf
            refused += not math.isfinite(value)
    assert refused > 0


@every_bound
def test_where_its_hypothesis_does_not_hold_it_neither_applies_nor_proves(name):
    holds = BOUNDS[name].hypothesis.holds
    _, bound = issued(name)[-1]
    assert all(holds(task.problem) for task, _ in issued(name))
    others = [task_of(*at) for at in TASKS if not holds(at[1])]
    assert others
    for task in others:
        assert not method_of(name, task).applies(task)
        assert checked(name, task, bound.witness) == math.inf, task.problem


@every_bound
def test_witnesses_of_other_bounds_prove_nothing_that_is_false(name):
    places = [(matrix, problem) for matrix, problem in TASKS if matrix == "noisy"]
    for other in BOUNDS:
        _, bound = issued(other)[-1]
        for matrix, problem in places:
            assert is_true(checked(name, task_of(matrix, problem), bound.witness), matrix, problem), (other, problem)


def damaged(part) -> Iterator:
    """A witness with one of its parts replaced, in turn, by what a file could have there."""
    if isinstance(part, np.ndarray):
        yield from (-part, 0 * part, 1e3 * part, part / 2, part[..., :-1], part[:1], part[None], part[::-1], part.T)
        yield from (np.full(part.shape, math.nan), np.full(part.shape, -128, dtype=np.int8), part.tolist(), None, "x")
    elif isinstance(part, (tuple, list)):
        yield from (part[:-1], (*part, *part), (), None)
        for at in sorted({*range(len(part))[:5], len(part) - 1}):
            for other in damaged(part[at]):
                changed = [*part[:at], other, *part[at + 1 :]]
                yield part._make(changed) if hasattr(part, "_make") else type(part)(changed)
    elif isinstance(part, str):
        yield from ("", "x", None, 3, *BOUNDS, "part", "dual")
    elif isinstance(part, bool):
        yield from (not part, None)
    elif part is None:
        yield from (1.0, "x", np.ones(5), np.eye(5))
    else:
        yield from (-part, 0, part / 2, 3 * part, math.nan, -math.inf, None, "x", np.float16(1.0), True)


@every_bound
def test_damaged_witnesses_prove_nothing_that_is_false(name):
    proved = refused = 0
    for task, bound in issued(name)[:: max(len(issued(name)) // 2, 1)]:
        matrix = matrix_of(task)
        for witness in damaged(bound.witness):
            value = checked(name, task, witness)
            assert is_true(value, matrix, task.problem), (task.problem, witness)
            proved, refused = proved + math.isfinite(value), refused + (not math.isfinite(value))
    assert proved > 0, "some are as good as before"
    no_witness_needed = all(
        checked(name, task, None) == pytest.approx(bound.value, rel=1e-7) for task, bound in issued(name)
    )
    assert refused > 0 or no_witness_needed


@every_bound
def test_its_cost_is_a_number_and_asking_costs_nothing(name, monkeypatch):
    wide = as_view(np.random.default_rng(0).standard_normal((6, 3001)))
    views = [DenseGram(np.eye(1)), DenseGram(np.eye(5), is_psd=False), wide]
    for view in views:
        monkeypatch.setattr(type(view), "gram", None)
        monkeypatch.setattr(type(view), "gram_columns", None)
    for view, problem in product(views, PROBLEMS):
        task = Task(view, dataclasses.replace(problem, n_features=view.n_features))
        assert BOUNDS[name]().cost(task, ProofEffort()) >= 0
        assert BOUNDS[name]().applies(task) in (True, False)


# ------------------------------------------------------------------------------------- one component, brute force


def applying(nonnegative: bool) -> list[str]:
    task = Task(DenseGram(np.eye(3)), Problem(1, 2, 3, "variance", nonnegative=nonnegative))
    return [name for name, kind in BOUNDS.items() if kind().applies(task)]


one_component = pytest.mark.parametrize(
    ("name", "nonnegative"), [(name, sign) for sign in (False, True) for name in applying(sign)]
)


def compute(name, view, size, nonnegative=False):
    """The bound with the best support of a quick search as incumbent, or the best feature."""
    rng = np.random.default_rng(0)
    spectrum = top_spectrum(view, 1, rng) if view.is_psd else None
    found = RayleighObjective(view).component(RayleighObjective(view).grown(1 if nonnegative else size))
    incumbent = Encoder(found.support, found.loadings[None], np.zeros((0, view.n_features)), np.zeros(0), np.nan)
    task = Task(view, Problem(1, size, view.n_features, "variance", nonnegative=nonnegative), spectrum)
    return method_of(name, task).bound(task, incumbent, Run(rng)), task


@one_component
def test_nothing_passes_it_and_it_can_be_computed_again(name, nonnegative):
    count, best = 0, nonnegative_optimum if nonnegative else optimum
    for kind, A in matrices(6 if nonnegative else 8, 5, largest=5 if nonnegative else 6):
        psd = bool(np.linalg.eigvalsh(A)[0] >= -1e-12 * np.abs(A).max())
        view = DenseGram(A, is_psd=psd, psd_slack=1e-12 * float(np.abs(A).max()))
        for size in (1, 2, len(A) - 1, len(A)):
            bound, task = compute(name, view, size, nonnegative)
            assert (bound is not None) == BOUNDS[name]().applies(task)
            if bound is None:
                continue
            count += 1
            scale = np.abs(A).max()
            assert bound.value >= best(A, size) - 1e-13 * scale, (kind, size)
            again = pickle.loads(pickle.dumps(bound))
            assert checked(name, task, again.witness) == pytest.approx(bound.value, rel=1e-7, abs=1e-7 * scale)
    assert count > 20


@one_component
def test_units_do_not_matter(name, nonnegative):
    _, A = next(pair for pair in matrices(8, 9) if pair[0] == "dense")
    plain, _ = compute(name, DenseGram(A), 2, nonnegative)
    large, _ = compute(name, DenseGram(1e10 * A), 2, nonnegative)
    assert large.value == pytest.approx(1e10 * plain.value, rel=1e-5)


@pytest.mark.parametrize("name", applying(False))
def test_it_is_for_one_component_or_says_nothing(name):
    """Only Ky Fan's sum and the largest variances speak of several; k times a bound on one would be wrong."""
    A = next(A for kind, A in matrices(8, 9) if kind == "dense")
    view, rng = DenseGram(A), np.random.default_rng(0)
    several = Task(view, Problem(2, 2, len(A), "variance", shared_support=False), top_spectrum(view, 2, rng))
    bound = BOUNDS[name]().bound(several, encoder_of(view, np.eye(len(A), 2), view.total), Run(rng))
    assert (bound is not None) == (name in ("leading_variance", "largest_diagonals"))
