"""Prefetching: a thread reads the next block while the present one is worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from inspect import GEN_RUNNING, getgeneratorstate
from time import sleep
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def read_ahead(blocks: Generator[T, None, None]) -> Iterator[Iterator[T]]:
    """The same blocks in the same order, read by a thread that is one ahead and never more.

    However the work ends, the thread has closed the blocks and is gone when this is left. Errors of the reader are
    raised where its block would have come.
    """
    settings = copy_context()  # NumPy's handling of overflow is one of them
    with ThreadPoolExecutor(1, thread_name_prefix="sparing-read-ahead") as reader:
        try:
            yield _taken(reader, settings, blocks)
        finally:
            reader.submit(_close, blocks).result()


def _close(blocks: Generator[T, None, None]) -> None:
    while getgeneratorstate(blocks) == GEN_RUNNING:  # in a thread that an interruption while it began has let loose
        sleep(0.001)
    blocks.close()


def _taken(reader: ThreadPoolExecutor, settings: Any, blocks: Generator[T, None, None]) -> Iterator[T]:
    coming = reader.submit(settings.run, next, blocks, None)
    while (block := coming.result()) is not None:
        coming = reader.submit(settings.run, next, blocks, None)
        yield block
