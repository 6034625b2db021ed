"""Theorems are quoted where their hypothesis is kept, by name or by instance, and nowhere else."""

from __future__ import annotations

import pytest

from sparing import DoublySparseEncoder, SparseEncoder, SparsePCARegressor
from sparing.methods.encoders import Batch
from sparing.methods.selectors import Adaptive, DualSet, Greedy, Leverage, applicable_theorem


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 6)) @ rng.standard_normal((6, 14)) + 0.3 * rng.standard_normal((40, 14))


def test_names_and_instances_are_quoted_alike():
    pairs = {"dual_set": DualSet(), "adaptive": Adaptive(), "leverage": Leverage()}
    assert {name: applicable_theorem(name) for name in pairs} == {
        name: applicable_theorem(pairs[name]) for name in pairs
    }
    assert applicable_theorem("auto") == "dual_set"
    for other in (DualSet(sketch=9), Adaptive(split=2.0), Adaptive(start=DualSet(sketch=9)), Greedy()):
        assert applicable_theorem(other) is None


@pytest.mark.parametrize("by", ["dual_set", DualSet()])
def test_every_estimator_quotes_an_instance_as_it_does_the_name(X, by):
    encoder = SparseEncoder(2, n_nonzero=8, selector=by, random_state=0).fit(X)
    doubly = DoublySparseEncoder(2, n_nonzero=8, n_rows=8, selector=by, random_state=0).fit(X)
    regressor = SparsePCARegressor(2, n_nonzero=8, selector=by, random_state=0).fit(X, X[:, 0])
    assert [len(model.certificate_.guarantees) for model in (encoder, doubly, regressor)] == [1, 1, 1]


def test_loadings_from_a_sketch_quote_nothing(rng):
    """The theorem is about the best loadings on the features, and these may lose far more."""
    X = rng.standard_normal((300, 10)) @ rng.standard_normal((10, 200)) + rng.standard_normal((300, 200))
    exact = SparseEncoder(2, n_nonzero=40, selector="dual_set", effort="quick", random_state=0).fit(X)
    (promised,) = exact.certificate_.guarantees
    assert promised.holds
    rough = Batch(DualSet(), sketch=2)
    fits = [SparseEncoder(2, n_nonzero=40, strategy=rough, effort="quick", random_state=s).fit(X) for s in range(6)]
    assert all(model.certificate_.guarantees == () for model in fits)
    assert max(model.loss_ratio_ for model in fits) > exact.loss_ratio_
