"""The spannogram against brute force, with ties of every kind, and against the paper's algorithm as it is printed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from small_problems import nonnegative_optimum
from sparing.proof.sphere import fixed_support as module
from sparing.proof.sphere import spannogram
from sparing.proof.sphere.spannogram import LowRank, _Found, _Search, best_direction_in_cone
from sparing.run import Budget

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "with_zeros")

COUNTEREXAMPLE = np.array([[2.0, 0.0, 0.0], [-0.3, 1.0, 0.0], [-0.3, -0.4, 0.9]])


def rows(kind, rng, d, m):
    V = rng.standard_normal((d, m))
    if kind == "integer":
        V = rng.integers(-2, 3, V.shape).astype(float)
    elif kind == "tied":  # copies, opposite or not
        V = V[rng.integers(0, (d + 1) // 2, d)] * rng.choice([-1.0, 1.0], d)[:, None]
    elif kind == "rank_deficient":
        V[:, -1] = V[:, 0]
    elif kind == "block":
        V[: d // 2, m // 2 :], V[d // 2 :, : m // 2] = 0.0, 0.0
    elif kind == "with_zeros":
        V = rng.integers(-1, 2, V.shape) * (rng.random((d, 1)) < 0.7)
    return V


def solve(V, r, narrowed=False):
    problem = LowRank.of(V, r)
    return (problem.narrowed(Budget()) if narrowed else problem).solve(Budget())


def check(V, r, found, best):
    assert found.value == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert found.complete
    assert len(found.support) <= r
    assert (found.loadings > 0).all()
    assert (np.diff(found.support) > 0).all()
    y = V[found.support].T @ found.loadings
    assert y @ y == pytest.approx(best, rel=1e-9, abs=1e-12)
    if best > 0:
        assert np.linalg.norm(found.loadings) == pytest.approx(1.0)
        np.testing.assert_allclose(found.direction, y / np.linalg.norm(y), atol=1e-9)


@pytest.fixture
def blind(monkeypatch):
    """Nothing is known beforehand and nothing improved afterwards: supports have to be found by looking at all."""
    monkeypatch.setattr(spannogram, "_climb", lambda W, size, c: _Found(np.zeros(len(W)), c, 0.0))


@pytest.mark.parametrize("kind", KINDS)
def test_sees_the_best_support_of_all(kind, blind):
    rng = np.random.default_rng(KINDS.index(kind))
    seen = 0
    while seen < 70:
        d, m = int(rng.integers(2, 11)), int(rng.integers(2, 4))
        V, r = rows(kind, rng, d, m), int(rng.integers(1, d + 1))
        if np.linalg.matrix_rank(V) > 1:
            check(V, r, solve(V, r), nonnegative_optimum(V @ V.T, r))
            seen += 1


@pytest.mark.parametrize("kind", KINDS)
def test_equals_brute_force(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(40):
        d, m = int(rng.integers(1, 10)), int(rng.integers(1, 4))
        V, r = rows(kind, rng, d, m), int(rng.integers(1, d + 1))
        best = nonnegative_optimum(V @ V.T, r)
        check(V, r, solve(V, r), best)
        check(V, r, solve(V, r, narrowed=True), best)


@pytest.mark.parametrize("kind", KINDS)
def test_rank_four(kind, blind):
    rng = np.random.default_rng(200 + KINDS.index(kind))
    for _ in range(3):
        V, r = rows(kind, rng, 8, 4), int(rng.integers(1, 9))
        check(V, r, solve(V, r), nonnegative_optimum(V @ V.T, r))


def best_on(V, support):
    """The value of Section 5's problem, as the paper states it: all of V_I c at least 0."""
    inside = V[list(support)]
    c = best_direction_in_cone(inside, inside.T @ inside) if len(inside) else None
    return 0.0 if c is None else float(np.square(inside @ c).sum())


