"""Selections in the making, and draws that take no loop."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.methods.selectors.filling import NEVER, Filling, order_of_draws
from sparing.task import Task


def filling_on(X, n_columns, k=2):
    view = as_view(X, Preprocessing(center=False))
    return Filling(Task.of_columns(view, n_columns, top_spectrum(view, k, np.random.default_rng(0)))), view


def test_columns_are_taken_in_order_and_dependent_ones_are_left_out(rng):
    X = rng.standard_normal((20, 7))
    X[:, 3], X[:, 5] = X[:, 1] - 2 * X[:, 0], 0.0
    filling, view = filling_on(X, 4)
    filling.offer(np.array([0, 1, 3, 0, 5, 6, 2, 4]))
    found = filling.selection()
    assert list(found.columns) == [0, 1, 6, 2]
    np.testing.assert_allclose(found.gram_columns, view.gram_columns(found.columns), atol=1e-12)
    assert filling.room == 0


def test_offers_cost_one_product_where_nothing_is_dependent(rng):
    X = rng.standard_normal((20, 9))
    view = as_view(X)
    filling = Filling(Task.of_columns(view, 5, top_spectrum(as_view(X), 2, rng)))
    before = view.passes
    filling.offer(rng.permutation(9))
    assert view.passes == before + 1


def test_what_is_filled_up_has_the_largest_residual(rng):
    X = rng.standard_normal((20, 6)) * np.array([1, 5, 2, 9, 3, 4])
    filling, _ = filling_on(X, 3)
    filling.offer(np.array([3]))
    Q = np.linalg.qr(X[:, [3]])[0]
    left = ((X - Q @ (Q.T @ X)) ** 2).sum(axis=0)
    filling.fill_up()
    assert filling.state.chosen[:2] == [3, int(np.argmax(left))]


def test_filling_up_ends_where_the_rank_does(rng):
    filling, _ = filling_on(rng.standard_normal((20, 2)) @ rng.standard_normal((2, 6)), 5)
    filling.fill_up()
    assert len(filling.selection().columns) == 2


def test_a_copy_goes_its_own_way(rng):
    filling, _ = filling_on(rng.standard_normal((20, 6)), 4)
    filling.take(2)
    twin = filling.copy()
    twin.fill_up()
    assert filling.state.chosen == [2]
    assert len(twin.state.chosen) == 4
    np.testing.assert_array_equal(filling.selection().gram_columns[:, 0], twin.selection().gram_columns[:, 0])


def test_order_of_draws_is_that_of_draws_with_replacement(rng):
    """Frequencies of the first and of the second distinct column, against their probabilities."""
    odds, n = np.array([4.0, 3.0, 0.0, 2.0, 1.0]), 20_000
    p = odds / odds.sum()
    orders = np.array([order_of_draws(odds, rng) for _ in range(n)])
    assert orders.shape == (n, 4)
    second = np.array([sum(p[i] * p[j] / (1 - p[i]) for i in range(5) if i != j) for j in range(5)])
    for place, expected in ((0, p), (1, second)):
        seen = np.bincount(orders[:, place], minlength=5) / n
        np.testing.assert_allclose(seen, expected, atol=4 * np.sqrt(0.25 / n))


def test_odds_that_are_rounding_are_never_drawn(rng):
    assert list(order_of_draws(np.array([0.0, 1.0, NEVER / 2, 1e-300]), rng)) == [1]
    assert len(order_of_draws(np.zeros(3), rng)) == 0


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**600])
def test_only_ratios_of_odds_matter(unit):
    odds = np.random.default_rng(1).random(30)
    plain, scaled = (order_of_draws(odds * u, np.random.default_rng(2)) for u in (1.0, unit))
    np.testing.assert_array_equal(plain, scaled)
