"""Callbacks of scikit-learn see the stages of a fit, whatever the estimator; without them nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparing import ColumnSelector, SparseEncoder, SparseKMeans, SparsePCA, load_model, save_model

pytest.importorskip("sklearn.callback")


class Recorder:
    """Notes what it is told."""

    def __init__(self):
        self.said = []

    def setup(self, estimator, context):
        self.said.append("setup")

    def teardown(self, estimator, context):
        self.said.append("teardown")

    def on_fit_task_begin(self, estimator, context, **details):
        self.said.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, **details):
        self.said.append(f"end {context.task_name}")


STAGES = [f"{when} {name}" for name in ("read", "search", "prove") for when in ("begin", "end")]


@pytest.mark.parametrize(
    "model",
    [
        SparseEncoder(2, n_nonzero=3, effort="quick"),
        SparsePCA(1, n_nonzero=3, effort="quick"),
        ColumnSelector(3, effort="quick"),
        SparseKMeans(2, n_features=3, effort="quick"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_stages_are_reported_in_their_order(model, rng):
    X, seen = rng.standard_normal((30, 6)), Recorder()
    silent = clone(model).fit(X)
    told = clone(model).set_callbacks(seen).fit(X)
    assert seen.said == ["setup", "begin fit", *STAGES, "end fit", "teardown"]
    np.testing.assert_array_equal(told.support_, silent.support_)


def test_a_fit_that_fails_is_torn_down_and_may_be_tried_again(rng):
    X, seen = rng.standard_normal((30, 6)), Recorder()
    model = SparseEncoder(2, n_nonzero=3, effort="quick").set_callbacks(seen)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((30, 6), np.nan))
    assert seen.said == ["setup", "begin fit", "begin read", "teardown"]
    model.fit(X)
    assert seen.said[-1] == "teardown"


def test_models_with_callbacks_are_saved_without_them(tmp_path, rng):
    X = rng.standard_normal((30, 6))
    model = SparseEncoder(2, n_nonzero=3, effort="quick").set_callbacks(Recorder()).fit(X)
    save_model(model, tmp_path / "model.sparing")
    np.testing.assert_array_equal(load_model(tmp_path / "model.sparing").transform(X), model.transform(X))


def test_in_a_pipeline(rng):
    seen = Recorder()
    steps = make_pipeline(StandardScaler(), SparseEncoder(2, n_nonzero=3, effort="quick").set_callbacks(seen))
    steps.fit(rng.standard_normal((30, 6)))
    assert seen.said[0] == "setup"
    assert seen.said[-1] == "teardown"
