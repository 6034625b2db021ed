"""A browser for the pages that people see."""

from __future__ import annotations

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # not longer: while it is open its event loop runs in this thread
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=root)
        yield started
        started.close()
