"""Temporary files without a name: the system deletes them when the process ends, even by a signal or a crash."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile, gettempdir
from threading import Lock
from typing import Any

import numpy as np

from sparing import errors


class Scratch:
    """Numbers in an unnamed temporary file, which is deleted with this object."""

    def __init__(self) -> None:
        self._lock = Lock()
        with _room_explained():
            self._file = TemporaryFile(prefix="sparing-", buffering=0)  # noqa: SIM115

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # it is missing if the disk was full
            self._file.close()

    def reserve(self, n_bytes: int) -> None:
        """Extend the file to this size. Writing to a memory map on a full disk would crash the process."""
        with _room_explained():
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file.fileno(), 0, n_bytes)
            else:
                self._file.truncate(n_bytes)

    def write(self, values: Any, at: int) -> None:
        """Store an array at this offset in bytes."""
        left = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        with _room_explained(), self._lock:
            self._file.seek(at)
            while len(left):
                left = left[self._file.write(left) or 0 :]

    def read(self, dtype: Any, count: int, at: int) -> Any:
        """Read this many numbers from this offset in bytes, as a new array."""
        values = np.empty(count, dtype=dtype)
        left = values.view(np.uint8).data
        while len(left):
            got = self._fill(left, at)
            if not got:
                raise EOFError("a temporary file ended early")
            left, at = left[got:], at + got
        return values

    def _fill(self, buffer: memoryview, at: int) -> int:
        """Read bytes at an offset, without a file position that threads and forked processes would share."""
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [buffer], at)
        with self._lock:
            self._file.seek(at)
            return self._file.readinto(buffer) or 0

    def mapped(self, dtype: Any, shape: tuple[int, ...]) -> Any:
        """The file as a mapped array, which counts as memory while the array exists."""
        return np.memmap(self._file, dtype, mode="r+", shape=shape)


@contextmanager
def _room_explained() -> Iterator[None]:
    """The error for a full disk, which is not the fault of the file that is read."""
    try:
        yield
    except OSError as refused:
        try:
            folder = repr(gettempdir())
        except OSError:  # no folder is writable
            folder = "(there is none)"
        raise errors.UnwritableError(
            f"Cannot write to the folder of temporary files, {folder}: {errors.system_says(refused)}. Text tables, "
            "sparse matrices by columns and genotypes are stored there temporarily while they are read. Free some "
            "space, or set the environment variable TMPDIR to another folder."
        ) from refused
