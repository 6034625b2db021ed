"""What SparsePCARegressor promises: scikit-learn's contract, least squares on its features, its sentences."""

from __future__ import annotations

import functools
import pickle
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from laws import mostly_long
from sparing import errors, load_model, save_model
from sparing.data import Preprocessing, as_rows, as_view
from sparing.estimators.sparse_pca_regressor import SparsePCARegressor
from sparing.methods.selectors import DualSet, Greedy
from sparing.methods.selectors.response import Response


def make(**parameters):
    return SparsePCARegressor(**{"n_components": 2, "n_nonzero": 4, "effort": "quick", "random_state": 0, **parameters})


SELECTORS = ["auto", "response", Response(by="targets"), "dual_set", "leverage", "greedy"]
selectors = pytest.mark.parametrize("selector", SELECTORS, ids=str)


@functools.cache
def learned(selector, shape=(80, 12), n_targets=None, share=1.0):
    """Data, a share of them not zero, and what is learned from them, once for all tests that compare with it."""
    rng = np.random.default_rng(20150225)
    X, y = data(rng, *shape, n_targets)
    X = X * (rng.random(shape) < share)
    return X, y, make(selector=selector).fit(X, y)


def data(rng, n=80, d=12, n_targets=None):
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.3 * rng.standard_normal((n, d)) + 5.0
    shape = d if n_targets is None else (d, n_targets)
    y = X @ rng.standard_normal(shape) - 7.0
    return X, y + rng.standard_normal(y.shape)


TARGETS = [(n_targets, scale) for scale in (False, True) for n_targets in (None, 1, 2)]


@selectors
@pytest.mark.parametrize(("n_targets", "scale"), mostly_long(TARGETS, (None, False), (1, True), (2, False)))
def test_it_is_least_squares_on_its_features(selector, n_targets, scale, rng):
    X, y = data(rng, n_targets=n_targets)
    model = make(selector=selector, scale=scale).fit(X, y)
    plain = LinearRegression().fit(X[:, model.support_], y)
    assert len(model.support_) == 4
    np.testing.assert_allclose(model.predict(X), plain.predict(X[:, model.support_]), rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_.T + model.intercept_, rtol=1e-9)
    np.testing.assert_allclose(model.coef_[..., model.support_], plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-8)
    assert model.coef_.shape == ((12,) if n_targets is None else (n_targets, 12))
    assert not model.coef_[..., ~model.get_support()].any()
    assert model.score(X, y) == pytest.approx(plain.score(X[:, model.support_], y))
    assert isinstance(model.intercept_, float) == (n_targets is None)


@pytest.mark.parametrize(("center", "intercept"), [(True, True), (False, False), (True, False), (False, True)])
def test_an_intercept_or_none_whatever_is_centred(center, intercept, rng):
    """Features may be chosen from centred data or not; the regression is the usual one either way."""
    X, y = data(rng, n_targets=2)
    model = make(center=center, fit_intercept=intercept).fit(X, y)
    plain = LinearRegression(fit_intercept=intercept).fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X[:, model.support_]), rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, atol=1e-8)
    left = np.linalg.norm(y - model.predict(X))
    assert model.certificate_.value == pytest.approx(left, rel=1e-9)
    assert model.certificate_.recheck(X, y)
    Z = model.transform(X)
    np.testing.assert_allclose(Z, (X - model.mean_) / model.scale_ @ model.components_.T, atol=1e-9)
    assert (model.mean_ != 0).any() == intercept
    V = np.linalg.svd(X - X.mean(axis=0) if center else X)[2][:2].T
    scores = (X - X.mean(axis=0) if center else X) @ V
    by_pca = LinearRegression(fit_intercept=intercept).fit(scores, y).predict(scores)
    assert model.certificate_.pca_value == pytest.approx(np.linalg.norm(y - by_pca), rel=1e-9)
    norms = np.linalg.norm(Z, axis=0)
    np.testing.assert_allclose(Z.T @ Z / np.outer(norms, norms), np.eye(2), atol=1e-8)


