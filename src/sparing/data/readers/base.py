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
"""Rows or columns of a sparse matrix, and how many times its entries they may then be, before that is odd."""

LARGE, EMPTY = 2**32, 10**6
"""Bytes of a dense table, and how many times what is stored they may then be; no packing makes constants so small."""

BLOCK_BYTES = 2**26
"""Memory for one block of rows, 64 MiB."""

NONZERO_BYTES = 32
"""A nonzero in memory: value and index as read, and once more by columns."""


def rows_within(block_bytes: int, n_features: int, dtype: Any) -> int:
    """Rows of a block. Entries of one or two bytes count as four: what a block adds up to should outweigh its sums."""
    return max(1, block_bytes // (max(int(np.dtype(dtype).itemsize), 4) * n_features))


@dataclass(frozen=True)
class Options:
    """What a user asked of a reader."""

    key: str | None = None
    block_bytes: int = BLOCK_BYTES
    scaling: str | None = None
    transpose: bool = False
    drop: tuple[str, ...] = ()
    drop_unreadable: bool = False
    delimiter: str | None = None
    decimal: str | None = None


class FileRows(Rows):
    """Rows in a file, which is opened anew for each reading: copies in threads and processes do not meet.

    Attributes
    ----------
    feature_names : list of str or None
    left_out : list of str
        Columns of the file that hold no numbers, or that were to be dropped.
    notes : list of str
        What was noticed about the columns: names that repeat, row numbers, codes of classes.
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
        super().__init__()
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
        self.explained: set[str] = set()  # columns left out that a note or the format tells of
        self.feature_names = None if feature_names is None else self.named(feature_names)
        self.stamp = _stamp(path)

    @abstractmethod
    def read(self) -> Iterator[RawBlock]:
        """The rows, in order; errors need no care."""

    def blocks(self) -> Generator[RawBlock, None, None]:
        """The rows, in order; a file that has changed or breaks off gets a sentence."""
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
        """``work`` on every block, while the next one is read where that helps."""
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
        """Let blocks end where the file's chunks do, so that none is unpacked twice; each must have room at least."""
        check_room(self.path, math.prod(int(size) for size in chunk) * self.dtype.itemsize)
        if chunk[0] <= self.block_rows:
            self.block_rows -= self.block_rows % max(chunk[0], 1)

    def named(self, names: Iterable[object]) -> list[str]:
        """Names that tell features apart, with a note where some had to be made unique."""
        unique, repeated = unique_names(names)
        if repeated:
            self.notes.append(repeated_note(repeated))
        return unique

    def all_notes(self, dropped: Collection[str] = ()) -> list[str]:
        """The notes, and which columns are left out that nobody asked to drop."""
        lost = [name for name in self.left_out if name not in dropped and name not in self.explained]
        said = [f"{listed(lost)} left out, because not numeric"] if lost else []
        return [*said, *self.notes]

    def close(self) -> None:
        """Forget what was kept for faster readings; the next reading starts from the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        n, d = self.shape
        return f"{type(self).__name__}({str(self.path)!r}, {n} x {d}, {self.dtype})"


def check_extent(path: Path, what: str, shape: Sequence[int], entries: int) -> None:
    """Refuse a sparse matrix that has hardly an entry for thousands of its many rows or columns.

    Its size is a lie, most likely, and vectors as long as it says would take all memory.
    """
    if max(shape) > max(LONG, SCANTY * entries):
        raise errors.broken_file(path, what, f"{entries} entries in a shape of {tuple(shape)}")


def check_stored(path: Path, what: str, data: Any, stored: Callable[[], int]) -> None:
    """Refuse a table without room for one row, or a large one of which next to nothing is stored.

    The latter would be read for hours, and hold one number only.
    """
    claimed = math.prod(int(size) for size in data.shape) * data.dtype.itemsize
    if claimed > LARGE and claimed > EMPTY * (there := stored()):
        raise errors.broken_file(path, what, f"{there} bytes are stored of {claimed}")
    check_room(path, claimed // max(int(data.shape[0]), 1))


def plain(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The type as it is computed with: native byte order, and nothing beyond double precision."""
    return np.dtype(np.float64) if kind.kind == "f" and kind.itemsize > 8 else kind.newbyteorder("=")


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """One kind of error, with a sentence, in place of all that other packages raise on files they cannot read."""
    try:
        yield
    except (errors.UnreadableError, errors.UnwritableError, ModuleNotFoundError):
        raise
    except (DeprecationWarning, FutureWarning):  # of a package, where warnings are errors: the file is not to blame
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
    """What tells a file from the same file written again; None for a folder, whose own date says little."""
    try:
        status = os.stat(path)
    except OSError as absent:
        raise errors.no_such_file(path) from absent
    return None if path.is_dir() else (status.st_size, status.st_mtime_ns)


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


class LoadedRows(FileRows):
    """A table in memory: slices of a dense one, the whole of a sparse one."""

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
    """The matrix, if its indices are inside: compiled code would not notice."""
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
