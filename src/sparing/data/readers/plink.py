"""PLINK genotypes: rows are people, columns SNPs, values the copies of one allele (0, 1, 2)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, readable
from sparing.data.readers.temporary_files import Scratch
from sparing.data.rows import Coding, RawBlock
from sparing.results import Indices

WHAT = "a PLINK file of genotypes (.bed)"
MISSING = -127
NAMELESS = "."
TURNING = threading.Lock()
UNKNOWN = "0"
"""PLINK's name for an allele that does not occur in a file."""


@dataclass(frozen=True, eq=False)
class GenotypeCoding(Coding):
    """The coding of the genotypes of each SNP.

    Attributes
    ----------
    means : ndarray of float32
        Replacement of a missing genotype.
    factors : ndarray of float32
        Factor of a count.
    counted, other : ndarray of str
        The allele whose copies are counted, and the other one.
    """

    means: Any
    factors: Any
    counted: Any
    other: Any

    def of(self, J: Indices) -> GenotypeCoding:
        """The coding of the SNPs J."""
        return GenotypeCoding(self.means[J], self.factors[J], self.counted[J], self.other[J])

    def replaced(self, J: Indices, part: GenotypeCoding) -> GenotypeCoding:
        """The same coding with another one for the SNPs J."""
        arrays = {}
        for field in fields(self):
            arrays[field.name] = getattr(self, field.name).copy()
            arrays[field.name][J] = getattr(part, field.name)
        return GenotypeCoding(**arrays)

    def exchanged(self, counted: Any, other: Any) -> tuple[Indices, Indices]:
        """Masks of SNPs for which a file counts the other allele, and of SNPs with different alleles."""
        same = _match(self.counted, counted) & _match(self.other, other)
        swapped = _match(self.counted, other) & _match(self.other, counted)
        return np.flatnonzero(swapped & ~same), np.flatnonzero(~swapped & ~same)

    def is_for(self, n_features: int) -> bool:
        """Whether it is valid for this number of SNPs, whoever wrote it."""
        numbers, names = (self.means, self.factors), (self.counted, self.other)
        arrays = [array for array in (*numbers, *names) if isinstance(array, np.ndarray)]
        return (
            len(arrays) == 4
            and all(array.shape == (n_features,) for array in arrays)
            and all(array.dtype == np.float32 and np.isfinite(array).all() for array in numbers)
            and all(array.dtype == object for array in names)
        )


def _match(mine: Any, theirs: Any) -> Any:
    """Whether the alleles are the same, as far as both are known."""
    return np.asarray((mine == theirs) | (mine == UNKNOWN) | (theirs == UNKNOWN), dtype=bool)


def bed_reader() -> Any:
    """Import the package that decodes PLINK's two bits per genotype."""
    try:
        import bed_reader
    except ModuleNotFoundError:
        raise errors.needs_package("Reading PLINK files", "bed-reader", "io") from None
    return bed_reader


class _Snps(NamedTuple):
    """The columns: SNP names, and the names of both alleles."""

    names: list[str]
    counted: Any
    other: Any


class PlinkRows(FileRows):
    """Copies of the first allele in .bim (A1) as float32; missing genotypes are the mean of their SNP.

    The file is stored SNP by SNP. It is transposed once, with bounded memory, to one byte per genotype, person by
    person: in memory if that is at most a block, otherwise in a temporary file.

    Means and scaling are those of the people in the file, unless :meth:`with_coding` sets those of a fit.
    """

    what = WHAT

    def __init__(self, path: Path, n_people: int, snps: _Snps, options: Options) -> None:
        shape = n_people, len(snps.names)
        super().__init__(path, shape, np.float32, options.block_bytes, feature_names=snps.names)
        self.scaling, self.snps = options.scaling, snps
        self._turned: tuple[_People, GenotypeCoding] | None = None
        self._given: GenotypeCoding | None = None
        self._exchanged: Indices = np.empty(0, dtype=np.intp)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_turned": None}

    def close(self) -> None:
        """Delete the temporary file."""
        self._turned = None

    @property
    def coding(self) -> GenotypeCoding:
        """The given coding, or that of the people in the file."""
        return self._given or self._ready()[1]

    def with_coding(self, coding: Coding | None) -> PlinkRows:
        """The same people with the means, the scaling and the counted alleles of a fit."""
        if coding is None:
            return self
        assert isinstance(coding, GenotypeCoding)
        if len(coding.means) != self.shape[1]:
            raise errors.model_counts_features(self.path, self.shape[1], len(coding.means))
        exchanged, strange = coding.exchanged(self.snps.counted, self.snps.other)
        if len(strange):
            j, mine = strange[0], self.snps
            got, expected = (mine.counted[j], mine.other[j]), (coding.counted[j], coding.other[j])
            more = f" (and {len(strange) - 1} more SNPs differ)" if len(strange) > 1 else ""
            raise ValueError(
                f"Cannot use {str(self.path)!r}: SNP {mine.names[j]!r} has the alleles {' and '.join(got)}, and the "
                f"model was fitted on {' and '.join(expected)}{more}. Write the file again with alleles named as at "
                "fit, of the same strand; which of the two is counted does not matter."
            )
        twin = copy(self)
        twin._turned, twin._given, twin._exchanged = self._ready(), coding, exchanged
        return twin

    def read(self) -> Iterator[RawBlock]:
        """Blocks of people."""
        with TURNING:
            if self._turned is None:
                self._turned = self._turn()
            people, own = self._turned
        coding = self._given or own
        scaled = bool((coding.factors != 1).any())
        for start, stop in self.runs():
            raw = people.take(start, stop)
            rows = raw.astype(np.float32)
            if len(self._exchanged):
                rows[:, self._exchanged] = 2 - rows[:, self._exchanged]
            np.copyto(rows, coding.means, where=raw == MISSING)
            if scaled:
                rows *= coding.factors
            yield DenseBlock(rows, start)

    def _ready(self) -> tuple[_People, GenotypeCoding]:
        """The results of the first pass, after all checks of the file."""
        turned = self._turned or self.first(lambda _: self._turned)
        assert turned is not None
        return turned

    def _turn(self) -> tuple[_People, GenotypeCoding]:
        """Transpose genotypes to rows of people, and compute their coding."""
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
        deviation = np.ones(d)
        if self.scaling == "binomial":
            p = means / 2
            deviation = np.sqrt(2 * p * (1 - p))
        factors = (1 / np.where(deviation > 0, deviation, 1.0)).astype(np.float32)
        return people, GenotypeCoding(means.astype(np.float32), factors, self.snps.counted, self.snps.other)