def test_more_targets_than_components_get_the_best_fit_of_that_rank(rng):
    X, Y = data(rng, n_targets=6)
    model = make().fit(X, Y)
    assert model.components_.shape == (2, 12)
    assert np.linalg.matrix_rank(model.coef_, tol=1e-9) == 2
    C = X[:, model.support_] - X[:, model.support_].mean(axis=0)
    Q = np.linalg.qr(C)[0]
    Yc = Y - Y.mean(axis=0)
    U, s, W = np.linalg.svd(Q.T @ Yc, full_matrices=False)
    np.testing.assert_allclose(model.predict(X) - Y.mean(axis=0), Q @ (U[:, :2] * s[:2]) @ W[:2], atol=1e-9)
    refit = LinearRegression().fit(model.transform(X), Y)  # regression on the scores is the same fit
    np.testing.assert_allclose(refit.predict(model.transform(X)), model.predict(X), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert not model.components_[:, ~model.get_support()].any()
    full = make(n_components=6, n_nonzero=6).fit(X, Y)
    np.testing.assert_allclose(
        full.predict(X), LinearRegression().fit(X[:, full.support_], Y).predict(X[:, full.support_]), rtol=1e-8
    )


def test_predictions_and_scores_read_only_the_features_used(rng):
    X, y = data(rng)
    model = make().fit(X, y)
    changed = X.copy()
    changed[:, ~model.get_support()] += 100 * rng.standard_normal((80, 8))
    np.testing.assert_array_equal(model.predict(changed), model.predict(X))
    np.testing.assert_array_equal(model.transform(changed), model.transform(X))
    np.testing.assert_array_equal(model.get_support(indices=True), model.support_)


STORAGES = {
    "csr": sparse.csr_array,
    "coo": sparse.coo_array,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])}),
}


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES.keys())
@pytest.mark.parametrize("selector", ["auto", "response"])
@pytest.mark.parametrize("shape", [(80, 12), (40, 300)], ids=str)
def test_same_answer_in_every_storage(storage, selector, shape):
    X, y, plain = learned(selector, shape, n_targets=2, share=0.7)
    other = make(selector=selector).fit(storage(X.copy()), y)
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-8)
    np.testing.assert_allclose(other.components_, plain.components_, atol=1e-8)
    np.testing.assert_allclose(other.predict(storage(X)), plain.predict(X), rtol=1e-8)
    assert plain.certificate_.recheck(storage(X), y)


def test_targets_in_any_container_give_the_same_answer(rng):
    X, y = data(rng)
    plain = make(selector="response").fit(X, y)
    readonly = y.copy()
    readonly.flags.writeable = False
    for same in (list(y), pd.Series(y, index=np.arange(80)[::-1]), pl.Series(y), y.astype(object), readonly):
        np.testing.assert_array_equal(make(selector="response").fit(X, same).coef_, plain.coef_)
    table = make(selector="response").fit(X, pd.DataFrame({"a": y}))
    np.testing.assert_array_equal(table.coef_, plain.coef_[None])
    assert table.predict(X).shape == (80, 1)
    whole = make().fit(X, (y > 0).astype(np.int8))
    np.testing.assert_array_equal(whole.coef_, make().fit(X, (y > 0).astype(float)).coef_)


def test_float32_in_float32_out_and_the_same_features(rng):
    X, y = data(rng)
    wide, narrow = make().fit(X, y), make().fit(X.astype(np.float32), y)
    assert narrow.predict(X.astype(np.float32)).dtype == narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert narrow.predict(X).dtype == np.float64
    np.testing.assert_array_equal(narrow.support_, wide.support_)
    np.testing.assert_allclose(narrow.predict(X), wide.predict(X), rtol=1e-4)


