"""Draws by leverage: their frequencies, repeats, and what happens when nothing is left to draw."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.methods.selectors import Leverage
from sparing.run import Run
from sparing.task import Task


@pytest.fixture
def data(rng):
    X = rng.standard_normal((30, 8)) * np.arange(8, 0, -1)
    view = as_view(X, Preprocessing(center=False))
    return view, top_spectrum(view, 3, rng)


def test_single_draws_have_the_printed_probabilities(data, rng):
    view, spectrum = data
    p = (spectrum.basis**2).sum(axis=1) / 3
    for selector in (Leverage(), Leverage(distinct=False)):
        drawn = [int(selector.select(Task.of_columns(view, 1, spectrum), Run(rng)).columns[0]) for _ in range(4000)]
        np.testing.assert_allclose(np.bincount(drawn, minlength=8) / 4000, p, atol=4 * np.sqrt(0.25 / 4000))


def test_repeats_count_once_in_the_papers_version(data, rng):
    view, spectrum = data
    sizes = {
        len(Leverage(distinct=False).select(Task.of_columns(view, 6, spectrum), Run(rng)).columns) for _ in range(30)
    }
    assert max(sizes) <= 6
    assert min(sizes) < 6
    assert {len(Leverage().select(Task.of_columns(view, 6, spectrum), Run(rng)).columns) for _ in range(30)} == {6}


def test_columns_without_leverage_are_filled_up_by_residual(rng):
    X = np.zeros((40, 10))
    X[:20, :2] = 50 * rng.standard_normal((20, 2))
    X[20:, 2:] = rng.standard_normal((20, 8)) * np.arange(8, 0, -1)
    view = as_view(X, Preprocessing(center=False))
    spectrum = top_spectrum(view, 2, rng)
    chosen = Leverage().select(Task.of_columns(view, 4, spectrum), Run(rng)).columns
    assert set(chosen[:2]) == {0, 1}
    assert chosen[2] == 2 + np.argmax((X[:, 2:] ** 2).sum(axis=0))


def test_one_seed_one_choice(data):
    view, spectrum = data
    one, same, other = (
        Leverage().select(Task.of_columns(view, 4, spectrum), Run(np.random.default_rng(s))).columns for s in (0, 0, 3)
    )
    assert list(one) == list(same)
    assert list(one) != list(other)
