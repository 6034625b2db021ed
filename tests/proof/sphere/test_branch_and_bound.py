"""The search on the sphere, against brute force: from both sides, at every cap, and one made too bold is caught."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import nonnegative_optimum, optimum
from sparing.proof.sphere.branch_and_bound import Cells, Rows, highest
from sparing.run import Budget

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy")


def rows(kind, rng, d, m):
    V = rng.standard_normal((d, m))
    if kind == "integer":
        V = rng.integers(-2, 3, V.shape).astype(float)
    elif kind == "tied":  # copies, opposite or not
        V = V[rng.integers(0, (d + 1) // 2, d)] * rng.choice([-1.0, 1.0], d)[:, None]
    elif kind == "rank_deficient":
        V = np.outer(V[:, 0], V[0])
    elif kind == "block":
        V[: d // 2, m // 2 :], V[d // 2 :, : m // 2] = 0.0, 0.0
    elif kind == "noisy":
        V = 0.1 * V + (rng.random(d) < 0.5)[:, None] * rng.standard_normal(m)
    return V


def solve(V, r, tolerance=1e-3, max_cells=10**5, nonnegative=False, budget=None, **work):
    budget = budget or Budget()
    return highest(V, r, tolerance=tolerance, max_cells=max_cells, nonnegative=nonnegative, budget=budget, **work)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_brackets_what_brute_force_finds(kind, nonnegative):
    """720 matrices, with an incumbent that climbs and without: then the bounds of cells stand for themselves."""
    rng = np.random.default_rng(KINDS.index(kind))
    for number in range(60):
        d, m = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        V, r = rows(kind, rng, d, m), int(rng.integers(1, d + 1))
        best = (nonnegative_optimum if nonnegative else optimum)(V @ V.T, r)
        for climbs in (5, 0) if number % 2 else (5,):
            found = solve(V, r, nonnegative=nonnegative, climbs=climbs)
            assert found.bound >= best
            assert found.value <= best * (1 + 1e-12)
            assert found.bound <= max(found.value * (1 + 1e-3), 1e-12)
        check_direction(V, r, found, nonnegative)


def check_direction(V, r, found, nonnegative):
    assert len(found.support) <= r
    assert len(np.unique(found.support)) == len(found.support)
    np.testing.assert_allclose(np.linalg.norm(found.direction), 1.0)
    entries = (V @ found.direction)[found.support]
    assert not nonnegative or (entries > 0).all()
    np.testing.assert_allclose(np.square(entries).sum(), found.value, atol=1e-12)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_holds_wherever_it_stops(nonnegative, rng):
    """Caps from one cell on and an expired budget; without climbing, so that the incumbent hides nothing."""
    work = {"nonnegative": nonnegative, "climbs": 0, "halved": 8}
    for _ in range(40):
        V, r = rng.standard_normal((7, 4)), int(rng.integers(1, 5))
        best = (nonnegative_optimum if nonnegative else optimum)(V @ V.T, r)
        bounds = [solve(V, r, 1e-9, cap, **work).bound for cap in (1, 20, 100, 500)]
        assert min(bounds) >= best
        assert bounds == sorted(bounds, reverse=True)
        late = solve(V, r, **work, budget=Budget(deadline=0.0))
        assert late.bound >= best
        assert late.cells == (8 if nonnegative else 4)


def test_cells_with_half_their_radius_are_no_proof(rng, monkeypatch):
    """Control: the checks above notice a wrong angle, though only where no incumbent makes up for it."""
    true = Cells.cosines
    monkeypatch.setattr(Cells, "cosines", lambda cells: np.cos(np.arccos(true(cells)) / 2))
    wrong = 0
    for _ in range(40):
        V = rng.standard_normal((7, 4))
        wrong += solve(V, 3, climbs=0).bound < optimum(V @ V.T, 3)
    assert wrong > 0


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_no_direction_of_a_cell_is_farther_than_its_angle(m, rng):
    """Random directions of random cells, and that the angle is not far too large: it is that of a ball around them."""
    cells = Cells(np.eye(m), np.arange(m), np.zeros(m, dtype=np.intp), np.ones(m))
    for _ in range(8 if m > 1 else 0):
        cells = cells.halves()
    cells = cells.some(rng.integers(0, len(cells.bounds), 60))
    order = (np.arange(m) - cells.faces[:, None] - 1) % m
    widths = np.where(order < m - 1, 0.5 ** ((cells.levels[:, None] + m - 2 - order) // max(m - 1, 1)), 0.0)
    assert (np.abs(cells.centres) + widths <= 1).all()
    cosines = cells.cosines()
    for rotation in range(400):
        delta = rng.uniform(-1, 1, widths.shape) if rotation % 2 else rng.choice([-1, 1], widths.shape)
        inside = cells.centres + widths * delta
        norms = np.linalg.norm(inside, axis=1) * np.linalg.norm(cells.centres, axis=1)
        assert ((inside * cells.centres).sum(axis=1) / norms >= cosines * (1 - 1e-12)).all()
    sines = np.linalg.norm(widths, axis=1) / np.linalg.norm(cells.centres, axis=1)
    assert (np.sqrt(np.maximum(1 - cosines**2, 0)) <= sines * (1 + 1e-9) + 1e-7).all()


def test_cells_cover_the_sphere(rng):
    """Every direction, or its opposite, lies in exactly one cell of each level."""
    m = 4
    cells = Cells(np.eye(m), np.arange(m), np.zeros(m, dtype=np.intp), np.ones(m))
    for _ in range(7):
        cells = cells.halves()
        order = (np.arange(m) - cells.faces[:, None] - 1) % m
        widths = np.where(order < m - 1, 0.5 ** ((cells.levels[:, None] + m - 2 - order) // (m - 1)), 0.0)
        for _ in range(20):
            c = rng.standard_normal(m)
            face = int(np.argmax(np.abs(c)))
            inside = (np.abs(c / c[face] - cells.centres) <= widths + 1e-12).all(axis=1)
            assert inside.sum() == 1


@pytest.mark.parametrize("nonnegative", [False, True])
def test_rows_that_are_not_looked_at_change_nothing(nonnegative, rng):
    V = rng.standard_normal((900, 4)) * rng.exponential(size=(900, 1)) ** 2
    C = rng.standard_normal((50, 4))
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    looked_at = []
    for extra_rows in (1, 60, 1000):
        searched = Rows(V, 12, nonnegative, extra_rows=extra_rows)
        entries = np.maximum(C @ V.T, 0) if nonnegative else C @ V.T
        largest = np.sort(np.square(entries), axis=1)[:, -12:].sum(axis=1)
        np.testing.assert_allclose(searched.reached(C), largest)
        looked_at.append(searched.spent)
        chosen = searched.order[searched.supports(C)]
        np.testing.assert_allclose(np.square(np.take_along_axis(entries, chosen, axis=1)).sum(axis=1), largest)
    assert looked_at[1] < looked_at[2] / 2


@pytest.mark.parametrize("nonnegative", [False, True])
def test_climbing_never_falls(nonnegative, rng):
    searched = Rows(rng.standard_normal((60, 5)), 7, nonnegative, climbs=1)
    C = rng.standard_normal((30, 5))
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    for _ in range(6):
        moved = searched.climbed(C)
        assert (searched.reached(moved) >= searched.reached(C) * (1 - 1e-12)).all()
        C = moved


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_same_again_with_as_many_cells(nonnegative, rng):
    V = rng.standard_normal((200, 6))
    first = solve(V, 20, 1e-6, 3000, nonnegative)
    again = solve(V, 20, 1e-6, first.cells, nonnegative)
    assert (again.bound, again.value, again.cells) == (first.bound, first.value, first.cells)
    assert first.bound > first.value * (1 + 1e-6)


def test_published_case_where_fewer_positive_rows_than_allowed_are_best():
    """The printed spannogram of Asteris et al., Algorithm 2, finds 3.6697 here."""
    V = np.array([[2.0, 0, 0], [-0.3, 1, 0], [-0.3, -0.4, 0.9]])
    for r in (2, 3):
        found = solve(V, r, 1e-9, nonnegative=True)
        np.testing.assert_allclose([found.value, found.bound], 4.0, rtol=1e-8)
        np.testing.assert_array_equal(found.support, [0])


def test_nothing_to_find():
    found = solve(np.zeros((5, 3)), 2)
    assert found.value == found.bound == 0.0


def test_reports_progress(rng):
    said = []
    solve(rng.standard_normal((30, 6)), 9, 1e-9, 1000, budget=Budget(progress=said.append), halved=4)
    assert len(said) > 0
    assert "cells" in said[0]
