"""Hard columns are the matrix of the theorem, and as hard as it says."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.datasets import make_hard_columns


def test_groups_are_diagonal_blocks_of_shared_direction_and_own_noise():
    X = make_hard_columns(2, 3, alpha=0.5)
    assert X.shape == (8, 6)
    group = np.array([[1, 1, 1], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]])
    np.testing.assert_array_equal(X[:4, :3], group)
    np.testing.assert_array_equal(X[4:, 3:], group)
    assert not X[:4, 3:].any()
    assert not X[4:, :3].any()


def test_eigenvalues_are_one_large_and_equal_small_ones_in_each_group():
    values = np.linalg.eigvalsh(make_hard_columns(2, 5, alpha=0.3).T @ make_hard_columns(2, 5, alpha=0.3))
    np.testing.assert_allclose(values, [0.09] * 8 + [5.09] * 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"n_components": 1.5}, "n_components=1.5 is a float"),
        ({"n_columns": True}, "n_columns=True is a bool"),
        ({"n_columns": -2}, "n_columns=-2 must be at least 1"),
        ({"alpha": 0}, "alpha=0 must be a positive number"),
        ({"alpha": float("nan")}, "alpha=nan must be a positive number"),
        ({"alpha": "small"}, "alpha='small' must be a positive number"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        make_hard_columns(**arguments)
