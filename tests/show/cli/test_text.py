"""Text that fits the terminal, and commands none."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from sparing.show.cli.text import MOST_ROWS, equations, loadings_table, one_line, padded, shortened, wide
from sparing.show.wording import END_OF_ISOLATE, ISOLATE, shown

H = np.array([[0.6, 0.0, -0.8, 0.0], [0.0, 1e-7, 0.5, 0.0]])


def test_components_with_features_of_their_own_have_blocks_sorted_by_size():
    first, second = loadings_table(H, ["a", "b", "c", "d"], 80).split("\n\n")
    assert [line.split() for line in first.splitlines()] == [
        ["feature", "component", "1"],
        ["c", "-0.8000"],
        ["a", "0.6000"],
    ]
    assert second.splitlines()[0].split() == ["feature", "component", "2"]
    assert second.splitlines()[-1].split() == ["b", "1.0e-07"]


def test_components_that_share_features_stand_side_by_side():
    lines = loadings_table(np.array([[0.6, -0.8], [0.1, 0.5]]), ["a", "c"], 80).splitlines()
    assert lines[0].split() == ["feature", "component", "1", "component", "2"]
    assert lines[1].split() == ["c", "-0.8000", "0.5000"]


@pytest.mark.parametrize("width", [30, 47, 80, 200])
@pytest.mark.parametrize(
    "name", ["x" * 300, "漢字" * 40, "👩‍🔬 lab " * 30, "שלום עולם " * 12, "e\u0301" * 90, "a\x1b]0;title\x07" * 20]
)
def test_no_line_is_wider_than_the_terminal(name, width):
    names = [name, "short", "מספר", "z"]
    for text in (loadings_table(np.vstack([H] * 4), names, width), equations(H, names, width)):
        assert all(wide(line) <= max(width, 40) for line in text.splitlines())
        marks = {ISOLATE, END_OF_ISOLATE, "\n", "\u200d"}
        assert not any(unicodedata.category(sign).startswith("C") for sign in text if sign not in marks)


def test_columns_line_up_for_wide_and_narrow_signs():
    lines = loadings_table(H[:, :3], ["漢字", "e\u0301", "plain"], 80).splitlines()
    assert len({wide(line) for line in lines if line}) == 1


def test_components_that_do_not_fit_side_by_side_come_below():
    many = np.eye(6) + 0.01
    parts = loadings_table(many, list("abcdef"), 40).split("\n\n")
    assert len(parts) == 3
    assert parts[1].splitlines()[0].split() == ["feature", "component", "3", "component", "4"]
    assert parts[1].splitlines()[1].startswith("c")


def test_long_tables_and_equations_say_what_is_missing():
    row = np.linspace(1, 2, 80)[None]
    assert f"... and {80 - MOST_ROWS} more features" in loadings_table(row, [f"x{j}" for j in range(80)], 80)
    assert "+ ... (60 smaller terms)" in equations(row, [f"x{j}" for j in range(80)], 80)


def test_shortened_names_keep_their_direction():
    name = shown("שלום" * 10)
    assert shortened(name, 8).startswith(ISOLATE)
    assert shortened(name, 8).endswith(f"…{END_OF_ISOLATE}")
    assert shown(shown(name)) == name
    assert wide(padded(name, 12)) == 12


def test_messages_are_one_line():
    assert one_line("a\n  b\x1b[2J") == "a b?[2J"


def test_spaces_of_all_kinds_are_spaces_and_control_characters_are_not():
    assert shown("日本\u3000語 5\u00a0mg\u2009x") == "日本 語 5 mg x"
    assert shown("a\nb\tc\u200e\u2028d") == "a?b?c??d"
