"""Scores of samples as files, written block after block: CSV, .npy and Parquet."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sparing import errors
from sparing.data.readers.text_columns import has_columns, read_column, sample_names
from sparing.data.writing import replacing
from sparing.results import Array

Write = Callable[[Array], Any]


@contextmanager
def score_file(
    path: str | None, names: Sequence[str], n_samples: int, samples: Samples | None = None
) -> Iterator[Write]:
    """A function that takes blocks of scores; the file is there once all of them are. CSV to the screen by default.

    Names of the samples come first, but not in arrays (.npy), which hold numbers only.
    """
    if path is None:
        yield _csv(sys.stdout, names, samples)
        return
    ending = next(ending for ending in ENDINGS if path.lower().endswith(ending))
    with replacing(path) as file, WRITERS[ending](file, names, n_samples, samples) as write:
        yield write


def _csv(stream: Any, names: Sequence[str], samples: Samples | None) -> Write:
    writer = csv.writer(stream, lineterminator="\n")
    if samples is None:
        writer.writerow(names)
        return lambda scores: writer.writerows(scores.tolist())
    writer.writerow([samples.title, *names])
    called = iter(samples.names)
    return lambda scores: writer.writerows([next(called), *row] for row in scores.tolist())


@contextmanager
def _csv_file(file: BinaryIO, names: Sequence[str], n_samples: int, samples: Samples | None) -> Iterator[Write]:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    yield _csv(text, names, samples)
    text.flush()
    text.detach()


@contextmanager
def _npy_file(file: BinaryIO, names: Sequence[str], n_samples: int, samples: Samples | None) -> Iterator[Write]:
    header = {"descr": "<f8", "fortran_order": False, "shape": (n_samples, len(names))}
    np.lib.format.write_array_header_1_0(file, header)
    yield lambda scores: file.write(np.ascontiguousarray(scores, dtype="<f8").tobytes())


@contextmanager
def _parquet_file(file: BinaryIO, names: Sequence[str], n_samples: int, samples: Samples | None) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise errors.needs_package("Writing Parquet", "pyarrow", "io") from None
    title = [] if samples is None else [(samples.title, pa.string())]
    schema = pa.schema([*title, *((name, pa.float64()) for name in names)])
    called = iter([] if samples is None else samples.names)

    def write(scores: Array) -> None:
        columns: list[Any] = [] if samples is None else [list(islice(called, len(scores)))]
        columns += [np.asarray(column, dtype=np.float64) for column in scores.T]
        writer.write_table(pa.table(columns, schema=schema))

    with pq.ParquetWriter(file, schema) as writer:
        yield write


WRITERS: dict[str, Any] = {".csv": _csv_file, ".npy": _npy_file, ".parquet": _parquet_file}
ENDINGS = tuple(WRITERS)


TITLE = "sample"
"""Of a column of names that has no title of its own."""

USUAL = {"", "unnamed: 0", "id", "ids", "name", "names", "index", TITLE, "samples", "sample_id", "sample id"}
"""What a column of names is called, in lower case."""


class Samples(NamedTuple):
    """Names of the samples, and the title of their column."""

    title: str
    names: list[str]


def samples_of(
    path: str, column: str | None, columns: Iterable[str], n_samples: int, delimiter: str | None = None
) -> Samples | None:
    """Names from the column asked for; else those that the file has a place for, or one of ``columns`` by its title."""
    if column is None:
        names = sample_names(path)
        if names is not None:
            return Samples(TITLE, names) if len(names) == n_samples else None
        if has_columns(path):
            column = next((name for name in columns if name.strip().lower() in USUAL), None)
    return None if column is None else Samples(column.strip() or TITLE, read_column(path, column, delimiter))
