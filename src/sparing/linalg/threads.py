"""BLAS threads, capped in one place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

WORTH_THREADS = 2e9
"""More than one thread pays off if the largest single product of a fit has at least this many floating-point
operations."""

_lock = threading.Lock()
_inside = 0
_limiter: Any = None
_here = threading.local()  # whether this thread is already inside


@cache
def _controller() -> Any:
    return ThreadpoolController()


def _is_single() -> bool:
    """Whether BLAS has one thread anyway, not because of a fit. Then there is nothing to limit or restore."""
    with _lock:
        blas = (library for library in _controller().lib_controllers if library.user_api == "blas")
        return _inside == 0 and all(library.num_threads == 1 for library in blas)


class _Stay:
    """One stay inside the context: whether it was counted, and whether it is over."""

    counted = False
    over = False


@contextmanager
def single_threaded_blas(largest_product: float = 0.0) -> Iterator[None]:
    """Run small products on one thread; the last of overlapping fits restores the state that the first one found.

    Many small products are several times slower on two busy threads than on one. A counted, process-wide context is
    needed because limits of overlapping contexts would otherwise be restored in the wrong order. Limits are set and
    restored from short-lived threads: with threadpoolctl a running thread that has set a limit can keep others from
    changing it, and an interruption from the keyboard, which may come at any moment, does not reach these threads.
    """
    if largest_product > WORTH_THREADS or getattr(_here, "inside", False) or _is_single():
        yield
        return
    stay = _Stay()
    try:
        _aside(_enter, stay)
        _here.inside = True
        yield
    finally:
        _here.inside = False
        try:
            _aside(_leave, stay)
        except BaseException:  # interrupted again while leaving
            _aside(_leave, stay)
            raise


def _enter(stay: _Stay) -> None:
    global _inside, _limiter
    with _lock:
        if stay.over:  # interrupted while entering
            return
        if _inside == 0:
            _limiter = _controller().limit(limits=1, user_api="blas")
        _inside += 1
        stay.counted = True


def _leave(stay: _Stay) -> None:
    global _inside, _limiter
    with _lock:
        stay.over = True
        if not stay.counted:
            return
        stay.counted = False
        _inside -= 1
        if _inside == 0:
            _limiter.restore_original_limits()
            _limiter = None


def _aside(work: Callable[[_Stay], None], stay: _Stay) -> None:
    """Run it in a separate thread."""
    thread = threading.Thread(target=work, args=(stay,))
    thread.start()
    thread.join()
