"""What is true of the package as a whole."""

from __future__ import annotations

import subprocess
import sys

import sparing


def test_public_names_exist_and_are_documented():
    for name in sparing.__all__:
        assert getattr(sparing, name) is not None
        assert name == "__version__" or getattr(sparing, name).__doc__


def test_importing_loads_no_optional_dependency():
    heavy = {"pandas", "polars", "matplotlib", "dask", "click", "vl_convert", "h5py"}
    code = (
        "import sys, sklearn.decomposition; before = set(sys.modules); import sparing; "
        f"print(sorted(({heavy!r} & set(sys.modules)) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
