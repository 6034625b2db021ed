"""Loadings and equations by name."""

from __future__ import annotations

import builtins

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from sparing import ColumnSelector, SparseEncoder, SparsePCA, equations, loadings_table

WINE = load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def model():
    return SparsePCA(2, n_nonzero=3, scale=True, effort="quick").fit(WINE)


def test_rows_are_the_loadings_component_by_component(model):
    frame = loadings_table(model)
    assert isinstance(frame, pd.DataFrame)
    assert frame["component"].to_list() == ["component 1"] * 3 + ["component 2"] * 3
    for i, (_, part) in enumerate(frame.groupby("component")):
        wanted = model.components_[i, [WINE.columns.get_loc(name) for name in part["feature"]]]
        np.testing.assert_array_equal(part["loading"], wanted)
        assert (np.diff(np.abs(part["loading"])) <= 0).all()


def test_without_data_frames_it_is_text(model, monkeypatch):
    real = builtins.__import__

    def hidden(name, *rest, **options):
        if name in {"pandas", "polars"}:
            raise ModuleNotFoundError(name)
        return real(name, *rest, **options)

    frame = loadings_table(model)
    monkeypatch.setattr(builtins, "__import__", hidden)
    text = loadings_table(model)
    assert [line.split()[2] for line in text.splitlines()] == frame["feature"].to_list()


def test_equations_name_features(model):
    lines = equations(model, digits=2).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("component 1 = ")
    assert sum(name in lines[0] for name in WINE.columns) >= 3
    plain = SparseEncoder(1, n_nonzero=1, effort="quick").fit(WINE.to_numpy())
    assert equations(plain) == "component 1 = 1 x12"
    assert equations(plain, WINE.columns) == "component 1 = 1 proline"


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        (np.eye(3), TypeError, "a fitted estimator with components_ is needed"),
        (SparseEncoder(2), NotFittedError, "not fitted"),
        (ColumnSelector(2).fit(WINE), TypeError, "ColumnSelector has no components_"),
    ],
)
def test_what_has_no_loadings_gets_a_sentence(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        loadings_table(wrong)


def test_too_few_names_get_a_sentence(model):
    with pytest.raises(ValueError, match="1 names were given for 13 features"):
        equations(model, ["a"])
