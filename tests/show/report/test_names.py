"""Names on the page: told apart, of bounded length, as many as there are features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sparing.data import as_rows
from sparing.show.report.labels import NAME_CHARACTERS, distinct, page_names, readable
from sparing.show.wording import shown


def test_names_that_read_alike_say_which_feature_they_are():
    assert distinct(["a", "dup", "", " ", "dup"]) == [
        "a",
        "dup (feature 1)",
        "(feature 2)",
        "(feature 3)",
        "dup (feature 4)",
    ]


@pytest.mark.parametrize(
    "names", [["a\x01", "a\x02"], ["dup", "dup", "dup (feature 1)"], ["a b", "a\u00a0b"], ["שלם", "\u2068שלם\u2069"]]
)
def test_names_that_are_shown_alike_are_told_apart(names):
    assert len({shown(name) for name in distinct(names)}) == len(names)


def test_where_names_come_from():
    frame = pd.DataFrame(np.eye(3), columns=["a", "b", 3])
    rows = as_rows(frame)
    assert page_names(frame, rows, None) == ["a", "b", "3"]
    assert page_names(frame, rows, ["p", "q", "r"]) == ["p", "q", "r"]
    assert page_names(rows, rows, None) == ["x0", "x1", "x2"]
    rows.feature_names = ["in", "a", "file"]
    assert page_names(rows, rows, None) == ["in", "a", "file"]


def test_long_names_are_cut_and_stay_apart():
    names = page_names(None, as_rows(np.eye(2)), ["y" * 5000 + "1", "y" * 5000 + "2"])
    assert names[0] != names[1]
    assert max(map(len, names)) < NAME_CHARACTERS + 20
    assert readable("z" * 500).endswith("…")


@pytest.mark.parametrize("wrong", [["a"], "abc", 7])
def test_a_wrong_number_of_names_gets_a_sentence(wrong):
    with pytest.raises(ValueError, match="names were given for 2 features"):
        page_names(None, as_rows(np.eye(2)), wrong)
