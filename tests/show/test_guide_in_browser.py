"""The guide, built and opened as files in a real Chromium: search, accessibility, width."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")
pytest.importorskip("mkdocs", reason="needs mkdocs to build the guide")

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    if not (ROOT / "mkdocs.yml").exists():
        pytest.skip("the guide's settings are not part of this copy")
    place = tmp_path_factory.mktemp("guide") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=200, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return place


@pytest.fixture
def opened(browser):
    contexts = []

    def open_page(file: Path, width=1280, scheme="light"):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("word", "found"), [("keepX", "Coming from another package"), ("budget", "Rules on features")])
def test_search_works_from_the_file_system(opened, site, word, found):
    page = opened(site / "index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type(word)
    sync_api.expect(page.locator(".md-search-result__list")).to_contain_text(found)
    page.locator(".md-search-result__link").first.click()
    sync_api.expect(page.locator("h1")).to_have_text(f"{found}¶")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")])
def test_pages_are_accessible_and_fit_the_window(opened, site, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    for name in ("index", "choose", "genes", "rules", "migrate", "peers", "papers", "api"):
        page = opened(site / f"{name}.html", width, scheme)
        page.wait_for_selector(".md-search[aria-label]", state="attached")
        found = axe.Axe().run(page).response["violations"]
        assert [(name, flaw["id"], flaw["nodes"][0]["html"]) for flaw in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("[...document.images].every((image) => !image.complete || image.naturalWidth > 0)")
