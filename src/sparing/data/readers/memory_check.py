"""Is there memory for what a file says to hold? Asked before any is taken: a small file may unpack to anything."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from sparing import errors

MEMORY, CONTAINER = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")


def check_room(path: Path, needed: int) -> None:
    """Refuse what would not fit: a system without room ends processes, and not always the right one."""
    if needed > available():
        raise errors.beyond_memory(path)


def available(memory: Path = MEMORY, container: Path = CONTAINER) -> float:
    """Bytes that can be had, as far as these files of the system say."""
    limits = [math.inf]
    with suppress(OSError, ValueError, AttributeError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError, KeyError):  # which not every system has, nor every line of it
        fields = dict(line.split(":") for line in memory.read_text().splitlines())
        limits.append(int(fields["MemAvailable"].split()[0]) * 1024)
    with suppress(OSError, ValueError):  # which says "max" where there is none
        limits.append(int(container.read_text()))
    return min(limits)
