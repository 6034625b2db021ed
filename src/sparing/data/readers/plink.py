"""PLINK genotypes: rows are people, columns SNPs, values the copies of one allele (0, 1, 2)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import RawBlock
from sparing.data.dense import DenseBlock
from sparing.data.readers.base import FileRows, Options, readable
from sparing.data.readers.scratch import Scratch
from sparing.errors import files

WHAT = "a PLINK file of genotypes (.bed)"
MISSING = -127
TURNING = threading.Lock()


def bed_reader() -> Any:
    """The package, which knows PLINK's two bits per genotype."""
    try:
        import bed_reader
    except ModuleNotFoundError:
        raise errors.needs_package("Reading PLINK files", "bed-reader", "io") from None
    return bed_reader


class PlinkRows(FileRows):
    """Genotypes as float32; missing ones are the mean of their SNP, which changes no mean.

    The file holds SNP after SNP. It is turned once, with bounded memory, into people after people: one byte per
    genotype, in memory where that is no more than a block, else in a temporary file.
    """

    what = WHAT

    def __init__(self, path: Path, shape: tuple[int, int], names: list[str], options: Options) -> None:
        super().__init__(path, shape, np.float32, options.block_bytes, feature_names=names)
        self.scaling = options.scaling
        self._turned: tuple[_People, Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_turned": None}

    def close(self) -> None:
        """Delete the temporary file."""
        self._turned = None

    def read(self) -> Iterator[RawBlock]:
        """Runs of people."""
        with TURNING:
            if self._turned is None:
                self._turned = self._turn()
            people, means, factors = self._turned
        for start, stop in self.runs():
            raw = people.take(start, stop)
            rows = raw.astype(np.float32)
            np.copyto(rows, means, where=raw == MISSING)
            if factors is not None:
                rows *= factors
            yield DenseBlock(rows, start)

    def _turn(self) -> tuple[_People, Any, Any]:
        """Genotypes by people, the means of the SNPs, and what each is multiplied by."""
        n, d = self.shape
        people, means = _People(n, d, in_memory=n * d <= self.block_bytes), np.zeros(d)
        width = max(1, self.block_bytes // (4 * n))
        with bed_reader().open_bed(self.path, iid_count=n, sid_count=d) as file:
            for first in range(0, d, width):
                run = slice(first, min(first + width, d))
                part = file.read(index=(slice(None), run), dtype="int8", order="C")
                absent = (part == MISSING).sum(axis=0, dtype=np.int32)
                means[run] = (part.sum(axis=0, dtype=np.int32) - MISSING * absent) / np.maximum(n - absent, 1)
                people.put(run, part)
        factors = None
        if self.scaling == "binomial":
            p = means / 2
            deviation = np.sqrt(2 * p * (1 - p))
            factors = (1 / np.where(deviation > 0, deviation, 1.0)).astype(np.float32)
        return people, means.astype(np.float32), factors


class _People:
    """Genotypes of one person after another, one byte each: an array, or a temporary file."""

    def __init__(self, n: int, d: int, *, in_memory: bool) -> None:
        self._shape = n, d
        self._array = np.empty((n, d), dtype=np.int8) if in_memory else None
        self._file = None if in_memory else Scratch()
        if self._file is not None:
            os.truncate(self._file.path, n * d)

    def put(self, run: slice, part: Any) -> None:
        """Store some SNPs. The file is mapped for no longer than that, or all of it would count as memory."""
        if self._file is None:
            self._array[:, run] = part  # type: ignore[index]
        else:
            np.memmap(self._file.path, np.int8, mode="r+", shape=self._shape)[:, run] = part

    def take(self, start: int, stop: int) -> Any:
        """Some people."""
        if self._file is None:
            return self._array[start:stop]  # type: ignore[index]
        d = self._shape[1]
        return np.fromfile(self._file.path, np.int8, count=(stop - start) * d, offset=start * d).reshape(-1, d)


def open_rows(path: Path, options: Options) -> PlinkRows:
    """Check the file against the lists of people and SNPs beside it."""
    if options.scaling not in {None, "binomial"}:
        raise errors.unknown_choice("scaling", options.scaling, ["binomial"])
    bed_reader()
    for ending in (".bim", ".fam"):
        if not path.with_suffix(ending).exists():
            why = f"its companion {path.with_suffix(ending).name!r} is not there. Put the .bim and .fam beside it"
            raise files.unreadable(path, why)
    with readable(path, WHAT):
        with path.open("rb") as raw:
            mark = raw.read(3)
        if mark[:2] != b"\x6c\x1b":
            raise files.broken_file(path, WHAT, "its first bytes are not those of the format")
        n, names = len(_second(path.with_suffix(".fam"))), _second(path.with_suffix(".bim"))
        d = len(names)
        expected = 3 + (d * -(-n // 4) if mark[2:] == b"\x01" else n * -(-d // 4))
        if path.stat().st_size != expected:
            said = f"{path.stat().st_size} bytes, but {n} people in .fam and {d} SNPs in .bim make {expected}"
            raise files.broken_file(path, WHAT, said)
        return PlinkRows(path, (n, d), names, options)


def _second(path: Path) -> list[str]:
    """The second field of each line: who, or which SNP."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = [line.split(None, 2) for line in file if line.strip()]
    if any(len(fields) < 2 for fields in lines):
        raise files.unreadable(path, "a line has a single field; a PLINK list has six. Write it again")
    return [fields[1] for fields in lines]
