"""What DoublySparseEncoder promises: its data points, its certificate, its sentences, its numbers."""

from __future__ import annotations

import dataclasses
import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from laws import mostly_long
from sparing import SparseEncoder, load_model, save_model
from sparing.certificates.loss import reconstruction_loss
from sparing.data import Preprocessing, as_view
from sparing.estimators.doubly_sparse_encoder import DoublySparseEncoder
from sparing.methods.selectors import DualSet, Greedy


def data(rng, n=80, d=12):
    return rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.3 * rng.standard_normal((n, d)) + 5.0


def model(**parameters):
    config = {"n_components": 2, "n_nonzero": 4, "n_rows": 5, "effort": "quick", "random_state": 0}
    return DoublySparseEncoder(**{**config, **parameters})


X = data(np.random.default_rng(1))


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("selector", ["auto", "dual_set"])
def test_the_decoder_is_built_on_the_named_samples_and_loses_what_is_said(center, scale, selector):
    fitted = model(center=center, scale=scale, selector=selector).fit(X)
    assert len(fitted.rows_) == 5
    assert len(fitted.support_) == 4
    points = (X[fitted.rows_] - fitted.mean_) / fitted.scale_
    np.testing.assert_allclose(fitted.row_weights_ @ points, fitted.decoder_, atol=1e-12)
    back = fitted.inverse_transform(fitted.transform(X))
    loss = (((X - back) / fitted.scale_) ** 2).sum()
    total = (((X - fitted.mean_) / fitted.scale_) ** 2).sum()
    np.testing.assert_allclose(fitted.loss_, loss)
    np.testing.assert_allclose(fitted.score(X), 1 - loss / total)
    np.testing.assert_allclose(fitted.explained_variance_ratio_.sum(), 1 - loss / total)
    np.testing.assert_allclose(fitted.certificate_.value, loss)
    Q = np.linalg.qr(points.T)[0]
    rebuilt = (back - fitted.mean_) / fitted.scale_
    np.testing.assert_allclose(rebuilt, rebuilt @ Q @ Q.T, atol=1e-9)  # every sample is a combination of the points
    other = SparseEncoder(2, n_nonzero=4, center=center, scale=scale, random_state=0).fit(X)
    assert fitted.loss_ > other.loss_ * (1 - 1e-9)  # a decoder on few points is never the best one


def test_scores_read_only_the_features_named(rng):
    fitted = model().fit(X)
    changed = X.copy()
    changed[:, ~fitted.get_support()] += 100 * rng.standard_normal((80, 8))
    np.testing.assert_array_equal(fitted.transform(changed), fitted.transform(X))