@selectors
@pytest.mark.parametrize(("of_x", "of_y"), [(2.0**400, 1.0), (2.0**-400, 2.0**400), (1e-100, 1e-30), (1e30, 1e140)])
def test_nothing_depends_on_units(selector, of_x, of_y):
    X, y, plain = learned(selector)
    scaled = make(selector=selector).fit(X * of_x, y * of_y)
    np.testing.assert_array_equal(scaled.support_, plain.support_)
    np.testing.assert_allclose(scaled.coef_ / of_y * of_x, plain.coef_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(scaled.predict(X * of_x) / of_y, plain.predict(X), rtol=1e-8)
    np.testing.assert_allclose(scaled.certificate_.value / of_y, plain.certificate_.value, rtol=1e-9)
    assert scaled.certificate_.recheck(X * of_x, y * of_y)
    assert str(scaled.certificate_).splitlines()[0] == str(plain.certificate_).splitlines()[0]


@pytest.mark.parametrize("selector", ["auto", "response", "dual_set"])
def test_permuted_features_rows_and_targets(selector, rng):
    X, Y = data(rng, n_targets=3)
    order, rows, targets = rng.permutation(12), rng.permutation(80), rng.permutation(3)
    plain = make(selector=selector).fit(X, Y)
    moved = make(selector=selector).fit(X[rows][:, order], Y[rows][:, targets])
    assert sorted(order[moved.support_]) == list(plain.support_)
    np.testing.assert_allclose(moved.coef_, plain.coef_[targets][:, order], atol=1e-9)


def test_means_far_from_zero_cost_no_digits(rng):
    X, y = data(rng)
    plain, far = make().fit(X, y), make().fit(X + 1e7, y + 1e9)
    np.testing.assert_array_equal(far.support_, plain.support_)
    np.testing.assert_allclose(far.predict(X + 1e7) - 1e9, plain.predict(X), atol=1e-5)


def test_rank_deficient_and_wide_data(rng):
    z = rng.standard_normal((40, 2))
    X = z @ rng.standard_normal((2, 9))
    y = z @ [1.0, -2.0] + 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparsePCARegressor(5, n_nonzero=6, random_state=0).fit(X, y)  # one target loses nothing by rank 2
    assert len(model.support_) == 2
    np.testing.assert_allclose(model.predict(X), y)
    assert "explain 100.0% of the variance of the target" in str(model.certificate_)
    assert model.certificate_.gap == 0
    with pytest.warns(errors.SparingWarning, match="n_components=3 was requested, but X has rank 2: 2 comp") as caught:
        several = SparsePCARegressor(3, n_nonzero=6, random_state=0).fit(X, rng.standard_normal((40, 4)))
    assert len(caught) == 1
    assert several.components_.shape == (2, 9)
    with pytest.warns(errors.SparingWarning, match="n_nonzero=2 shared features"):
        SparsePCARegressor(3, n_nonzero=2, random_state=0).fit(rng.standard_normal((40, 9)), rng.random((40, 4)))
    wide = SparsePCARegressor(3, n_nonzero=12, random_state=0).fit(rng.standard_normal((10, 50)), np.arange(10.0))
    assert len(wide.support_) <= 9


@selectors
def test_constant_duplicated_and_zero_columns_and_constant_targets(selector, rng):
    X, y = data(rng)
    padded = np.column_stack([X, X[:, :2], np.full(80, 7.0), np.zeros(80)])
    model = make(selector=selector).fit(padded, y)
    assert not {14, 15} & set(model.support_)
    flat = make(selector=selector).fit(padded, np.full(80, 0.1))
    np.testing.assert_array_equal(flat.predict(padded), np.full(80, 0.1))
    assert not flat.coef_.any()
    assert flat.components_.any(axis=1).all()
    assert "The targets are constant: there is nothing to explain." in str(flat.certificate_)
    assert flat.certificate_.recheck(padded, np.full(80, 0.1))


def test_targets_that_vary_by_rounding_are_constant(rng):
    X, _ = data(rng)
    y = 0.3 * (1 + np.finfo(float).eps * rng.integers(-1, 2, 80))
    assert np.ptp(y) > 0
    model = make(selector="response").fit(X, y)
    assert not model.coef_.any()
    assert model.certificate_.total == 0


def test_all_features_and_components_are_ordinary_regression():
    X, y = load_diabetes(return_X_y=True)
    model = SparsePCARegressor(10, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)
    assert model.certificate_.value == pytest.approx(model.certificate_.pca_value)


def test_looking_at_the_targets_explains_more_of_them():
    X, y = load_diabetes(return_X_y=True)
    kept = {s: SparsePCARegressor(5, n_nonzero=5, selector=s, random_state=0).fit(X, y).score(X, y) for s in SELECTORS}
    assert kept[Response(by="targets")] >= kept["response"] > kept["greedy"] + 0.03
    assert kept["auto"] > kept["greedy"] + 0.03


def test_the_certificate_is_recomputed_compared_and_honest(rng):
    X, y = data(rng, n_targets=3)
    certificate = make().fit(X, y).certificate_
    left = np.linalg.norm(y - make().fit(X, y).predict(X))
    pcr = make_pipeline(PCA(2, svd_solver="full"), LinearRegression()).fit(X, y)
    assert certificate.value == pytest.approx(left, rel=1e-10)
    assert certificate.pca_value == pytest.approx(np.linalg.norm(y - pcr.predict(X)), rel=1e-10)
    assert certificate.total == pytest.approx(np.linalg.norm(y - y.mean(axis=0)), rel=1e-12)
    assert (certificate.bound, certificate.gap, certificate.sense) == (0.0, 1.0, "min")
    text = str(certificate)
    share = 100 * (1 - (left / certificate.total) ** 2)
    said = float(text.split("explain ")[1].split("%")[0])
    assert share - 0.1 <= said <= share
    assert text.startswith("4 of 12 features explain ")
    assert "of the variance of 3 targets (regression on 2 principal components of all features explains " in text
    assert text.endswith(f"on these {len(X)} samples.")
    assert "Lower bound: none; other features may explain more." in certificate.details()
    assert certificate.problem.startswith("the in-sample residual norm of 3 targets, with an intercept")
    assert certificate._repr_html_().startswith("<div><p><strong>4 of 12 features explain")
    assert "of the squares of the target" in str(make(center=False, fit_intercept=False).fit(X, y[:, 0]).certificate_)


def test_a_limit_above_the_targets_norm_is_called_empty(rng):
    X, y = rng.standard_normal((50, 20)), rng.standard_normal(50)
    model = make().fit(X, y)
    assert model.certificate_.guarantees[0].holds
    assert "the theorem guarantees nothing here" in model.certificate_.details()


def test_a_certificate_is_false_for_other_data_and_altered_claims(rng):
    X, y = data(rng)
    certificate = make().fit(X, y).certificate_
    assert certificate.recheck(X, y)
    assert str(certificate.recheck(X, y)).startswith("The certificate holds: residual")
    for other_X, other_y, why in [
        (X, 2 * y, "it is about targets of norm"),
        (X, y[::-1], "it claims the residual"),
        (X[::-1], y, "it claims the residual"),
    ]:
        verdict = certificate.recheck(other_X, other_y)
        assert not verdict
        assert f"does NOT hold: {why}" in str(verdict)
    assert not replace(certificate, value=certificate.value * 0.99).recheck(X, y)
    assert "for PCA regression" in str(replace(certificate, pca_value=certificate.pca_value * 2).recheck(X, y))
    with pytest.raises(ValueError, match="X has 11 features, but this certificate is expecting 12"):
        certificate.recheck(X[:, 1:], y)
    with pytest.raises(ValueError, match="y has shape"):
        certificate.recheck(X, np.column_stack([y, y]))


def test_certifying_never_changes_the_fit_and_an_old_certificate_goes(rng):
    X, y = data(rng)
    model = make().fit(X, y)
    without = clone(model).set_params(certify=False).fit(X, y)
    np.testing.assert_array_equal(model.coef_, without.coef_)
    assert not hasattr(without, "certificate_")
    assert not hasattr(model.set_params(certify=False).fit(X, y), "certificate_")


@pytest.mark.parametrize(
    ("bad", "kind", "sentence"),
    [
        (lambda y: None, ValueError, "SparsePCARegressor requires y to be passed, but the target y is None"),
        (lambda y: y[:-1], ValueError, r"y has 79 row\(s\), but X has 80"),
        (lambda y: [], ValueError, r"y has 0 row\(s\), but X has 80"),
        (lambda y: np.zeros((80, 0)), ValueError, r"y has shape \(80, 0\); one number per row"),
        (lambda y: y.reshape(80, 1, 1), ValueError, r"y has shape \(80, 1, 1\)"),
        (lambda y: 3.0, ValueError, r"y has shape \(\)"),
        (lambda y: np.where(np.arange(80) == 7, np.nan, y), ValueError, r"Input y contains NaN \(first at row 7\)"),
        (
            lambda y: np.column_stack([y, np.full(80, -np.inf)]),
            ValueError,
            r"contains infinity \(first at row 0, target 1\)",
        ),
        (lambda y: [None, *y[1:]], ValueError, r"contains NaN \(first at row 0\)"),
        (lambda y: pd.Series([pd.NA, *y[1:]]), ValueError, r"contains NaN \(first at row 0\)"),
        (lambda y: np.ma.masked_less(y, y[3] + 1e-9), ValueError, "Input y contains NaN"),
        (lambda y: y.astype(str), TypeError, "y holds values of type <U"),
        (lambda y: ["a", *y[1:].astype(object)], TypeError, "y holds values of type"),
        (lambda y: np.array(["1", *y[1:]], dtype=object), TypeError, "y holds values of type str"),
        (lambda y: y.astype(complex), ValueError, "y holds values of type complex128"),
        (lambda y: np.arange(80).astype("datetime64[D]"), TypeError, "y holds values of type datetime64"),
        (lambda y: [[1.0], [1.0, 2.0]] * 40, ValueError, "y holds values of type list"),
        (lambda y: sparse.csr_array(y[:, None]), TypeError, "y is a sparse matrix"),
        (lambda y: y * 1e160, ValueError, "y holds values of size"),
        (lambda y: y * 1e-160, ValueError, "y holds values of size"),
    ],
)
def test_bad_targets_get_a_sentence(bad, kind, sentence, rng):
    X, y = data(rng)
    with pytest.raises(kind, match=sentence):
        make().fit(X, bad(y))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"n_components": 2.0}, "n_components=2.0 is a float"),
        ({"n_components": 13}, "n_components=13, but X has n_features=12"),
        ({"n_nonzero": 0}, "n_nonzero=0 must be at least 1"),
        ({"n_nonzero": True}, "n_nonzero=True is a bool"),
        ({"n_nonzero": 13}, r"n_nonzero=13 is outside \[1, 12\]"),
        ({"selector": "magic"}, "selector='magic' is not known. Choose one of .*'auto'.*'response'"),
        ({"selector": Greedy}, "is not known"),
        ({"fit_intercept": 1}, "fit_intercept=1 must be True or False"),
        ({"center": "no"}, "center='no' must be True or False"),
        ({"missing": "drop"}, "missing='drop' is not known"),
        ({"time_limit": 0}, "time_limit=0 must be a positive number of seconds"),
        ({"random_state": -1}, "random_state=-1 is neither"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence, rng):
    with pytest.raises((ValueError, TypeError), match=sentence):
        make(**parameters).fit(*data(rng))


