"""Chosen columns are the same whether a search keeps their Gram columns or, where rows are few, themselves."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.data import as_view
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors.gram_store import GramStore, RowStore, store_of
from sparing.objectives.span import Spanning
from sparing.results import Selection


@pytest.fixture
def short(rng):
    """A view with few rows whose XX' is in memory, and its spectrum."""
    view = as_view(rng.standard_normal((30, 6)) @ rng.standard_normal((6, 90)) + rng.standard_normal((30, 90)))
    return view, top_spectrum(view, 3, rng)


def states(view, spectrum, stores, blocks):
    """The state of all columns after the same choices, as each store makes them."""
    found = []
    for store in stores:
        state = Spanning(spectrum.cross, view.gram_diagonal(), sum(map(len, blocks)))
        for block in blocks:
            store.extend(state, np.array(block))
        found.append(state)
    return found


def test_few_rows_are_kept_as_rows_and_many_are_not(short, rng):
    assert isinstance(store_of(short[0]), RowStore)
    assert type(store_of(as_view(rng.standard_normal((500, 20))))) is GramStore


def test_both_stores_lead_to_the_same_state(short):
    view, spectrum = short
    first, second = states(view, spectrum, (GramStore(view), RowStore(view)), ([4, 70, 8], [33], [2, 11]))
    assert first.chosen == second.chosen
    np.testing.assert_allclose(first.gains(), second.gains(), atol=1e-9 * first.gains().max())
    np.testing.assert_allclose(np.abs(first.W), np.abs(second.W), atol=1e-9)  # QR turns some directions around
    np.testing.assert_allclose(first.captured, second.captured)


def test_columns_that_depend_on_others_are_left_out_by_both(rng):
    X = rng.standard_normal((25, 60))
    X[:, 7] = X[:, 3] - X[:, 5]
    view = as_view(X)
    spectrum = top_spectrum(view, 2, rng)
    for state in states(view, spectrum, (GramStore(view), RowStore(view)), ([3, 5], [7, 9], [1])):
        assert state.chosen == [3, 5, 9, 1]


@pytest.mark.parametrize("kind", [GramStore, RowStore])
def test_selections_are_what_gram_columns_say(short, kind):
    view, spectrum = short
    store, J = kind(view), np.array([40, 3, 88, 17])
    store.columns(np.array([17, 5]))  # some are known already, in another order
    found, plain = store.selection(J), Selection(J, view.gram_columns(J))
    rotation = np.random.default_rng(0).standard_normal((4, 3))
    for _ in range(2):  # from what the store holds, and once they are in one piece
        np.testing.assert_allclose(found.inside(), plain.inside(), atol=1e-9)
        np.testing.assert_allclose(found.images(rotation), plain.images(rotation), atol=1e-9)
        for careful in (False, True):
            np.testing.assert_allclose(
                found.squares(rotation, careful=careful), plain.squares(rotation), rtol=1e-9, atol=1e-7
            )
        np.testing.assert_allclose(found.gram_columns, plain.gram_columns, atol=1e-9)
    np.testing.assert_allclose(*(encoder_on(one, 2, spectrum.total).loss for one in (found, plain)))
    for part, truth in zip(store.core(J), (plain.inside(), plain.squares(np.eye(4))), strict=True):
        np.testing.assert_allclose(part, truth, rtol=1e-9, atol=1e-7)


def test_columns_noted_from_a_pool_are_not_read_again(short):
    view, _ = short
    store, pool, J = RowStore(view), np.arange(0, 90, 5), np.array([5, 60, 20])
    store.note(J, view.restricted(pool), np.searchsorted(pool, J))
    before = view.passes
    np.testing.assert_allclose(store.rows(J[::-1]), view.columns(J[::-1]))
    assert view.passes == before + 1  # the comparison's own
    store.rows(np.array([5, 22]))
    assert view.passes == before + 2


def test_products_of_columns_known_later_join_the_earlier_ones(short):
    view, _ = short
    store = GramStore(view)
    early = store.squared(np.array([1, 2]))
    both = store.squared(np.array([50, 2, 1]))
    np.testing.assert_allclose(both[1:, 1:], early[::-1, ::-1])
    A = view.gram_columns(np.arange(90))
    np.testing.assert_allclose(both, (A @ A)[np.ix_([50, 2, 1], [50, 2, 1])], rtol=1e-10, atol=1e-8)
