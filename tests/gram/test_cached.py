"""A view that keeps Gram columns: how much of them."""

from __future__ import annotations

import numpy as np

from sparing.data import as_view
from sparing.gram import CachedGram
from sparing.gram import cached as remembered


def test_room_for_columns_to_come_stays_within_the_limit(rng, monkeypatch):
    X = rng.standard_normal((12, 10))
    monkeypatch.setattr(remembered, "ENTRIES", 50)  # five columns
    view = CachedGram(as_view(X))
    for J in ([0], [1, 2, 3], [4], [5, 6]):
        np.testing.assert_allclose(view.gram_columns(J), as_view(X).gram_columns(J))
        assert view._stored.size <= 50
    many = np.arange(8)  # asked for at once: they are needed
    np.testing.assert_allclose(view.gram_columns(many), as_view(X).gram_columns(many))
    assert len(view._stored) == 8
