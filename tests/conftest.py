"""What all tests share: seeded random numbers and the real data sets, where they are."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from stress.outcomes import IS_STRESS

# A busy machine is no failure, and one change has one verdict: the examples are fixed here, and new in `make stress`.
settings.register_profile(
    "ordinary", deadline=None, derandomize=not IS_STRESS, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ordinary")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Thousands of tests are made, and all of them stay: garbage is never sought among them, neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Long tests are for `make stress`: the test command is for every change."""
    for item in items:
        if not IS_STRESS and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="takes long: `make stress` runs it"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20150225)


@pytest.fixture
def slow_reading(monkeypatch):
    """Every block takes three seconds, as far as the clock of passes knows: progress is shown."""
    seconds = itertools.count(0.0, 3.0)
    monkeypatch.setattr("sparing.data.tracked.time", SimpleNamespace(monotonic=lambda: next(seconds)))


@pytest.fixture
def ticking(monkeypatch):
    """Sets the clock of time limits: it goes on by so many seconds whenever it is looked at; returns its looks."""

    def set_clock(seconds: float) -> Iterator[int]:
        looks = itertools.count()
        monkeypatch.setattr("sparing.run.time", SimpleNamespace(monotonic=lambda: seconds * next(looks)))
        return looks

    return set_clock


@pytest.fixture
def shared_path():
    """Where a file of the shared data sets is, by its name; skips where they are not there."""

    def find(name: str) -> Path:
        folder = os.environ.get("SPARING_DATA")
        if not folder:
            pytest.skip(f"needs {name}: set SPARING_DATA to the folder of the real data sets")
        path = Path(folder) / name
        if not path.exists():
            pytest.skip(f"needs {name}, which is not in SPARING_DATA")
        return path

    return find


@pytest.fixture
def shared(shared_path):
    """Loads an array of such a file."""

    def load(name: str, key: str = "X") -> np.ndarray:
        return np.load(shared_path(name))[key]

    return load
