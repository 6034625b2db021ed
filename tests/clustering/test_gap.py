"""The bound that a permutation gap chooses, and the one that gives a number of features."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.clustering import bound_for_count, bound_grid, permutation_gap
from sparing.data import as_rows
from sparing.data.values import read_table
from sparing.linalg.soft_threshold import bound_for_nonzeros, l1_l2_maximiser
from sparing.run import Budget


@pytest.fixture
def table(rng):
    return read_table(as_rows(rng.standard_normal((10, 4))))


def gap(table, observed, permuted, budget=None, wanted=None):
    """A search whose criteria are given: of the data first, then of each permutation."""
    rows = iter([observed, *permuted])
    count = np.arange(len(observed)) + 1
    return permutation_gap(
        table,
        np.arange(1.0, len(observed) + 1),
        lambda data, bounds: (np.array(next(rows)), count),
        wanted or len(permuted),
        np.random.default_rng(0),
        budget or Budget(),
    )


def test_the_smallest_bound_within_one_standard_error_of_the_largest_gap(table):
    e = np.exp
    found = gap(table, e([1.0, 2.9, 3.0, 1.0]), [e([0.0, 0.0, v, 0.0]) for v in (-0.2, 0.0, 0.2)])
    np.testing.assert_allclose(found.gaps, [1.0, 2.9, 3.0, 1.0])
    np.testing.assert_allclose(found.errors, [0, 0, 0.2 * np.sqrt(4 / 3), 0], atol=1e-12)
    assert found.bound == 2.0
    exact = gap(table, e([1.0, 2.9, 3.0, 1.0]), [e([0.0, 0.0, v, 0.0]) for v in (-0.05, 0.0, 0.05)])
    assert exact.bound == 3.0  # the control: within no error of the largest
    assert exact.n_permutations == 3


def test_progress_and_an_expired_budget(table):
    said = []
    gap(table, [1.0, 2.0], [[1.0, 1.0]] * 2, Budget(progress=said.append))
    assert said[0] == "[sparing] weight_bound: permutation 1 of 2"
    assert "weight_bound: 2, 2 features" in said[-1]
    budget = Budget()
    budget.interrupt()
    found = gap(table, [1.0, 2.0, 1.0], [[1.0, 1.0, 1.0]], budget, wanted=5)
    assert found.n_permutations == 0
    assert found.bound == 2.0


def test_the_grid_lies_between_one_feature_and_all():
    for p in (1, 2, 5, 1000):
        grid = bound_grid(p)
        assert grid.min() >= 1
        assert grid.max() <= np.sqrt(p)
        assert np.all(np.diff(grid) > 0)


def never(w):
    raise AssertionError("time is not up")


def test_a_count_is_met_where_time_is_up(rng):
    a = rng.random(40)
    over = Budget(deadline=0.0)

    def pruned(w):
        bound = bound_for_nonzeros(a, 7)
        return bound, l1_l2_maximiser(a, bound)

    calls = []
    bound, w = bound_for_count(lambda c: calls.append(c) or l1_l2_maximiser(a, c), pruned, lambda w: w, 7, 40, over)
    assert calls == [np.sqrt(40)]
    assert set(np.flatnonzero(w)) == set(np.argsort(-a)[:7])
    assert w.sum() == pytest.approx(bound)


def test_a_bound_in_closed_form_leaves_the_number_asked_for(rng):
    for a in (rng.random(30), rng.integers(0, 5, 30).astype(float), np.ones(4), np.arange(5.0)):
        for wanted in range(1, len(a) + 1):
            left = np.count_nonzero(l1_l2_maximiser(a, bound_for_nonzeros(a, wanted)))
            sizes = np.sort(a)[::-1]
            fits = [m for m in range(1, wanted + 1) if m == len(a) or sizes[m - 1] > sizes[m]]
            assert left == (min(fits[-1], np.count_nonzero(a)) if fits else np.count_nonzero(a == a.max()))


def test_a_count_is_met_exactly_wherever_features_differ(rng):
    a = rng.random(40)
    for wanted in (1, 2, 7, 39, 40):
        bound, w = bound_for_count(lambda c: l1_l2_maximiser(a, c), never, lambda w: w, wanted, 40, Budget())
        assert np.count_nonzero(w) == wanted
        np.testing.assert_array_equal(w, l1_l2_maximiser(a, bound))


def test_where_features_tie_the_most_that_are_fewer():
    a = np.repeat([3.0, 2.0, 1.0], 4)
    for wanted, got in ((4, 4), (7, 4), (8, 8), (11, 8), (12, 12)):
        _, w = bound_for_count(lambda c: l1_l2_maximiser(a, c), never, lambda w: w, wanted, 12, Budget())
        assert np.count_nonzero(w) == got
