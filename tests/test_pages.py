"""README and guide hold the numbers that commands stored, and show the output that they printed."""

from __future__ import annotations

import contextlib
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not (BENCHMARKS / "results").exists():
    pytest.skip("benchmarks are not part of this copy", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
import pages  # noqa: E402


@pytest.mark.parametrize("page", pages.PAGES)
def test_pages_are_filled_in(page):
    text = (pages.ROOT / page).read_text()
    assert pages.filled(page, text) == text, "run python benchmarks/pages.py"


def test_output_of_a_command_is_put_in_its_place():
    text = (pages.ROOT / "docs" / "speed.md").read_text()
    start = text.index("Speed: whole fit")
    wrong = text[:start] + text[start:].replace(" ms", " min", 5)
    assert pages.with_output(text) == text
    assert pages.with_output(wrong) == text


def test_a_part_of_what_a_command_printed_is_put_in_its_place():
    text = (pages.ROOT / "docs" / "genes.md").read_text()
    start = text.index("  genes  of PCA's variance")
    wrong = text[:start] + text[start:].replace("97", "79", 2).replace(" 100.0%", "99.9%", 1)
    assert wrong != text
    assert pages.with_output(wrong) == text
    other = text[:start] + text[start:].replace("cells told apart", "cells told together", 1)
    assert pages.with_output(other) == other  # the control: no command prints it


@pytest.mark.parametrize("page", pages.PAGES)
def test_registries_are_listed(page):
    text = (pages.ROOT / page).read_text()
    assert pages.with_registries(text) == text, "run python benchmarks/pages.py"


def test_every_entry_is_of_a_page():
    assert {entry.page for entry in pages.entries()} <= set(pages.PAGES)


def test_control_a_wrong_number_is_put_right():
    """For each number of each entry but bounds: ten times as much is put right, or breaks a fragment of another."""
    for entry in pages.entries():
        text = (pages.ROOT / entry.page).read_text()
        match = pages.place(entry, text)
        for group in range(1, len(match.groups()) + 1 if entry.rule == "equal" else 1):
            start, end = match.span(group)
            wrong = text[:start] + f"{pages.number(match[group]) * 10 + 7}" + text[end:]
            with contextlib.suppress(LookupError):
                assert pages.filled(entry.page, wrong) != wrong


IS_EXECUTED = {page for page in pages.PAGES if pages.EXECUTED in (pages.ROOT / page).read_text()}


@pytest.mark.parametrize("page", sorted(IS_EXECUTED))
def test_executed_pages_show_what_their_code_prints(page):
    text = (pages.ROOT / page).read_text()
    assert pages.with_executed(text) == text, "run python benchmarks/pages.py"


def test_control_of_executed_pages():
    page = f"{pages.EXECUTED}\n```python\nprint(1 + 1)\n```\n\n```\n3\n```\n\n```python\nx = 1\n```\n"
    assert pages.with_executed(page) == page.replace("\n3\n", "\n2\n")


@pytest.mark.parametrize("page", [page for page in pages.PAGES if page != "README.md"])
def test_output_is_what_was_printed(page):
    text = (pages.ROOT / page).read_text()
    assert pages.not_printed(text) == []
    for language, block in pages.BLOCK.findall(pages.without_executed(text) if page in IS_EXECUTED else text):
        if not language and "1" in block:  # the control
            assert pages.not_printed(text.replace(block, block.replace("1", "9")))


def test_numbers_keep_the_form_of_the_page():
    plain, percent = pages.Entry("a", "b", "c", "d"), pages.Entry("a", "b", "c", "d", times=100)
    bound = pages.Entry("a", "b", "c", "d", rule="at most")
    assert plain.filled("1.3", "1.34") == "1.3"
    assert plain.filled("1.3", "1.36") == "1.4"
    assert plain.filled("2,000", "2100") == "2,100"
    assert plain.filled("fourteen", "15") == "fifteen"
    assert plain.filled("3e-5", "4.2e-5") == "4e-5"
    assert percent.filled("97.8", "0.96845") == "96.8"
    assert bound.filled("600", "513") == "600"
    assert bound.filled("600", "629") == "630"


def test_a_fragment_that_is_gone_is_named():
    entry = pages.entries()[0]
    with pytest.raises(LookupError, match="0 times"):
        pages.place(entry, "Nothing.")


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """`benchmarks/stored.py`, with another folder for results and pages that are left alone."""
    names = runpy.run_path(str(BENCHMARKS / "stored.py"))
    monkeypatch.setitem(names["store"].__globals__, "RESULTS", tmp_path)
    monkeypatch.setitem(names["store"].__globals__, "pages", SimpleNamespace(fill=lambda: None))
    monkeypatch.setattr(sys, "argv", ["run.py"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    return names


def test_what_is_printed_is_stored(stored, monkeypatch, tmp_path):
    monkeypatch.setenv("SPARING_DATA", "anywhere")
    stored["store_parts"]("bench", {"speed": SimpleNamespace(main=lambda: print("  1.05 times\n\n"))})
    assert (tmp_path / "bench" / "speed.txt").read_text() == "  1.05 times\n"
    script = tmp_path / "story.py"
    script.write_text("import sys\nprint(sys.argv, __name__)")
    stored["store_scripts"]("stories", str(script))
    assert (tmp_path / "stories" / "story.txt").read_text() == f"{[str(script)]} __main__\n"


def test_results_without_the_real_data_replace_nothing(stored, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("SPARING_DATA", raising=False)
    stored["store"]("bench", "speed", lambda: print("skipped"))
    assert list(tmp_path.iterdir()) == []
    assert "SPARING_DATA" in capsys.readouterr().out


def test_an_unknown_part_is_named(stored, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["run.py", "sped"])
    with pytest.raises(SystemExit, match=r"sped.*There are speed"):
        stored["store_parts"]("bench", {"speed": SimpleNamespace(main=print)})
