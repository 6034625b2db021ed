"""One component from candidates: the same whether supports are few or many, refitted or kept."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.data import Preprocessing, as_view
from sparing.gram import DenseGram
from sparing.linalg.metric import NearIdentity
from sparing.linalg.truncation import keep_largest
from sparing.objectives.variance import BY_PRODUCTS, RayleighObjective
from sparing.search.best_component import best_component


@pytest.fixture
def view(rng):
    return as_view(rng.standard_normal((12, 60)) * np.linspace(1, 3, 60), Preprocessing())


def test_many_features_are_refitted_by_products(rng):
    d = BY_PRODUCTS + 80
    X = rng.standard_normal((12, d)) * np.linspace(1, 3, d)
    view = as_view(X, Preprocessing())
    cut = keep_largest(rng.standard_normal((d, 3)), BY_PRODUCTS + 10)
    dense = RayleighObjective(DenseGram(as_view(X, Preprocessing()).gram()))
    by_block = best_component(dense, cut, refit=True)
    assert RayleighObjective(view).wide(by_block.support)
    assert not dense.wide(by_block.support)
    by_products = best_component(RayleighObjective(view), cut, refit=True)
    np.testing.assert_array_equal(by_products.support, by_block.support)
    np.testing.assert_allclose(by_products.loadings, by_block.loadings, atol=1e-6)
    np.testing.assert_allclose(by_products.variance, by_block.variance, rtol=1e-9)


@pytest.mark.parametrize("metric", [False, True])
def test_loadings_that_are_kept_need_no_block_of_the_gram_matrix(view, rng, monkeypatch, metric):
    V = keep_largest(rng.standard_normal((60, 4)), 5)
    q = np.linalg.qr(rng.standard_normal((60, 1)))[0]
    M = NearIdentity(q, -np.ones(1)) if metric else None
    A, whole = view.gram_columns(np.arange(60)), np.eye(60) - (q @ q.T if metric else 0.0)
    values = np.einsum("ij,ij->j", V, A @ V) / np.einsum("ij,ij->j", V, whole @ V)
    objective = RayleighObjective(view, M)
    monkeypatch.setattr(type(view), "restricted", lambda *_: pytest.fail("a block was formed"))
    found = best_component(objective, V, refit=False)
    np.testing.assert_allclose(found.variance, values.max())
    np.testing.assert_array_equal(found.support, np.flatnonzero(V[:, values.argmax()]))
