"""Noise on the readings, through the public door: a problem like any other, in every storage and unit."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from sparing import (
    ColumnSelector,
    SparseEncoder,
    SparsePCARegressor,
    load_model,
    open_data,
    save_model,
    sparsity_path,
)
from sparing.errors import SparingWarning

N, D, K, R = 40, 12, 2, 4
QUICK = {"n_nonzero": R, "effort": "quick"}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(4)
    return rng.normal(size=(N, 3)) @ rng.normal(size=(3, D)) + 0.5 * rng.normal(size=(N, D)) + 7.0


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(5).uniform(0.0, 3.0, D)


def with_rows_of_noise(X, noise):
    """Data whose Gram matrix is A + n diag(noise)."""
    return np.concatenate([X - X.mean(axis=0), np.diag(np.sqrt(len(X) * noise))])


def test_a_fit_under_noise_is_the_fit_of_data_with_rows_of_noise(X, noise):
    model = SparseEncoder(K, noise_variance=noise, **QUICK).fit(X)
    plain = SparseEncoder(K, center=False, **QUICK).fit(with_rows_of_noise(X, noise))
    np.testing.assert_array_equal(model.support_, plain.support_)
    np.testing.assert_allclose(model.decoder_, plain.decoder_, atol=1e-8)
    assert model.certificate_.value == pytest.approx(plain.certificate_.value)
    assert model.certificate_.bound == pytest.approx(plain.certificate_.bound, rel=1e-6)
    assert model.variance_kept_ == pytest.approx(plain.variance_kept_)
    assert model.certificate_.n_samples == N
    without = SparseEncoder(K, **QUICK).fit(X)  # control
    assert without.certificate_.value < 0.7 * model.certificate_.value
    assert without.noise_variance_ == 0.0
    assert "noise" in str(model.certificate_)
    assert "noise" not in str(without.certificate_)


def test_every_storage_gives_the_same_answer(X, noise, tmp_path):
    expected = SparseEncoder(K, noise_variance=noise, **QUICK).fit(X)
    np.save(tmp_path / "X.npy", X)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(D)])
    by_name = dict(zip(frame.columns, noise, strict=True))
    stored = [
        (sparse.csr_array(X), noise),
        (open_data(tmp_path / "X.npy"), noise),
        (da.from_array(X, chunks=(9, D)), noise),
        (frame, by_name),
    ]
    for table, variances in stored:
        model = SparseEncoder(K, noise_variance=variances, **QUICK).fit(table)
        np.testing.assert_array_equal(model.support_, expected.support_)
        assert model.loss_ == pytest.approx(expected.loss_)
        assert model.certificate_.recheck(table)
    of_covariance = SparseEncoder(K, precomputed=True, noise_variance=noise, **QUICK).fit(np.cov(X.T, ddof=0))
    np.testing.assert_array_equal(of_covariance.support_, expected.support_)
    assert of_covariance.loss_ * N == pytest.approx(expected.loss_)


def test_a_variance_is_in_squared_units_of_X_after_scaling(X, noise):
    model = SparseEncoder(K, noise_variance=noise, **QUICK).fit(X)
    larger = SparseEncoder(K, noise_variance=noise * 1e6, **QUICK).fit(X * 1e3)
    assert larger.variance_kept_ == pytest.approx(model.variance_kept_)
    assert larger.loss_ == pytest.approx(model.loss_ * 1e6)
    scaled = [SparseEncoder(K, scale=True, noise_variance=0.3, **QUICK).fit(X * units) for units in (1.0, noise + 0.1)]
    assert scaled[0].loss_ == pytest.approx(scaled[1].loss_)
    chosen = [SparseEncoder(K, noise_variance="auto", **QUICK).fit(X * unit).noise_variance_ for unit in (1.0, 1e4)]
    assert chosen[1] == pytest.approx(chosen[0] * 1e8)


def test_a_certificate_rechecks_and_a_saved_model_keeps_the_noise(X, noise, tmp_path):
    model = SparseEncoder(K, noise_variance=noise, **QUICK).fit(X)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.noise_variance_, noise)
    assert again.certificate_.recheck(X)
    forged = SparseEncoder(K, noise_variance=2 * noise, **QUICK).fit(X).certificate_
    object.__setattr__(forged, "preprocessing", model.certificate_.preprocessing)
    assert not forged.recheck(X)  # control: the noise is part of the claim


def test_prediction_under_noise_is_ridge_regression(X):
    y, v = X[:, 0] - 2 * X[:, 5], 0.8
    model = SparsePCARegressor(3, n_nonzero=R, noise_variance=v, effort="quick").fit(X, y)
    ridge = Ridge(alpha=N * v).fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], ridge.coef_, rtol=1e-6)
    assert model.certificate_.recheck(X, y)
    assert not np.allclose(SparsePCARegressor(3, n_nonzero=R).fit(X, y).predict(X), model.predict(X))  # control
    kept = ColumnSelector(R, 3, noise_variance=v, effort="quick").fit(X)
    unread = np.setdiff1d(np.arange(D), kept.support_)
    ridge = Ridge(alpha=N * v).fit(X[:, kept.support_], X[:, unread])
    np.testing.assert_allclose(kept.decoder_[:, unread].T, ridge.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "make", [lambda v: SparseEncoder(K, noise_variance=v, **QUICK), lambda v: ColumnSelector(R, noise_variance=v)]
)
def test_feature_r2_is_that_of_clean_features_from_noisy_readings(make, X, noise):
    model, rng = make(noise).fit(X), np.random.default_rng(0)
    readings = np.tile(X, (2000, 1)) + rng.normal(size=(2000 * N, D)) * np.sqrt(noise)
    rebuilt = model.inverse_transform(model.transform(readings)) - np.tile(X, (2000, 1))
    measured = 1 - np.square(rebuilt).mean(axis=0) / X.var(axis=0)
    np.testing.assert_allclose(model.feature_r2_, measured, atol=0.02)
    clean = model.inverse_transform(model.transform(X)) - X
    assert np.abs(1 - np.square(clean).mean(axis=0) / X.var(axis=0) - measured).max() > 0.05  # control


def test_auto_finds_noise_where_features_outnumber_samples_and_none_where_all_is_clean():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(3, 200))
    train, new = (rng.normal(size=(n, 3)) @ V + 3 * rng.normal(size=(n, 200)) for n in (24, 200))
    plain, chosen = (
        SparseEncoder(3, n_nonzero=10, effort="quick", noise_variance=v).fit(train) for v in (None, "auto")
    )
    assert chosen.noise_variance_ > 0
    assert chosen.score(new) > plain.score(new) + 0.02
    assert chosen.certificate_.recheck(train)
    clean = rng.normal(size=(200, 3)) @ V[:, :30] + 1e-3 * rng.normal(size=(200, 30))
    assert SparseEncoder(3, n_nonzero=10, effort="quick", noise_variance="auto").fit(clean).noise_variance_ == 0.0
    fewest = SparseEncoder(3, min_variance=0.8, effort="quick", noise_variance="auto").fit(train)
    assert fewest.variance_kept_ >= 0.8


def test_without_any_time_left_no_noise_is_tried_but_none(X):
    with pytest.warns(SparingWarning, match="1 of 5 folds are used, each with 1 of 7 levels .*or set noise_variance"):
        model = SparseEncoder(2, n_nonzero=3, noise_variance="auto", effort="quick", time_limit=1e-9).fit(X)
    assert model.noise_variance_ == 0
    assert model.certificate_.recheck(X)


def test_a_path_under_noise_ends_in_its_fits(X, noise):
    path = sparsity_path(X, K, max_features=R, noise_variance=noise, effort="quick")
    model = SparseEncoder(K, noise_variance=noise, **QUICK).fit(X)
    assert path.variance_kept[-1] == pytest.approx(model.variance_kept_)
    assert path.variance_kept[-1] != pytest.approx(
        sparsity_path(X, K, max_features=R, effort="quick").variance_kept[-1]
    )
    np.testing.assert_array_equal(path.noise_variance, noise)
    assert sparsity_path(X, K, max_features=R, noise_variance="auto", certify=False).noise_variance >= 0


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (-1.0, "is negative"),
        ("some", "'auto' to choose"),
        ([1.0, 2.0], "has shape"),
        (np.full(D, np.nan), "finite and at least 0"),
        ({"x0": 1.0}, "has no value for"),
        (True, "has shape"),
    ],
)
def test_what_is_no_variance_gets_a_sentence(noise, said, X):
    with pytest.raises((ValueError, TypeError), match=said):
        SparseEncoder(K, noise_variance=noise, **QUICK).fit(X)


def test_what_noise_cannot_do_gets_a_sentence(X):
    with pytest.raises(ValueError, match="needs samples, but a covariance has none"):
        SparseEncoder(K, precomputed=True, noise_variance="auto", **QUICK).fit(np.cov(X.T))
    with pytest.raises(ValueError, match="reads each row once"):
        SparseEncoder(K, noise_variance=np.ones(D), **QUICK).partial_fit(X)
    with pytest.raises(ValueError, match="variance"):
        SparseEncoder(K, noise_variance=1.0, **QUICK).fit(np.ones((5, 6)))


def test_reading_half_as_many_features_as_samples_without_noise_is_warned_of():
    wide = np.random.default_rng(0).normal(size=(20, 40))
    with pytest.warns(SparingWarning, match="noise_variance='auto', or read fewer"):
        SparseEncoder(2, n_nonzero=10, effort="quick", certify=False).fit(wide)
    for settings in ({"n_nonzero": 9}, {"n_nonzero": 10, "noise_variance": 1.0}):
        SparseEncoder(2, effort="quick", certify=False, **settings).fit(wide)  # controls: warnings are errors here
