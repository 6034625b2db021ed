"""What docs/architecture.md and CONTRIBUTING.md say of the code is so."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

import sparing
from sparing import SparseEncoder, SparsePCA

PACKAGE = Path(sparing.__file__).parent
ROOT = PACKAGE.parents[1]
PAGE = ROOT / "docs" / "architecture.md"
if not PAGE.exists():
    pytest.skip("the guide is not part of this copy", allow_module_level=True)
TEXT = PAGE.read_text("utf-8")
WALK = TEXT.partition("## What `SparseEncoder().fit(X)` does")[2].partition("\n## ")[0]
HOPS = re.split(r"^\d+\. ", WALK, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_and_folders_that_a_page_names_exist(page):
    named = set(re.findall(r"`([\w/.]+(?:\.py|\.md|\.toml|\.bib|/))`", (ROOT / page).read_text("utf-8")))
    assert len(named) > 5
    places = (PACKAGE, PACKAGE / "methods", ROOT)
    assert {name for name in named if not any((place / name).exists() for place in places)} <= {"__init__.py"}


def test_every_folder_and_layer_is_on_the_page():
    folders = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()} - {"datasets"}
    assert {name for name in folders if f"| `{name}/` |" not in TEXT} == set()


def test_the_walk_names_what_is_there_in_at_most_a_dozen_hops():
    assert 8 <= len(HOPS) <= 12
    for hop in HOPS:
        file, *others = re.findall(r"`([^`]+)`", hop)
        text = (PACKAGE / file).read_text("utf-8")
        functions = [name for name in others if name.isidentifier()]
        assert [name for name in functions if f"def {name}(" not in text] == [], hop


MODELS = {"encoder": SparseEncoder(), "components": SparsePCA(3)}


@functools.cache
def files_run_by(name):
    """The files that a fit passes through; what is imported on the way does not count."""
    ran, model, X = set(), MODELS[name], load_wine().data
    model.fit(X)

    def note(frame, *_):
        ran.add(frame.f_code.co_filename)  # calls alone: what happens inside of each is not followed

    before = sys.gettrace()
    sys.settrace(note)
    try:
        model.fit(X)
    finally:
        sys.settrace(before)
    return {Path(name).relative_to(PACKAGE).as_posix() for name in ran if name.startswith(str(PACKAGE))}


def test_the_walk_is_what_a_fit_does():
    ran = files_run_by("encoder")
    assert {name for hop in HOPS for name in re.findall(r"`([\w/]+\.py)`", hop)} <= ran
    assert "methods/encoders/joint_search.py" not in ran  # the control


@pytest.mark.parametrize(("name", "most"), [("encoder", 49), ("components", 74)])
def test_a_fit_passes_through_no_more_files_than_it_did(name, most):
    """Each of them has to earn its place: lower these numbers where one goes, and think twice before raising them."""
    assert len(files_run_by(name)) <= most