def test_bad_data_get_a_sentence(rng):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    frame.iloc[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN \(first at row 3, feature 'gene 5'\)"):
        make().fit(frame, y)
    with pytest.raises(ValueError, match="every feature is constant"):
        make().fit(np.ones((80, 12)), y)
    with pytest.raises(ValueError, match="every feature is constant"):
        make(center=False).fit(np.ones((80, 12)), y)
    with pytest.raises(ValueError, match="every value is zero"):
        make(center=False, fit_intercept=False).fit(np.zeros((80, 12)), y)
    model = make().fit(X, y)
    with pytest.raises(ValueError, match="X has 11 features, but SparsePCARegressor is expecting 12"):
        model.predict(X[:, 1:])


def test_data_narrower_than_the_defaults_are_fitted_whole_with_one_warning(rng):
    X, y = data(rng, d=3)
    with pytest.warns(errors.SparingWarning, match="default n_components=5 and n_nonzero=10 exceed") as caught:
        model = SparsePCARegressor().fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-9)
    with pytest.warns(errors.SparingWarning, match=r"default n_nonzero=10 exceed\(s\) the 8 feature"):
        SparsePCARegressor().fit(*data(rng, d=8))


def test_frames_names_pipelines_searches_clones_and_pickles(rng):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=[f'gene "{j}" <b>' for j in range(12)])
    model = make().set_output(transform="pandas").fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.transform(frame).columns) == list(model.get_feature_names_out()) == ["sparsepcaregressor0"]
    with pytest.raises(ValueError, match="X lacks 'gene"):
        model.predict(frame.rename(columns={frame.columns[model.support_[0]]: "other"}))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert str(again.certificate_) == str(model.certificate_)
    assert again.certificate_.recheck(frame, y)
    own = make(selector=DualSet(tie="objective"))
    assert clone(own).get_params() == own.get_params()
    piped = make_pipeline(StandardScaler(), make())
    search = GridSearchCV(piped, {"sparsepcaregressor__n_nonzero": [2, 6]}, cv=3).fit(X, y)
    assert search.best_params_["sparsepcaregressor__n_nonzero"] == 6


