"""What is true of the package as a whole."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sparing


def test_public_names_exist_and_are_documented():
    for name in sparing.__all__:
        assert getattr(sparing, name) is not None
        assert name == "__version__" or getattr(sparing, name).__doc__


def test_importing_loads_no_optional_dependency():
    heavy = {"pandas", "polars", "matplotlib", "dask", "click", "vl_convert", "h5py"}
    code = (
        "import sys, sklearn.decomposition; before = set(sys.modules); from sparing import *; "
        f"print(sorted(({heavy!r} & set(sys.modules)) - before))"
    )
    assert printed(code) == "[]"


@pytest.mark.parametrize("arguments", ["--version", "--help", "fit --help", "explore --help", "certify --help"])
def test_the_command_line_starts_without_numerics(arguments):
    code = (
        "import atexit, sys; atexit.register(lambda: print('numpy' in sys.modules)); sys.argv[0] = 'sparing'; "
        "from sparing.show.cli import main; main()"
    )
    *said, has_numpy = printed(code, *arguments.split()).splitlines()
    assert said
    assert has_numpy == "False"


def printed(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def test_names_are_imported_when_first_used():
    assert set(sparing.__all__) <= set(dir(sparing))
    assert sparing.errors.SparingWarning.__module__ == "sparing.errors"
    with pytest.raises(AttributeError, match="no attribute 'SparseEncoders'"):
        sparing.SparseEncoders  # noqa: B018


def test_a_name_of_a_constant_has_one_meaning():
    """Numbers that modules compare with: no two modules call theirs alike."""
    package = Path(sparing.__file__).parent
    texts = [path.read_text("utf-8") for path in package.rglob("*.py")]
    given = [name for text in texts for name in re.findall(r"^([A-Z][A-Z0-9_, ]*) = [-\d]", text, re.MULTILINE)]
    names = Counter(", ".join(given).split(", "))
    assert len(names) > 200
    assert [name for name, count in names.items() if count > 1] == []


def test_examples_in_docstrings_are_true():
    import doctest
    import importlib
    import pkgutil

    tried = 0
    for module in pkgutil.walk_packages(sparing.__path__, "sparing."):
        outcome = doctest.testmod(importlib.import_module(module.name))
        assert outcome.failed == 0, module.name
        tried += outcome.attempted
    assert tried >= 6
