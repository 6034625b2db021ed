"""Bars are the loadings in use, by name, the largest first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

from sparing import SparsePCA
from sparing.plots import LoadingsDisplay


@pytest.fixture
def model():
    wine = load_wine()
    names = [f"${name}$ in a column with a very long name indeed, number {j}" for j, name in enumerate("abcdefghijklm")]
    X = pd.DataFrame(wine.data, columns=names)
    return SparsePCA(2, n_nonzero=[5, 3], scale=True, random_state=0, certify=False).fit(X)


def test_each_panel_has_the_nonzero_loadings_by_size(model):
    shown = LoadingsDisplay.from_estimator(model)
    assert len(shown.axes_) == 2
    for ax, component in zip(shown.axes_, model.components_, strict=True):
        order = np.argsort(-np.abs(component), kind="stable")[: np.count_nonzero(component)]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], component[order])
        assert all(bar.get_width() != 0 for bar in ax.patches)
        for label, j in zip(ax.get_yticklabels(), order, strict=True):
            assert label.get_text().startswith(r"\$" + "abcdefghijklm"[j])
            assert label.get_text().endswith(f"number {j}")
            assert "…" in label.get_text()
    shown.figure_.canvas.draw()


def test_signs_have_colours_of_their_own(model):
    (ax,) = LoadingsDisplay.from_estimator(model, components=[0]).axes_
    colours = {bar.get_width() > 0: bar.get_facecolor() for bar in ax.patches}
    assert len({bar.get_facecolor() for bar in ax.patches}) == len(colours)


def test_long_components_are_cut_and_say_so(model):
    shown = LoadingsDisplay.from_estimator(model, n_shown=2, feature_names=[f"f{j}" for j in range(13)])
    assert [len(ax.patches) for ax in shown.axes_] == [2, 2]
    assert shown.axes_[0].get_title() == "component 1: 5 features, 2 shown"


def test_components_and_axes_may_be_chosen(model):
    _, (left, right) = plt.subplots(1, 2)
    assert LoadingsDisplay.from_estimator(model, components=[1], ax=left).ax_ is left
    assert LoadingsDisplay.from_estimator(model, ax=[left, right]).axes_ == [left, right]
    with pytest.raises(ValueError, match="1 axes, but 2"):
        LoadingsDisplay.from_estimator(model, ax=left)
    for wrong in ([2], [-1], [], ["a"], [0.5]):
        with pytest.raises(ValueError, match="from 0 to 1"):
            LoadingsDisplay.from_estimator(model, components=wrong)
