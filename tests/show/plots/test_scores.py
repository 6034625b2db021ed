"""Points are scores, coloured by label; inner products of a biplot are the rebuilt data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing import DoublySparseEncoder, NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.plots import BiplotDisplay, ScoresDisplay

WINE = load_wine()


@pytest.fixture(scope="module")
def model():
    return SparseEncoder(3, n_nonzero=6, scale=True, random_state=0, certify=False).fit(WINE.data)


def test_each_group_has_its_points_and_its_name(model):
    labels = np.array(["_hidden", "$b$", "c"])[WINE.target]
    shown = ScoresDisplay.from_estimator(model, WINE.data, labels=labels, components=(2, 0))
    scores = model.transform(WINE.data)[:, [2, 0]]
    texts = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert texts == [r"\$b\$", "_hidden", "c"]
    for name, points in zip(["$b$", "_hidden", "c"], shown.points_, strict=True):
        np.testing.assert_array_equal(points.get_offsets(), scores[labels == name])
    looks = {(tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes()) for points in shown.points_}
    assert len(looks) == 3
    assert shown.ax_.get_xlabel().startswith("component 3 (")
    shown.figure_.canvas.draw()


def test_eleven_groups_all_look_different(model):
    shown = ScoresDisplay.from_estimator(model, WINE.data, labels=np.arange(178) % 11)
    looks = {(tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes()) for points in shown.points_}
    assert len(looks) == len(shown.points_) == 11


def test_many_numbers_are_a_scale(model):
    shown = ScoresDisplay.from_estimator(model, WINE.data, labels=WINE.data[:, 0])
    (points,) = shown.points_
    np.testing.assert_array_equal(points.get_array(), WINE.data[:, 0])
    assert len(shown.figure_.axes) == 2


def test_labels_and_components_are_checked(model):
    with pytest.raises(ValueError, match="178 samples"):
        ScoresDisplay.from_estimator(model, WINE.data, labels=["a"])
    with pytest.raises(ValueError, match="2 whole numbers from 0 to 2"):
        ScoresDisplay.from_estimator(model, WINE.data, components=(0, 1, 2))
    single = SparseEncoder(1, n_nonzero=2, certify=False).fit(WINE.data)
    with pytest.raises(ValueError, match="n_components"):
        ScoresDisplay.from_estimator(single, WINE.data)


@pytest.mark.parametrize(
    "estimator",
    [
        SparseEncoder(2, n_nonzero=5, scale=True, random_state=0),
        SparsePCA(2, n_nonzero=4, scale=True, random_state=0, effort="quick"),
        NonnegativeSparsePCA(2, n_nonzero=4, random_state=0, effort="quick"),
        DoublySparseEncoder(2, n_nonzero=4, n_rows=10, scale=True, random_state=0, effort="quick"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_points_times_arrows_are_the_rebuilt_data(estimator):
    fitted = estimator.set_params(certify=False).fit(WINE.data)
    shown = BiplotDisplay.from_estimator(fitted, WINE.data)
    points = shown.points_[0].get_offsets().data
    tips = np.empty((len(shown.support_), 2))
    order = np.argsort(-np.linalg.norm(shown.arrows, axis=1), kind="stable")
    tips[order] = [arrow.xy for arrow in shown.arrows_]
    rebuilt = (fitted.inverse_transform(fitted.transform(WINE.data)) - fitted.mean_) / fitted.scale_
    np.testing.assert_allclose(points @ tips.T, rebuilt[:, shown.support_], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(shown.support_, fitted.support_)
    assert np.linalg.norm(tips, axis=1).max() == pytest.approx(np.linalg.norm(points, axis=1).max())
    assert shown.ax_.get_aspect() == 1.0


def test_arrows_stand_for_kept_features_alone_and_names_do_not_overlap(model):
    shown = BiplotDisplay.from_estimator(model, WINE.data, labels=WINE.target, feature_names=WINE.feature_names)
    names = [text for text in shown.ax_.texts if text.get_text()]
    wanted = {WINE.feature_names[j] for j in np.flatnonzero(model.components_[:2].any(axis=0))}
    assert {text.get_text() for text in names} == wanted
    boxes = [text.get_window_extent() for text in names]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    shown.figure_.canvas.draw()
