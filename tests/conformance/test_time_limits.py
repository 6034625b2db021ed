"""Every estimator and function with a time limit ends soon after it, counted in calls, not in seconds.

The clock is a fake one on which the time is up as soon as it is looked at twice. What is left is work that every answer
needs: a fixed number of products with the data. A search that forgets to look at the clock makes many times as many
calls, which a profiler counts alike on every machine.
"""

from __future__ import annotations

import sys
from itertools import count

import numpy as np
import pytest

from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseEncoderCV,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    certify,
    information_loss,
    polish,
    sparsity_path,
)
from sparing.errors import SparingWarning

MOST_CALLS = 40_000
"""Calls of Python functions and of compiled ones; searches that are not ended make many times as many."""

OVER = {"time_limit": 1.0}
LONG = {"effort": "thorough", "random_state": 0}


def table(rng):
    return rng.standard_normal((150, 60)) @ (np.eye(60) + rng.standard_normal((60, 60)) / 8)


def loadings(X):
    H = np.linalg.svd(X, full_matrices=False)[2][:4]
    H[np.abs(H) < 0.15] = 0.0
    return H


FITS = {
    "encoder": lambda X, **limit: SparseEncoder(4, n_nonzero=12, **LONG, **limit).fit(X),
    "encoder, fewest": lambda X, **limit: SparseEncoder(4, **LONG, **limit).fit(X),
    "encoder, exact": lambda X, **limit: SparseEncoder(4, n_nonzero=12, selector="exact", **LONG, **limit).fit(X),
    "encoder, iterative": lambda X, **limit: SparseEncoder(4, n_nonzero=12, strategy="iterative", **LONG, **limit).fit(
        X
    ),
    "encoder, joint": lambda X, **limit: SparseEncoder(4, n_nonzero=12, strategy="joint", **LONG, **limit).fit(X),
    "encoder, joint fewest": lambda X, **limit: SparseEncoder(4, strategy="joint", **LONG, **limit).fit(X),
    "components": lambda X, **limit: SparsePCA(4, n_nonzero=12, **LONG, **limit).fit(X),
    "components, exact": lambda X, **limit: SparsePCA(4, n_nonzero=12, solver="exact", **LONG, **limit).fit(X),
    "components, fewest": lambda X, **limit: SparsePCA(4, min_variance=0.9, **LONG, **limit).fit(X),
    "components, orthogonal": lambda X, **limit: SparsePCA(
        4, n_nonzero=12, constraint="orthogonal", **LONG, **limit
    ).fit(X),
    "nonnegative": lambda X, **limit: NonnegativeSparsePCA(4, n_nonzero=12, **LONG, **limit).fit(X),
    "nonnegative, exact": lambda X, **limit: NonnegativeSparsePCA(4, n_nonzero=12, solver="exact", **LONG, **limit).fit(
        X
    ),
    "encoder, noise": lambda X, **limit: SparseEncoder(4, n_nonzero=12, noise_variance="auto", **LONG, **limit).fit(X),
    "encoder, cross-validated": lambda X, **limit: SparseEncoderCV(range(1, 5), **LONG, **limit).fit(X),
    "doubly sparse": lambda X, **limit: DoublySparseEncoder(4, n_nonzero=12, **LONG, **limit).fit(X),
    "columns": lambda X, **limit: ColumnSelector(12, 4, **LONG, **limit).fit(X),
    "regressor": lambda X, **limit: SparsePCARegressor(4, n_nonzero=12, **LONG, **limit).fit(X, X[:, :2]),
    "hierarchical": lambda X, **limit: SparseHierarchicalClustering(3, n_features=12, **LONG, **limit).fit(X),
    "hierarchical, auto": lambda X, **limit: SparseHierarchicalClustering(3, **LONG, **limit).fit(X),
    "k-means": lambda X, **limit: SparseKMeans(3, n_features=12, **LONG, **limit).fit(X),
    "k-means, auto": lambda X, **limit: SparseKMeans(3, **LONG, **limit).fit(X),
    "path": lambda X, **limit: sparsity_path(X, 4, **LONG, **limit),
    "path, cross-validated": lambda X, **limit: sparsity_path(X, 4, cv=5, **LONG, **limit),
    "certify": lambda X, **limit: certify(loadings(X), X, **LONG, **limit),
    "certify, variance": lambda X, **limit: certify(loadings(X), X, objective="variance", **LONG, **limit),
    "polish": lambda X, **limit: polish(loadings(X), X, swaps=True, **limit),
    "polish, loss": lambda X, **limit: polish(loadings(X), X, swaps=True, objective="loss", **limit),
}


def n_calls(work):
    calls = count()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: next(calls) if event in ("call", "c_call") else None)
    try:
        work()
    finally:
        sys.setprofile(before)
    return next(calls)


@pytest.fixture
def spent_clock(ticking):
    ticking(1000.0)


@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
@pytest.mark.parametrize("name", FITS)
def test_work_ends_soon_after_the_time(name, rng, spent_clock):
    X = table(rng)
    FITS[name](X[:40, :16], **OVER)  # what is imported on the way is not counted
    assert n_calls(lambda: FITS[name](X, **OVER)) <= MOST_CALLS


@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
@pytest.mark.parametrize("name", ["columns"])
def test_without_a_limit_it_takes_longer(name, rng):
    assert n_calls(lambda: FITS[name](table(rng))) > 2 * MOST_CALLS  # what the count is worth


@pytest.mark.parametrize("kind", [SparseKMeans, SparseHierarchicalClustering])
def test_features_are_as_many_as_asked_for_when_the_time_is_over(kind, rng, spent_clock):
    X = table(rng)
    X[:50, :12] += 3
    with pytest.warns(SparingWarning, match="a larger time_limit lets them converge"):
        model = kind(3, n_features=12, **OVER).fit(X)
    assert len(model.support_) == 12
    assert np.linalg.norm(model.feature_weights_) == pytest.approx(1)
    assert model.feature_weights_.sum() == pytest.approx(model.weight_bound_)


def test_polish_never_ends_below_what_it_was_given(rng, spent_clock):
    X = table(rng)
    H = loadings(X)
    for objective in ("variance", "loss"):
        better = polish(H, X, swaps=True, objective=objective, **OVER)
        assert information_loss(better, X) <= information_loss(H, X) * (1 + 1e-9) or objective == "variance"
        assert np.count_nonzero(better) == np.count_nonzero(H)