def algorithm_2(V, r, *, corrected):
    """The largest value on any support that Algorithm 2 lists, as printed or with ties at 0 in any number."""
    n, m = V.shape
    extended = np.vstack([V, np.zeros(m)])
    best = 0.0
    for chosen in combinations(range(n + 1), m):
        differences = extended[chosen[0]] - extended[list(chosen[1:])]
        c = np.linalg.svd(differences)[2][-1] if m > 1 else np.ones(1)
        for entries in (V @ c, -V @ c):
            level = max(np.sort(entries)[-r], 0.0) - 1e-9
            largest = {int(i) for i in np.flatnonzero(entries >= level)}
            if len(largest) <= r:
                best = max(best, best_on(V, largest))
                if not corrected:
                    continue
            ambiguous = set(chosen) - {n}
            rest = largest - ambiguous
            room = r - len(rest)
            sizes = range(room + 1) if corrected and n in chosen else [room]
            for size in sizes:
                for more in combinations(sorted(ambiguous), size) if size >= 0 else ():
                    best = max(best, best_on(V, rest | set(more)))
    return best


@pytest.mark.parametrize("r", [2, 3])
def test_the_printed_algorithm_misses_an_optimum(r, blind):
    """The control: ties at 0 in the number there is room for alone do not do."""
    assert nonnegative_optimum(COUNTEREXAMPLE @ COUNTEREXAMPLE.T, r) == pytest.approx(4.0)
    assert algorithm_2(COUNTEREXAMPLE, r, corrected=False) == pytest.approx(3.6697, abs=1e-4)
    assert algorithm_2(COUNTEREXAMPLE, r, corrected=True) == pytest.approx(4.0)
    check(COUNTEREXAMPLE, r, solve(COUNTEREXAMPLE, r), 4.0)


def test_circles_equal_sets_one_by_one(blind):
    rng = np.random.default_rng(3)
    for m, n, count in ((2, 14, 8), (3, 8, 3)):
        for _ in range(count):
            V, r = rng.standard_normal((n, m)), int(rng.integers(1, n + 1))
            assert solve(V, r).value == pytest.approx(algorithm_2(V, r, corrected=True), rel=1e-9)


def test_many_rows_of_rank_two():
    """All 180300 sets one circle after another, and by way of the sphere: the same."""
    rng = np.random.default_rng(4)
    V = rng.standard_normal((600, 2)) * [3.0, 2.0]
    problem = LowRank.of(V, 50)
    assert problem.n_sets == 601 * 600 // 2
    assert problem.solve(Budget()).value == pytest.approx(solve(V, 50, narrowed=True).value, rel=1e-10)


@pytest.mark.parametrize(("n", "m", "r"), [(60, 3, 7), (50, 3, 40), (25, 4, 6)])
def test_settling_rows_changes_nothing(n, m, r):
    rng = np.random.default_rng(n)
    V = rng.standard_normal((n, m)) * np.linspace(2, 1, m)
    narrowed = LowRank.of(V, r).narrowed(Budget())
    assert narrowed.n_sets < LowRank.of(V, r).n_sets / 100
    assert narrowed.solve(Budget()).value == pytest.approx(solve(V, r).value, rel=1e-11)
    best = solve(V, r).support
    assert set(narrowed.certain) <= set(best) <= set(narrowed.certain) | set(narrowed.open)


def test_cells_taken_for_points_are_caught(monkeypatch):
    """The control: where cells are coarse, what holds at their centres alone loses rows of the optimum."""
    true, lost = module._roles, {}
    for share in (1.0, 0.0):
        monkeypatch.setattr(module, "_roles", lambda V, C, angle, r, share=share: true(V, C, share * angle, r))
        rng, lost[share] = np.random.default_rng(6), 0
        for _ in range(30):
            V = rng.standard_normal((12, 3))
            best = solve(V, 4)
            certain, possible = module.fixed_support(V, 4, best.value, Budget(), small_angle=1.0)
            lost[share] += not set(np.flatnonzero(certain)) <= set(best.support) <= set(np.flatnonzero(possible))
    assert lost[1.0] == 0
    assert lost[0.0] > 0


