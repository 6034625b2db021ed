"""Laws of the search for shared features: no less effort, fewer features or named selector keeps more than it does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from sparing import SparseEncoder, SparsePCA, sparsity_path
from sparing.methods.selectors import SELECTORS

TABLES = {"wine": load_wine().data, "cancer": load_breast_cancer().data, "digits": load_digits().data[::6]}
SLACK = 1 + 1e-6
EFFORTS = ("quick", "default", "thorough")
BY_TARGETS = {"response"}


def loss(X, k, r, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components than asked for, collinear features
        return SparseEncoder(k, n_nonzero=r, scale=True, certify=False, random_state=0, **settings).fit(X).loss_


def factors(seed, n=40, d=30):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + rng.standard_normal((n, d))


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), r=st.integers(4, 9))
def test_more_effort_never_loses_more(seed, k, r):
    losses = [loss(factors(seed), k, r, effort=effort) for effort in EFFORTS]
    assert losses[2] <= losses[1] * SLACK
    assert losses[1] <= losses[0] * SLACK


@pytest.mark.parametrize("name", TABLES)
def test_more_effort_never_loses_more_on_real_data(name):
    losses = [loss(TABLES[name], 3, 8, effort=effort) for effort in EFFORTS]
    assert losses[2] <= losses[1] * SLACK
    assert losses[1] <= losses[0] * SLACK


@pytest.mark.parametrize("name", [*TABLES, "factors"])
def test_more_features_never_lose_more(name):
    X = TABLES.get(name, factors(0))
    losses = np.array([loss(X, 3, r) for r in range(3, 13)])
    assert (np.diff(losses) <= 1e-6 * losses[:-1]).all()


@pytest.mark.parametrize("name", [*TABLES, "factors"])
def test_the_path_never_rises_and_the_encoder_loses_no_more_than_it(name):
    X = TABLES.get(name, factors(1))
    path = sparsity_path(X, 3, max_features=12, scale=True, certify=False, random_state=0)
    assert (np.diff(path.loss_ratio) <= 1e-9).all()
    assert path.loss_ratio[2] > path.loss_ratio[-1] * 1.001  # a control: losses differ along the path
    for r in (4, 8, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SparseEncoder(3, n_nonzero=r, scale=True, certify=False, random_state=0).fit(X)
        assert model.loss_ratio_ <= path.loss_ratio[r - 1] * SLACK


@pytest.mark.parametrize("selector", sorted(set(SELECTORS) - BY_TARGETS - {"exact"}))
def test_the_default_loses_no_more_than_any_named_selector(selector):
    for X in (*TABLES.values(), factors(2), factors(3, 20, 60)):
        assert loss(X, 3, 7) <= loss(X, 3, 7, selector=selector) * SLACK


@pytest.mark.parametrize("seed", range(4))
def test_the_default_loses_no_more_than_the_exact_optimum(seed):
    X = factors(seed, 30, 14)
    assert loss(X, 2, 4) <= loss(X, 2, 4, selector="exact") * SLACK


@pytest.mark.parametrize("sizes", [range(45, 56), range(195, 206)])
def test_more_nonzeros_never_keep_less(sizes):
    rise_of_one_component(factors(0, 60, 300), sizes)


@pytest.mark.parametrize("sizes", [range(48, 54), range(198, 204), range(260, 265)])
def test_more_nonzeros_never_keep_less_of_genes(sizes, shared):
    rise_of_one_component(shared("colon_alon.npz").astype(float), sizes)


def rise_of_one_component(X, sizes):
    models = [SparsePCA(1, n_nonzero=r, scale=True, effort="quick", certify=False, random_state=0) for r in sizes]
    kept = np.array([model.fit(X).variance_[0] for model in models])
    assert (np.diff(kept) >= -1e-9 * kept[:-1]).all()
