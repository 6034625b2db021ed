"""A model needs only its features: by name in any order, as an array of their own, or among what is missing."""

from __future__ import annotations

import functools
import warnings

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from counted_rows import CountedRows, factors
from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparsePCA,
    SparsePCARegressor,
    load_model,
    open_data,
    save_model,
)

NAMES = [f"gene {j}" for j in range(12)]
MODELS = {
    "encoder": SparseEncoder(2, n_nonzero=4, scale=True, effort="quick"),
    "no bottleneck": SparseEncoder(None, n_nonzero=3, effort="quick"),
    "joint": SparseEncoder(2, n_nonzero=2, strategy="joint", effort="quick"),
    "doubly sparse": DoublySparseEncoder(2, n_nonzero=4, n_rows=6, effort="quick"),
    "variance": SparsePCA(2, n_nonzero=3, effort="quick"),
    "nonnegative": NonnegativeSparsePCA(2, n_nonzero=3, effort="quick"),
    "regressor": SparsePCARegressor(2, n_nonzero=4, effort="quick"),
    "selector": ColumnSelector(4, effort="quick"),
}
models = pytest.mark.parametrize("name", MODELS)


TABLE = factors(np.random.default_rng(20150225), 50, 12, 3, noise=1.0) + 5.0


@pytest.fixture
def X():
    return TABLE.copy()


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=NAMES)


@functools.cache
def learned(name, with_names):
    """A model of this table, with names of features or without; all tests ask the same one."""
    return clone(MODELS[name]).fit(pd.DataFrame(TABLE, columns=NAMES) if with_names else TABLE, TABLE[:, 0])


def outputs(model, X):
    """All that is computed from new samples."""
    made = [np.asarray(model.transform(X))]
    return [*made, model.predict(X)] if isinstance(model, SparsePCARegressor) else made


def assert_same(got, wanted):
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def beside(X, support):
    """The table with NaN wherever the model does not look."""
    return np.where(np.isin(np.arange(X.shape[1]), support), X, np.nan)


@models
def test_features_are_found_by_their_names(name, frame, tmp_path):
    model = learned(name, True)
    wanted = outputs(model, frame)
    panel = frame[frame.columns[model.support_][::-1]].assign(note="text", more=1.0)
    panel = panel[["more", *panel.columns.drop("more")]]
    assert_same(outputs(model, panel), wanted)
    assert_same(outputs(model, pl.from_pandas(panel)), wanted)
    assert_same(outputs(model, frame[frame.columns[::-1]]), wanted)
    panel.drop(columns="note").to_csv(tmp_path / "panel.csv", index=False)
    with open_data(tmp_path / "panel.csv") as rows:
        assert_same(outputs(model, rows), wanted)
    shuffled = frame[frame.columns[model.support_]].set_axis(frame.columns[model.support_][::-1], axis=1)
    assert np.abs(outputs(model, shuffled)[0] - wanted[0]).max() > 0.1  # the control: other names are other features


@models
@pytest.mark.parametrize(
    "storage",
    [
        np.asarray,
        np.ndarray.tolist,
        sparse.csr_array,
        sparse.csc_matrix,
        CountedRows,
        lambda X: da.from_array(X, (20, 2)),
    ],
    ids=["array", "list", "csr", "csc", "blocks", "dask"],
)
def test_an_array_of_these_features_alone(name, storage, X):
    model = learned(name, False)
    wanted = outputs(model, X)
    made = model.transform(storage(X[:, model.support_]))
    made = made.toarray() if sparse.issparse(made) else np.asarray(made)
    np.testing.assert_allclose(made, wanted[0], rtol=1e-12, atol=1e-12)
    if isinstance(model, SparsePCARegressor):
        np.testing.assert_allclose(model.predict(storage(X[:, model.support_])), wanted[1], rtol=1e-12)


@models
def test_other_features_may_be_missing(name, X):
    model = learned(name, False)
    wanted = outputs(model, X)
    holes = beside(X, model.support_)
    assert_same(outputs(model, holes), wanted)
    assert_same(outputs(model, CountedRows(holes)), wanted)
    torn = holes.copy()
    torn[7, model.support_[1]] = np.nan  # the control: this one is needed
    with pytest.raises(ValueError, match="NaN"):
        model.transform(torn)
    assert_same(outputs(learned(name, True), pd.DataFrame(holes, columns=NAMES)), wanted)


@models
def test_saved_models_and_float32(name, frame, tmp_path):
    model = learned(name, True)
    wanted = outputs(model, frame)
    save_model(model, tmp_path / "panel.model")
    loaded = load_model(tmp_path / "panel.model")
    panel = frame[frame.columns[model.support_]]
    assert_same(outputs(loaded, panel), wanted)
    assert outputs(loaded, panel.astype(np.float32))[0].dtype == np.float32


@models
def test_what_is_lacking_is_named(name, frame):
    model = learned(name, True)
    needed = NAMES[model.support_[0]]
    with pytest.raises(ValueError, match=f"X lacks '{needed}', which this {type(model).__name__} reads"):
        model.transform(frame.drop(columns=needed))
    with pytest.raises(
        ValueError, match=rf"X has 11 features, but .* 12 features as input, or the {len(model.support_)} "
    ):
        model.transform(frame.to_numpy()[:, :11])
    twice = pd.concat([frame, frame[[needed]]], axis=1)
    with pytest.raises(ValueError, match=f"several columns named '{needed}'"):
        model.transform(twice)
    other = NAMES[np.setdiff1d(np.arange(12), model.support_)[0]]
    assert np.isfinite(np.asarray(model.transform(pd.concat([frame, frame[[other]]], axis=1)))).all()


