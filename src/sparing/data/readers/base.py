"""Base class of file readers: blocks of rows within a memory budget, checks of declared sizes, temporary files."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import reduce
from inspect import GEN_RUNNING, getgeneratorstate
from pathlib import Path
from time import sleep
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.data.blocks import CscBlock, DenseBlock
from sparing.data.readers.notes import repeated_note, unique_names
from sparing.data.rows import RawBlock, Rows
from sparing.errors import listed

LONG, SCANTY = 2**24, 1000
"""From this number of rows or columns on, a sparse matrix may have at most this many of them per entry."""

LARGE, EMPTY = 2**32, 10**6
"""From this size on, a dense table may have at most this many bytes per stored byte; no compression is stronger, even
for constants."""

BLOCK_BYTES = 2**26
"""Memory for one block of rows, 64 MiB."""

NONZERO_BYTES = 32
"""Bytes of a nonzero in memory: value and index as read, and again by columns."""


def rows_within(block_bytes: int, n_features: int, dtype: Any) -> int:
    """Number of rows of a block. Entries of one or two bytes count as four, so that blocks are larger than the results
    on them."""
    return max(1, block_bytes // (max(int(np.dtype(dtype).itemsize), 4) * n_features))


@dataclass(frozen=True)
class Options:
    """The options of a reader."""

    key: str | None = None
    block_bytes: int = BLOCK_BYTES
    scaling: str | None = None
    transpose: bool = False
    drop: tuple[str, ...] = ()
    drop_unreadable: bool = False
    delimiter: str | None = None
    decimal: str | None = None


class FileRows(Rows):
    """Rows in a file that is opened again for each pass, so that threads and processes do not share a handle.

    Attributes
    ----------
    feature_names : list of str or None
    left_out : list of str
        Columns of the file that are not numeric, or that the user dropped.
    notes : list of str
        Remarks about the columns: repeated names, row numbers, class codes.
    """

    is_dense = True
    reads_ahead = False  # is the next block read while one is worked on? Where unpacking takes time, and not the
    # interpreter: maps, temporary files of numbers and sparse blocks gain nothing by it
    what = "a file of numbers"

    def __init__(
        self,
        path: Path,
        shape: Sequence[int],
        dtype: Any,
        block_bytes: int,
        *,
        feature_names: list[str] | None = None,
        left_out: Sequence[str] = (),
    ) -> None:
        sizes = tuple(int(size) for size in shape)
        kind = np.dtype(dtype)
        if kind.kind not in "fiub":
            raise errors.not_real(path, kind)
        if len(sizes) != 2 or min(sizes) < 1:
            raise errors.not_a_matrix(path, sizes)
        self.path, self.shape, self.dtype = path, (sizes[0], sizes[1]), plain(kind)
        self.block_bytes = block_bytes
        self.block_rows = rows_within(block_bytes, sizes[1], self.dtype)
        self.left_out: list[str] = list(left_out)
        self.notes: list[str] = []
        self.explained: set[str] = set()  # columns left out that a note or the format explains
        self.feature_names = None if feature_names is None else self.named(feature_names)
        self.stamp = _stamp(path)

    @abstractmethod
    def read(self) -> Iterator[RawBlock]:
        """The rows, in order; errors are handled by the caller."""

    def blocks(self) -> Generator[RawBlock, None, None]:
        """The rows, in order; an error explains files that have changed or are truncated."""
        if _stamp(self.path) != self.stamp:
            raise errors.unreadable(self.path, "it has changed since it was opened. Call open_data again")
        n, stop = self.shape[0], 0
        with readable(self.path, self.what):
            for block in self.read():
                stop = block.stop
                if stop > n:
                    break
                yield block
            if stop != n:
                raise errors.broken_file(self.path, self.what, f"it does not have the {n} rows it claims to have")

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Run ``work`` on every block, while the next one is read if that helps."""
        if not self.reads_ahead:
            return super().run(work, merge)
        with read_ahead(self.blocks()) as blocks:
            return reduce(merge, map(work, blocks))

    def runs(self) -> Iterator[tuple[int, int]]:
        """First and last row of each dense block."""
        n = self.shape[0]
        for start in range(0, n, self.block_rows):
            yield start, min(start + self.block_rows, n)

    def align(self, chunk: Sequence[int]) -> None:
        """Align blocks with the chunks of the file, so that none is unpacked twice; a chunk must fit into memory."""
        check_room(self.path, math.prod(int(size) for size in chunk) * self.dtype.itemsize)
        if chunk[0] <= self.block_rows:
            self.block_rows -= self.block_rows % max(chunk[0], 1)

    def named(self, names: Iterable[object]) -> list[str]:
        """Unique feature names, with a note if some had to be changed."""
        unique, repeated = unique_names(names)
        if repeated:
            self.notes.append(repeated_note(repeated))
        return unique

    def all_notes(self, dropped: Collection[str] = ()) -> list[str]:
        """The notes, including the columns left out that the user did not drop."""
        lost = [name for name in self.left_out if name not in dropped and name not in self.explained]
        said = [f"{listed(lost)} left out, because not numeric"] if lost else []
        return [*said, *self.notes]

    def close(self) -> None:
        """Delete temporary files; the next pass starts from the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        n, d = self.shape
        return f"{type(self).__name__}({str(self.path)!r}, {n} x {d}, {self.dtype})"


def check_extent(path: Path, what: str, shape: Sequence[int], entries: int) -> None:
    """Reject a sparse matrix with almost no entry per thousands of rows or columns.

    Its size is most likely wrong, and vectors of this length would take all memory.
    """
    if max(shape) > max(LONG, SCANTY * entries):
        raise errors.broken_file(path, what, f"{entries} entries in a shape of {tuple(shape)}")


def check_stored(path: Path, what: str, data: Any, stored: Callable[[], int]) -> None:
    """Reject a table whose rows do not fit into memory, or a large one with almost nothing stored.

    The latter would be read for hours although it has a single value.
    """
    claimed = math.prod(int(size) for size in data.shape) * data.dtype.itemsize
    if claimed > LARGE and claimed > EMPTY * (there := stored()):
        raise errors.broken_file(path, what, f"{there} bytes are stored of {claimed}")
    check_room(path, claimed // max(int(data.shape[0]), 1))


def plain(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype for computations: native byte order and at most double precision."""
    return np.dtype(np.float64) if kind.kind == "f" and kind.itemsize > 8 else kind.newbyteorder("=")


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Replace all errors of other packages on unreadable files by one kind of error with an explanation."""
    try:
        yield
    except (errors.UnreadableError, errors.UnwritableError, ModuleNotFoundError):
        raise
    except (DeprecationWarning, FutureWarning):  # warnings of a package raised as errors: the file is not the cause
        raise
    except MemoryError as large:
        raise errors.beyond_memory(path) from large
    except FileNotFoundError as absent:
        raise errors.no_such_file(absent.filename or path) from absent
    except PermissionError as refused:
        raise errors.unreadable(path, "permission denied. Ask its owner for access, or copy it") from refused
    except Exception as broken:
        said = str(broken).strip().splitlines() or [type(broken).__name__]
        raise errors.broken_file(path, what, said[0].rstrip(".")) from broken


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of a file, to notice that it was written again; None for a folder, whose date is not enough."""
    try:
        status = os.stat(path)
    except OSError as absent:
        raise errors.no_such_file(path) from absent
    return None if path.is_dir() else (status.st_size, status.st_mtime_ns)


