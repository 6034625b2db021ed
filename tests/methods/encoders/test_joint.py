"""Joint encoders: never above their parts, and where counts are as small as they get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from sparing import SparseEncoder
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.effort import QUICK, THOROUGH
from sparing.linalg import top_spectrum
from sparing.methods.encoders import Iterative, Joint
from sparing.methods.encoders.joint import JointLosses
from sparing.methods.selectors import Greedy
from sparing.objectives.blocks import Quotients
from sparing.run import Run
from sparing.task import Task


@pytest.mark.parametrize(("counts", "ratio"), [([7, 4, 4, 1, 1, 1], 1.0925), ([7, 2, 1, 1, 1, 1], 1.2171), (1, 1.4948)])
def test_single_features_beside_others_cost_no_component(counts, ratio):
    """On a feature that is a component of its own, what others leave is singular, and rounding chose for it."""
    C = load_pitprops().correlation
    for strategy, limit in (("iterative", np.inf), ("joint", ratio)):
        model = SparseEncoder(
            6, n_nonzero=counts, strategy=strategy, precomputed=True, effort="quick", random_state=0
        ).fit(C)
        assert len(model.components_) == 6
        assert model.loss_ratio_ <= limit


def loss(view, encoder, k, r, effort=QUICK):
    rng = np.random.default_rng(0)
    return encoder.encode(Task.of_components(view, top_spectrum(view, k, rng), r), Run(rng, effort=effort)).loss


@settings(deadline=None, max_examples=3)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3), r=st.integers(2, 5))
def test_never_above_the_iterative_encoder_and_more_effort_is_never_less(seed, k, r):
    rng = np.random.default_rng(seed)
    view = as_view(rng.standard_normal((40, 5)) @ rng.standard_normal((5, 14)) + rng.standard_normal((40, 14)))
    long = replace(THOROUGH, below=QUICK, joint_descents=16)
    iterative = loss(view, Iterative(Greedy()), k, r)
    quick, thorough = (loss(view, Joint(Greedy()), k, r, effort) for effort in (QUICK, long))
    assert thorough <= quick * (1 + 1e-7)
    assert quick <= iterative * (1 + 1e-9)


def test_losses_fall_with_the_number_of_features():
    view = as_view(load_wine().data, Preprocessing(scale=True))
    losses = [loss(view, Joint(Greedy()), 3, r) for r in range(1, 8)]
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()


def test_scores_of_features_outside_are_those_of_a_working_set_of_all():
    """But for what a feature alone is worth, of which only the part in the principal components is known."""
    rng = np.random.default_rng(0)
    view = as_view(rng.standard_normal((30, 9)) * np.arange(1, 10))
    goal = JointLosses(view, [2, 3], top_spectrum(view, 9, rng))
    supports = np.array([[0, 4, 9, 2, 4, 6]])
    objective = goal.on(np.arange(10))
    values, state = objective.fitted(supports)
    wanted = Quotients(supports, state, objective.diagonal, 2, objective.ridge).entering()[0, :, :9]
    np.testing.assert_allclose(goal.outside(supports, 9, state.loadings), wanted, rtol=1e-6)
    H = goal.directions(supports, state.loadings)[0] / goal.lengths[:, None]
    A = view.gram()
    np.testing.assert_allclose(values[0], np.trace(np.linalg.solve(H.T @ A @ H, H.T @ A @ A @ H)), rtol=1e-6)
