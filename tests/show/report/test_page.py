"""The page as text: nothing in it leaves its place, and nothing in it asks for anything else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sparing.errors import UnwritableError
from sparing.show.report.page import chart_script, embedded, html_page, place_for

HOSTILE = "</script><script>alert(1)</script><!--\u2028\u2029 \"'&<>"


class Reader(HTMLParser):
    """Tags, their attributes, and the text from each to the next tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = True

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        place = len(self.tags) - 1
        if self.inside:
            self.texts[place] = self.texts.get(place, "") + data

    def all(self, tag):
        return [(attributes, self.texts.get(i, "")) for i, (name, attributes) in enumerate(self.tags) if name == tag]


@pytest.fixture(scope="module")
def page():
    return html_page(HOSTILE, HOSTILE, {"names": {"0": HOSTILE}}, "window.drawn = '<' + '/script>';")


def test_contents_survive_and_stay_in_their_element(page):
    scripts = Reader(page).all("script")
    assert len(scripts) == 3
    attributes, text = scripts[0]
    assert attributes == {"type": "application/json", "id": "contents"}
    assert json.loads(text)["names"]["0"] == HOSTILE
    assert not re.search("[<>&\u2028\u2029]", text)


def test_title_and_summary_are_text(page):
    reader = Reader(page)
    assert reader.all("title")[0][1] == HOSTILE
    assert reader.all("h1")[0][1] == HOSTILE
    assert not reader.all("img")


def test_numbers_that_json_cannot_hold_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded({"loss": float("nan")})


def test_only_its_own_scripts_may_run_and_nothing_is_asked_for(page):
    reader = Reader(page)
    policy = next(a["content"] for a, _ in reader.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    for _, script in reader.all("script")[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not [a for tag, a in reader.tags if {"src", "href", "action"} & set(a)]
    assert not reader.all("link")


def test_structure_that_assistive_technology_needs(page):
    reader = Reader(page)
    assert reader.all("html")[0][0]["lang"] == "en"
    names = {a["id"] for _, a in reader.tags if "id" in a}
    labelled = {a["for"] for a, _ in reader.all("label") if "for" in a}
    assert "features" in labelled <= names
    slider = next(a for a, _ in reader.all("input") if a["id"] == "features")
    assert slider["type"] == "range"
    assert len(reader.all("table")) == len(reader.all("caption")) == 5
    assert len(reader.all("h1")) == 1
    assert {a["aria-labelledby"] for a, _ in reader.all("section") if "aria-labelledby" in a} <= names
    assert [a for _, a in reader.tags if a.get("role") == "status"]
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_library_comes_with_its_script():
    script = chart_script()
    assert "vegaEmbed" in script
    assert len(script) < 1_500_000
    assert not re.search("</script|<!--", script, re.IGNORECASE)


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs vl-convert-python: .*pip install 'sparing\[report\]'"):
        chart_script()


def test_places_where_no_page_can_be(tmp_path):
    with pytest.raises(UnwritableError, match="it is a folder"):
        place_for(tmp_path)
    with pytest.raises(UnwritableError, match=r"there is no folder .*none"):
        place_for(tmp_path / "none" / "page.html")
    for wrong in (None, 3, b"page.html"):
        with pytest.raises(TypeError, match=r"Pass its path"):
            place_for(wrong)
    assert place_for(str(tmp_path / "page.html")) == Path(tmp_path / "page.html")
