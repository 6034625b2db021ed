"""How much stress: a short part in every test run, or rounds with new seeds until the time is over.

``SPARING_STRESS=1`` (what ``make stress`` sets) repeats every property with new seeds for its share of
``SPARING_STRESS_SECONDS``; otherwise the same few examples are tried each time.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, seed, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]
settings.register_profile("ci", deadline=None, derandomize=True, database=None, suppress_health_check=QUIET)
settings.register_profile("stress", deadline=None, database=None, suppress_health_check=QUIET, print_blob=True)

HERE = Path(__file__).parent
IS_STRESS = os.environ.get("SPARING_STRESS") == "1"
SECONDS = float(os.environ.get("SPARING_STRESS_SECONDS", "600"))


def pytest_collection_modifyitems(items) -> None:
    """Every property gets the same share of the time of all workers."""
    properties = [item for item in items if _is_property(item)]
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    for item in properties:
        item.stash[SHARE] = SECONDS * workers / len(properties)


SHARE = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem) -> bool | None:
    """Under stress a property is tried again and again, each time with another seed."""
    if not IS_STRESS or not _is_property(pyfuncitem):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    end = time.monotonic() + pyfuncitem.stash[SHARE]
    first = time.time_ns() // 1_000_000
    for number in range(10**6):
        seed(first + number)(pyfuncitem.obj)
        pyfuncitem.obj(**arguments)
        if time.monotonic() > end:
            break
    return True


def _is_property(item) -> bool:
    return HERE in Path(item.path).parents and getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
