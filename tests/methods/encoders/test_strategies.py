"""Iterative and joint encoders: what they promise, and the numbers measured independently."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from sparing import SparseEncoder, information_loss
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.linalg import encoder_on, top_spectrum
from sparing.linalg.theorem_bounds import theorem_11_schedule
from sparing.methods.encoders.batch import Batch, orthonormalised
from sparing.methods.selectors import Greedy
from sparing.results import Selection

PITPROPS = load_pitprops().correlation


def ratio(X, k, r, strategy, **parameters):
    model = SparseEncoder(k, n_nonzero=r, strategy=strategy, random_state=0, certify=False, **parameters)
    return model.fit(X).loss_ratio_


@pytest.mark.long
def test_joint_reaches_the_reference_losses_of_more_features():
    assert ratio(load_breast_cancer().data, 3, 10, "joint", scale=True) <= 1.0048
    assert ratio(load_digits().data, 5, 16, "joint") <= 1.0048
    assert ratio(PITPROPS, 6, 5, "joint", precomputed=True) <= 1.001


def test_joint_reaches_the_reference_losses():
    assert ratio(load_wine().data, 3, 5, "joint", scale=True) <= 1.0265


def test_iterative_reaches_the_reference_losses():
    assert ratio(PITPROPS, 2, 3, "iterative", center=False) <= 1.0270
    assert ratio(PITPROPS, 2, 5, "iterative", center=False) <= 1.0050


def test_joint_loses_no_more_than_iterative_on_gene_data(shared):
    for name in ("colon_alon.npz", "nci60.npz"):
        X = shared(name)
        joint, iterative = (ratio(X, 3, 10, strategy, effort="quick") for strategy in ("joint", "iterative"))
        assert joint <= iterative * (1 + 1e-9)
        assert joint < 1.02


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
def test_each_component_has_its_own_count(strategy):
    X = load_wine().data
    model = SparseEncoder(3, n_nonzero=[2, 4, 3], strategy=strategy, scale=True, random_state=0).fit(X)
    counts = np.count_nonzero(model.components_, axis=1)
    assert sorted(counts) == [2, 3, 4]
    if strategy == "iterative":
        assert list(counts) == [2, 4, 3]
    assert "features each" in str(model.certificate_)
    assert model.certificate_.recheck(X)
    with pytest.raises(ValueError, match="n_nonzero has 2 counts, but n_components=3"):
        SparseEncoder(3, n_nonzero=[2, 4], strategy=strategy).fit(X)


def test_every_prefix_of_the_iterative_encoder_is_a_good_encoder():
    X = load_breast_cancer().data
    model = SparseEncoder(4, n_nonzero=6, strategy="iterative", scale=True, random_state=0).fit(X)
    for k in (1, 2, 3):
        prefix = information_loss(model.components_[:k], X, scale=True)
        pca = SparseEncoder(k, n_nonzero=30, scale=True, random_state=0).fit(X)
        assert prefix <= 1.1 * pca.loss_


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
def test_max_loss_gives_each_component_what_it_needs(strategy):
    X = load_wine().data
    config = {"strategy": strategy, "scale": True, "certify": False, "effort": "quick", "random_state": 0}
    model = SparseEncoder(3, max_loss=1.1, **config).fit(X)
    assert model.loss_ratio_ <= 1.1
    counts = np.count_nonzero(model.components_, axis=1)
    fewer = SparseEncoder(3, n_nonzero=int(counts.max()) - 1, **config).fit(X)
    assert fewer.loss_ratio_ > 1.1 or counts.sum() <= 3 * (counts.max() - 1)


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
def test_covariance_and_sparse_data_give_the_same_components(strategy):
    X = load_wine().data
    parameters = {"n_components": 2, "n_nonzero": 4, "strategy": strategy, "scale": True, "random_state": 0}
    plain = SparseEncoder(**parameters).fit(X)
    for other in (
        SparseEncoder(**parameters, precomputed=True).fit(np.cov(X, rowvar=False)),
        SparseEncoder(**parameters).fit(sparse.csr_array(X)),
    ):
        np.testing.assert_allclose(np.abs(other.components_), np.abs(plain.components_), atol=1e-5)


def test_orthonormal_loadings_have_the_same_span_and_loss(rng):
    X = rng.standard_normal((40, 8)) @ rng.standard_normal((8, 8))
    plain, paper = (SparseEncoder(3, n_nonzero=5, strategy=Batch(orthonormal=flag)).fit(X) for flag in (False, True))
    np.testing.assert_allclose(paper.components_ @ paper.components_.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(paper.loss_, plain.loss_, rtol=1e-9)
    back = paper.inverse_transform(paper.transform(X))
    np.testing.assert_allclose(back, plain.inverse_transform(plain.transform(X)), atol=1e-9)
    correlations = np.corrcoef(paper.transform(X).T) - np.eye(3)
    assert np.abs(correlations).max() > 1e-3  # what the default avoids
    view = as_view(X)
    columns = np.array([0, 1, 2])
    found = encoder_on(Selection(columns, view.gram_columns(columns)), 2, view.total)
    assert orthonormalised(found).support is found.support
    assert top_spectrum(view, 2, rng).rank == 2


def test_a_sketch_of_the_span_is_nearly_as_good(rng):
    X = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 500)) + rng.standard_normal((60, 500))
    exact, rough = (SparseEncoder(3, n_nonzero=10, strategy=Batch(sketch=rows)).fit(X) for rows in (None, 150))
    np.testing.assert_array_equal(rough.support_, exact.support_)
    assert exact.loss_ <= rough.loss_ <= 1.1 * exact.loss_
    assert rough.certificate_.recheck(X)


def test_a_sketch_of_as_many_rows_as_features_is_none(rng):
    X = rng.standard_normal((30, 12))
    exact, rough, whole = (
        SparseEncoder(2, n_nonzero=5, strategy=Batch(sketch=rows)).fit(X).components_ for rows in (None, 11, 10**30)
    )
    np.testing.assert_array_equal(whole, exact)
    assert np.abs(rough - exact).max() > 1e-9


def test_the_theorems_schedule_is_accepted():
    counts = theorem_11_schedule(2, 2.5)
    assert counts == [7, 9]
    model = SparseEncoder(2, n_nonzero=counts, strategy="iterative", scale=True, random_state=0).fit(load_wine().data)
    assert list(np.count_nonzero(model.components_, axis=1)) == [7, 9]


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
def test_storage_of_the_same_numbers_chooses_nothing(strategy, shared):
    """One feature is a thousand times larger than others: what it leaves was rounding, and that chose features."""
    for X in (load_wine().data, shared("spambase.npz")[::8]):
        X = np.asarray(X, dtype=float)
        storages = (np.ascontiguousarray, sparse.csr_array)
        dense, stored = (ratio(storage(X), 4, 6, strategy, effort="quick") for storage in storages)
        assert stored == pytest.approx(dense, rel=1e-6)


def test_a_sketch_without_rows_is_refused():
    with pytest.raises(ValueError, match="sketch=0 must be at least 1"):
        Batch(Greedy(), sketch=0)
