"""The features on the path of the Lasso, and what that path is for several targets."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.estimators.sparse_pca_regressor import SparsePCARegressor
from sparing.linalg.lasso import LassoPath
from sparing.methods.selectors.lasso import Lasso


def make(n_nonzero, **parameters):
    return SparsePCARegressor(2, n_nonzero=n_nonzero, selector="lasso", certify=False, effort="quick", **parameters)


def alike(seed):
    """Features that say much the same, so that some leave the path again."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(15, 50)), int(rng.integers(6, 50))
    X = rng.standard_normal((n, 6)) @ rng.standard_normal((6, d)) + 0.5 * rng.standard_normal((n, d))
    return rng, X, X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(12))
def test_features_are_those_of_the_path(seed):
    """As another implementation of the path has it, in Gram coordinates with signs."""
    rng, X, y = alike(seed)
    r = int(rng.integers(1, min(X.shape[0] - 2, X.shape[1])))
    unit = X - X.mean(axis=0)
    unit /= np.linalg.norm(unit, axis=0)
    path = LassoPath(unit.T @ unit + 1e-13 * np.eye(X.shape[1]))
    wanted = np.flatnonzero(path.counted(unit.T @ (y - y.mean()), r))
    np.testing.assert_array_equal(make(r).fit(X, y).support_, wanted)
    np.testing.assert_array_equal(make(r).fit(X * rng.uniform(0.01, 100, X.shape[1]), y).support_, wanted)  # units


def test_control_forward_selection_takes_others():
    found = [make(6).fit(*alike(seed)[1:]).support_ for seed in range(12)]
    forward = [make(6).set_params(selector="response_targets").fit(*alike(seed)[1:]).support_ for seed in range(12)]
    assert any(set(one) != set(other) for one, other in zip(found, forward, strict=True))


def test_several_targets(rng):
    """The same target twice is one target; of two that read a feature each, both are found."""
    _, X, y = alike(3)
    np.testing.assert_array_equal(make(5).fit(X, np.c_[y, 2 * y]).support_, make(5).fit(X, y).support_)
    X = rng.standard_normal((60, 20))
    Y = X[:, [3, 11]] + 0.1 * rng.standard_normal((60, 2))
    np.testing.assert_array_equal(make(2).fit(X, Y).support_, [3, 11])
    turned = Y @ np.array([[0.6, -0.8], [0.8, 0.6]])
    np.testing.assert_array_equal(make(7).fit(X, turned).support_, make(7).fit(X, Y).support_)


def test_rules_dependent_features_and_long_paths(rng):
    _, X, y = alike(5)
    X = np.c_[X[:, :12], X[:, :3]]  # copies
    model = make(5, include=[7], exclude=[0, 1], groups=[0] * 6 + [1] * 9, max_per_group=3).fit(X, y)
    assert 7 in model.support_
    assert not set(model.support_) & {0, 1}
    assert (model.support_ < 6).sum() <= 3
    assert len(model.support_) == 5
    everything = make(12).fit(X, y).support_
    assert len(set(everything % 12)) == len(everything)  # no copy beside its original
    short = make(10).fit(X[:5], y[:5])  # the path ends with as many features as samples
    assert len(short.support_) == 4
    silent = make(3).fit(X, np.zeros(len(X)))
    assert not silent.coef_.any()


def test_it_says_that_it_needs_targets():
    from sparing import ColumnSelector

    with pytest.raises(ValueError, match="chooses features for given targets y"):
        ColumnSelector(4, selector=Lasso()).fit(np.random.default_rng(0).standard_normal((20, 6)))
