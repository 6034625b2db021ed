"""The page on what of the papers is where is up to date, and nothing that it has to name is missing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="benchmarks are not part of this copy")

NUMBERED = {
    "magdonismail2015": [f"Theorem {place}" for place in ("2", "5", "6(i)", "6(ii)", "7", "9", "11")],
    "boutsidis2011": ["Theorem 1", "Theorem 2", "Table 1", "Table 2"],
    "asteris2014": ["Theorem 1", "Theorem 2"],
    "fountoulakis2016": ["Theorem 1", "Algorithm 1", "Algorithm 2"],
    "mackey2014": [],
}
"""What the papers number, and the library has to hold."""


@pytest.fixture(scope="module")
def coverage():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("coverage_page")


@pytest.fixture(scope="module")
def rows(coverage):
    return {paper: coverage.rows_of(paper) for paper in coverage.PAPERS}


def test_the_page_is_up_to_date(coverage):
    assert coverage.page() == coverage.PAGE.read_text(), "run python benchmarks/coverage_page.py"


def test_every_numbered_statement_has_a_row_with_a_test(rows):
    for paper, wanted in NUMBERED.items():
        items = {item: test for item, _, test in rows[paper]}
        assert items, paper
        for item in wanted:
            assert any(name == item or name.startswith(f"{item},") for name in items), (paper, item)


def test_every_row_names_a_place_and_a_test(rows):
    bare = [(paper, item) for paper, lines in rows.items() for item, where, test in lines if not (where and test)]
    assert bare == []


def test_a_name_that_no_test_uses_has_no_test(coverage):
    """The control: rows do not get tests from anywhere."""
    words = {file: used for file, used in coverage.words_of_tests().items() if file != "tests/test_coverage_page.py"}
    assert coverage.tests_of({"sparing.methods.selectors.nothing.NoSuchSelectorAnywhere"}, words) == []
    found = coverage.tests_of({"sparing.methods.selectors.dual_set.DualSet"}, words)
    assert found[0] == "tests/methods/selectors/test_dual_set.py"
