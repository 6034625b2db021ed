"""The search by loss, against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.objectives.loss import SharedLoss, smallest_of_arrow


def captured(X, J, k):
    Q = np.linalg.qr(X[:, J])[0]
    return float((np.linalg.svd(Q.T @ X, compute_uv=False)[:k] ** 2).sum())


def core_of(X, k):
    A = X.T @ X
    return SharedLoss(A, A @ A, k)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 3))
def test_captured_is_that_of_the_best_encoder_in_any_units(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 7)) * 10.0 ** rng.integers(-3, 4, 7)
    sets = np.array([rng.choice(7, 4, replace=False) for _ in range(3)])
    wanted = [captured(X, J, k) for J in sets]
    np.testing.assert_allclose(core_of(X, k).captured(sets), wanted, rtol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_searches_only_improve_and_end_where_no_estimated_swap_helps(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 10)) @ rng.standard_normal((10, 10))
    core, start = core_of(X, 2), rng.choice(10, 4, replace=False)
    swapped = core.swapped(start, 50)
    perturbed = core.perturbed(swapped, 3, 50)
    values = [captured(X, J, 2) for J in (start, swapped, perturbed)]
    assert values[0] <= values[1] * (1 + 1e-9) <= values[2] * (1 + 2e-9)
    assert len(set(perturbed)) == 4


def test_kicks_reach_the_optimum_more_often_than_swaps(rng):
    reached = {"swapped": 0, "kicked": 0}
    for _ in range(30):
        X = rng.standard_normal((20, 9)) @ rng.standard_normal((9, 9))
        core, start = core_of(X, 2), rng.choice(9, 4, replace=False)
        best = max(captured(X, list(J), 2) for J in combinations(range(9), 4))
        swapped = core.swapped(start, 50)
        for name, J in (("swapped", swapped), ("kicked", core.perturbed(core.perturbed(swapped, 2, 50), 4, 50))):
            reached[name] += captured(X, J, 2) >= best * (1 - 1e-9)
    assert reached["kicked"] >= 20
    assert reached["kicked"] > reached["swapped"]


def test_dependent_columns_do_not_break_it(rng):
    X = rng.standard_normal((12, 5))
    X = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2]])
    core = core_of(X, 2)
    found = core.perturbed(core.swapped(np.array([0, 5, 1]), 20), 3, 20)
    assert core.captured(found[None])[0] >= core.captured(np.array([[0, 5, 1]]))[0]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5))
def test_smallest_eigenvalue_of_an_arrow_from_above(seed, k):
    rng = np.random.default_rng(seed)
    v, b, c = np.sort(rng.random((2, k))), rng.standard_normal((2, k, 3)), rng.random((2, 3)) * 2
    found = smallest_of_arrow(v, b, c)
    for s in range(2):
        for m in range(3):
            arrow = np.block([[np.diag(v[s]), b[s, :, [m]].T], [b[s, :, [m]], c[s, m]]])
            wanted = np.linalg.eigvalsh(arrow)[0]
            assert wanted - 1e-12 <= found[s, m] <= wanted + 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_no_single_swap_improves_what_is_settled(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 16)) @ rng.standard_normal((16, 16))
    core, start = core_of(X, 3), rng.choice(16, 5, replace=False)
    settled = core.settled(start)
    others = np.setdiff1d(np.arange(16), settled)
    swaps = [[*np.delete(settled, slot), j] for slot in range(5) for j in others]
    assert max(captured(X, J, 3) for J in swaps) <= captured(X, settled, 3) * (1 + 1e-9)


def test_few_sets_are_all_tried_and_many_are_not(rng):
    X = rng.standard_normal((20, 9)) @ rng.standard_normal((9, 9))
    best = max(captured(X, list(J), 2) for J in combinations(range(9), 4))
    assert captured(X, core_of(X, 2).best_of_all(4), 2) == pytest.approx(best, rel=1e-9)
    assert core_of(rng.standard_normal((30, 20)), 2).best_of_all(10) is None


def test_sets_that_are_dependent_but_for_rounding_capture_what_they_have_without_it(rng):
    X = rng.standard_normal((12, 6))
    X[:, 5] = X[:, 0] - X[:, 1]
    A = X.T @ X
    noisy = A + 1e-9 * np.diag(rng.standard_normal(6))  # singular on 0, 1, 5 but for what looks like one more direction
    core = SharedLoss(noisy, A @ A + 1e-2 * np.diag(np.arange(6.0)), 3, np.full(6, 1e-7))
    dependent, independent = core.captured(np.array([[0, 1, 5], [0, 1, 2]]))
    assert dependent <= core.captured(np.array([[0, 1]]))[0] * (1 + 1e-2)
    assert independent == pytest.approx(core.captured(np.array([[0, 1, 2]]))[0], rel=1e-9)  # whatever is beside it