MEMORY, CONTAINER = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")


def check_room(path: Path, needed: int) -> None:
    """Reject data that do not fit into memory: a system that runs out of memory kills processes, not always the one at
    fault."""
    if needed > available():
        raise errors.beyond_memory(path)


def available(memory: Path = MEMORY, container: Path = CONTAINER) -> float:
    """Available memory in bytes, according to these files of the system."""
    limits = [math.inf]
    with suppress(OSError, ValueError, AttributeError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError, KeyError):  # not every system has it, or every line of it
        fields = dict(line.split(":") for line in memory.read_text().splitlines())
        limits.append(int(fields["MemAvailable"].split()[0]) * 1024)
    with suppress(OSError, ValueError):  # "max" if there is no limit
        limits.append(int(container.read_text()))
    return min(limits)


class LoadedRows(FileRows):
    """A table in memory: slices of a dense table, or a whole sparse one."""

    def __init__(self, path: Path, table: Any, options: Options, feature_names: list[str] | None = None) -> None:
        super().__init__(path, table.shape, table.dtype, options.block_bytes, feature_names=feature_names)
        self.is_dense = not sparse.issparse(table)
        self._table: Any = np.asarray(table, dtype=self.dtype) if self.is_dense else CscBlock(_checked(path, table))

    def read(self) -> Iterator[RawBlock]:
        """Slices of ``block_rows`` rows, or the one block."""
        if not self.is_dense:
            yield self._table
            return
        for start, stop in self.runs():
            yield DenseBlock(self._table[start:stop], start)


def _checked(path: Path, table: Any) -> Any:
    """Return the matrix; an error if indices are out of range, which compiled code would not notice."""
    check_extent(path, "a sparse matrix", table.shape, table.nnz)
    try:
        if table.format in {"csr", "csc", "bsr"}:
            table.check_format(full_check=True)
    except ValueError as broken:
        raise errors.broken_file(path, "a sparse matrix", str(broken)) from broken
    return table


T = TypeVar("T")


@contextmanager
def read_ahead(blocks: Generator[T, None, None]) -> Iterator[Iterator[T]]:
    """The same blocks in the same order, read by a thread that is at most one block ahead.

    On every exit the thread has closed the blocks and ended. Errors of the reader are raised in place of its block.
    """
    settings = copy_context()  # NumPy's handling of overflow is one of them
    with ThreadPoolExecutor(1, thread_name_prefix="sparing-read-ahead") as reader:
        try:
            yield _taken(reader, settings, blocks)
        finally:
            reader.submit(_close, blocks).result()


def _close(blocks: Generator[T, None, None]) -> None:
    while getgeneratorstate(blocks) == GEN_RUNNING:  # in a thread that was interrupted while it started
        sleep(0.001)
    blocks.close()


def _taken(reader: ThreadPoolExecutor, settings: Any, blocks: Generator[T, None, None]) -> Iterator[T]:
    coming = reader.submit(settings.run, next, blocks, None)
    while (block := coming.result()) is not None:
        coming = reader.submit(settings.run, next, blocks, None)
        yield block