def test_defaults_are_five_features_and_samples_per_component_at_most_all(rng):
    wide = DoublySparseEncoder(3, certify=False, random_state=0).fit(data(rng, 60, 40))
    assert (len(wide.support_), len(wide.rows_)) == (15, 15)
    small = DoublySparseEncoder(2, random_state=0).fit(data(rng, 8, 6))
    assert len(small.support_) == 6
    assert len(small.rows_) <= 7  # centred samples sum to zero
    assert small.loss_ratio_ == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"n_components": 2.0}, "n_components=2.0 is a float. Pass an integer"),
        ({"n_components": 13}, "n_components=13, but X has n_features=12"),
        ({"n_nonzero": 0}, "n_nonzero=0 must be at least 1"),
        ({"n_nonzero": [3, 4]}, r"n_nonzero=\[3, 4\] is a list"),
        ({"n_nonzero": 13}, r"n_nonzero=13 is outside \[1, 12\]: X has 12 features"),
        ({"n_rows": -1}, "n_rows=-1 must be at least 1"),
        ({"n_rows": True}, "n_rows=True is a bool"),
        ({"n_rows": 81}, r"n_rows=81 is outside \[1, 80\]: X has 80 samples"),
        ({"selector": "magic"}, "selector='magic' is not known. Choose one of .*'auto'"),
        ({"selector": Greedy}, "is not known"),
        ({"center": "no"}, "center='no' must be True or False"),
        ({"scale": 1}, "scale=1 must be True or False"),
        ({"certify": None}, "certify=None must be True or False"),
        ({"missing": "drop"}, "missing='drop' is not known"),
        ({"time_limit": 0}, "time_limit=0 must be a positive number of seconds"),
        ({"random_state": -1}, "random_state=-1 is neither"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        model(**parameters).fit(X)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (np.ones((5, 3)), "every feature is constant"),
        (np.ones((1, 3)), "n_samples=1"),
        (np.ones(3), "two dimensions are needed"),
        ([[1.0, np.nan], [2.0, 3.0]], "contains NaN .first at row 0, feature 1"),
        ("text", "a table of numbers is needed"),
    ],
)
def test_bad_data_get_a_sentence(bad, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        DoublySparseEncoder(1).fit(bad)


STORAGES = {
    "csr": sparse.csr_array,
    "csc matrix": sparse.csc_matrix,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
}


SHAPES = [(name, shape) for name in STORAGES for shape in ((80, 12), (40, 700), (1500, 40))]


@pytest.mark.parametrize(("name", "shape"), mostly_long(SHAPES, *SHAPES[:3], *SHAPES[::3]), ids=str)
def test_same_answer_in_every_storage(name, shape, rng):
    storage = STORAGES[name]
    table = data(rng, *shape) * (rng.random(shape) < 0.7)
    plain, other = model(certify=False).fit(table), model(certify=False).fit(storage(table))
    np.testing.assert_array_equal(other.rows_, plain.rows_)
    np.testing.assert_allclose(other.components_, plain.components_, atol=1e-7)
    np.testing.assert_allclose(other.row_weights_, plain.row_weights_, atol=1e-7 * np.abs(plain.row_weights_).max())
    np.testing.assert_allclose(other.loss_ratio_, plain.loss_ratio_, rtol=1e-7)


def test_memory_mapped_data_give_the_same_answer(tmp_path, rng):
    table = data(rng, 3000, 16)
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=table.shape)
    stored[:] = table
    plain, mapped = model().fit(table), model().fit(stored)
    np.testing.assert_array_equal(mapped.rows_, plain.rows_)
    np.testing.assert_allclose(mapped.decoder_, plain.decoder_, atol=1e-7)
    assert mapped.certificate_.recheck(stored)


@pytest.mark.parametrize("size", [1e-150, 2.0**-30, 1e30, 1e150])
def test_nothing_depends_on_the_unit_of_the_data(size):
    plain, scaled = model().fit(X), model().fit(X / 10 * size)
    np.testing.assert_array_equal(scaled.rows_, plain.rows_)
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=1e-9)
    np.testing.assert_allclose(scaled.decoder_, plain.decoder_, atol=1e-9)
    np.testing.assert_allclose(scaled.row_weights_ * (size / 10), plain.row_weights_, rtol=1e-6)
    np.testing.assert_allclose(scaled.certificate_.gap, plain.certificate_.gap, rtol=1e-6)
    assert scaled.certificate_.recheck(X / 10 * size)


def test_float32_in_float32_out_and_the_same_choices():
    wide, narrow = model().fit(X), model().fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(narrow.rows_, wide.rows_)
    np.testing.assert_array_equal(narrow.support_, wide.support_)


def test_permuted_samples_are_the_same_samples(rng):
    order = rng.permutation(len(X))
    plain, permuted = model(effort="quick").fit(X), model(effort="quick").fit(X[order])
    assert sorted(order[permuted.rows_]) == list(plain.rows_)
    np.testing.assert_allclose(permuted.loss_ratio_, plain.loss_ratio_, rtol=1e-9)


def test_frames_names_pipelines_clones_and_pickles():
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    fitted = model().set_output(transform="pandas")
    scores = fitted.fit_transform(frame)
    assert list(scores.columns) == ["doublysparseencoder0", "doublysparseencoder1"]
    again = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(again.transform(frame), scores)
    assert str(again.certificate_) == str(fitted.certificate_)
    assert again.certificate_.recheck(frame)
    assert clone(fitted).get_params() == fitted.get_params()
    piped = make_pipeline(StandardScaler(), model()).fit(frame)
    assert piped.transform(frame).shape == (80, 2)
    assert piped.inverse_transform(piped.transform(frame)).shape == X.shape


def test_selectors_by_name_and_with_their_own_settings():
    by_name, by_hand = model(selector="dual_set").fit(X), model(selector=DualSet()).fit(X)
    np.testing.assert_array_equal(by_name.decoder_, by_hand.decoder_)
    assert by_name.certificate_.guarantees == by_hand.certificate_.guarantees != ()
    assert model(selector=DualSet(sketch=12)).fit(X).certificate_.guarantees == ()  # settings may void the theorem
    exact = model(selector="exact").fit(X)  # features by proof; samples as ever
    assert exact.loss_ <= model(selector="greedy").fit(X).loss_ * 1.001


