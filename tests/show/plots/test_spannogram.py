"""The curves are those of two directions, and nothing of rank 2 beats the point that is marked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sparing import NonnegativeSparsePCA, SparsePCA
from sparing.plots import SpannogramDisplay

MODELS = [NonnegativeSparsePCA, SparsePCA]


@pytest.fixture
def A(rng):
    V = rng.standard_normal((9, 2))
    return V @ V.T


def best_of_all(A, r, nonnegative):
    """The best of all supports: of any sign by eigenvalues, nonnegative ones along a fine grid of directions."""
    if not nonnegative:
        return max(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] for S in combinations(range(len(A)), r))
    values, vectors = np.linalg.eigh(A)
    V = vectors[:, -2:] * np.sqrt(values[-2:])
    angles = np.linspace(0, 2 * np.pi, 200_001)
    entries = np.maximum(V @ np.stack([np.sin(angles), np.cos(angles)]), 0)
    return np.square(np.sort(entries, axis=0)[-r:]).sum(axis=0).max()


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("r", [1, 3])
def test_the_optimum_is_the_best_of_all_and_lies_on_its_curves(A, kind, r):
    model = kind(n_nonzero=r, precomputed=True, random_state=0).fit(A)
    shown = SpannogramDisplay.from_estimator(model, A, feature_names=[f"${j}$" for j in range(9)])
    assert shown.optimum_.value == pytest.approx(best_of_all(A, r, kind is NonnegativeSparsePCA), rel=1e-7)
    at = int(np.searchsorted(shown.angles_, shown.angle_))
    there = np.array([shown.curves_[j].get_ydata()[at] for j in shown.optimum_.support])
    assert np.square(there).sum() == pytest.approx(shown.optimum_.value)
    assert shown.threshold_[at] == pytest.approx(there.min())
    shown.figure_.canvas.draw()


@pytest.mark.parametrize("kind", MODELS)
def test_at_most_r_curves_are_drawn_at_any_angle_and_none_below_the_line(A, kind):
    model = kind(n_nonzero=3, precomputed=True, random_state=0).fit(A)
    shown = SpannogramDisplay.from_estimator(model, A)
    drawn = np.array([line.get_ydata() for line in shown.curves_.values()])
    assert (np.isfinite(drawn).sum(axis=0) <= 3).all()
    assert (np.where(np.isfinite(drawn), drawn, np.inf) >= shown.threshold_).all()
    assert (np.isfinite(drawn).sum(axis=0) == 3)[shown.threshold_ > 0].all()


def test_the_value_is_in_the_units_of_the_variance(rng):
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 7)) * 1e4
    model = SparsePCA(n_nonzero=3, random_state=0).fit(X)
    shown = SpannogramDisplay.from_estimator(model, X)
    assert shown.optimum_.value == pytest.approx(model.variance_[0])


def test_what_has_no_angle_or_other_features_is_refused(A):
    model = SparsePCA(n_nonzero=2, precomputed=True, random_state=0).fit(A)
    with pytest.raises(ValueError, match="rank 1"):
        SpannogramDisplay.from_estimator(model, np.ones((9, 9)))
    with pytest.raises(ValueError, match="9 features"):
        SpannogramDisplay.from_estimator(model, np.eye(4))
    with pytest.raises(ValueError, match="n_nonzero=10"):
        SpannogramDisplay.from_estimator(model, A, n_nonzero=10)
