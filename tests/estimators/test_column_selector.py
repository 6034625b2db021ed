"""What ColumnSelector promises: the features of the encoder, as a step that keeps columns as they are."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparing import SparseEncoder, information_loss, open_data
from sparing.estimators.column_selector import ColumnSelector
from sparing.methods.selectors import Greedy


def data(rng, n=80, d=12):
    return rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.3 * rng.standard_normal((n, d)) + 5.0


X = data(np.random.default_rng(1))


def selector(**parameters):
    return ColumnSelector(**{"n_features_to_select": 4, "n_components": 3, "random_state": 0, **parameters})


@pytest.mark.parametrize("scale", [False, True])
def test_keeps_the_features_of_the_encoder_and_tells_what_they_cost(scale):
    fitted = selector(scale=scale).fit(X)
    encoder = SparseEncoder(3, n_nonzero=4, scale=scale, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.support_, encoder.support_)
    np.testing.assert_allclose(fitted.loss_ratio_, encoder.loss_ratio_)
    np.testing.assert_array_equal(np.flatnonzero(fitted.get_support()), fitted.support_)
    np.testing.assert_array_equal(fitted.get_support(indices=True), fitted.support_)
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.support_])  # neither centred nor scaled
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_array_equal(back[:, fitted.support_], X[:, fitted.support_])
    left = (back - X)[:, ~fitted.get_support()]
    assert np.square(left).mean() < np.square(X - X.mean(axis=0)).mean()  # predicted, not zero


def test_the_ranking_begins_with_the_feature_that_tells_most():
    fitted = selector(n_features_to_select=6, n_components=1).fit(X)
    assert sorted(fitted.ranking_) == list(fitted.support_)
    alone = {j: information_loss(np.eye(12)[[j]], X) for j in fitted.support_}
    T = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    target, Z = T[0][:, 0] * T[1][0], X - X.mean(axis=0)
    explained = {j: (Z[:, j] @ target) ** 2 / (Z[:, j] @ Z[:, j]) for j in fitted.support_}
    assert fitted.ranking_[0] == max(explained, key=explained.get)
    assert alone[fitted.ranking_[0]] < alone[fitted.ranking_[-1]]


@pytest.mark.parametrize("storage", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array], ids=["csr", "csc", "coo"])
def test_sparse_data_stay_sparse(storage, rng):
    table = X * (rng.random(X.shape) < 0.4)
    fitted = selector().fit(storage(table))
    np.testing.assert_array_equal(fitted.support_, selector().fit(table).support_)
    kept = fitted.transform(storage(table))
    assert sparse.issparse(kept)
    np.testing.assert_array_equal(kept.toarray(), table[:, fitted.support_])


def test_memory_maps_units_and_types_give_the_same_features(tmp_path):
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    plain = selector().fit(X).ranking_
    for other in (stored, np.asfortranarray(X), X * 2.0**60, X * 1e-120, X.astype(np.float32)):
        np.testing.assert_array_equal(selector().fit(other).ranking_, plain)
    whole = np.round(X * 100).astype(np.int32)
    assert selector().fit(whole).transform(whole).dtype == np.int32


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    fitted = selector().set_output(transform="pandas").fit(frame)
    pd.testing.assert_frame_equal(fitted.transform(frame), frame.iloc[:, fitted.support_])
    assert list(fitted.get_feature_names_out()) == [f"gene {j}" for j in fitted.support_]
    table = pl.DataFrame({f"f{j}": X[:, j] for j in range(12)})
    kept = selector().set_output(transform="polars").fit_transform(table)
    assert isinstance(kept, pl.DataFrame)
    assert kept.columns == [f"f{j}" for j in fitted.support_]
    used = frame.columns[fitted.support_[0]]
    with pytest.raises(ValueError, match=f"X lacks '{used}'"):
        fitted.transform(frame.rename(columns={used: "other"}))


def test_pipelines_grids_clones_and_pickles():
    bunch = load_breast_cancer()
    piped = make_pipeline(StandardScaler(), ColumnSelector(5, 3, random_state=0), LogisticRegression())
    assert piped.fit(bunch.data, bunch.target).score(bunch.data, bunch.target) > 0.9
    grid = GridSearchCV(piped, {"columnselector__n_features_to_select": [2, 5]}, cv=2).fit(bunch.data, bunch.target)
    assert grid.best_params_["columnselector__n_features_to_select"] in (2, 5)
    fitted = selector().fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select=0 must be at least 1"),
        ({"n_features_to_select": 0.5}, "n_features_to_select=0.5 is a float. Pass an integer"),
        ({"n_components": 13}, "n_components=13, but X has n_features=12"),
        ({"n_components": "two"}, "n_components='two' is a str"),
        ({"selector": "magic"}, "selector='magic' is not known"),
        ({"center": 0}, "center=0 must be True or False"),
        ({"random_state": "a"}, "random_state='a' is neither"),
        ({"missing": "drop"}, "missing='drop' is not known"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        selector(**parameters).fit(X)


def test_constant_data_get_a_sentence():
    with pytest.raises(ValueError, match="every feature is constant"):
        selector().fit(np.ones((5, 4)))


def test_more_features_than_there_are_give_all_with_one_warning():
    with pytest.warns(UserWarning, match="n_features_to_select=20 was requested, but X has only 12 features") as caught:
        fitted = selector(n_features_to_select=20).fit(X)
    assert len(caught) == 1
    np.testing.assert_array_equal(fitted.support_, np.arange(12))
    assert fitted.loss_ratio_ == pytest.approx(1.0, abs=1e-9)


def test_features_that_add_nothing_are_left_out_with_one_warning(rng):
    doubled = np.repeat(rng.standard_normal((30, 2)), 4, axis=1)
    with pytest.warns(UserWarning, match=r"n_features_to_select=5 was requested, but 2 feature\(s\)") as caught:
        fitted = selector(n_features_to_select=5, n_components=2).fit(doubled)
    assert len(caught) == 1
    assert len(fitted.support_) == 2


def test_other_selectors_and_progress(capsys):
    assert len(selector(selector="dual_set").fit(X).support_) == 4
    assert len(selector(selector=Greedy(swaps=False), verbose=True).fit(X).support_) == 4
    assert "[sparing] 4 features: loss ratio" in capsys.readouterr().out


def test_an_opened_file_is_read_block_by_block(tmp_path, rng):
    X = pd.DataFrame(rng.standard_normal((50, 6)), columns=list("abcdef"))
    X.to_csv(tmp_path / "X.csv", index=False)
    model = ColumnSelector(3, 2, random_state=0).fit(open_data(tmp_path / "X.csv"))
    kept = model.transform(open_data(tmp_path / "X.csv", block_bytes=400))
    np.testing.assert_allclose(kept, X.to_numpy()[:, model.support_])
    used = X.columns[model.support_[0]]
    X.rename(columns={used: "z"}).to_csv(tmp_path / "Y.csv", index=False)
    with pytest.raises(ValueError, match=f"X lacks '{used}'"):
        model.transform(open_data(tmp_path / "Y.csv"))


HOLES = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("weights", [None, np.arange(80) % 3], ids=["alike", "weighted"])
def test_missing_values_are_means_while_features_are_judged_and_stay_where_they_are(storage, weights):
    with pytest.raises(ValueError, match="NaN"):
        selector().fit(storage(HOLES))
    fitted = selector(missing="mean").fit(storage(HOLES), sample_weight=weights)
    means = np.ma.average(np.ma.masked_invalid(HOLES), axis=0, weights=weights).filled(0.0)
    wanted = selector().fit(np.where(np.isnan(HOLES), means, HOLES), sample_weight=weights)
    np.testing.assert_allclose(fitted.imputation_, means)
    np.testing.assert_array_equal(fitted.ranking_, wanted.ranking_)
    kept = fitted.transform(storage(HOLES))
    np.testing.assert_array_equal(kept.toarray() if sparse.issparse(kept) else kept, HOLES[:, fitted.support_])
    with pytest.raises(ValueError, match="NaN"):
        wanted.transform(HOLES)
    assert not hasattr(fitted.set_params(missing="error").fit(X), "imputation_")


def test_missing_values_of_an_opened_file_stay_as_well(tmp_path):
    pd.DataFrame(HOLES).add_prefix("f").to_csv(tmp_path / "X.csv", index=False)
    fitted = selector(missing="mean").fit(open_data(tmp_path / "X.csv"))
    np.testing.assert_allclose(fitted.transform(open_data(tmp_path / "X.csv")), HOLES[:, fitted.support_])
    fitted.set_params(missing="error")
    with pytest.raises(ValueError, match="NaN"):
        fitted.transform(open_data(tmp_path / "X.csv"))


def test_whole_weights_count_as_copies(rng):
    weights = rng.integers(0, 4, 80)
    weighted, copied = selector().fit(X, sample_weight=weights), selector().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(weighted.ranking_, copied.ranking_)
    assert weighted.loss_ratio_ == pytest.approx(copied.loss_ratio_)
    assert weighted.loss_ratio_ != pytest.approx(selector().fit(X).loss_ratio_)
    with pytest.raises(ValueError, match="sample_weight"):
        selector().fit(X, sample_weight=-np.ones(80))


def test_a_lazy_frame_is_to_be_collected():
    fitted = selector().fit(pl.DataFrame(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in (selector().fit, fitted.transform):
            with pytest.raises(TypeError, match=r"Call X.collect\(\) first"):
                step(pl.DataFrame(X).lazy())


def test_counts_may_be_any_kind_of_integer(rng):
    X = rng.standard_normal((20, 5))
    narrow = ColumnSelector(n_components=np.int8(2), n_features_to_select=np.int8(2), random_state=0).fit(X)
    plain = ColumnSelector(n_components=2, n_features_to_select=2, random_state=0).fit(X)
    np.testing.assert_array_equal(narrow.support_, plain.support_)
