"""The blind baseline."""

from __future__ import annotations

import numpy as np

from sparing.data import as_view
from sparing.linalg import top_spectrum
from sparing.methods.selectors import Uniform
from sparing.run import Run
from sparing.task import Task


def test_every_column_that_varies_is_as_likely_as_the_others(rng):
    X = rng.standard_normal((20, 6)) * np.array([1e3, 1, 1, 1, 1e-3, 1])
    X[:, 2] = 5.0
    view = as_view(X)
    spectrum = top_spectrum(view, 1, rng)
    drawn = np.concatenate(
        [Uniform().select(Task.of_columns(view, 2, spectrum), Run(rng)).columns for _ in range(3000)]
    )
    np.testing.assert_allclose(np.bincount(drawn, minlength=6) / 3000, [0.4, 0.4, 0, 0.4, 0.4, 0.4], atol=0.04)


def test_all_independent_columns_can_be_had(rng):
    X = rng.standard_normal((20, 5))
    X = np.column_stack([X, X[:, 0], np.ones(20)])
    view = as_view(X)
    chosen = Uniform().select(Task.of_columns(view, 7, top_spectrum(view, 2, rng)), Run(rng)).columns
    assert len(chosen) == 5
    assert len({0, 5} & set(chosen)) == 1
