"""Words that the command line and the page share."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.show.wording import component_name, equation, loadings_rows, names_of, shown


def test_equations_leave_zeros_out_and_start_with_the_largest():
    assert equation("c", [0.0, 0.25, -0.5], ["a", "b", "d"]) == "c = -0.5 d + 0.25 b"
    assert equation("c", [0.5, -0.25, 1e-9]) == "c = 0.5 x0 - 0.25 x1 + 1e-09 x2"
    assert equation("c", [0.0, 0.0], ["a", "b"]) == "c = 0"
    assert equation("c", [3.0, 2.0, 1.0], "abc", most=1) == "c = 3 a + ... (2 smaller terms)"
    assert equation("c", [2 / 3], ["a - b"], digits=5) == "c = 0.66667 a - b"


def test_rows_hold_every_component():
    rows = loadings_rows(np.array([[0.0, 0.1, 0.2], [0.0, -0.9, 0.0]]), ["a", "b", "c"])
    assert [(row.name, row.feature, row.loadings) for row in rows] == [("b", 1, (0.1, -0.9)), ("c", 2, (0.2, 0.0))]
    assert loadings_rows(np.zeros((2, 3))) == []


def test_names():
    assert names_of(None, 2) == ["x0", "x1"]
    assert names_of([3, "é🎉"], 2) == ["3", "é🎉"]
    assert component_name(0) == "component 1"


@pytest.mark.parametrize(
    ("name", "safe"), [("a\nb", "a?b"), ("\x1b[31m", "?[31m"), ("\u202egnp", "?gnp"), ("\ud800", "?")]
)
def test_what_commands_a_terminal_is_not_shown(name, safe):
    assert shown(name) == safe