class _People:
    """Genotypes person by person, one byte each: an array or a temporary file."""

    def __init__(self, n: int, d: int, *, in_memory: bool) -> None:
        self._shape = n, d
        self._array = np.empty((n, d), dtype=np.int8) if in_memory else None
        self._file = None if in_memory else Scratch()
        if self._file is not None:
            self._file.reserve(n * d)

    def put(self, run: slice, part: Any) -> None:
        """Store some SNPs. The file is mapped only meanwhile, otherwise all of it would count as memory."""
        if self._file is None:
            self._array[:, run] = part  # type: ignore[index]
        else:
            self._file.mapped(np.int8, self._shape)[:, run] = part

    def take(self, start: int, stop: int) -> Any:
        """Read some people."""
        if self._file is None:
            return self._array[start:stop]  # type: ignore[index]
        d = self._shape[1]
        return self._file.read(np.int8, (stop - start) * d, start * d).reshape(-1, d)


def open_rows(path: Path, options: Options) -> PlinkRows:
    """Check the file against the lists of people and SNPs next to it."""
    if options.scaling not in {None, "binomial"}:
        raise errors.unknown_choice("scaling", options.scaling, ["binomial"])
    bed_reader()
    for ending in (".bim", ".fam"):
        if not path.with_suffix(ending).exists():
            why = f"its companion file {path.with_suffix(ending).name!r} is missing. Put the .bim and .fam next to it"
            raise errors.unreadable(path, why)
    with readable(path, WHAT):
        with path.open("rb") as raw:
            mark = raw.read(3)
        if mark[:2] != b"\x6c\x1b":
            raise errors.broken_file(path, WHAT, "its first bytes are not those of the format")
        n, snps = sum(1 for _ in _lines(path.with_suffix(".fam"))), _snps(path.with_suffix(".bim"))
        d = len(snps.names)
        expected = 3 + (d * -(-n // 4) if mark[2:] == b"\x01" else n * -(-d // 4))
        if path.stat().st_size != expected:
            said = f"{path.stat().st_size} bytes, but {n} people in .fam and {d} SNPs in .bim make {expected}"
            raise errors.broken_file(path, WHAT, said)
        return PlinkRows(path, n, snps, options)


def _snps(path: Path) -> _Snps:
    """Read the lines of .bim: chromosome, name, distance, position, first allele, second allele.

    A SNP without a unique name is named by position and alleles. The alleles are in alphabetical order, as in PLINK's
    ``--set-missing-var-ids @:#:$1:$2``, so that the name does not depend on the counted allele.
    """
    times = Counter(line[1] for line in _lines(path))
    names, counted, other = [], [], []
    for line in _lines(path):
        chromosome, name, _, place, first, second = [*line, *[UNKNOWN] * 4][:6]
        unclear = name == NAMELESS or times[name] > 1
        names.append(":".join([chromosome, place, *sorted([first, second])]) if unclear else name)
        counted.append(first)
        other.append(second)
    return _Snps(names, np.array(counted, dtype=object), np.array(other, dtype=object))


def _lines(path: Path) -> Iterator[list[str]]:
    """The fields of each line, of a person or a SNP."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split()
            if len(fields) == 1:
                raise errors.unreadable(path, "a line has a single field; a PLINK list has six. Write it again")
            if fields:
                yield fields