def test_a_seed_gives_one_answer(rng):
    X, y = data(rng, 40, 300)
    for selector in ("auto", "leverage", "response"):
        first, second = (make(selector=selector, random_state=3).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(first.coef_, second.coef_)


@pytest.mark.usefixtures("slow_reading")
def test_passes_are_told_and_are_those_of_this_fit(rng, capsys):
    X, y = data(rng)
    rows = as_rows(X)
    once, again = (make().fit(rows, y).n_passes_ for _ in range(2))
    assert once == again
    make(verbose=True).fit(X, y)
    assert f"[sparing] pass 1: 100% of {len(X)} rows" in capsys.readouterr().out


def test_verbose_says_what_is_reached(rng, capsys):
    make(verbose=True).fit(*data(rng))
    assert "4 features: residual" in capsys.readouterr().out


def test_memory_maps_are_read_in_blocks_and_counted(tmp_path, rng):
    X, y = data(rng, 3000, 40)
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    plain, mapped = make().fit(X, y), make().fit(stored, y)
    np.testing.assert_allclose(mapped.coef_, plain.coef_, atol=1e-9)
    assert mapped.n_passes_ == plain.n_passes_ > 0
    assert as_view(X, Preprocessing()).n_samples == 3000


def test_sparse_data_are_never_held_dense():
    n, d, k, r = 1500, 4000, 5, 20
    X = sparse.random(n, d, density=0.01, format="csr", random_state=np.random.default_rng(0))
    y = X @ np.random.default_rng(0).standard_normal(d)
    for selector in ("auto", "response"):
        make(selector=selector).fit(X[:100], y[:100])  # imports and caches
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise has a flat spectrum
            SparsePCARegressor(k, n_nonzero=r, selector=selector, effort="quick", random_state=0).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * n * d / (6 if selector == "auto" else 10)  # auto has copies of its samples, sparse ones


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 15),
    d=st.integers(1, 8),
    k=st.integers(1, 3),
    r=st.integers(1, 8),
    n_targets=st.integers(1, 4),
    integers=st.booleans(),
    center=st.booleans(),
    intercept=st.booleans(),
    selector=st.sampled_from(SELECTORS),
)
def test_invariants_on_small_and_tied_data(seed, n, d, k, r, n_targets, integers, center, intercept, selector):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, d)).astype(float) if integers else rng.standard_normal((n, d))
    Y = rng.integers(-1, 2, (n, n_targets)).astype(float) if integers else rng.standard_normal((n, n_targets))
    if np.ptp(X, axis=0).min() == 0:
        return
    k, r = min(k, d), min(r, d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparsePCARegressor(
            k, n_nonzero=r, selector=selector, center=center, fit_intercept=intercept, random_state=0
        ).fit(X, Y)
    certificate = model.certificate_
    assert 1 <= len(model.support_) <= r
    assert 1 <= len(model.components_) <= min(k, r, n_targets)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert certificate.value == pytest.approx(np.linalg.norm(Y - model.predict(X)), abs=1e-9)
    assert certificate.value <= certificate.total * (1 + 1e-12)
    assert all(guarantee.holds for guarantee in certificate.guarantees)
    assert certificate.recheck(X, Y)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("center", "intercept"), [(True, True), (False, False), (False, True)])
