"""The one place where BLAS threads are capped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

WORTH_THREADS = 2e9
"""Floating-point operations in the largest single product of a fit from which more than one thread pays."""

_lock = threading.Lock()
_inside = 0
_limiter: Any = None


@cache
def _controller() -> Any:
    return ThreadpoolController()


@contextmanager
def single_threaded_blas(largest_product: float = 0.0) -> Iterator[None]:
    """Run small products on one thread; the last of overlapping fits restores what the first one found.

    Many small products are several times slower on two busy threads than on one. A counted, process-wide context is
    needed because limits of overlapping contexts would otherwise be restored in the wrong order. Limits are set and
    restored from short-lived threads: threadpoolctl lets a living thread that has set a limit keep others from it.
    """
    if largest_product > WORTH_THREADS:
        yield
        return
    global _inside, _limiter
    with _lock:
        if _inside == 0:
            _limiter = _aside(lambda: _controller().limit(limits=1, user_api="blas"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _aside(_limiter.restore_original_limits)
                _limiter = None


def _aside(work: Callable[[], Any]) -> Any:
    """The result of work done in a thread of its own."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]
