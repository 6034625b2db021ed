"""The share of PCA's variance that is kept, and how well each feature is predicted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from counted_rows import CountedRows, factors
from laws import mostly_long
from sparing import ColumnSelector, DoublySparseEncoder, NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.errors import SparingWarning
from sparing.methods.encoders import Batch, Iterative, Joint
from sparing.methods.selectors import Exact
from sparing.results import Enough, Spectrum

MODELS = {
    "batch": SparseEncoder(2, n_nonzero=4, effort="quick"),
    "orthonormal": SparseEncoder(2, n_nonzero=4, strategy=Batch(orthonormal=True), effort="quick"),
    "no bottleneck": SparseEncoder(None, n_nonzero=4, effort="quick"),
    "iterative": SparseEncoder(2, n_nonzero=3, strategy="iterative", effort="quick"),
    "joint": SparseEncoder(2, n_nonzero=3, strategy=Joint(), effort="quick"),
    "doubly sparse": DoublySparseEncoder(2, n_nonzero=4, n_rows=6, effort="quick"),
    "variance": SparsePCA(2, n_nonzero=3, effort="quick"),
    "two sides": SparsePCA(2, n_nonzero=3, n_rows=9, effort="quick"),
    "nonnegative": NonnegativeSparsePCA(2, n_nonzero=3, effort="quick"),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def pca_variance(X, k):
    return np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1][:k].sum()


STORED = [(name, storage) for storage in (np.asarray, sparse.csr_array, CountedRows) for name in MODELS]
OTHERS = [(name, storage) for storage in (sparse.csr_array, CountedRows) for name in ("batch", "two sides")]


@pytest.mark.parametrize(("name", "storage"), mostly_long(STORED, *STORED[: len(MODELS)], *OTHERS))
def test_features_are_predicted_as_the_decoder_does(name, storage, rng):
    X, model = factors(rng, 60, 9, 3, noise=1.0), MODELS[name]
    model.fit(storage(X))
    left = X - model.inverse_transform(model.transform(X))
    wanted = 1 - left.var(axis=0) / X.var(axis=0)
    np.testing.assert_allclose(model.feature_r2_, wanted, atol=1e-9)
    variances = X.var(axis=0)
    total = 1 - model.loss_ / np.square(X - X.mean(axis=0)).sum()
    assert model.feature_r2_ @ variances / variances.sum() == pytest.approx(total, abs=1e-9)
    assert abs(model.feature_r2_.mean() - total) > 1e-6  # the control: a plain mean is not the same


@models
def test_what_is_kept_is_a_share_of_pca(model, rng):
    X = factors(rng, 60, 9, 3, noise=1.0)
    model.fit(X)
    k = 4 if model.n_components is None else 2
    explained = model.score(X) * X.var(axis=0, ddof=1).sum()
    if isinstance(model, (SparsePCA, NonnegativeSparsePCA)):
        Q = np.linalg.qr(model.components_.T)[0]
        explained = np.trace(Q.T @ np.cov(X.T) @ Q)
    assert model.variance_kept_ == pytest.approx(explained / pca_variance(X, k), rel=1e-9)
    assert model.variance_kept_ <= 1


def test_a_constant_feature_is_predicted(rng):
    X = factors(rng, 50, 6, 2)
    X[:, 3] = 7.0
    r2 = SparseEncoder(2, n_nonzero=3).fit(X).feature_r2_
    assert r2[3] == 1.0
    assert ((r2 >= 0) & (r2 <= 1)).all()


def test_fewer_features_than_components_are_compared_with_all_components_asked_for():
    X = load_breast_cancer().data
    with pytest.warns(SparingWarning, match="n_components=2 was requested"):
        one = SparseEncoder(2, n_nonzero=1, scale=True).fit(X)
    alone = SparseEncoder(1, n_nonzero=1, scale=True).fit(X)
    assert one.variance_kept_ == pytest.approx(alone.variance_kept_ * _share_of_first(X), rel=1e-9)
    assert one.variance_kept_ < 0.7 < alone.variance_kept_
    few, both = (ColumnSelector(r, 2, scale=True).fit(X) for r in (1, 2))
    assert few.variance_kept_ == pytest.approx(one.variance_kept_, rel=1e-9)
    assert few.variance_kept_ < both.variance_kept_


def _share_of_first(X):
    values = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    return values[0] / values[:2].sum()


def test_all_features_keep_all():
    X = load_wine().data
    for model in (
        SparseEncoder(3, n_nonzero=13),
        SparseEncoder(None, n_nonzero=13),
        SparsePCA(2, n_nonzero=13, effort="quick"),
    ):
        assert model.fit(X).variance_kept_ == pytest.approx(1.0, abs=1e-9)


@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 1.0), ratio=st.floats(1.0, 3.0))
@settings(max_examples=60)
def test_a_loss_is_enough_exactly_where_the_share_is_kept(seed, share, ratio):
    values = np.sort(np.random.default_rng(seed).random(6))[::-1]
    spectrum = Spectrum(np.eye(6)[:, :2], values[:2], np.eye(6)[:, :2], values.sum(), values[2:].sum(), 0.0, True)
    by_share, by_loss = Enough(min_variance=share).loss(spectrum), Enough(max_loss=ratio).loss(spectrum)
    assert spectrum.variance_kept(by_share) == pytest.approx(share, rel=1e-9)
    assert spectrum.variance_kept(by_share + 1e-6) < share
    assert spectrum.loss_ratio(by_loss) == pytest.approx(ratio, rel=1e-9)
    assert spectrum.variance_kept(0.0) == 1.0


# --- the fewest features that keep a share --------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["batch", "iterative", "joint"])
def test_the_default_keeps_nine_tenths(strategy):
    X, config = load_wine().data, {"scale": True, "strategy": strategy, "effort": "quick", "certify": False}
    model = SparseEncoder(3, **config).fit(X)
    assert model.variance_kept_ >= 0.9
    counts = np.count_nonzero(model.components_, axis=1)
    more = len(model.support_) if strategy == "batch" else int(counts.max())
    fewer = SparseEncoder(3, n_nonzero=more - 1, **config).fit(X)
    assert fewer.variance_kept_ < 0.9 or strategy != "batch"
    same = SparseEncoder(3, min_variance=0.9, **config).fit(X)
    np.testing.assert_array_equal(same.components_, model.components_)
    wide = SparseEncoder(3, min_variance=0.98, **config).fit(X)
    assert wide.variance_kept_ >= 0.98
    assert np.count_nonzero(wide.components_) > np.count_nonzero(model.components_)


def test_noise_needs_many_features_where_a_loss_ratio_needs_three(rng):
    X = rng.standard_normal((300, 60)) @ np.diag(np.linspace(1, 1.3, 60))
    by_loss, by_share = (SparseEncoder(3, max_loss=most, effort="quick").fit(X) for most in (1.1, None))
    assert len(by_loss.support_) == 3
    assert len(by_share.support_) > 10
    assert by_share.variance_kept_ >= 0.9 > by_loss.variance_kept_


def test_a_share_that_is_not_reached_gets_a_sentence(rng):
    X = rng.standard_normal((320, 1040))
    with pytest.warns(SparingWarning, match=r"min_variance=0.9 was not reached: 100 feature\(s\) keep \d+\.\d% of PCA"):
        SparseEncoder(9, passes="few", effort="quick", certify=False).fit(CountedRows(X))


@pytest.mark.parametrize("pair", [{"n_nonzero": 4, "min_variance": 0.9}, {"min_variance": 0.9, "max_loss": 1.1}])
def test_two_ways_to_say_how_many_get_a_sentence(pair, rng):
    first, second = pair
    with pytest.raises(ValueError, match=f"Both {first} and {second} were given"):
        SparseEncoder(2, **pair).fit(rng.standard_normal((20, 6)))


# --- n_components=None and strategies with settings -----------------------------------------------------------------


def test_without_a_bottleneck_features_are_predicted_by_least_squares(rng):
    X = factors(rng, 80, 12, 4, noise=1.0)
    model = SparseEncoder(None, n_nonzero=5).fit(X)
    assert model.components_.shape == (5, 12)
    J, centred = model.support_, X - X.mean(axis=0)
    wanted = centred[:, J] @ np.linalg.lstsq(centred[:, J], centred, rcond=None)[0] + X.mean(axis=0)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), wanted, atol=1e-9)
    np.testing.assert_allclose(model.feature_r2_[J], 1.0, atol=1e-9)
    narrow = SparseEncoder(2, n_nonzero=5).fit(X)
    assert narrow.score(X) < model.score(X)  # the control: two scores do not say as much


@pytest.mark.parametrize(
    "parameters", [{}, {"min_variance": 0.8}, {"n_nonzero": 3, "strategy": "joint"}, {"strategy": Iterative()}]
)
def test_no_bottleneck_needs_a_number_of_shared_features(parameters, rng):
    with pytest.raises(ValueError, match=r"n_components=None predicts every feature .* n_nonzero"):
        SparseEncoder(None, **parameters).fit(rng.standard_normal((20, 6)))
    with pytest.raises((TypeError, ValueError), match="n_components=None"):
        SparsePCA(None).fit(rng.standard_normal((20, 6)))


def test_strategies_are_instances_or_names(rng):
    X = factors(rng, 40, 8, 3)
    for name, kind in {"batch": Batch, "iterative": Iterative, "joint": Joint}.items():
        named, given = (SparseEncoder(2, n_nonzero=3, strategy=s, effort="quick").fit(X) for s in (name, kind()))
        np.testing.assert_array_equal(named.components_, given.components_)
        assert str(named.certificate_) == str(given.certificate_)
    exact = SparseEncoder(2, n_nonzero=3, strategy=Batch(Exact())).fit(X)
    np.testing.assert_array_equal(exact.support_, SparseEncoder(2, n_nonzero=3, selector="exact").fit(X).support_)
    with pytest.raises(ValueError, match="Both selector='greedy' and a strategy with its own selector"):
        SparseEncoder(2, n_nonzero=3, strategy=Batch(Exact()), selector="greedy").fit(X)
    for wrong in ("rows", Batch, 3, Exact()):
        with pytest.raises((TypeError, ValueError), match="strategy"):
            SparseEncoder(2, n_nonzero=3, strategy=wrong).fit(X)
