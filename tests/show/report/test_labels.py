"""Labels become groups or a scale, with the rest folded and the missing named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sparing.show.report.labels import MISSING, MOST_CATEGORIES, coloured, label_column, sample_column


def colours(labels):
    return coloured(label_column(labels, len(labels)), np.arange(len(labels)))


def test_groups_and_their_codes():
    found = colours(["b", "a", None, "b"])
    assert found == {"kind": "groups", "groups": ["a", "b", MISSING], "values": [1, 0, 2, 1]}


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["u", "v", None], dtype="category"),
        pd.Series(["u", "v", pd.NA], dtype="string"),
        np.array(["u", "v", np.nan], dtype=object),
    ],
)
def test_any_column_with_something_missing(labels):
    assert colours(labels) == {"kind": "groups", "groups": ["u", "v", MISSING], "values": [0, 1, 2]}


def test_dates_are_dates():
    days = np.array(["2020-01-02", "NaT", "2019-05-06"], dtype="datetime64[ns]")
    assert colours(days)["groups"] == ["2019-05-06", "2020-01-02", MISSING]


def test_few_numbers_are_groups_in_order_and_many_are_a_scale():
    assert colours([10, 9, 2, True])["groups"] == ["2", "9", "10", "True"]
    numbers = [*np.linspace(0, 1, 30), np.nan, np.inf]
    found = colours(numbers)
    assert found["kind"] == "scale"
    assert found["values"][:30] == pytest.approx(numbers[:30])
    assert found["values"][30:] == [None, None]


def test_rare_labels_are_folded_into_one():
    labels = [f"label {i}" for i in range(40)] + [f"label {i}" for i in range(MOST_CATEGORIES - 1)]
    found = colours(labels)
    assert len(found["groups"]) == MOST_CATEGORIES
    assert found["groups"][-1] == "(21 other labels)"
    assert found["values"][MOST_CATEGORIES - 1 : 40] == [MOST_CATEGORIES - 1] * 21
    assert all(found["groups"][code] == label for code, label in zip(found["values"][40:], labels[40:], strict=True))


def test_only_what_is_drawn_is_coded():
    found = coloured(["a", "b", "c"], np.array([2, 0]))
    assert [found["groups"][code] for code in found["values"]] == ["c", "a"]
    assert coloured(None, np.array([0])) is None
    assert sample_column(["p", "q\x1b", "r"], 3, np.array([1, 2])) == ["q?", "r"]
    assert sample_column(None, 9, np.array([4, 7])) == ["4", "7"]


@pytest.mark.parametrize(
    ("wrong", "kind", "sentence"),
    [
        ("species", TypeError, "Pass the column itself"),
        (3, TypeError, "one label for each sample"),
        (["a", "b"], ValueError, r"labels has shape \(2,\), but X has 3 samples"),
        ([["a"], ["b"], ["c"]], ValueError, r"shape \(3, 1\)"),
    ],
)
def test_other_labels_get_a_sentence(wrong, kind, sentence):
    with pytest.raises(kind, match=sentence):
        label_column(wrong, 3)


def test_a_wrong_number_of_sample_names_gets_a_sentence():
    with pytest.raises(ValueError, match="2 names were given for 3 samples"):
        sample_column(["a", "b"], 3, np.arange(3))
