"""Bad data get a sentence; good data are taken as they are."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sparing import SparseEncoder
from sparing.data import Preprocessing, SparseRows, as_rows, as_view
from sparing.errors import SparingWarning

GOOD = np.random.default_rng(0).standard_normal((6, 3))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ("a string", "X is a str; a table of numbers is needed"),
        (None, "X is a NoneType"),
        ({"a": [1.0]}, "X is a dict"),
        (3.0, "X is a float"),
        ([1.0, 2.0, 3.0], "Reshape your data"),
        (np.zeros((2, 2, 2)), "Reshape your data"),
        ([[1.0, 2.0], [3.0]], "rows differ in length"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.array([["a", "b"], ["c", "d"]]), "values of type <U1"),
        (np.array([[1.0, "b"], [2.0, 3.0]], dtype=object), "string or an object"),
        (np.array([["2020-01-01"]] * 2, dtype="datetime64[D]"), "datetime64"),
        (GOOD + 1j, "Complex data not supported"),
        (sparse.csr_array(GOOD + 1j), "Complex data not supported"),
    ],
)
def test_what_is_no_table_of_numbers(X, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        as_rows(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csc_array, lambda X: X.astype(np.float32)])
def test_nan_and_infinity_are_named_with_their_place(bad, storage):
    X = GOOD.copy()
    X[4, 1] = X[5, 0] = bad
    name = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(ValueError, match=rf"contains {name} \(first at row 4, feature 1\)"):
        as_view(storage(X))


def test_masked_values_are_missing_values():
    with pytest.raises(ValueError, match="NaN"):
        as_view(np.ma.masked_array(GOOD, mask=GOOD > 1))


def test_one_row_cannot_be_centred_but_can_be_used():
    with pytest.raises(ValueError, match="n_samples=1"):
        as_view(GOOD[:1])
    assert as_view(GOOD[:1], Preprocessing(center=False)).total > 0


@pytest.mark.parametrize("size", [1e160, 1e-160, 1e300, 1e-300])
def test_values_beyond_double_precision_squares(size):
    with pytest.raises(ValueError, match="between about 1e-150 and 1e"):
        as_view(GOOD * size)


def test_frames_are_taken_and_strange_columns_named():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": ["x", "y"]})
    np.testing.assert_array_equal(as_rows(frame[["a", "b"]]).source, [[1.0, 3.0], [2.0, 4.0]])
    np.testing.assert_array_equal(as_rows(pl.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})).source, [[1, 3], [2, 4]])
    for strange in (frame, pl.from_dict({name: list(frame[name]) for name in frame})):
        with pytest.raises(ValueError, match="in columns 'c'"):
            as_rows(strange)


def test_a_lazy_frame_is_to_be_collected_and_polars_is_not_asked_for_its_columns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for take in (as_rows, as_view, SparseEncoder(1).fit):
            with pytest.raises(TypeError, match=r"X is a LazyFrame.*Call X.collect\(\) first"):
                take(pl.LazyFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}))


def test_frames_hold_dates_missing_values_names_twice_and_more():
    day = pd.date_range("2020", periods=3)
    for frame, sentence in (
        (pd.DataFrame({"a": day, "b": day}), "in columns 'a', 'b'"),
        (pd.DataFrame({"a": day - day[0], "b": [1, 2, 3]}), "timedelta"),
        (pl.DataFrame({"a": day.to_numpy()}), "in columns 'a'"),
        (pd.DataFrame({"a": ["1", "2"]}), "in columns 'a'"),
        (pd.DataFrame({"a": [1j, 2j]}), "Complex data"),
        (pd.DataFrame({"a": [10**400, 1]}, dtype=object), "beyond the range of double precision"),
        (np.ma.masked_array(["a", "b"], mask=[0, 1]).reshape(2, 1), "values of type"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            as_rows(frame)
    missing = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"NaN \(first at row 1, feature 0"):
        as_view(missing)
    np.testing.assert_array_equal(as_rows(missing.dropna()).source, [[1, 1], [3, 3]])
    with pytest.raises(ValueError, match=r"NaN.*feature 'weight'"):
        SparseEncoder(1).fit(pd.DataFrame({"height": [1.0, 2.0], "weight": [np.nan, 1.0]}))
    with pytest.warns(SparingWarning, match="several features are named 'a'"):
        assert list(SparseEncoder(1).fit(pd.DataFrame(GOOD, columns=["a", "a", "b"])).feature_names_in_)[1] == "a-1"


def test_sparse_frames_stay_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.random(50, 4, 0.2, random_state=0))
    assert isinstance(as_rows(frame), SparseRows)


def test_a_memory_map_is_not_read_whole(tmp_path):
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=GOOD.shape)
    stored[:] = GOOD
    assert as_rows(stored).source is stored


def test_duplicate_sparse_entries_are_summed_in_a_copy():
    twice = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 2)).tocsr()
    before = twice.data.copy()
    np.testing.assert_allclose(
        as_view(twice, Preprocessing(center=False)).columns([1])[:, 0] * 2.0**0 > 0, [True, False, False]
    )
    dense = as_view(twice.toarray())
    np.testing.assert_allclose(as_view(twice).gram(), dense.gram())
    np.testing.assert_array_equal(twice.data, before)


COVARIANCE = GOOD.T @ GOOD


@pytest.mark.parametrize(
    ("C", "sentence"),
    [
        (GOOD, r"square covariance or correlation matrix, got shape \(6, 3\)"),
        (COVARIANCE + np.triu(np.ones((3, 3)), 1), r"not symmetric: entries \(0, 1\)"),
        (sparse.csr_array(COVARIANCE), "dense covariance"),
        (np.where(np.eye(3) > 0, np.nan, COVARIANCE), "NaN"),
    ],
)
def test_what_is_no_covariance(C, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_view(C, Preprocessing(precomputed=True))


def test_an_indefinite_covariance_is_known_as_such():
    assert as_view(COVARIANCE, Preprocessing(precomputed=True)).is_psd
    assert as_view(np.ones((3, 3)), Preprocessing(precomputed=True)).is_psd  # singular is fine
    assert not as_view(np.array([[1.0, 2.0], [2.0, 1.0]]), Preprocessing(precomputed=True)).is_psd


def test_a_covariance_in_single_precision_may_be_indefinite_by_rounding():
    Y = np.random.default_rng(1).standard_normal((20, 50)).astype(np.float32)
    assert as_view(np.cov(Y, rowvar=False, dtype=np.float32), Preprocessing(precomputed=True)).is_psd


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1.0, 1e290])
def test_a_scaled_covariance_is_a_correlation(size):
    view = as_view(COVARIANCE * size, Preprocessing(precomputed=True, scale=True))
    np.testing.assert_allclose(view.gram(), COVARIANCE / np.sqrt(np.outer(np.diag(COVARIANCE), np.diag(COVARIANCE))))
    np.testing.assert_allclose(view.scale, np.sqrt(np.diag(COVARIANCE) * size))