def test_nothing_to_choose_from():
    for V in (np.zeros((3, 2)), np.zeros((3, 0)), -np.zeros((1, 1))):
        found = solve(V, 2)
        assert found.value == 0.0
        assert len(found.support) == 0


def test_expired_budget_gives_the_best_so_far():
    budget = Budget()
    budget.interrupt()
    V = np.random.default_rng(0).standard_normal((40, 3))
    found = LowRank.of(V, 5).narrowed(budget).solve(budget)
    assert not found.complete
    assert 0 < found.value <= solve(V, 5).value * (1 + 1e-12)


def grid_of_directions(m, count):
    if m == 2:
        angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    height, rotation = np.linspace(-1, 1, count), np.pi * (3 - np.sqrt(5)) * np.arange(count)
    across = np.sqrt(1 - height**2)
    return np.column_stack([across * np.cos(rotation), across * np.sin(rotation), height])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [2, 3])
def test_cone_against_a_grid(m, kind):
    rng = np.random.default_rng(m)
    grid = grid_of_directions(m, 40_000)
    for number in range(12):
        R = rows(kind, rng, int(rng.integers(1, 7)), m)
        B = rng.standard_normal((m, m))
        Q = np.eye(m) if number % 4 == 0 else B + B.T  # eigenvalues that tie, and of any sign
        c = best_direction_in_cone(R, Q)
        feasible = grid[(grid @ R.T >= 0).all(axis=1)]
        reached = np.einsum("im,mk,ik->i", feasible, Q, feasible)
        if c is None:
            assert len(feasible) == 0
            continue
        assert np.linalg.norm(c) == pytest.approx(1.0)
        assert (R @ c >= -1e-8).all()
        assert c @ Q @ c >= reached.max(initial=-np.inf) - 1e-9
        if len(feasible) > 100:
            assert c @ Q @ c <= reached.max() + 0.05 * np.abs(Q).sum()


def test_cone_that_is_empty_a_line_or_everything():
    Q = np.diag([1.0, 2.0])
    assert best_direction_in_cone(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), Q) is None
    np.testing.assert_allclose(best_direction_in_cone(np.array([[0.0, 1], [0, -1], [1, 0]]), Q), [1, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(best_direction_in_cone(np.zeros((3, 2)), Q)), [0, 1], atol=1e-12)


def test_cone_where_a_tie_leaves_the_printed_claim_false():
    """Q = I: every feasible c is best, most of them with no constraint active; one that is has to be found."""
    R = np.array([[1.0, 0.2, 0.0], [0.1, 1.0, 0.0], [0.0, 0.1, 1.0]])
    c = best_direction_in_cone(-R, np.eye(3))
    assert c is not None
    assert (R @ c <= 1e-9).all()


def on_one_support(V):
    search = _Search(np.zeros((0, V.shape[1])), V, len(V), _Found(np.zeros(len(V)), np.zeros(V.shape[1]), 0.0))
    search._try(np.ones((1, len(V)), dtype=bool), (V.T @ V)[None])
    return search.best.value


def at_angles(degrees, length):
    return length * np.column_stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def test_rows_that_come_along_for_nothing(blind):
    """Three rows at right angles to the best one have a larger eigenvalue together, of mixed signs."""
    V = np.zeros((4, 3))
    V[0, 0], V[1:, 1:] = 2.0, at_angles([-72, 0, 72], np.sqrt(3))
    assert np.linalg.norm(V, 2) ** 2 > 5
    assert on_one_support(V) == pytest.approx(nonnegative_optimum(V @ V.T, 4)) == pytest.approx(4.0)


def test_eigenvectors_that_may_be_any(blind):
    """V'V is a multiple of the identity: which eigenvectors are computed says nothing about the cone."""
    V = at_angles([-15, 45, 105], 1.0)
    assert on_one_support(V) == pytest.approx(nonnegative_optimum(V @ V.T, 3)) == pytest.approx(1.5)
