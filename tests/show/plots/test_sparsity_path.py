"""The band is what was proved, the line what was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparing import sparsity_path
from sparing.datasets import load_pitprops
from sparing.plots import SparsityPathDisplay


@pytest.fixture(scope="module")
def path():
    return sparsity_path(load_pitprops().correlation, 2, center=False, random_state=0)


def test_the_line_is_what_is_kept_and_the_band_reaches_up_to_the_bound(path):
    shown = SparsityPathDisplay.from_path(path)
    np.testing.assert_array_equal(shown.line_.get_xydata(), np.column_stack([path.n_features, path.variance_kept]))
    corners = {(round(x, 9), round(y, 9)) for x, y in shown.band_.get_paths()[0].vertices}
    for ends in (path.variance_kept_bound, path.variance_kept):
        assert {(round(float(r), 9), round(float(y), 9)) for r, y in zip(path.n_features, ends, strict=True)} <= corners
    shown.figure_.canvas.draw()


def test_proved_numbers_are_marked(path):
    shown = SparsityPathDisplay.from_path(path)
    (marked,) = [line for line in shown.ax_.lines if line.get_label() == "proved optimal"]
    proved = path.n_features[path.bound >= path.loss_ratio * (1 - 1e-6)]
    assert len(proved) > 0
    np.testing.assert_array_equal(marked.get_xdata(), proved)


def test_a_loss_that_can_be_borne_marks_the_fewest(path):
    for wanted, reached in (({"max_loss": 1.05}, ""), ({"min_variance": 0.95}, " keep 95%")):
        shown = SparsityPathDisplay.from_path(path, **wanted, color="black")
        label = f"{path.smallest(**wanted)} features{reached}"
        (marked,) = [line for line in shown.ax_.lines if line.get_label() == label]
        assert marked.get_xdata() == [path.smallest(**wanted)]
    assert shown.line_.get_color() == "black"


def test_a_loss_that_is_never_reached_gets_the_sentence_of_the_path():
    short = sparsity_path(load_pitprops().correlation, 2, center=False, max_features=2, random_state=0)
    with pytest.raises(ValueError, match="max_features"):
        SparsityPathDisplay.from_path(short, max_loss=1.0001)


def test_the_legend_names_a_band_only_where_there_is_one(path):
    def legend(of):
        return [text.get_text() for text in SparsityPathDisplay.from_path(of).ax_.get_legend().get_texts()]

    loose = replace(path, bound=np.where(path.n_features == 4, 1.0, path.bound))
    tight = replace(path, bound=path.loss_ratio)
    assert "gap to the upper bound" in legend(loose)
    assert "gap to the upper bound" not in legend(tight)