# --- the certificate ------------------------------------------------------------------------------------------------


def test_the_certificate_speaks_of_features_and_of_data_points():
    certificate = model().fit(X).certificate_
    first, second = str(certificate).splitlines()
    assert first.startswith("2 components on 4 of 12 features, rebuilt from 5 of these 80 samples, keep ")
    assert second.startswith("No choice of 4 features can keep more")
    assert "Theorem 6, comment 5" in certificate.details().splitlines()[-1]
    assert "holds (always)" in certificate.details()
    assert model(n_rows=2).fit(X).certificate_.guarantees == ()  # needs more of both than components


def test_recheck_holds_in_any_storage_and_fails_for_other_rows_and_false_claims():
    certificate = pickle.loads(pickle.dumps(model().fit(X).certificate_))
    for storage in (X, sparse.csr_array(X), np.asfortranarray(X)):
        assert certificate.recheck(storage)
    turned = certificate.recheck(X[::-1])
    assert "it claims loss" in str(turned)
    assert not turned
    assert not dataclasses.replace(certificate, row_weights=certificate.row_weights * 1.01).recheck(X)
    assert not dataclasses.replace(certificate, value=certificate.value * 0.999).recheck(X)
    with pytest.raises(ValueError, match=r"X has 2 sample\(s\), but this certificate is about a decoder built on"):
        certificate.recheck(X[:2])


def test_it_never_holds_the_data_and_an_earlier_one_does_not_outlive_its_fit(rng):
    tall = data(rng, 20000, 12)
    fitted = model().fit(tall)
    assert len(pickle.dumps(fitted.certificate_)) < 10_000 < tall.nbytes
    assert not hasattr(fitted.set_params(certify=False).fit(X), "certificate_")


def test_certifying_never_changes_the_components():
    with_proof, without = model().fit(X), model(certify=False).fit(X)
    np.testing.assert_array_equal(with_proof.decoder_, without.decoder_)
    np.testing.assert_allclose(with_proof.loss_, without.loss_)


def test_the_loss_of_any_decoder_is_recomputed_from_residuals_where_it_is_tiny(rng):
    thin = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6)) + 1e-7 * rng.standard_normal((30, 6))
    view = as_view(thin, Preprocessing(center=False))
    Z = thin / np.sqrt(view.square_unit)
    H = np.linalg.svd(Z)[2][:2]
    for G in (H, H + 1e-6 * rng.standard_normal(H.shape)):
        np.testing.assert_allclose(reconstruction_loss(view, H, G), ((Z - Z @ H.T @ G) ** 2).sum(), rtol=1e-6)


# --- edges ------------------------------------------------------------------------------------------------------------


def test_rank_deficient_data_and_small_counts_give_fewer_components_with_one_warning(rng):
    thin = rng.standard_normal((30, 1)) @ rng.standard_normal((1, 8))
    with pytest.warns(UserWarning, match="X has rank 1: 1 component") as caught:
        fitted = model().fit(thin)
    assert len(caught) == 1
    assert (len(fitted.rows_), len(fitted.support_), fitted.loss_ratio_) == (1, 1, 1.0)
    assert "keeps 100.0% of the variance that PCA's first component keeps" in str(fitted.certificate_)
    with pytest.warns(UserWarning, match="n_nonzero=4 features and n_rows=1 samples give at most") as caught:
        assert model(n_rows=1).fit(X).components_.shape == (1, 12)
    assert len(caught) == 1


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    d=st.integers(1, 7),
    k=st.integers(1, 3),
    r=st.integers(1, 7),
    n_rows=st.integers(1, 12),
    integers=st.booleans(),
    scale=st.booleans(),
)
def test_invariants_on_small_and_tied_data(seed, n, d, k, r, n_rows, integers, scale):
    rng = np.random.default_rng(seed)
    table = rng.integers(-1, 2, (n, d)).astype(float) if integers else rng.standard_normal((n, d))
    k, r, n_rows = min(k, d), min(r, d), min(n_rows, n)
    if np.ptp(table, axis=0).max() == 0:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(n_components=k, n_nonzero=r, n_rows=n_rows, scale=scale).fit(table)
    certificate = fitted.certificate_
    assert 1 <= len(fitted.components_) <= min(k, r, n_rows)
    assert len(fitted.support_) <= r
    assert len(fitted.rows_) <= n_rows
    np.testing.assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1)
    assert fitted.loss_ratio_ >= 1
    assert 0 <= certificate.bound <= certificate.value <= certificate.total * (1 + 1e-12)
    assert all(guarantee.holds for guarantee in certificate.guarantees)
    assert certificate.recheck(table)
    np.testing.assert_allclose(fitted.explained_variance_ratio_.sum(), 1 - fitted.loss_ / certificate.total, atol=1e-9)


