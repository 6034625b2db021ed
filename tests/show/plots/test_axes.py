"""What every display refuses, and how names are shown."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

import sparing.plots
from sparing import SparseEncoder, SparseHierarchicalClustering, SparsePCA, sparsity_path
from sparing.show.plots._axes import plain

X = np.random.default_rng(0).standard_normal((20, 6))
ENCODER = SparseEncoder(2, n_nonzero=3, random_state=0, certify=False)
TREE = SparseHierarchicalClustering(2, n_features=3)
DRAWN = {
    "BiplotDisplay": (ENCODER, (X,)),
    "DendrogramDisplay": (TREE, ()),
    "FeatureWeightsDisplay": (TREE, ()),
    "ImagePartsDisplay": (ENCODER, ((2, 3),)),
    "LoadingsDisplay": (ENCODER, ()),
    "ScoresDisplay": (ENCODER, (X,)),
    "SpannogramDisplay": (SparsePCA(1, n_nonzero=2, random_state=0, certify=False), (X,)),
    "WeightedDendrogramDisplay": (TREE, ()),
}


def test_every_display_is_known_here():
    others = {"AlternativesDisplay", "ComponentCountDisplay", "SparsityPathDisplay", "StabilityDisplay"}
    assert {*DRAWN, *others} == set(sparing.plots.__all__)


@pytest.mark.parametrize("name", DRAWN)
def test_every_display_draws_what_is_fitted_and_refuses_the_rest(name):
    estimator, more = DRAWN[name]
    display = getattr(sparing.plots, name)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        display.from_estimator(estimator.__class__(), *more)
    with pytest.raises(TypeError, match=r"KMeans has no \w+_ to draw"):
        display.from_estimator(KMeans(2, n_init=1).fit(X), *more)
    with pytest.raises(TypeError, match="not an estimator"):
        display.from_estimator("model", *more)
    shown = display.from_estimator(estimator.fit(X), *more)
    assert shown.ax_.figure is shown.figure_
    shown.figure_.canvas.draw()


def test_the_path_refuses_what_is_no_path():
    with pytest.raises(TypeError, match=r"sparsity_path\(X\)"):
        sparing.plots.SparsityPathDisplay.from_path(ENCODER)


@pytest.mark.parametrize("name", [*DRAWN, "SparsityPathDisplay"])
def test_without_matplotlib_there_is_a_sentence(name, monkeypatch):
    display = getattr(sparing.plots, name)
    if name in DRAWN:
        estimator, more = DRAWN[name]
        drawing, what = display.from_estimator, (estimator.fit(X), *more)
    else:
        drawing, what = display.from_path, (sparsity_path(X, 2, random_state=0),)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        drawing(*what)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("BRCA1", "BRCA1"),
        ("$x^2$", r"\$x^2\$"),
        ("two\nlines\tand   more", "two lines and more"),
        (3, "3"),
        ("a" * 20 + "b" * 20, "a" * 18 + "…" + "b" * 9),
    ],
)
def test_names_are_plain_short_and_on_one_line(name, shown):
    assert plain(name) == shown
