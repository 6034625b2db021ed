"""The catalogue of real data: its page is the one it writes, and the check tells apart what is there."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def data():
    path = ROOT / "benchmarks" / "data.py"
    if not path.exists():
        pytest.skip("needs the sources of the benchmarks, which an installed package does not have")
    spec = importlib.util.spec_from_file_location("benchmark_data", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_the_catalogue(data):
    assert data.PAGE.read_text(encoding="utf-8") == data.page()


def test_check_tells_present_changed_and_missing(data, tmp_path, capsys):
    (tmp_path / "wine.npz").write_bytes(b"others")
    assert data.check(str(tmp_path)) == 1
    said = capsys.readouterr().out
    assert "changed  wine.npz  from " in said
    assert "missing  arcene.npz  from jundongl/scikit-feature@48cffad" in said
    assert f"{len(data.catalogue()) - 1} of {len(data.catalogue())} files are missing." in said
    assert data.status(tmp_path / "wine.npz", hashlib.sha256(b"others").hexdigest()) == "present"
    assert data.check(None) == 1
