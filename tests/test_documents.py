"""What the documents show is what the code prints; what they cite exists."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

import sparing

ROOT = Path(__file__).parents[1]


def test_the_readme_shows_real_output():
    text = (ROOT / "README.md").read_text()
    code, wanted = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == wanted


def test_the_readme_fits_one_screen_before_the_details():
    before, _, _ = (ROOT / "README.md").read_text().partition("## What you get")
    assert len(before.splitlines()) <= 45


PAGES = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_links_and_citations_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text()))
    assert set(re.findall(r"\[([a-z]+\d{4})[,\]]", text)) <= known


def test_one_version_everywhere():
    version = sparing.__version__
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_extra_of_the_design_is_in_all():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.search(r"\[(.*)\]", everything).group(1).split(","))
    assert named == set(extras) - {"all"} == {"cli", "io", "dask", "plot", "report", "scverse"}


def test_the_table_of_variances_is_what_the_code_computes():
    script = ROOT / "benchmarks" / "variances.py"
    if not script.exists():
        pytest.skip("benchmarks are not part of this copy")
    assert runpy.run_path(str(script))["table"]() in (ROOT / "docs" / "choose.md").read_text()
