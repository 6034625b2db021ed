"""Every number that README and guide claim is the one that its command stored, up to its stated noise.

What counts as a claim: in prose and tables, a number with a decimal point or an exponent, one before a unit (%,
percent, s, seconds, ms, ns, minutes, MiB, GB and the like, times, passes, fits; also words up to fifteen), and both of
"23 of 24". Each is covered by an entry of `claims.toml`: traced to a stored result, a test or a constant, or listed as
plain with the reason. Exempt are code, addresses, citations, and whole lines that a command printed, such as rows of
tables. Other integers are sizes and counts of what is described; entries trace those that were measured.

Lines of output, in blocks without a language, must be stored as they are; the first block of README is commands, and
its second is run by `test_documents.py`. Pages that commands write have tests of their own.
"""

from __future__ import annotations

import re
import runpy
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from claims import (
    NUMBER,
    PAGES,
    RESULTS,
    ROOT,
    Claim,
    blocks,
    complaints,
    not_printed,
    number,
    pattern,
    prose,
    registered,
    untraced,
)

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="benchmarks are not part of this copy")
CLAIMS, PLAIN = registered()


def text_of(page: str) -> str:
    return (ROOT / page).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_claims_are_what_was_measured(page):
    text = text_of(page)
    wrong = [said for claim in CLAIMS if claim.page == page for said in complaints(claim, text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_every_claim_is_traced(page):
    found = untraced(page, text_of(page), CLAIMS, PLAIN)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_output_is_what_was_printed(page):
    found = not_printed(text_of(page))
    assert not found, "\n".join(found)


def test_entries_are_of_pages_that_are_there():
    assert {entry.page for entry in [*CLAIMS, *PLAIN]} <= set(PAGES)
    for entry in PLAIN:
        assert entry.says in " ".join(text_of(entry.page).split()), entry


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.page}: {claim.says}")
def test_a_wrong_number_is_found(claim):
    """The control, for each number of each claim: a tenth of it is further off than any noise, and below any bound."""
    text = prose(text_of(claim.page))
    (found,) = pattern(claim.says).finditer(text)
    for group in range(1, found.re.groups + 1):
        start, end = found.span(group)
        wrong = f"{float(number(found[group])) / 10:.3e}"
        said = complaints(claim, text[:start] + wrong + text[end:])
        assert [each for each in said if f"{claim.page} says {wrong}" in each and claim.file in each]


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes 7.3 s.",
        "It is seven times as fast.",
        "99 of 100 are proved.",
        "It keeps 98% of it.",
        "An error of 3e-5.",
    ],
)
@pytest.mark.parametrize("page", PAGES)
def test_a_claim_that_nobody_traced_is_found(page, sentence):
    found = untraced(page, text_of(page) + "\n" + sentence, CLAIMS, PLAIN)
    assert found
    assert all(re.search(NUMBER, sentence)[0] in said or "100" in said for said in found)


def test_what_claims_nothing_is_not_found():
    sentence = "`max_loss=1.05`, [zou2006, Sec. 3.2], [a](b-1.5.md), Section 2.2, 13 features of 180 props."
    assert untraced("README.md", sentence, [], []) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_output_that_nobody_printed_is_found(page):
    text = text_of(page)
    for language, block in blocks(text):
        if not language:
            assert not_printed(text.replace(block, block.replace("1", "9"))) or "1" not in block


def test_a_fragment_that_is_gone_is_found():
    claim = next(claim for claim in CLAIMS if claim.file == "pyproject.toml")
    assert "0 times" in complaints(claim, "Nothing.")[0]
    lost = replace(claim, found="nowhere {}")
    assert "0 times" in complaints(lost, text_of(claim.page))[0]
    assert "not there" in complaints(replace(claim, file="nothing.txt"), text_of(claim.page))[0]


def test_noise_and_rounding():
    exact, noisy = Claim("a", "b", "c", "d"), Claim("a", "b", "c", "d", noise=0.2)
    bound, percent = Claim("a", "b", "c", "d", rule="at most"), Claim("a", "b", "c", "d", times=100)
    assert exact.holds("1.3", "1.34")
    assert not exact.holds("1.3", "1.36")
    assert exact.holds("2,000", "2000")
    assert exact.holds("fifteen", "15")
    assert noisy.holds("1.3", "1.1")
    assert not noisy.holds("1.3", "1.0")
    assert bound.holds("600", "513")
    assert not bound.holds("600", "629")
    assert percent.holds("97.8", "0.97845")


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """`benchmarks/stored.py`, with another folder for results."""
    names = runpy.run_path(str(ROOT / "benchmarks" / "stored.py"))
    monkeypatch.setitem(names["store"].__globals__, "RESULTS", tmp_path)
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