def test_missing_values_are_means_where_that_is_asked_for(storage, center, intercept, rng, tmp_path):
    X, y = data(rng)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    means = np.nanmean(holes, axis=0)
    whole = np.where(np.isnan(holes), means, holes)
    config = {"center": center, "fit_intercept": intercept, "selector": "auto" if center else "response"}
    with pytest.raises(ValueError, match="NaN"):
        make(**config).fit(storage(holes), y)
    found, wanted = make(missing="mean", **config).fit(storage(holes), y), make(**config).fit(whole, y)
    np.testing.assert_allclose(found.imputation_, means)
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(found.coef_, wanted.coef_, atol=1e-9)
    np.testing.assert_allclose(found.predict(storage(holes[:3])), wanted.predict(whole[:3]))
    np.testing.assert_allclose(found.transform(storage(holes)), wanted.transform(whole), atol=1e-9)
    assert found.certificate_.value == pytest.approx(wanted.certificate_.value)
    assert found.certificate_.recheck(storage(holes), y)
    save_model(found, tmp_path / "found.model")
    again = load_model(tmp_path / "found.model")
    np.testing.assert_array_equal(again.predict(storage(holes)), found.predict(storage(holes)))
    assert not hasattr(found.set_params(missing="error").fit(whole, y), "imputation_")


