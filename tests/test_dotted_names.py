"""Names such as ``sparing.methods.deflation`` in messages, docstrings and documents can be imported."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import sparing

ROOT = Path(__file__).parents[1]
SOURCES = sorted(Path(sparing.__file__).parent.rglob("*.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAME = re.compile(r"(?<![\w./@-])sparing(?:\.[A-Za-z_]\w*)+")


def exists(name: str) -> bool:
    found: object = sparing
    path = "sparing"
    for part in name.split(".")[1:]:
        path += f".{part}"
        try:
            found = getattr(found, part) if hasattr(found, part) else import_module(path)
        except ImportError:
            return False
    return True


def test_dotted_names_can_be_imported():
    named = {name for file in [*SOURCES, *DOCUMENTS] for name in NAME.findall(file.read_text("utf-8"))}
    assert len(named) > 100
    assert sorted(name for name in named if not exists(name)) == []


@pytest.mark.parametrize("name", ["sparing.deflation", "sparing.SparseEncoders", "sparing.methods.solvers.Rounded"])
def test_a_name_that_does_not_exist_is_found(name):
    assert not exists(name)