def test_progress_and_a_time_limit_still_answer(capsys):
    fitted = model(verbose=True, time_limit=1e-9).fit(X)
    assert "[sparing] 4 features, 5 samples: loss ratio" in capsys.readouterr().out
    assert fitted.certificate_.recheck(X)


def test_a_fit_on_sparse_data_never_holds_them_dense_nor_anything_n_by_n():
    n, d, k, r = 4000, 6000, 5, 30
    table = sparse.random(n, d, density=0.02, format="csr", random_state=np.random.default_rng(0))
    stored = table.data.nbytes + table.indices.nbytes + table.indptr.nbytes
    model(n_components=k, n_nonzero=r, n_rows=r).fit(table[:100])  # imports and caches
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise has a flat spectrum
        model(n_components=k, n_nonzero=r, n_rows=r).fit(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 2 * stored + 4 * 8 * (n + d) * (k + r)
    assert peak < 8 * n * n / 5


# --- reference numbers, measured independently ----------------------------------------------------------------------


def test_loss_ratios_on_real_data():
    model = DoublySparseEncoder(5, n_nonzero=20, n_rows=20, certify=False, effort="quick", random_state=0)
    digits = model.fit(load_digits().data)
    assert digits.loss_ratio_ <= 1.040
    cancer = model.set_params(scale=True)
    assert cancer.fit(load_breast_cancer().data).loss_ratio_ <= 1.008


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_missing_values_are_means_where_that_is_asked_for(storage, rng, tmp_path):
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    means = np.nanmean(holes, axis=0)
    whole = np.where(np.isnan(holes), means, holes)
    with pytest.raises(ValueError, match="NaN"):
        model().fit(storage(holes))
    found, wanted = model(missing="mean").fit(storage(holes)), model().fit(whole)
    np.testing.assert_allclose(found.imputation_, means)
    np.testing.assert_array_equal(found.rows_, wanted.rows_)
    np.testing.assert_allclose(found.decoder_, wanted.decoder_, atol=1e-9)
    np.testing.assert_allclose(found.transform(storage(holes)), wanted.transform(whole), atol=1e-9)
    np.testing.assert_allclose(found.transform(storage(holes[:3])), wanted.transform(whole[:3]), atol=1e-9)
    assert found.loss_ == pytest.approx(wanted.loss_)
    assert found.score(storage(holes)) == pytest.approx(wanted.score(whole))
    assert found.certificate_.recheck(storage(holes))
    save_model(found, tmp_path / "found.model")
    again = load_model(tmp_path / "found.model")
    np.testing.assert_array_equal(again.transform(storage(holes)), found.transform(storage(holes)))
    assert not hasattr(found.set_params(missing="error").fit(whole), "imputation_")


def test_whole_weights_count_as_copies(rng):
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 9)) + 0.3 * rng.standard_normal((30, 9)) + 2
    weights = rng.integers(0, 4, 30)
    model = DoublySparseEncoder(2, n_nonzero=4, n_rows=5, effort="quick")
    copied = clone(model).fit(np.repeat(X, weights, axis=0))
    weighted = model.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(weighted.support_, copied.support_)
    np.testing.assert_array_equal(weighted.rows_, np.repeat(np.arange(30), weights)[copied.rows_])
    np.testing.assert_allclose(weighted.components_, copied.components_, atol=1e-8)
    np.testing.assert_allclose(weighted.decoder_, copied.decoder_, atol=1e-8)
    np.testing.assert_allclose(weighted.row_weights_ @ (X[weighted.rows_] - weighted.mean_), weighted.decoder_)
    np.testing.assert_allclose(weighted.certificate_.value, copied.certificate_.value)
    assert weighted.certificate_.recheck(X, sample_weight=weights)
    assert not weighted.certificate_.recheck(X)  # control
