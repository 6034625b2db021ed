"""The description on a package index: every link is absolute or gone, whatever addresses are known."""

from __future__ import annotations

import re
import runpy
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
URLS = {"Documentation": "https://example.org/guide/", "Source": "https://example.org/sparing"}
RELATIVE = re.compile(r"\]\((?!https?://)")


@pytest.fixture
def long_description(monkeypatch):
    interface = types.ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)  # tests run without the build tool
    return runpy.run_path(str(ROOT / "hatch_build.py"))["long_description"]


@pytest.mark.parametrize("names", [[], ["Documentation"], ["Source"], ["Documentation", "Source"]])
def test_no_link_is_relative(names, long_description):
    assert RELATIVE.search(README)  # the control: the README itself has relative links
    text = long_description(README, {name: URLS[name] for name in names})
    assert not RELATIVE.search(text)
    assert ("https://example.org/" in text) == bool(names)
    assert "pip install 'sparing[all]'" in text
    assert "'.[all]'" not in text


def test_pages_and_pictures_become_absolute(long_description):
    text = long_description("![Curve](docs/images/a.png) [rules](docs/rules.md#costs) [changes](CHANGELOG.md)", URLS)
    assert text == (
        "![Curve](https://example.org/guide/images/a.png) [rules](https://example.org/guide/rules.html#costs) "
        "[changes](https://example.org/sparing/blob/HEAD/CHANGELOG.md)"
    )


def test_without_an_address_links_are_text_and_pictures_are_left_out(long_description):
    text = long_description("One\n\n![Curve](docs/images/a.png)\n\nsee [rules](docs/rules.md)", {})
    assert text == "One\n\nsee rules"


def test_absolute_links_and_code_stay(long_description):
    text = "[paper](https://example.org/1) `a[0](x)`\n\n```\nb[i](y)\n```\n"
    assert long_description(text, URLS) == long_description(text, {}) == text
