"""The cache of Gram columns: each is computed once, in bounded memory, and what was handed out stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.data import as_view
from sparing.gram import CachedGram, DenseGram, Projected

D = 10


class Counted(DenseGram):
    """A Gram matrix that is not in memory, so to speak: it notes which of its columns were asked for."""

    has_gram = False

    def __init__(self, matrix):
        super().__init__(matrix)
        self.asked = []

    def gram_columns(self, J):
        self.asked.append(np.asarray(J).tolist())
        return super().gram_columns(J)


@pytest.fixture
def base(rng):
    X = rng.standard_normal((12, D))
    return Counted(X.T @ X)


def test_a_column_is_computed_once_and_new_ones_together(base):
    view, A = CachedGram(base), base.gram()
    for J in ([7, 2], [2], [3, 7, 9], [9, 2, 2, 3], []):
        np.testing.assert_array_equal(view.gram_columns(J), A[:, J])
    assert base.asked == [[7, 2], [3, 9]]


def test_products_with_known_columns_are_made_from_them(base):
    view, A = CachedGram(base), base.gram()
    V = np.zeros((D, 2))
    V[[1, 4]] = [[1.0, 2.0], [3.0, -1.0]]
    view.gram_columns([4, 1])
    np.testing.assert_allclose(view.gram_matmat(V), A @ V)
    np.testing.assert_allclose(view.restricted(np.array([1, 8, 4])).gram(), A[np.ix_([1, 8, 4], [1, 8, 4])])
    np.testing.assert_allclose(view.gram_squared(np.array([1, 4])), (A @ A)[np.ix_([1, 4], [1, 4])])
    assert base.asked == [[4, 1]]


def test_memory_stays_within_the_limit(base):
    view, A = CachedGram(base, entries=5 * D), base.gram()
    for J in ([0], [1, 2, 3], [4], [5, 6]):
        np.testing.assert_array_equal(view.gram_columns(J), A[:, J])
        assert view._stored.size <= 5 * D
    many = np.arange(8)  # asked for at once: they are needed
    np.testing.assert_array_equal(view.gram_columns(many), A[:, many])
    assert len(view._stored) == 8


def test_of_the_columns_asked_for_none_is_forgotten(base):
    view = CachedGram(base, entries=4 * D)
    view.gram_columns([0, 1, 2])
    np.testing.assert_array_equal(view.gram_columns([5, 2, 6]), base.gram()[:, [5, 2, 6]])
    view.gram_columns([0])
    assert base.asked == [[0, 1, 2], [5, 6], [0]]


def test_what_was_handed_out_stays_and_is_not_written_to(base):
    view, A = CachedGram(base, entries=3 * D), base.gram()
    first = view.gram_columns([3, 1])
    for J in ([0], [5, 6, 7], [2]):  # grows, then forgets
        view.gram_columns(J)
    np.testing.assert_array_equal(first, A[:, [3, 1]])
    with pytest.raises(ValueError, match="read-only"):
        first += 1.0


def test_columns_that_somebody_has_computed_are_not_computed_again(base):
    A = base.gram()
    view = base.cached(np.array([6, 2]), A[:, [6, 2]])
    np.testing.assert_array_equal(view.gram_columns([2, 6, 0]), A[:, [2, 6, 0]])
    assert base.asked == [[0]]


def test_a_gram_matrix_in_memory_is_not_copied(rng):
    base = as_view(rng.standard_normal((12, D)))
    view = CachedGram(base)
    base.gram()
    np.testing.assert_array_equal(view.gram_columns([4, 0]), base.gram()[:, [4, 0]])
    assert len(view._stored) == 0


def test_origin_reads_the_data_and_the_cache_does_not(rng):
    data = as_view(rng.standard_normal((12, D)))
    left = Projected(data, directions=np.eye(D, 1))
    assert CachedGram(CachedGram(left)).origin is left
    assert not CachedGram(data).has_rows
