"""What all tests share: seeded random numbers and the real data sets, where they are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20150225)


@pytest.fixture
def shared():
    """Loads a file of the shared data sets by name; skips where they are not there."""

    def load(name: str, key: str = "X") -> np.ndarray:
        folder = os.environ.get("SPARING_DATA")
        if not folder:
            pytest.skip(f"needs {name}: set SPARING_DATA to the folder of the real data sets")
        path = Path(folder) / name
        if not path.exists():
            pytest.skip(f"needs {name}, which is not in SPARING_DATA")
        return np.load(path)[key]

    return load
