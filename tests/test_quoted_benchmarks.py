"""Figures on the pages about scale are those that a benchmark printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


@pytest.mark.parametrize("page", ["large-data.md", "internet-scale.md"])
def test_every_line_of_output_is_stored_with_its_benchmark(page):
    if not RESULTS.exists():
        pytest.skip("benchmarks are not part of this copy")
    stored = {line for file in RESULTS.glob("*.txt") for line in file.read_text().splitlines()}
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE)
    quoted = [line for language, block in blocks if not language for line in block.splitlines() if line.strip()]
    assert quoted
    assert [line for line in quoted if line not in stored] == []