def test_pipelines_and_set_output(frame, X):
    steps = make_pipeline(SparseEncoder(2, n_nonzero=4, effort="quick"), LinearRegression()).fit(frame, X[:, 0])
    panel = frame[frame.columns[steps[0].support_][::-1]]
    np.testing.assert_allclose(steps.predict(panel), steps.predict(frame), rtol=1e-12)
    model = SparseEncoder(2, n_nonzero=4, effort="quick").set_output(transform="pandas").fit(frame)
    moved = panel.set_axis([f"row {i}" for i in range(50)], axis=0)
    scores = model.transform(moved)
    assert list(scores.index) == list(moved.index)
    np.testing.assert_allclose(scores, model.transform(frame), rtol=1e-12)
    chosen = ColumnSelector(4, effort="quick").set_output(transform="pandas").fit(frame)
    narrow = chosen.transform(frame[frame.columns[chosen.support_][::-1]])
    assert list(narrow.columns) == list(frame.columns[chosen.support_])


def test_missing_values_of_the_features_used_are_filled(frame):
    model = SparseEncoder(2, n_nonzero=4, missing="mean", effort="quick").fit(frame)
    holes = frame.copy()
    holes.iloc[3, model.support_[2]] = np.nan
    panel = holes[holes.columns[model.support_][::-1]]
    np.testing.assert_allclose(model.transform(panel), model.transform(holes), rtol=1e-12)


def test_the_width_of_both_is_the_full_table(X):
    model = SparseEncoder(2, n_nonzero=12, effort="quick").fit(X)
    assert len(model.support_) == 12
    np.testing.assert_allclose(model.transform(X), (X - model.mean_) @ model.components_.T, atol=1e-12)


def test_a_score_needs_all_features(frame):
    model = SparseEncoder(2, n_nonzero=4, effort="quick").fit(frame)
    assert model.score(frame[frame.columns[::-1]].assign(more=1.0)) == pytest.approx(model.score(frame))
    with pytest.raises(ValueError, match="score compares every feature with its prediction, so all 12"):
        model.score(frame[frame.columns[model.support_]])
    plain = SparseEncoder(2, n_nonzero=4, effort="quick").fit(frame.to_numpy())
    with pytest.raises(ValueError, match="expecting 12 features"):
        plain.score(frame.to_numpy()[:, plain.support_])
    regressor = SparsePCARegressor(2, n_nonzero=4, effort="quick").fit(frame, frame["gene 0"])
    panel = frame[frame.columns[regressor.support_]]
    assert regressor.score(panel, frame["gene 0"]) == pytest.approx(regressor.score(frame, frame["gene 0"]))


def test_names_are_not_demanded_of_models_without_them(X, frame):
    model = SparseEncoder(2, n_nonzero=4, effort="quick").fit(X)
    with pytest.warns(UserWarning, match="X has feature names"):
        np.testing.assert_allclose(model.transform(frame), model.transform(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.transform(X[:, model.support_]), model.transform(X))


@given(seed=st.integers(0, 10**6), order=st.permutations(range(12)), dropped=st.integers(0, 8))
@settings(max_examples=20, deadline=None)
def test_any_order_and_any_others(seed, order, dropped):
    X = factors(np.random.default_rng(seed), 30, 12, 3)
    frame = pd.DataFrame(X, columns=NAMES)
    model = SparseEncoder(2, n_nonzero=4, effort="quick", certify=False).fit(frame)
    others = [j for j in order if j not in model.support_]
    kept = [j for j in order if j not in others[:dropped]]
    np.testing.assert_array_equal(model.transform(frame.iloc[:, kept]), model.transform(frame))


# --- the selector predicts what it leaves out -----------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [2, None])
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"center": False}])
def test_a_selector_predicts_the_features_that_it_leaves_out(n_components, settings, X):
    model = ColumnSelector(4, n_components, effort="quick", **settings).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back[:, model.support_], X[:, model.support_])
    level = np.zeros(12) if settings == {"center": False} else X.mean(axis=0)
    C, Y = X[:, model.support_] - level[model.support_], X - level
    np.testing.assert_allclose(back, C @ np.linalg.lstsq(C, Y, rcond=None)[0] + level, atol=1e-8)
    wanted = 1 - np.square(back - X).sum(axis=0) / np.square(Y).sum(axis=0)
    np.testing.assert_allclose(model.feature_r2_, wanted, atol=1e-9)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.inverse_transform(X)


def test_features_for_prediction_are_chosen_as_by_the_encoder_without_a_bottleneck(X):
    selector, encoder = ColumnSelector(4, None).fit(X), SparseEncoder(None, n_nonzero=4).fit(X)
    np.testing.assert_array_equal(selector.support_, encoder.support_)
    assert selector.variance_kept_ == pytest.approx(encoder.variance_kept_, rel=1e-9)
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_allclose(back, encoder.inverse_transform(encoder.transform(X)), atol=1e-8)


def test_copies_and_constants_are_predicted(rng):
    X = factors(rng, 40, 5, 2)
    X = np.column_stack([X, 2 * X[:, 0], np.full(40, 3.0)])
    model = ColumnSelector(5, None).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, X, atol=1e-8)
    np.testing.assert_allclose(model.feature_r2_, 1.0, atol=1e-9)
