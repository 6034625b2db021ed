"""The published generator, and what it cannot show."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from sparing.data import Preprocessing, as_view
from sparing.datasets import make_rotated_hadamard
from sparing.methods.solvers import MaxComponent
from sparing.run import Run
from sparing.task import Task


def test_is_the_printed_construction():
    """U S V' with V = G(theta) times a Hadamard matrix, G a product of Givens rotations of pairs in the lower half."""
    m, n, angle = 8, 16, 0.27 * np.pi
    G = np.eye(n)
    for k in range(1, n // 4 + 1):
        i, j = n // 2 + 2 * k - 2, n // 2 + 2 * k - 1  # the printed indices begin at one
        rotation = np.eye(n)
        rotation[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        G = G @ rotation
    V = G @ linalg.hadamard(n) / np.sqrt(n)
    strength = np.array([100.0, *np.exp(-np.arange(2.0, m + 1))])
    bunch = make_rotated_hadamard(m, n, noise=0.0)
    np.testing.assert_allclose(bunch.X, linalg.hadamard(m) / np.sqrt(m) * strength @ V[:, :m].T, atol=1e-12)
    np.testing.assert_allclose(bunch.components, V[:, :m].T, atol=1e-15)
    np.testing.assert_allclose(bunch.components @ bunch.components.T, np.eye(m), atol=1e-12)


def test_half_a_quarter_and_a_quarter_of_the_entries():
    leading = np.abs(make_rotated_hadamard(4, 256, noise=0.0).components[0]) * 16
    assert np.isclose(leading, 1.0).sum() == 128
    assert np.isclose(leading, np.cos(0.27 * np.pi) + np.sin(0.27 * np.pi)).sum() == 64
    assert np.isclose(leading, np.sin(0.27 * np.pi) - np.cos(0.27 * np.pi)).sum() == 64


def test_figure_1a_cannot_come_from_it():
    """On all sets of features the variance is within lambda_2 of lambda_1 times the share of v: MaxComp is the best."""
    X = make_rotated_hadamard(64, 512, random_state=0).X
    s = np.linalg.svd(X, compute_uv=False)
    assert (s[1] / s[0]) ** 2 < 3e-6
    leading = np.sort(np.linalg.svd(X, full_matrices=False)[2][0] ** 2)[::-1]
    view = as_view(X, Preprocessing(center=False))
    for r in (5, 51, 200, 400):
        found = (
            MaxComponent().solve(Task.of_component(view, r), Run(np.random.default_rng(0))).variance * view.square_unit
        )
        assert found >= leading[:r].sum() * s[0] ** 2 * (1 - 1e-9)
        limit = leading[:r].sum() * s[0] ** 2 + s[1] ** 2  # nothing can be above
        assert found >= limit - 3e-6 * s[0] ** 2


def test_centring_removes_the_signal():
    X = make_rotated_hadamard(64, 512, random_state=0).X
    assert np.linalg.norm(X - X.mean(axis=0), 2) < 0.002 * np.linalg.norm(X, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_samples": 100}, "n_samples=100 must be a power of two of at least 1"),
        ({"n_samples": 0}, "n_samples=0 must be a power of two"),
        ({"n_features": 2}, "n_features=2 must be a power of two of at least 4"),
        ({"n_features": 64.0}, "n_features=64.0 is a float"),
        ({"n_samples": True}, "n_samples=True is a bool"),
        ({"n_features": 64}, r"n_samples=128 is outside \[1, 64\]"),
        ({"angle": "wide"}, "angle='wide' must be a number of at least 0"),
        ({"noise": -1}, "noise=-1 must be a number of at least 0"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        make_rotated_hadamard(**arguments)