def test_counts_may_be_any_kind_of_integer(rng):
    X = rng.standard_normal((150, 5))
    y = X @ rng.standard_normal(5)
    narrow = SparsePCARegressor(np.int8(2), n_nonzero=np.int8(3), random_state=0).fit(X, y)  # 150 exceeds an int8
    plain = SparsePCARegressor(2, n_nonzero=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(narrow.coef_, plain.coef_)


@pytest.mark.parametrize("selector", ["auto", "response", "dual_set"])
@pytest.mark.parametrize(("center", "fit_intercept"), [(True, True), (False, True), (False, False)])
def test_whole_weights_count_as_copies(selector, center, fit_intercept, rng):
    X = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 10)) + 0.3 * rng.standard_normal((40, 10)) + 3
    y, weights = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((40, 2)) + 5, rng.integers(0, 4, 40)
    settings = {"n_nonzero": 4, "selector": selector, "center": center, "fit_intercept": fit_intercept}

    def make():
        return SparsePCARegressor(2, **settings, effort="quick")

    weighted = make().fit(X, y, sample_weight=weights)
    copied = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, copied.intercept_, atol=1e-8)
    for name in ("value", "pca_value", "total"):
        np.testing.assert_allclose(getattr(weighted.certificate_, name), getattr(copied.certificate_, name))
    ours, theirs = ([each.limit for each in model.certificate_.guarantees] for model in (weighted, copied))
    np.testing.assert_allclose(ours, theirs)
    assert weighted.certificate_.recheck(X, y, weights)
    assert not weighted.certificate_.recheck(X, y)  # control
    assert not np.allclose(make().fit(X, y).coef_, weighted.coef_)
