"""PCA's loss as a bound: below everything, and the same from the data alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from laws import checked
from sparing import information_loss
from sparing.data import as_view
from sparing.linalg import encoder_on, top_spectrum
from sparing.proof.bounds import PcaLoss
from sparing.results import Problem, Selection
from sparing.run import Run
from sparing.task import Task


def test_no_features_lose_less_and_all_of_them_reach_it(rng):
    X = rng.standard_normal((20, 6)) @ rng.standard_normal((6, 6))
    view = as_view(X)
    spectrum = top_spectrum(view, 2, rng)
    bound = PcaLoss().bound(Task(view, Problem(2, 3, 6), spectrum), None, Run(rng))
    assert bound.strength == "always"
    for r in (2, 3, 6):
        losses = []
        for J in combinations(range(6), r):
            columns = np.array(J)
            found = encoder_on(Selection(columns, view.gram_columns(columns)), 2, view.total)
            losses.append(information_loss(found.components, X) / view.square_unit)
        assert bound.value <= min(losses)
    np.testing.assert_allclose(min(losses), bound.value, rtol=1e-9)
    np.testing.assert_allclose(checked(bound, view, Problem(2, 3, 6)), bound.value, rtol=1e-9)


def test_an_iterated_spectrum_gives_a_numerical_bound_that_a_tighter_one_confirms(rng):
    view = as_view(rng.standard_normal((400, 20)) @ rng.standard_normal((20, 500)) + rng.standard_normal((400, 500)))
    bound = PcaLoss().bound(Task(view, Problem(3, 9, 500), top_spectrum(view, 3, rng)), None, Run(rng))
    assert bound.strength == "numerical"
    again = checked(bound, view, Problem(3, 9, 500))
    assert bound.value <= again <= bound.value * (1 + 1e-3)
