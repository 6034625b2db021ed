"""The page on the papers is what its scripts kept; the cheapest of them still finds what it kept."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "benchmarks" / "papers"
SMALL = 60_000
NUMBER = re.compile(r"-?\d+\.\d+")

pytestmark = pytest.mark.skipif(not SCRIPTS.exists(), reason="benchmarks are not part of this copy")


@pytest.fixture
def script(monkeypatch):
    """Imports a script of the folder, as `run.py` does."""
    mpl.use("Agg")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == SCRIPTS:
            del sys.modules[name]


def test_the_page_is_its_sections(script):
    assert script("summary").page() == (ROOT / "docs" / "papers.md").read_text()


def test_every_script_has_kept_its_section(script):
    summary = script("summary")
    assert {file.stem for file in summary.SECTIONS.glob("*.md")} == set(summary.ORDER)
    assert all((SCRIPTS / f"{name}.py").exists() for name in summary.ORDER)


def test_every_row_that_differs_says_why():
    rows = re.findall(
        r"^\| what \| print \|.*?\n\n", (ROOT / "docs" / "papers.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert len(rows) >= 9
    for line in filter(None, "".join(rows).splitlines()):
        cells = line.strip("|").split("|")
        assert len(cells) == 4, line
        assert all(cell.strip() for cell in cells), line


def test_pictures_are_there_and_small():
    shown = re.findall(r"\]\((images/papers/[^)]+)\)", (ROOT / "docs" / "papers.md").read_text())
    assert len(shown) >= 8
    assert {Path(name).name for name in shown} == {file.name for file in (ROOT / "docs/images/papers").iterdir()}
    assert all((ROOT / "docs" / name).stat().st_size < SMALL for name in shown)


def test_the_example_encoders_are_found_again(script):
    """The words exactly, the numbers up to one in the last digit shown, which another BLAS may change."""
    found, kept = script("encoders_example").text(), (script("summary").SECTIONS / "encoders_example.md").read_text()
    assert NUMBER.sub("#", found) == NUMBER.sub("#", kept)
    for now, then in zip(NUMBER.findall(found), NUMBER.findall(kept), strict=True):
        assert abs(float(now) - float(then)) < 1.5 * 10.0 ** -len(then.partition(".")[2]), (now, then)


def test_a_row_that_agrees_is_counted(script):
    summary = script("summary")
    rows = [summary.Compared("a", "1", "1"), summary.Compared("b", "1", "2", summary.verdict(False, "noise"))]
    text = summary.section("Figure 9", summary.compared(rows), "No table | agrees |")
    assert summary.overview([text, "## without a comparison\n"]).splitlines()[2:] == ["| Figure 9 | 2 | 1 |"]


def test_an_unknown_script_is_named(script):
    with pytest.raises(SystemExit, match="table9"):
        script("run").main(["table9"])


def test_data_that_are_not_there_are_named(script, monkeypatch):
    monkeypatch.delenv("SPARING_DATA", raising=False)
    with pytest.raises(SystemExit, match=r"lrs\.npz"):
        script("summary").shared("lrs.npz")
