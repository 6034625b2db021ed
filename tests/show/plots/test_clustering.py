"""What is drawn is what was fitted; names are shown as they are."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sparing import SparseHierarchicalClustering, SparseKMeans, SparsePCA
from sparing.plots import DendrogramDisplay, FeatureWeightsDisplay, WeightedDendrogramDisplay
from sparing.show.plots._axes import COLOURS


@pytest.fixture
def X(rng):
    X = rng.standard_normal((30, 40))
    X[:15, :4] += 4
    return X


def test_weights_in_falling_order_with_their_names(X):
    names = [f"gene <{j}> $a_{j}$" for j in range(40)]
    model = SparseKMeans(2, n_features=4, random_state=0, effort="quick").fit(pd.DataFrame(X, columns=names))
    shown = FeatureWeightsDisplay.from_estimator(model)
    widths = [bar.get_width() for bar in shown.ax_.patches]
    np.testing.assert_allclose(widths, np.sort(model.feature_weights_)[::-1][:4])
    assert np.all(np.diff(widths) <= 0)
    order = np.argsort(-model.feature_weights_, kind="stable")[:4]
    labels = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert labels == [names[j].replace("$", r"\$") for j in order]
    assert shown.ax_.get_title() == "4 of 40 features"
    shown.figure_.canvas.draw()  # markup and dollars are text


def test_many_weights_are_cut_and_the_title_says_so(X):
    model = SparseKMeans(2, n_features=12, random_state=0, effort="quick").fit(X)
    shown = FeatureWeightsDisplay.from_estimator(model, n_shown=5, color="tab:green")
    assert len(shown.ax_.patches) == 5
    assert "12 of 40 features, 5 shown" in shown.ax_.get_title()
    assert shown.ax_.get_yticklabels()[0].get_text().startswith("x")


@pytest.mark.parametrize("k", [1, 2, 3, 30])
def test_the_line_cuts_the_tree_into_as_many_clusters(X, k):
    model = SparseHierarchicalClustering(k, n_features=4, effort="quick").fit(X)
    shown = DendrogramDisplay.from_estimator(model, sample_names=[f"s{i}" for i in range(30)])
    assert int((model.distances_ > shown.height).sum()) + 1 == k
    leaves = {label.get_text() for label in shown.ax_.get_xticklabels()}
    assert leaves == {f"s{i}" for i in range(30)}


def test_clusters_have_colours_that_all_readers_tell_apart(X):
    shown = DendrogramDisplay.from_estimator(SparseHierarchicalClustering(3, n_features=4, effort="quick").fit(X))
    shown.figure_.canvas.draw()
    colours = {mpl.colors.to_hex(links.get_color()[0]).upper() for links in shown.ax_.collections}
    assert len(colours) >= 2
    assert colours <= set(COLOURS)


def test_axes_may_be_given(X):
    _, (left, right) = plt.subplots(1, 2)
    model = SparseHierarchicalClustering(2, n_features=4).fit(X)
    assert DendrogramDisplay.from_estimator(model, ax=left).ax_ is left
    assert FeatureWeightsDisplay.from_estimator(model, ax=right).ax_ is right


def test_what_cannot_be_drawn_gets_a_sentence(X, monkeypatch):
    model = SparseKMeans(2, n_features=4, random_state=0, effort="quick").fit(X)
    with pytest.raises(TypeError, match="linkage_matrix_"):
        DendrogramDisplay.from_estimator(model)
    with pytest.raises(TypeError, match="feature_weights_"):
        FeatureWeightsDisplay.from_estimator(SparsePCA(n_nonzero=2, effort="quick").fit(X))
    with pytest.raises(ValueError, match="3 names"):
        FeatureWeightsDisplay.from_estimator(model, feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="30 samples"):
        DendrogramDisplay.from_estimator(
            SparseHierarchicalClustering(2, n_features=3, effort="quick").fit(X), sample_names=["a"]
        )
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        FeatureWeightsDisplay.from_estimator(model)


def test_tree_and_weights_side_by_side(X):
    model = SparseHierarchicalClustering(2, n_features=4).fit(X)
    shown = WeightedDendrogramDisplay.from_estimator(model, n_shown=3)
    left, right = shown.axes_
    assert left.get_ylabel() == "weighted dissimilarity"
    np.testing.assert_allclose([bar.get_width() for bar in right.patches], np.sort(model.feature_weights_)[::-1][:3])
    _, given = plt.subplots(1, 2)
    assert WeightedDendrogramDisplay.from_estimator(model, ax=given).axes_ == list(given)
    with pytest.raises(ValueError, match="1 axes, but 2"):
        WeightedDendrogramDisplay.from_estimator(model, ax=given[0])
