"""Each measurement in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import multiprocessing
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def alone(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What ``work`` returns, with its seconds and its process's peak memory in MiB, libraries included."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measured, (work, arguments))


def side_by_side(*works: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Several such measurements at the same time, so that whatever else the machine does slows all of them."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(len(works)) as pool:
        running = [pool.apply_async(_measured, (work, tuple(arguments))) for work, *arguments in works]
        return [each.get() for each in running]


def _measured(work: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> dict[str, Any]:
    began = time.perf_counter()
    found = work(*arguments)
    return {
        "seconds": time.perf_counter() - began,
        "peak_mib": peak_kib() / 1024,
        **found,
    }


def peak_kib() -> int:
    """Linux's own mark of this program; what ``getrusage`` has may stem from the process that started it."""
    status = Path("/proc/self/status")
    if status.exists() and (mark := re.search(r"VmHWM:\s+(\d+)", status.read_text())):
        return int(mark[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
