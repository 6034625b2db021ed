"""Features shared out among components: the best assignment with capacities."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sparing.search.sharing import by_exchanges, share_out


def owned_by_chance(d, sizes, rng):
    """An allocation to begin with: no feature twice, no component above its size."""
    k = len(sizes)
    owned = rng.integers(0, k + 1, d)[:, None] == np.arange(k)
    for j, size in enumerate(sizes):
        owned[np.flatnonzero(owned[:, j])[size:], j] = False
    return owned


@given(d=st.integers(2, 25), sizes=st.lists(st.integers(1, 7), min_size=1, max_size=4), seed=st.integers(0, 2**32 - 1))
def test_the_sum_is_that_of_the_best_assignment(d, sizes, seed):
    rng = np.random.default_rng(seed)
    worth = np.square(rng.standard_normal((d, len(sizes)))) * (rng.random((d, len(sizes))) < 0.7)
    places = worth[:, np.repeat(np.arange(len(sizes)), sizes)]
    best = places[linear_sum_assignment(-places)].sum()
    for way in (share_out, by_exchanges):
        owned = way(worth, owned_by_chance(d, sizes, rng), sizes)
        assert (owned.sum(axis=1) <= 1).all()
        assert (owned.sum(axis=0) <= sizes).all()
        np.testing.assert_allclose(worth[owned].sum(), best, rtol=1e-9, atol=1e-12)


def test_a_cycle_of_three_components_is_found():
    """No exchange of two gains, all three together do; the control is what they begin with."""
    worth = np.array([[2.0, 3.0, 0.0], [0.0, 2.0, 3.0], [3.0, 0.0, 2.0]])
    begin = np.eye(3, dtype=bool)
    owned = by_exchanges(worth, begin, [1, 1, 1])
    assert worth[owned].sum() == 9 > worth[begin].sum()
