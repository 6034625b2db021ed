"""The explorer page of 178 wines, as a browser shows it: the picture of docs/index.md.

python examples/story_explorer.py [folder]
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_wine
from story_data import IMAGES, compress

from sparing.report import explore

WIDTH, HEIGHT = 1100, 780


def photographed(page: Path) -> io.BytesIO:
    """The upper part of a page in Chromium."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("This story needs Chromium: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        window.goto(page.as_uri())
        window.wait_for_selector("body[data-ready]")
        picture = window.screenshot()
        browser.close()
    return io.BytesIO(picture)


def main(folder: Path) -> None:
    """Write the page, print, take the picture."""
    wine = load_wine()
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "wine.html"
        explore(
            wine.data,
            page,
            scale=True,
            labels=[f"cultivar {kind + 1}" for kind in wine.target],
            feature_names=wine.feature_names,
            title="Wine: 13 measurements of three cultivars",
        )
        print(f"the page of {len(wine.data)} wines has {page.stat().st_size / 1e6:.1f} MB")
        compress(photographed(page), folder / "explorer.png", colours=128)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
