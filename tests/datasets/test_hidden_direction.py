"""A dense direction hides a sparse one."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.datasets import make_hidden_direction


def test_two_directions_of_the_strength_asked_for():
    bunch = make_hidden_direction(50, 30, n_nonzero=4, strength=0.5, noise=0.0, random_state=0)
    dense, hidden = bunch.components
    assert np.count_nonzero(hidden) == 4
    assert not np.any((dense != 0) & (hidden != 0))
    assert np.count_nonzero(dense) == 26
    np.testing.assert_allclose(np.linalg.svd(bunch.X, compute_uv=False)[:3] ** 2, [1.0, 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(bunch.X.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(bunch.X @ hidden) ** 2, 0.5)


def test_a_seed_gives_one_matrix():
    first, again, other = (make_hidden_direction(20, 40, n_nonzero=5, random_state=seed).X for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_samples": 2}, "n_samples=2 must be at least 3"),
        ({"n_features": 1}, "n_features=1 must be at least 2"),
        ({"n_nonzero": 0}, "n_nonzero=0 must be at least 1"),
        ({"n_nonzero": 2.5}, "n_nonzero=2.5 is a float"),
        ({"n_features": True}, "n_features=True is a bool"),
        ({"n_nonzero": 1000}, r"n_nonzero=1000 is outside \[1, 999\]"),
        ({"strength": 0}, "strength=0 must be a positive number"),
        ({"strength": "weak"}, "strength='weak' must be a positive number"),
        ({"noise": -1.0}, "noise=-1.0 must be a number of at least 0"),
        ({"noise": float("nan")}, "noise=nan must be a number of at least 0"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        make_hidden_direction(**arguments)
